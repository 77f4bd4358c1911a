/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "mpsim.h"

#define WIRE_DESC 256

/* The wire's ethdev is being destroyed: after this callback its port id is invalid. */
static int
wire_destroyed(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret)
{
	struct mpsim_nic *nic = arg;

	RTE_SET_USED(event);
	RTE_SET_USED(ret);
	mpsim_nic_lock(nic);
	rte_spinlock_lock(&nic->tx_lock);
	if (nic->wire_port == port_id) {
		rte_atomic_store_explicit(&nic->wire_on, false, rte_memory_order_relaxed);
		nic->wire_port = RTE_MAX_ETHPORTS;
		MPSIM_LOG(NOTICE, nic->name, "the wire %s is gone", nic->wire_name);
	}
	rte_spinlock_unlock(&nic->tx_lock);
	mpsim_nic_unlock(nic);
	mpsim_link_recheck();
	return 0;
}

static int
wire_link_changed(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(port_id);
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	mpsim_link_recheck();
	return 0;
}

static int
listen_to(struct mpsim_nic *nic, uint16_t port)
{
	int ret = rte_eth_dev_callback_register(port, RTE_ETH_EVENT_DESTROY, wire_destroyed, nic);

	if (ret == 0)
		ret = rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, wire_link_changed,
						    nic);
	return ret;
}

static void
unlisten_to(struct mpsim_nic *nic, uint16_t port)
{
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_LSC, wire_link_changed, nic);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_DESTROY, wire_destroyed, nic);
}

/* Probe a --vdev that comes later on the command line. */
static int
probe_wire(const char *name)
{
	char text[RTE_ETH_NAME_MAX_LEN + 1024];
	struct rte_devargs *da;
	bool known = false;

	RTE_EAL_DEVARGS_FOREACH(NULL, da) {
		if (strcmp(da->name, name) != 0)
			continue;
		known = true;
		if (da->args != NULL && da->args[0] != '\0')
			snprintf(text, sizeof(text), "%s,%s", name, da->args);
		else
			snprintf(text, sizeof(text), "%s", name);
		break;
	}
	/* probing replaces the entry, so not inside the loop */
	return known ? rte_dev_probe(text) : -ENODEV;
}

/* Set *port to the ethdev of that name; it is probed if necessary. */
static int
find_ethdev(const char *who, const char *name, uint16_t *port)
{
	int ret = 0;

	if (rte_eth_dev_get_port_by_name(name, port) != 0)
		ret = probe_wire(name);
	if (ret == -E2BIG) {
		MPSIM_LOG(ERR, who,
			  "wire=%s: its arguments are too long for it to be probed "
			  "from here: give it before this PF",
			  name);
		return ret;
	}
	if (ret != 0 || rte_eth_dev_get_port_by_name(name, port) != 0) {
		MPSIM_LOG(ERR, who,
			  "wire=%s: there is no such ethdev: add --vdev=%s,... or another name",
			  name, name);
		return -ENODEV;
	}
	return 0;
}

static int
attach_ethdev(struct mpsim_nic *nic, const char *who, const char *name)
{
	struct rte_eth_dev_owner owner = {0};
	uint16_t port;
	int ret = find_ethdev(who, name, &port);

	if (ret != 0)
		return ret;
	if (mpsim_nic_pf_by_port(nic, port) != NULL) {
		MPSIM_LOG(ERR, who, "wire=%s is a port of NIC %s itself: use wire=loop", name,
			  nic->name);
		return -EINVAL;
	}
	ret = rte_eth_dev_owner_new(&owner.id);
	if (ret == 0) {
		snprintf(owner.name, sizeof(owner.name), "mpsim NIC %s", nic->name);
		ret = rte_eth_dev_owner_set(port, &owner);
	}
	if (ret != 0) {
		MPSIM_LOG(ERR, who, "wire=%s: the ethdev belongs to somebody else: %s", name,
			  rte_strerror(-ret));
		return ret;
	}
	ret = listen_to(nic, port);
	if (ret != 0) {
		unlisten_to(nic, port);
		rte_eth_dev_owner_unset(port, owner.id);
		return ret;
	}
	nic->wire_owner = owner.id;
	nic->wire_port = port;
	mpsim_wire_set_kind(nic, MPSIM_WIRE_ETHDEV);
	return 0;
}

static void
detach_ethdev(struct mpsim_nic *nic)
{
	if (nic->wire_port == RTE_MAX_ETHPORTS)
		return;
	unlisten_to(nic, nic->wire_port);
	rte_eth_dev_owner_unset(nic->wire_port, nic->wire_owner);
	nic->wire_port = RTE_MAX_ETHPORTS;
}

static void
cable(struct mpsim_nic *nic, struct mpsim_nic *peer)
{
	mpsim_nic_lock(nic);
	nic->peer = peer;
	if (nic != peer)
		snprintf(nic->wire_name, sizeof(nic->wire_name), "nic:%s", peer->name);
	mpsim_wire_set_kind(nic, nic == peer ? MPSIM_WIRE_LOOP : MPSIM_WIRE_NIC);
	mpsim_nic_unlock(nic);
}

/* Start the wire if PFs are running already: it may come with a later PF than the first. */
static int
start_if_running(struct mpsim_nic *nic)
{
	if (rte_atomic_load_explicit(&nic->started, rte_memory_order_relaxed) == 0)
		return 0;
	return mpsim_wire_start(nic);
}

static int
attach_nic(struct mpsim_nic *nic, const char *who, const char *wire)
{
	struct mpsim_nic *peer = mpsim_nic_find_or_create(wire + strlen("nic:"));

	if (peer == NULL) {
		MPSIM_LOG(ERR, who, "no memory for the NIC of wire=%s", wire);
		return -ENOMEM;
	}
	if (peer == nic) {
		MPSIM_LOG(ERR, who, "wire=%s names the NIC itself: use wire=loop", wire);
		return -EINVAL;
	}
	if (mpsim_wire_kind(peer) != MPSIM_WIRE_NONE) {
		MPSIM_LOG(ERR, who, "wire=%s: NIC %s has the wire %s already", wire, peer->name,
			  peer->wire_name);
		return -EBUSY;
	}
	cable(nic, peer);
	cable(peer, nic);
	return start_if_running(peer);
}

bool
mpsim_wire_differs(const struct mpsim_nic *nic, const struct mpsim_args *args)
{
	return (args->given & MPSIM_ARG_WIRE) && mpsim_wire_kind(nic) != MPSIM_WIRE_NONE &&
	       strcmp(nic->wire_name, args->wire) != 0;
}

int
mpsim_wire_attach(struct mpsim_nic *nic, const char *who, const struct mpsim_args *args)
{
	int ret = 0;

	if (!(args->given & MPSIM_ARG_WIRE) || mpsim_wire_kind(nic) != MPSIM_WIRE_NONE)
		return 0;
	if (args->wire_kind == MPSIM_WIRE_LOOP)
		cable(nic, nic);
	else if (args->wire_kind == MPSIM_WIRE_NIC)
		ret = attach_nic(nic, who, args->wire);
	else
		ret = attach_ethdev(nic, who, args->wire);
	if (ret != 0)
		return ret;
	strlcpy(nic->wire_name, args->wire, sizeof(nic->wire_name));
	return start_if_running(nic);
}

static void
drain(struct mpsim_nic *nic)
{
	struct rte_mbuf *pkts[MPSIM_BURST];
	unsigned int n;

	if (nic->wire_frames == NULL)
		return;
	do {
		n = rte_ring_dequeue_burst(nic->wire_frames, (void **)pkts, MPSIM_BURST, NULL);
		rte_pktmbuf_free_bulk(pkts, n);
		nic->stats.wire_lost += n;
	} while (n > 0);
}

void
mpsim_wire_detach(struct mpsim_nic *nic)
{
	if (mpsim_wire_kind(nic) == MPSIM_WIRE_ETHDEV)
		detach_ethdev(nic);
	drain(nic);
	rte_free(nic->wire_frames);
	nic->wire_frames = NULL;
	mpsim_wire_set_kind(nic, MPSIM_WIRE_NONE);
}

static int
start_ring(struct mpsim_nic *nic)
{
	const uint32_t slots = rte_align32pow2(nic->wire_ring + 1);
	struct rte_ring *r;
	int ret;

	if (nic->wire_frames != NULL)
		return 0;
	r = rte_zmalloc("mpsim_wire", rte_ring_get_memsize(slots), RTE_CACHE_LINE_SIZE);
	if (r == NULL)
		return -ENOMEM;
	/* senders may outnumber the CPUs: RTS, so that a preempted one does not block the others */
	ret = rte_ring_init(r, nic->name, nic->wire_ring,
			    RING_F_EXACT_SZ | RING_F_MP_RTS_ENQ | RING_F_SC_DEQ);
	if (ret != 0) {
		rte_free(r);
		return ret;
	}
	nic->wire_frames = r;
	return 0;
}

/* The largest MTU that both sides support. */
static uint16_t
wire_mtu(const struct rte_eth_dev_info *info)
{
	uint32_t mtu = info->max_mtu;

	/* without a limit of the MTU, the frame length limits it (eth_dev_validate_mtu) */
	if (mtu == UINT16_MAX || mtu == 0)
		mtu = info->max_rx_pktlen > MPSIM_OVERHEAD ? info->max_rx_pktlen - MPSIM_OVERHEAD :
							     RTE_ETHER_MTU;
	return RTE_MIN(mtu, (uint32_t)MPSIM_MTU_MAX);
}

static int
configure_ethdev(struct mpsim_nic *nic)
{
	const uint16_t port = nic->wire_port;
	uint16_t rx_desc = WIRE_DESC, tx_desc = WIRE_DESC;
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int ret;

	ret = rte_eth_dev_info_get(port, &info);
	if (ret != 0)
		return ret;
	conf.rxmode.mtu = wire_mtu(&info);
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	conf.intr_conf.lsc = (*info.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	nic->wire_linear = conf.txmode.offloads == 0;
	ret = rte_eth_dev_configure(port, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx_desc, &tx_desc);
	if (ret != 0)
		return ret;
	ret = rte_eth_rx_queue_setup(port, 0, rx_desc, SOCKET_ID_ANY, NULL, nic->pool);
	if (ret != 0) {
		MPSIM_LOG(ERR, nic->name,
			  "the wire %s takes no buffers of %u bytes: its frames may be longer; "
			  "of net_af_packet, framesz=8192 fits",
			  nic->wire_name, MPSIM_FRAME_MAX);
		return ret;
	}
	return rte_eth_tx_queue_setup(port, 0, tx_desc, SOCKET_ID_ANY, NULL);
}

static int
start_ethdev(struct mpsim_nic *nic)
{
	int ret;

	if (nic->wire_port == RTE_MAX_ETHPORTS)
		return -ENODEV;
	ret = configure_ethdev(nic);
	if (ret == 0)
		ret = rte_eth_dev_start(nic->wire_port);
	if (ret != 0) {
		MPSIM_LOG(ERR, nic->name, "the wire %s does not start: %s", nic->wire_name,
			  rte_strerror(-ret));
		return ret;
	}
	/* the NIC has its own MAC filter; not an error, as not every ethdev can be promiscuous */
	rte_eth_promiscuous_enable(nic->wire_port);
	rte_eth_allmulticast_enable(nic->wire_port);
	rte_atomic_store_explicit(&nic->wire_on, true, rte_memory_order_release);
	return 0;
}

int
mpsim_wire_start(struct mpsim_nic *nic)
{
	int ret;

	switch (mpsim_wire_kind(nic)) {
	case MPSIM_WIRE_LOOP:
	case MPSIM_WIRE_NIC:
		return start_ring(nic);
	case MPSIM_WIRE_ETHDEV:
		ret = mpsim_nic_need_pool(nic);
		if (ret == 0)
			ret = start_ring(nic);
		return ret == 0 ? start_ethdev(nic) : ret;
	default:
		return 0;
	}
}

void
mpsim_wire_stop(struct mpsim_nic *nic)
{
	mpsim_nic_lock(nic);
	rte_spinlock_lock(&nic->tx_lock);
	rte_atomic_store_explicit(&nic->wire_on, false, rte_memory_order_relaxed);
	rte_spinlock_unlock(&nic->tx_lock);
	drain(nic);
	mpsim_nic_unlock(nic);
	if (mpsim_wire_kind(nic) == MPSIM_WIRE_ETHDEV && nic->wire_port != RTE_MAX_ETHPORTS)
		rte_eth_dev_stop(nic->wire_port);
}

bool
mpsim_wire_is_up(struct mpsim_nic *nic)
{
	struct rte_eth_link link = {0};

	switch (mpsim_wire_kind(nic)) {
	case MPSIM_WIRE_NIC:
		return nic->peer->nb_ports > 0;
	case MPSIM_WIRE_ETHDEV:
		return nic->wire_port != RTE_MAX_ETHPORTS &&
		       rte_eth_link_get_nowait(nic->wire_port, &link) == 0 &&
		       link.link_status == RTE_ETH_LINK_UP;
	default:
		return true;
	}
}
