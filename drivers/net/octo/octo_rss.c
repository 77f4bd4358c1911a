/* SPDX-License-Identifier: BSD-3-Clause */

/* RSS is equal on all PFs, so that a flow reaches the same queue by whichever PF it arrives. */

#include <errno.h>

#include "octo_private.h"

/* Used if the application gives no key: the PFs' default keys may differ. */
static const uint8_t default_key[OCTO_MAX_RSS_KEY] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43,
	0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb,
	0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01,
	0xfa, 0x9a, 0x1e, 0x57, 0xc3, 0x36, 0xd1, 0x8b, 0x4f, 0xe2, 0x70, 0x1d, 0x95,
	0x68, 0xbf, 0x0b, 0x27, 0xc8, 0x5d, 0xf4, 0x13, 0x99, 0x7e, 0xa0, 0x3c,
};

/* Keep a copy of the hash settings for PFs that come back: the application may free its key. */
void
octo_rss_keep_hash(struct octo_dev *octo, const struct rte_eth_rss_conf *rss)
{
	const struct octo_nic_kernel *kernel = &octo->port[0].kernel;
	struct octo_settings *s = &octo->settings;

	s->rss_hf = rss->rss_hf;
	/* whatever the application has: the kernel goes on hashing as before */
	if (kernel->on) {
		s->rss_hf = kernel->hash_types;
		s->rss_key_len = kernel->key_size;
		memcpy(s->rss_key, kernel->key, kernel->key_size);
		return;
	}
	if (rss->rss_key == NULL)
		return;
	s->rss_key_len = RTE_MIN(rss->rss_key_len, sizeof(s->rss_key));
	/*
	 * Not memcpy(): the application may pass the pointer that rte_eth_dev_conf_get()
	 * returned, which is this key.
	 */
	memmove(s->rss_key, rss->rss_key, s->rss_key_len);
}

static bool
is_asked_for(const struct octo_dev *octo)
{
	return (octo_data(octo)->dev_conf.rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) != 0;
}

/* Without RSS all is to go to queue 0. */
static void
fill_default(struct octo_dev *octo)
{
	const uint16_t nb = octo_data(octo)->nb_rx_queues;

	for (uint16_t i = 0; i < octo->reta_size; i++)
		octo->reta[i] = nb > 0 && is_asked_for(octo) ? i % nb : 0;
}

/* Complete a PF's configuration with the key that all PFs get. */
int
octo_rss_configure(struct octo_dev *octo)
{
	struct rte_eth_rss_conf *rss = &octo_data(octo)->dev_conf.rx_adv_conf.rss_conf;
	const bool by_pfs = is_asked_for(octo) && !octo->port[0].kernel.on;
	struct rte_eth_dev_info info;
	int ret = octo_info_get(&rte_eth_devices[octo->port_id], &info);

	if (ret != 0)
		return ret;
	octo->settings.rss_key_len = 0;
	if (is_asked_for(octo))
		octo_rss_set_length(rss, info.hash_key_size);
	octo->rss_by_app = rss->rss_key != NULL;
	octo->reta_size = info.reta_size;
	octo->reta_stale = false;
	fill_default(octo);
	if (octo->port[0].kernel.on)
		ret = octo_port_nic(&octo->port[0])->hash_update(&octo->port[0], rss);
	if (ret != 0)
		return ret;
	if (by_pfs && rss->rss_key == NULL && info.hash_key_size > 0) {
		rss->rss_key = (uint8_t *)(uintptr_t)default_key;
		rss->rss_key_len = info.hash_key_size;
	}
	octo_rss_keep_hash(octo, rss);
	/* point the configuration to the kept copy: a PMD may read the key again at each start */
	if (octo->rss_by_app) {
		rss->rss_key = octo->settings.rss_key;
		rss->rss_key_len = octo->settings.rss_key_len;
	}
	if (by_pfs && octo->nb_pfs > 1 && (info.hash_key_size == 0 || info.reta_size == 0))
		OCTO_LOG(WARNING,
			 "port %u: the PFs' RSS cannot be made equal: a flow that "
			 "changes PF may change queue",
			 octo->port_id);
	return 0;
}

struct reta_arg {
	struct rte_eth_rss_reta_entry64 entries[OCTO_MAX_RETA / RTE_ETH_RETA_GROUP_SIZE];
	uint16_t size;
};

/* Only slices have several legs to choose from: another port's RETA has the queues themselves. */
static void
set_entry(const struct octo_dev *octo, struct reta_arg *arg, uint16_t i, uint16_t queue)
{
	const uint8_t pf = octo->sliced ? octo->leg_pf[queue] : 0;

	arg->entries[i / RTE_ETH_RETA_GROUP_SIZE].mask |= RTE_BIT64(i % RTE_ETH_RETA_GROUP_SIZE);
	arg->entries[i / RTE_ETH_RETA_GROUP_SIZE]
		.reta[i % RTE_ETH_RETA_GROUP_SIZE] = octo_pf_leg(&octo->pf[pf], queue).queue;
}

/* The RETA of a port, from one of octo queues. */
static void
set_entries(const struct octo_dev *octo, struct reta_arg *arg, const uint16_t *reta)
{
	arg->size = octo->reta_size;
	for (uint16_t i = 0; i < octo->reta_size; i++)
		set_entry(octo, arg, i, reta[i]);
}

static int
pf_reta_update(struct octo_port *port, const void *arg)
{
	struct reta_arg reta = *(const struct reta_arg *)arg;

	return octo_port_nic(port)->reta_update(port, reta.entries, reta.size);
}

int
octo_rss_apply_reta_locked(struct octo_dev *octo, const uint16_t *reta)
{
	struct reta_arg arg = {0};
	struct reta_arg before = {0};

	set_entries(octo, &arg, reta);
	set_entries(octo, &before, octo->reta);
	return octo_port_apply(octo, OCTO_PORT_READY, "update the RETA", pf_reta_update,
			       pf_reta_update, &arg, &before);
}

/* The kernel's RSS cannot be turned off. */
bool
octo_rss_is_on(const struct octo_dev *octo)
{
	return octo->port[0].kernel.on || is_asked_for(octo);
}

int
octo_rss_set_pf_reta(struct octo_dev *octo, uint8_t port, const uint16_t *reta)
{
	struct reta_arg arg = {0};

	set_entries(octo, &arg, reta);
	return pf_reta_update(&octo->port[port], &arg);
}

int
octo_rss_lead_queue_locked(struct octo_dev *octo, uint16_t queue)
{
	struct reta_arg arg = {.size = octo->reta_size};
	bool any = false;
	int ret;

	if (!octo_rss_is_on(octo))
		return 0;
	for (uint16_t i = 0; i < octo->reta_size; i++) {
		if (octo->reta[i] != queue && !octo->reta_stale)
			continue;
		set_entry(octo, &arg, i, octo->reta[i]);
		any = true;
	}
	/* the port gets the whole RETA when it is back */
	if (!any || !octo_port_is(&octo->port[0], OCTO_PORT_RUNNING))
		return 0;
	ret = pf_reta_update(&octo->port[0], &arg);
	if (ret == 0)
		octo->reta_stale = false;
	return ret;
}

/* Without RSS all packets are sent to queue 0 of the port, without a RETA to all its queues. */
int
octo_rss_check_slices(const struct octo_dev *octo)
{
	if (!octo->sliced || octo_data(octo)->nb_rx_queues == 0)
		return 0;
	if (!octo_rss_is_on(octo) && octo_slices_pf_of(octo, 0) == OCTO_NO_PF) {
		OCTO_LOG(ERR,
			 "port %u: without RSS packets go to queue 0 of %s, which is in no slice: "
			 "give a slice that has it, or configure RSS",
			 octo->port_id, octo->port[0].name);
		return -EINVAL;
	}
	if (octo_rss_is_on(octo) && octo->reta_size == 0 && octo_slices_nb_idle(octo) > 0) {
		OCTO_LOG(ERR,
			 "port %u: %s has no RETA to keep RSS from queues that are no leg: give "
			 "slices that leave none out, like 0::2 and 1::2",
			 octo->port_id, octo->port[0].name);
		return -ENOTSUP;
	}
	return 0;
}

/*
 * At start: give all PFs the same RETA, the application's or the default one. Returns an error only
 * if packets would be sent to queues that nothing polls.
 */
int
octo_rss_level(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	int ret;

	if (!octo_rss_is_on(octo) || octo->reta_size == 0 || data->nb_rx_queues == 0)
		return 0;
	if (octo->port[0].kernel.on)
		return octo_rss_resync_locked(octo, 0);
	ret = octo_rss_apply_reta_locked(octo, octo->reta);
	if (ret != 0)
		OCTO_LOG(WARNING,
			 "port %u: the PFs' RETAs may differ: a flow that changes PF may "
			 "change queue",
			 octo->port_id);
	return octo_slices_nb_idle(octo) > 0 ? ret : 0;
}

/*
 * Give the RETA to a PF that came back; its configuration has set the hash. A refusal of the kernel
 * may end: octo_sync.c tries again, and meanwhile RSS goes to any queue, of which none is idle.
 */
int
octo_rss_resync_locked(struct octo_dev *octo, uint8_t port)
{
	int ret;

	if (!octo_rss_is_on(octo) || octo->reta_size == 0 || octo_data(octo)->nb_rx_queues == 0)
		return 0;
	ret = octo_rss_set_pf_reta(octo, port, octo->reta);
	octo->reta_stale = octo->port[port].kernel.on && ret != 0;
	return octo->reta_stale && octo_slices_nb_idle(octo) == 0 ? 0 : ret;
}

void
octo_rss_remember(struct octo_dev *octo)
{
	const struct octo_port *port = &octo->port[0];
	const uint16_t size = port->past.info.reta_size;

	if (!octo->sliced || port->kernel.on || port->past.info.nb_rx_queues == 0 || size == 0 ||
	    size > OCTO_MAX_RETA)
		return;
	for (uint16_t i = 0; i < RTE_DIM(octo->found.reta); i++)
		octo->found.reta[i].mask = UINT64_MAX;
	if (rte_eth_dev_rss_reta_query(port->port_id, octo->found.reta, size) != 0)
		return;
	octo->found.size = size;
	octo->found.life = port->fsm.life;
}

/* It may name queues that the port does not have any more. */
static bool
can_have_found(const struct octo_dev *octo, uint16_t nb_queues)
{
	if (octo->found.size != octo->reta_size || octo->found.life != octo->port[0].fsm.life)
		return false;
	for (uint16_t i = 0; i < octo->found.size; i++)
		if (octo->found.reta[i / RTE_ETH_RETA_GROUP_SIZE]
			    .reta[i % RTE_ETH_RETA_GROUP_SIZE] >= nb_queues)
			return false;
	return true;
}

/* All queues in turn, as drivers have it that nobody gives a RETA. */
static void
fill_found(struct octo_dev *octo, uint16_t nb_queues)
{
	for (uint16_t i = 0; i < octo->reta_size; i++) {
		struct rte_eth_rss_reta_entry64
			*group = &octo->found.reta[i / RTE_ETH_RETA_GROUP_SIZE];

		group->mask = UINT64_MAX;
		group->reta[i % RTE_ETH_RETA_GROUP_SIZE] = i % nb_queues;
	}
}

void
octo_rss_give_back_locked(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint16_t nb = octo_slices_total(octo,
					      RTE_MAX(data->nb_rx_queues, data->nb_tx_queues));
	struct octo_port *port = &octo->port[0];
	int ret;

	if (!octo->sliced || port->kernel.on || port->probed_here || nb == 0 ||
	    octo->reta_size == 0 || !octo_rss_is_on(octo) || !octo_port_is(port, OCTO_PORT_READY) ||
	    !octo_attach_is_ours(octo->owner_id, port))
		return;
	if (!can_have_found(octo, nb))
		fill_found(octo, nb);
	ret = rte_eth_dev_rss_reta_update(port->port_id, octo->found.reta, octo->reta_size);
	if (ret != 0)
		OCTO_LOG(WARNING, "port %u: PF %s keeps the RETA of home legs: %s", octo->port_id,
			 port->name, rte_strerror(-ret));
}
