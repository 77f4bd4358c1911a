/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_malloc.h>

#include "octo_clock.h"
#include "mpsim_flow.h"

#define LOOK_US 1000000

/* Is the alarm set? Under the control lock. */
static bool armed;

static void look(void *arg);

static void
arm_locked(void)
{
	armed = armed || octo_alarm_set(LOOK_US, look, NULL) == 0;
}

static bool
is_too_old(const struct mpsim_age *age, uint64_t now)
{
	/* the clock of another CPU may be a little ahead */
	return now > age->last && now - age->last >= age->timeout;
}

/* Find actions that have aged. Returns true if the application has to be notified. */
static bool
look_at_pf(struct mpsim_pf *pf)
{
	const uint64_t now = octo_now();
	struct mpsim_age *age;
	bool news = false;

	mpsim_nic_lock(pf->nic);
	LIST_FOREACH(age, &pf->ages, list) {
		if (!is_too_old(age, now) || age->aged == age->last)
			continue;
		age->aged = age->last;
		news = true;
	}
	/* one event until the application has queried the aged flows */
	news = news && !pf->told_of_aged;
	pf->told_of_aged = pf->told_of_aged || news;
	mpsim_nic_unlock(pf->nic);
	return news;
}

/* In the interrupt thread, like events of hardware. */
static void
look(void *arg)
{
	uint64_t ports[(RTE_MAX_ETHPORTS + 63) / 64] = {0};
	bool news[RTE_MAX_ETHPORTS] = {false};

	RTE_SET_USED(arg);
	mpsim_control_lock();
	armed = false;
	mpsim_nic_get_ports(ports);
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		struct mpsim_pf *pf;

		if ((ports[p / 64] >> (p % 64) & 1) == 0)
			continue;
		pf = rte_eth_devices[p].data->dev_private;
		news[p] = look_at_pf(pf);
		if (!LIST_EMPTY(&pf->ages))
			arm_locked();
	}
	mpsim_control_unlock();
	/* not under the lock: a callback may take locks of its own */
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (news[p] && rte_eth_dev_is_valid_port(p))
			rte_eth_dev_callback_process(&rte_eth_devices[p], RTE_ETH_EVENT_FLOW_AGED,
						     NULL);
}

static void
set_locked(struct mpsim_age *age, uint32_t seconds)
{
	age->timeout = seconds * rte_get_timer_hz();
	age->last = octo_now();
	age->aged = 0;
	age->reported = 0;
}

struct mpsim_age *
mpsim_age_create(struct mpsim_pf *pf, const struct rte_flow_action_age *conf)
{
	struct mpsim_age *age = rte_zmalloc("mpsim_age", sizeof(*age), 0);

	if (age == NULL)
		return NULL;
	age->context = conf->context;
	age->refs = 1;
	set_locked(age, conf->timeout);
	mpsim_control_lock();
	mpsim_nic_lock(pf->nic);
	LIST_INSERT_HEAD(&pf->ages, age, list);
	mpsim_nic_unlock(pf->nic);
	arm_locked();
	mpsim_control_unlock();
	return age;
}

void
mpsim_age_set(struct mpsim_pf *pf, struct mpsim_age *age, uint32_t seconds)
{
	mpsim_nic_lock(pf->nic);
	set_locked(age, seconds);
	mpsim_nic_unlock(pf->nic);
}

void
mpsim_age_put(struct mpsim_pf *pf, struct mpsim_age *age)
{
	bool last;

	mpsim_nic_lock(pf->nic);
	last = --age->refs == 0;
	if (last)
		LIST_REMOVE(age, list);
	mpsim_nic_unlock(pf->nic);
	if (last)
		rte_free(age);
}

void
mpsim_age_query(const struct mpsim_age *age, struct rte_flow_query_age *query)
{
	const uint64_t now = octo_now();
	const uint64_t idle = now > age->last ? now - age->last : 0;

	*query = (struct rte_flow_query_age){
		.aged = is_too_old(age, now),
		.sec_since_last_hit_valid = 1,
		.sec_since_last_hit = idle / rte_get_timer_hz(),
	};
}

int
mpsim_age_get_aged(struct rte_eth_dev *dev, void **contexts, uint32_t n,
		   struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	const uint64_t now = octo_now();
	struct mpsim_age *age;
	uint32_t found = 0;

	if (n > 0 && contexts == NULL)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					 "there is no room for the contexts");
	mpsim_nic_lock(pf->nic);
	/* the application has an up-to-date list now: raise the event for the next one */
	if (n > 0)
		pf->told_of_aged = false;
	LIST_FOREACH(age, &pf->ages, list) {
		if (n > 0 && found == n)
			break;
		if (age->reported == age->last || !is_too_old(age, now))
			continue;
		if (n > 0) {
			contexts[found] = age->context;
			age->aged = age->last;
			age->reported = age->last;
		}
		found++;
	}
	mpsim_nic_unlock(pf->nic);
	return found;
}
