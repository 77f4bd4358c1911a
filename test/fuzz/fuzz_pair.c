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

struct fuzz_pair fuzz_pair;

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

void
fuzz_pair_open(void)
{
	const char *args = "queues=4,wire=loop,wire_ring=256,mac=02:00:00:00:00:01";
	char text[128];

	lost_pf = -1;
	dark_pf = -1;
	fuzz_pair.was_faulty = false;
	fuzz_pair.lost_packets = false;
	snprintf(text, sizeof(text), "nic=A,%s", args);
	fuzz_add_port("net_mpsim0", text);
	fuzz_add_port("net_mpsim1", "nic=A,queues=4");
	fuzz_pair.port[FUZZ_OCTO] = fuzz_add_port("net_octo0",
						  "learn=off,rx_rings=full,pf=net_mpsim0,"
						  "pf=net_mpsim1");
	snprintf(text, sizeof(text), "nic=B,%s", args);
	fuzz_pair.port[FUZZ_BARE] = fuzz_add_port("net_mpsim2", text);
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
fault(int pf, const char *what)
{
	char text[64];

	snprintf(text, sizeof(text), "net_mpsim%d,%s", pf, what);
	return rte_pmd_mpsim_fault(text);
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
	remove_device("net_mpsim0");
	remove_device("net_mpsim1");
	remove_device("net_mpsim2");
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

static void
lose(int pf, const char *how)
{
	if (is_gone(0) || is_gone(1) || (dark_pf >= 0 && dark_pf != pf))
		return;
	FUZZ_CHECK(fault(pf, how) == 0, "PF %d takes no fault %s", pf, how);
	octo_port_pass_us(SETTLE_US);
	lost_pf = pf;
	dark_pf = -1;
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
	while (is_started() && has_all_queues() && fuzz_pair_live_pf(lost_pf) < 0 &&
	       octo_now() < end);
	FUZZ_CHECK(!is_started() || !has_all_queues() || fuzz_pair_live_pf(lost_pf) >= 0,
		   "PF %d does not join", lost_pf);
	lost_pf = -1;
}

static void
darken(int pf)
{
	if (is_gone(0) || is_gone(1) || dark_pf >= 0)
		return;
	FUZZ_CHECK(fault(pf, "link,down") == 0, "PF %d has a link", pf);
	octo_port_pass_us(SETTLE_US);
	dark_pf = pf;
}

static void
lighten(void)
{
	if (dark_pf < 0)
		return;
	FUZZ_CHECK(fault(dark_pf, "link,up") == 0, "PF %d has no link", dark_pf);
	octo_port_pass_us(SETTLE_US);
	dark_pf = -1;
}

void
fuzz_pair_fault(uint8_t what)
{
	const int pf = what & 1;

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
	fuzz_pair.was_faulty |= is_gone(0) || is_gone(1) || dark_pf >= 0;
}
