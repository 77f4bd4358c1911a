/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_mbuf.h>

#include <ethdev_driver.h>

#include "fuzz_pair.h"
#include "mpsim_control.h"
#include "octo_port.h"

#define MBUFS 8191
#define SETTLE_US 20000
#define JOIN_US 3000000
#define BARE_PF "net_mpsim3"

struct fuzz_pair fuzz_pair;

static const char *const pf_names[] = {"net_mpsim0", "net_mpsim1", "net_mpsim2"};

/* Which PF has which fault, else -1. */
static int lost_pf, dark_pf;

/* What octo_port_time.c asks of the port tests' rig: no thread runs beside the target. */
bool
octo_port_thread_is_to_stop(void)
{
	return false;
}

bool
octo_port_thread_runs(void)
{
	return false;
}

void
octo_port_thread_go_around(void)
{
}

static struct rte_mempool *
make_pool(const char *name, unsigned int mbufs, uint16_t room)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(name, mbufs, 0, 0, room, SOCKET_ID_ANY);

	FUZZ_CHECK(pool != NULL, "no mbufs");
	return pool;
}

void
fuzz_pair_init(void)
{
	fuzz_eal_init();
	octo_port_time_start();
	fuzz_pair.pool[FUZZ_OCTO] = make_pool("octo", MBUFS, RTE_MBUF_DEFAULT_BUF_SIZE);
	fuzz_pair.pool[FUZZ_BARE] = make_pool("bare", MBUFS, RTE_MBUF_DEFAULT_BUF_SIZE);
	fuzz_pair.narrow[FUZZ_OCTO] = make_pool("octo_narrow", 63, RTE_PKTMBUF_HEADROOM + 64);
	fuzz_pair.narrow[FUZZ_BARE] = make_pool("bare_narrow", 63, RTE_PKTMBUF_HEADROOM + 64);
}

/* The first PF of a NIC has the wire. */
static const struct layout {
	unsigned int nb_pfs, nb_ports;
	const char *port[FUZZ_PAIR_MAX_PFS], *octo, *bare;
} layouts[] = {
	[FUZZ_PFS] = {2, 2, {"queues=4", "queues=4"}, "pf=net_mpsim0,pf=net_mpsim1", "queues=4"},
	[FUZZ_INTERLEAVED] =
		{2, 1, {"queues=8"}, "pf=net_mpsim0[0::2],pf=net_mpsim0[1::2]", "queues=4"},
	[FUZZ_CONTIGUOUS] =
		{2, 1, {"queues=8"}, "pf=net_mpsim0[0/2],pf=net_mpsim0[1/2]", "queues=4"},
	[FUZZ_UNEQUAL] = {3,
			  3,
			  {"queues=4", "queues=4,caps=-runtime", "queues=4,caps=-split"},
			  "pf=net_mpsim0,pf=net_mpsim1,pf=net_mpsim2",
			  "queues=4,caps=-runtime/-split"},
};

static const struct layout *
layout(void)
{
	return &layouts[fuzz_pair.kind];
}

uint16_t
fuzz_pair_leg(unsigned int pf, uint16_t queue)
{
	if (fuzz_pair.kind == FUZZ_INTERLEAVED)
		return layout()->nb_pfs * queue + pf;
	return fuzz_pair.kind == FUZZ_CONTIGUOUS ? FUZZ_PAIR_QUEUES * pf + queue : queue;
}

/* What the simulator has no devargs for: each PF of three lacks something, the bare one all. */
int __real_mpsim_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info);
int __wrap_mpsim_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info);

int
__wrap_mpsim_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const int ret = __real_mpsim_infos_get(dev, info);
	const bool bare = strcmp(dev->data->name, BARE_PF) == 0;

	if (fuzz_pair.kind != FUZZ_UNEQUAL)
		return ret;
	if (bare || strcmp(dev->data->name, "net_mpsim0") == 0) {
		info->rx_queue_offload_capa &= ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
		info->tx_offload_capa &= ~RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
		info->tx_queue_offload_capa &= ~RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
		info->max_mac_addrs = 16;
	}
	if (bare || strcmp(dev->data->name, "net_mpsim1") == 0) {
		info->rx_desc_lim.nb_max = 512;
		info->default_rxportconf.ring_size = 512;
		info->tx_desc_lim.nb_align = 8;
		info->flow_type_rss_offloads &= ~RTE_ETH_RSS_NONFRAG_IPV4_TCP;
	}
	if (bare || strcmp(dev->data->name, "net_mpsim2") == 0) {
		info->tx_desc_lim.nb_min = 64;
		info->rx_offload_capa &= ~RTE_ETH_RX_OFFLOAD_RSS_HASH;
	}
	return ret;
}

static uint16_t
add_pf(const char *name, const char *nic, bool has_wire, const char *args)
{
	char text[160];

	snprintf(text, sizeof(text), "nic=%s%s,%s", nic,
		 has_wire ? ",wire=loop,wire_ring=256,mac=02:00:00:00:00:01" : "", args);
	return fuzz_add_port(name, text);
}

void
fuzz_pair_open(enum fuzz_kind kind)
{
	char text[128];

	lost_pf = -1;
	dark_pf = -1;
	fuzz_pair.was_faulty = false;
	fuzz_pair.lost_packets = false;
	fuzz_pair.kind = kind;
	fuzz_pair.nb_pfs = layout()->nb_pfs;
	fuzz_pair.sliced = layout()->nb_ports == 1;
	for (unsigned int i = 0; i < layout()->nb_ports; i++)
		add_pf(pf_names[i], "A", i == 0, layout()->port[i]);
	snprintf(text, sizeof(text), "learn=off,rx_rings=full,%s", layout()->octo);
	fuzz_pair.port[FUZZ_OCTO] = fuzz_add_port("net_octo0", text);
	fuzz_pair.port[FUZZ_BARE] = add_pf(BARE_PF, "B", true, layout()->bare);
}

static void
discard(void *arg)
{
	rte_eal_hotplug_remove("vdev", arg);
}

/* Where octo and the simulator probe and remove devices. A PF that is lost is gone already. */
static void
remove_device(const char *name)
{
	FUZZ_CHECK(rte_eal_alarm_set(1, discard, (void *)(uintptr_t)name) == 0, "no alarm");
	octo_port_await_interrupts();
}

/* A fault of a PF that is there; it may be called off by what happened since. */
static int
fault_of(const char *pf, const char *what)
{
	char text[64];

	snprintf(text, sizeof(text), "%s,%s", pf, what);
	return rte_pmd_mpsim_fault(text);
}

static int
fault(int pf, const char *what)
{
	return fault_of(pf_names[pf], what);
}

void
fuzz_pair_close(void)
{
	for (unsigned int who = 0; who < FUZZ_BOTH; who++) {
		rte_eth_dev_stop(fuzz_pair.port[who]);
		FUZZ_CHECK(rte_mempool_in_use_count(fuzz_pair.pool[who]) == 0,
			   "port %u: %u mbufs are left", who,
			   rte_mempool_in_use_count(fuzz_pair.pool[who]));
		FUZZ_CHECK(rte_eth_dev_close(fuzz_pair.port[who]) == 0, "port %u stays open", who);
	}
	if (lost_pf >= 0)
		fault(lost_pf, "plug");
	octo_port_await_interrupts();
	remove_device("net_octo0");
	for (unsigned int i = 0; i < layout()->nb_ports; i++)
		remove_device(pf_names[i]);
	remove_device(BARE_PF);
	FUZZ_CHECK(rte_eth_dev_count_total() == 0, "a port is left");
}

static struct octo_view_pf
look_at(unsigned int pf)
{
	struct octo_view_topology view;

	FUZZ_CHECK(rte_pmd_octo_view_topology(fuzz_pair.port[FUZZ_OCTO], &view) == 0, "no octo");
	return view.pf[pf];
}

int
fuzz_pair_live_pf(unsigned int pf)
{
	const struct octo_view_pf view = look_at(pf);

	return strcmp(view.state, "started") == 0 ? view.port_id : -1;
}

/* A port that is stopped may not have taken a PF yet that is back. */
static bool
is_gone(unsigned int pf)
{
	return strcmp(look_at(pf).state, "gone") == 0;
}

static bool
is_started(void)
{
	return rte_eth_devices[fuzz_pair.port[FUZZ_OCTO]].data->dev_started;
}

/* Else no PF can join a running port: it would lack a queue. */
static bool
has_all_queues(void)
{
	const struct rte_eth_dev_data *data = rte_eth_devices[fuzz_pair.port[FUZZ_OCTO]].data;

	for (uint16_t q = 0; q < data->nb_rx_queues; q++)
		if (data->rx_queues[q] == NULL)
			return false;
	for (uint16_t q = 0; q < data->nb_tx_queues; q++)
		if (data->tx_queues[q] == NULL)
			return false;
	return true;
}

static bool
is_any_gone(void)
{
	for (unsigned int pf = 0; pf < fuzz_pair.nb_pfs; pf++)
		if (is_gone(pf))
			return true;
	return false;
}

/* A port that is stopped takes a PF at its start. */
static bool
is_to_join(int pf)
{
	return is_started() && has_all_queues() && fuzz_pair_live_pf(pf) < 0;
}

static void
plug(void)
{
	const uint64_t end = octo_deadline(JOIN_US);

	if (lost_pf < 0)
		return;
	FUZZ_CHECK(fault(lost_pf, "plug") == 0, "PF %d is not plugged", lost_pf);
	do
		octo_port_pass_us(SETTLE_US);
	while (is_to_join(lost_pf) && octo_now() < end);
	FUZZ_CHECK(!is_to_join(lost_pf), "PF %d does not join", lost_pf);
	lost_pf = -1;
}

static void
lose(int pf, const char *how)
{
	if (is_any_gone() || (dark_pf >= 0 && dark_pf != pf))
		return;
	if (fuzz_pair.sliced && !(is_started() && has_all_queues()))
		return;
	FUZZ_CHECK(fault(pf, how) == 0, "PF %d takes no fault %s", pf, how);
	octo_port_pass_us(SETTLE_US);
	lost_pf = pf;
	fuzz_pair.was_faulty = true;
	if (!fuzz_pair.sliced) {
		dark_pf = -1;
		return;
	}
	plug();
	if (dark_pf >= 0)
		FUZZ_CHECK(fault(dark_pf, "link,down") == 0, "the port has a link");
	octo_port_pass_us(SETTLE_US);
}

static void
set_link(int pf, const char *how)
{
	FUZZ_CHECK(fault(pf, how) == 0, "PF %d: %s", pf, how);
	if (fuzz_pair.sliced)
		FUZZ_CHECK(fault_of(BARE_PF, how) == 0, "the bare PF: %s", how);
	octo_port_pass_us(SETTLE_US);
}

static void
darken(int pf)
{
	if (is_any_gone() || dark_pf >= 0)
		return;
	set_link(pf, "link,down");
	dark_pf = pf;
}

static void
lighten(void)
{
	if (dark_pf < 0)
		return;
	set_link(dark_pf, "link,up");
	dark_pf = -1;
}

void
fuzz_pair_fault(uint8_t what)
{
	const int pf = fuzz_pair.sliced                            ? 0 :
		       fuzz_pair.kind == FUZZ_UNEQUAL && what & 16 ? 2 :
								     what & 1;

	fuzz_pair.lost_packets |= rte_mempool_in_use_count(fuzz_pair.pool[FUZZ_OCTO]) != 0;
	switch (what >> 1 & 7) {
	case 0:
		lose(pf, "remove");
		break;
	case 1:
		lose(pf, "surprise");
		break;
	case 2:
	case 3:
		plug();
		break;
	case 4:
		darken(pf);
		break;
	case 5:
		lighten();
		break;
	default:
		octo_port_pass_us(1000 << (what >> 5));
	}
	fuzz_pair.was_faulty |= is_any_gone() || dark_pf >= 0;
}
