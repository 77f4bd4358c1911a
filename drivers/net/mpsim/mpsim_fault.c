/* SPDX-License-Identifier: BSD-3-Clause */

/* Parser of faults: the PF, the fault, its arguments. */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <eal_export.h>

#include "octo_tel.h"
#include "mpsim.h"
#include "mpsim_control.h"
#include "mpsim_tx_ring.h"

#define MAX_WORDS 8 /* target, fault, arguments */
#define TEXT_MAX 256
#define REMOVAL_US_MAX 60000000
#define EJECT_US 10000000

struct request {
	char text[TEXT_MAX];
	char *word[MAX_WORDS];
	unsigned int nb_words;
	struct mpsim_pf *pf; /* the target, or one of several */
	char *why;
	size_t why_size;
};

/* Numbers of arguments after the name of the fault. */
struct fault {
	const char *name;
	const char *form;
	unsigned int min_args;
	unsigned int max_args;
	int (*set)(struct request *r);
};

static __rte_format_printf(3, 4) int refuse(struct request *r, int code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->why, r->why_size, format, ap);
	va_end(ap);
	return -code;
}

/* Argument i, counted from 1; "" if it was not given. */
static const char *
argument(const struct request *r, unsigned int i)
{
	return i + 1 < r->nb_words ? r->word[i + 1] : "";
}

/* Read a number; *value is unchanged if the argument was not given. */
static int
read_number(struct request *r, unsigned int i, const char *what, uint32_t min, uint32_t max,
	    uint32_t *value)
{
	const char *text = argument(r, i);
	unsigned long v;
	char *end;

	if (text[0] == '\0')
		return 0;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || v < min || v > max)
		return refuse(r, EINVAL, "%s: %s '%s': a number from %u to %u is needed",
			      r->word[1], what, text, min, max);
	*value = (uint32_t)v;
	return 0;
}

/* Read one of two words; *second is set if it is b. */
static int
read_choice(struct request *r, unsigned int i, const char *a, const char *b, bool *second)
{
	const char *text = argument(r, i);

	*second = strcmp(text, b) == 0;
	if (*second || strcmp(text, a) == 0)
		return 0;
	return refuse(r, EINVAL, "%s: '%s': %s or %s is needed", r->word[1], text, a, b);
}

static int
set_link(struct request *r)
{
	bool up;
	int ret = read_choice(r, 1, "down", "up", &up);

	if (ret != 0)
		return ret;
	r->pf->faults.no_link = !up;
	mpsim_link_apply(r->pf);
	mpsim_link_recheck();
	return 0;
}

static int
remove_pf(struct request *r, enum mpsim_removal how, uint32_t us)
{
	int ret = read_number(r, 1, "microseconds", 0, REMOVAL_US_MAX, &us);

	if (ret == 0)
		ret = mpsim_hotplug_remove(r->pf, how, us);
	if (ret == -EBUSY)
		return refuse(r, EBUSY, "%s: %s is being removed already", r->word[1],
			      r->pf->data->name);
	return ret;
}

static int
set_remove(struct request *r)
{
	return remove_pf(r, MPSIM_REMOVAL_ANNOUNCED, 0);
}

static int
set_eject(struct request *r)
{
	return remove_pf(r, MPSIM_REMOVAL_EJECT, EJECT_US);
}

static int
set_surprise(struct request *r)
{
	return remove_pf(r, MPSIM_REMOVAL_SURPRISE, 0);
}

static int
mute(struct mpsim_pf *pf, enum mpsim_mute mute)
{
	int ret = mpsim_tx_ring_set_stuck(pf, mute != MPSIM_MUTE_NOT);

	if (ret != 0)
		return ret;
	mpsim_nic_lock(pf->nic);
	pf->mute = mute;
	if (mute != MPSIM_MUTE_NOT)
		pf->nic->stats.lost += mpsim_pipe_drop(&pf->pipe, NULL);
	mpsim_nic_unlock(pf->nic);
	return 0;
}

static int
set_recovery(struct request *r)
{
	static const struct {
		const char *word;
		enum rte_eth_event_type event;
		enum mpsim_mute mute;
	} steps[] = {
		{"start", RTE_ETH_EVENT_ERR_RECOVERING, MPSIM_MUTE_RECOVERING},
		{"success", RTE_ETH_EVENT_RECOVERY_SUCCESS, MPSIM_MUTE_NOT},
		{"failed", RTE_ETH_EVENT_RECOVERY_FAILED, MPSIM_MUTE_DEAD},
	};

	for (unsigned int i = 0; i < RTE_DIM(steps); i++) {
		int ret;

		if (strcmp(argument(r, 1), steps[i].word) != 0)
			continue;
		ret = mute(r->pf, steps[i].mute);
		return ret != 0 ? ret : mpsim_hotplug_raise(r->pf->data->name, steps[i].event);
	}
	return refuse(r, EINVAL, "recovery: '%s': start, success or failed is needed",
		      argument(r, 1));
}

/* The PF works no more until it is reset, as a VF whose PF was. */
static int
set_reset(struct request *r)
{
	const char *how = argument(r, 1);
	int ret;

	if (how[0] != '\0' && strcmp(how, "fail") != 0)
		return refuse(r, EINVAL, "reset: '%s': fail, or nothing, is needed", how);
	ret = mute(r->pf, MPSIM_MUTE_RESET);
	if (ret != 0)
		return ret;
	r->pf->faults.reset_code = how[0] == '\0' ? 0 : EIO;
	return mpsim_hotplug_raise(r->pf->data->name, RTE_ETH_EVENT_INTR_RESET);
}

int
mpsim_fault_reset(struct mpsim_pf *pf)
{
	int ret;

	mpsim_control_lock();
	ret = -pf->faults.reset_code;
	if (ret == 0 && pf->mute == MPSIM_MUTE_RESET)
		ret = mute(pf, MPSIM_MUTE_NOT);
	mpsim_control_unlock();
	return ret;
}

static int
set_latency(struct request *r)
{
	uint32_t us = 0;
	int ret = read_number(r, 1, "microseconds", 0, MPSIM_LATENCY_MAX, &us);

	if (ret != 0)
		return ret;
	mpsim_nic_lock(r->pf->nic);
	ret = mpsim_pipe_set_latency(&r->pf->pipe, us);
	mpsim_nic_unlock(r->pf->nic);
	return ret;
}

static int
set_ring_full(struct request *r)
{
	struct mpsim_pf *pf = r->pf;
	uint32_t queue = 0;
	bool on;
	int ret = read_number(r, 1, "queue", 0, MPSIM_MAX_QUEUES - 1, &queue);

	if (ret == 0)
		ret = read_choice(r, 2, "off", "on", &on);
	if (ret != 0)
		return ret;
	mpsim_nic_lock(pf->nic);
	pf->faults.full_rings &= ~(UINT64_C(1) << queue);
	pf->faults.full_rings |= (uint64_t)on << queue;
	if (pf->rxq[queue] != NULL)
		pf->rxq[queue]->full = on;
	mpsim_nic_unlock(pf->nic);
	return 0;
}

static int
set_tx_stuck(struct request *r)
{
	bool on;
	int ret = read_choice(r, 1, "off", "on", &on);

	return ret != 0 ? ret : mpsim_tx_ring_set_stuck(r->pf, on);
}

/* Read "N[,COUNT]", or "N[,ERRNO[,COUNT]]" with has_code. */
static int
set_mishap(struct request *r, struct mpsim_mishap *m, bool has_code)
{
	uint32_t n = 1, count = 1, code = EIO;
	int ret = read_number(r, 1, "the n-th rule", 1, UINT32_MAX, &n);

	if (ret == 0 && has_code)
		ret = read_number(r, 2, "errno", 1, 133, &code);
	if (ret == 0)
		ret = read_number(r, has_code ? 3 : 2, "how many", 0, UINT32_MAX, &count);
	if (ret != 0)
		return ret;
	mpsim_nic_lock(r->pf->nic);
	*m = (struct mpsim_mishap){.skip = n - 1, .count = count, .code = (int)code};
	mpsim_nic_unlock(r->pf->nic);
	rte_atomic_store_explicit(&r->pf->faults.rules, true, rte_memory_order_relaxed);
	return 0;
}

static int
set_rule_fail(struct request *r)
{
	return set_mishap(r, &r->pf->faults.fail, true);
}

static int
set_rule_lost(struct request *r)
{
	return set_mishap(r, &r->pf->faults.lost, false);
}

static int
set_rule_false_error(struct request *r)
{
	return set_mishap(r, &r->pf->faults.false_error, false);
}

static int
set_rule_slow(struct request *r)
{
	uint32_t us = 0;
	int ret = read_number(r, 1, "microseconds", 0, 10 * US_PER_S, &us);

	if (ret != 0)
		return ret;
	mpsim_nic_lock(r->pf->nic);
	r->pf->faults.rule_us = us;
	mpsim_nic_unlock(r->pf->nic);
	rte_atomic_store_explicit(&r->pf->faults.rules, true, rte_memory_order_relaxed);
	return 0;
}

static int
set_room(struct request *r)
{
	const char *table = argument(r, 1);
	uint32_t *room, entries = 0;
	int ret = read_number(r, 2, "entries", 0, UINT32_MAX, &entries);

	if (ret != 0)
		return ret;
	if (strcmp(table, "mpfs") == 0)
		room = &r->pf->nic->room;
	else if (strcmp(table, "arfs") == 0)
		room = &r->pf->faults.room_arfs;
	else if (strcmp(table, "generic") == 0)
		room = &r->pf->faults.room_generic;
	else
		return refuse(r, EINVAL, "room: table '%s': mpfs, arfs or generic is needed",
			      table);
	mpsim_nic_lock(r->pf->nic);
	*room = entries;
	mpsim_nic_unlock(r->pf->nic);
	return 0;
}

void
mpsim_fault_init(struct mpsim_faults *f)
{
	*f = (struct mpsim_faults){
		.room_arfs = UINT32_MAX,
		.room_generic = UINT32_MAX,
	};
}

/* Clear all faults, and cancel a pending removal; the latency is that of the devarg again. */
static int
set_clear(struct request *r)
{
	struct mpsim_pf *pf = r->pf;
	int ret = mute(pf, MPSIM_MUTE_NOT);

	if (ret != 0)
		return ret;
	mpsim_hotplug_call_off(pf->data->name);
	mpsim_nic_lock(pf->nic);
	mpsim_fault_init(&pf->faults);
	pf->unplugged = false;
	/* ethdev has recorded a removal in the state */
	rte_eth_devices[pf->port_id].state = RTE_ETH_DEV_ATTACHED;
	for (uint16_t i = 0; i < MPSIM_MAX_QUEUES; i++)
		if (pf->rxq[i] != NULL)
			pf->rxq[i]->full = false;
	pf->nic->room = UINT32_MAX;
	ret = mpsim_pipe_set_latency(&pf->pipe, pf->args.latency_us);
	mpsim_nic_unlock(pf->nic);
	mpsim_link_apply(pf);
	mpsim_link_recheck();
	return ret;
}

static const struct fault faults[] = {
	{"link", "link,down|up", 1, 1, set_link},
	{"remove", "remove[,US]", 0, 1, set_remove},
	{"eject", "eject[,US]", 0, 1, set_eject},
	{"surprise", "surprise[,US]", 0, 1, set_surprise},
	{"plug", "plug[,wait]", 0, 1, NULL},
	{"recovery", "recovery,start|success|failed", 1, 1, set_recovery},
	{"reset", "reset[,fail]", 0, 1, set_reset},
	{"latency", "latency,US", 1, 1, set_latency},
	{"ring_full", "ring_full,QUEUE,on|off", 2, 2, set_ring_full},
	{"tx_stuck", "tx_stuck,on|off", 1, 1, set_tx_stuck},
	{"rule_fail", "rule_fail,N[,ERRNO[,COUNT]]", 1, 3, set_rule_fail},
	{"rule_lost", "rule_lost,N[,COUNT]", 1, 2, set_rule_lost},
	{"rule_false_error", "rule_false_error,N[,COUNT]", 1, 2, set_rule_false_error},
	{"rule_slow", "rule_slow,US", 1, 1, set_rule_slow},
	{"room", "room,mpfs|arfs|generic,ENTRIES", 2, 2, set_room},
	{"clear", "clear", 0, 0, set_clear},
};

static int
refuse_unknown(struct request *r)
{
	int len = snprintf(r->why, r->why_size, "'%s' is no fault: ", r->word[1]);

	for (unsigned int i = 0; i < RTE_DIM(faults) && (size_t)len < r->why_size; i++)
		len += snprintf(r->why + len, r->why_size - len, "%s%s", faults[i].name,
				i + 1 < RTE_DIM(faults) ? ", " : " are known");
	return -EINVAL;
}

static int
split(struct request *r, const char *text)
{
	char *at = r->text;

	if (strlen(text) >= sizeof(r->text))
		return refuse(r, EINVAL, "the text is too long");
	strlcpy(r->text, text, sizeof(r->text));
	while (at != NULL && r->nb_words < MAX_WORDS)
		r->word[r->nb_words++] = strsep(&at, ",");
	if (at == NULL && r->nb_words >= 2)
		return 0;
	return refuse(r, EINVAL, "'%s': TARGET,FAULT[,ARGUMENT...] is needed", text);
}

/* Is the PF the target, by its port id, its name, or that of its NIC? */
static bool
is_target(const struct mpsim_pf *pf, const char *text)
{
	char port[16];

	snprintf(port, sizeof(port), "%u", pf->port_id);
	return strcmp(text, port) == 0 || strcmp(text, pf->data->name) == 0 ||
	       (strcmp(text, pf->nic->name) == 0 && !mpsim_is_representor(pf));
}

static int
plug_device(struct request *r)
{
	int ret;

	if (argument(r, 1)[0] != '\0' && strcmp(argument(r, 1), "wait") != 0)
		return refuse(r, EINVAL, "plug: '%s': wait, or nothing, is needed", argument(r, 1));
	ret = mpsim_hotplug_insert(r->word[0], argument(r, 1)[0] == '\0');
	if (ret == -ENODEV)
		return refuse(r, ENODEV, "plug: no fault has removed a device '%s'", r->word[0]);
	if (ret == -EBUSY)
		return refuse(r, EBUSY, "plug: %s is not removed yet: try again", r->word[0]);
	return ret;
}

static int
set_on_targets(struct request *r, const struct fault *f)
{
	bool found = false;
	int ret = 0;

	for (struct mpsim_nic *nic = mpsim_nic_next(NULL); nic != NULL; nic = mpsim_nic_next(nic))
		for (uint16_t i = 0; ret == 0 && i < MPSIM_MAX_PORTS; i++) {
			r->pf = nic->pf[i];
			if (r->pf == NULL || !is_target(r->pf, r->word[0]))
				continue;
			found = true;
			ret = f->set(r);
		}
	if (!found)
		return refuse(r, ENODEV, "'%s': the port id or name of a PF, or a NIC, is needed",
			      r->word[0]);
	return ret;
}

int
mpsim_fault_set(const char *text, char *why, size_t size)
{
	struct request r = {.why = why, .why_size = size};
	const struct fault *f = NULL;
	int ret = split(&r, text);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < RTE_DIM(faults); i++)
		if (strcmp(faults[i].name, r.word[1]) == 0)
			f = &faults[i];
	if (f == NULL)
		return refuse_unknown(&r);
	if (r.nb_words - 2 < f->min_args || r.nb_words - 2 > f->max_args)
		return refuse(&r, EINVAL, "%s: '%s' is needed", f->name, f->form);
	snprintf(why, size, "%s: it failed", f->name);
	mpsim_control_lock();
	ret = f->set == NULL ? plug_device(&r) : set_on_targets(&r, f);
	mpsim_control_unlock();
	return ret;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mpsim_fault, 26.11)
int
rte_pmd_mpsim_fault(const char *text)
{
	char why[TEXT_MAX * 2];
	int ret = mpsim_fault_set(text, why, sizeof(why));

	if (ret != 0)
		MPSIM_LOG(ERR, "fault", "%s", why);
	return ret;
}
