/* SPDX-License-Identifier: BSD-3-Clause */

/* Every packet is counted once, on the right leg, and bears the port's number. */

#include <errno.h>

#include <ethdev_driver.h>
#include <rte_mbuf.h>

#include "octo_port.h"

#define BURST 32

/* Queue 0 is at home on PF 0, and what no rule steers comes in by PF 1: strays of queue 0. */
static const struct octo_port_conf stray_conf = {.nic = "default_pf=1"};

#define HOME_FLOW 7
#define STRAY_FLOW 8

/* Queue 1 is for pumping only. */
static uint16_t
create_with_strays(const struct octo_port_conf *conf)
{
	uint16_t port = octo_port_create(conf);

	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, HOME_FLOW, 0, NULL));
	assert_int_equal(octo_port_rule_pf(port, HOME_FLOW), 0);
	return port;
}

static void
fill_legs(uint16_t port, unsigned int home, unsigned int stray)
{
	octo_port_send(port, 0, HOME_FLOW, home);
	octo_port_send(port, 0, STRAY_FLOW, stray);
	octo_port_pump(1);
	assert_int_equal(rte_eth_rx_queue_count(octo_port_pf(0), 0), home);
	assert_int_equal(rte_eth_rx_queue_count(octo_port_pf(1), 0), stray);
}

static void
assert_queue_0(uint16_t port, uint64_t home, uint64_t stray)
{
	assert_int_equal(octo_port_xstat(port, "rx_q0_home_packets"), home);
	assert_int_equal(octo_port_xstat(port, "rx_q0_stray_packets"), stray);
	assert_int_equal(octo_port_xstat(port, "rx_q0_home_bytes"), home * OCTO_PORT_FRAME_LEN);
	assert_int_equal(octo_port_xstat(port, "rx_q0_stray_bytes"), stray * OCTO_PORT_FRAME_LEN);
	assert_int_equal(octo_port_xstat(port, "rx_home_packets"), home);
	assert_int_equal(octo_port_xstat(port, "rx_stray_packets"), stray);
}

static void
check_burst_size(uint16_t port, uint16_t nb)
{
	struct octo_port_tally tally = {0};

	assert_int_equal(rte_eth_xstats_reset(port), 0);
	fill_legs(port, 40, 40);
	for (int i = 0; i < 1000; i++)
		octo_port_poll(port, 0, nb, &tally);
	assert_int_equal(tally.packets, nb == 0 ? 0 : 80);
	assert_int_equal(tally.wrong_port, 0);
	assert_int_equal(tally.wrong_flow, 0);
	assert_queue_0(port, nb == 0 ? 0 : 40, nb == 0 ? 0 : 40);
	octo_port_receive(port, 0, 80, &tally);
	assert_int_equal(tally.packets, 80);
}

static void
test_small_bursts(void **state)
{
	uint16_t port = create_with_strays(&stray_conf);

	(void)state;
	for (uint16_t nb = 0; nb < 4; nb++)
		check_burst_size(port, nb);
	check_burst_size(port, BURST);
}

/* While the home leg is flooded, strays get their quarter; not more, and not less for long. */
static void
check_quarter(uint16_t port, uint16_t nb)
{
	struct octo_port_tally tally = {0};
	uint64_t strays;

	assert_int_equal(rte_eth_xstats_reset(port), 0);
	fill_legs(port, 500, 400);
	while (tally.packets < 400)
		assert_true(octo_port_poll(port, 0, nb, &tally) > 0);
	strays = octo_port_xstat(port, "rx_q0_stray_packets");
	assert_in_range(strays, 400 / 5, 400 * 3 / 10);
	octo_port_receive(port, 0, 900 - tally.packets, &tally);
	assert_int_equal(tally.packets, 900);
	assert_int_equal(tally.wrong_port, 0);
	assert_int_equal(tally.wrong_flow, 0);
	assert_queue_0(port, 500, 400);
}

static void
test_strays_do_not_starve(void **state)
{
	uint16_t port = create_with_strays(&stray_conf);

	(void)state;
	check_quarter(port, 1);
	check_quarter(port, 4);
	check_quarter(port, 5);
	check_quarter(port, 16);
	check_quarter(port, BURST);
}

/* With the home leg idle, strays may have all of the burst. */
static void
test_strays_alone_are_not_held_back(void **state)
{
	uint16_t port = create_with_strays(&stray_conf);
	struct octo_port_tally tally = {0};
	unsigned int bursts;

	(void)state;
	fill_legs(port, 0, 480);
	for (bursts = 0; tally.packets < 480; bursts++)
		octo_port_poll(port, 0, BURST, &tally);
	assert_true(bursts <= 480 / BURST + 2);
	assert_queue_0(port, 0, 480);
}

/* A poller that sleeps while nothing comes need not come back 64 times. */
static void
test_a_sleeper_sees_strays_when_it_wakes(void **state)
{
	static const struct octo_port_conf conf = {.nb_pfs = 4, .nic = "default_pf=2"};
	struct octo_port_tally tally = {0};
	uint16_t port = create_with_strays(&conf);

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(octo_port_poll(port, 0, BURST, &tally), 0);
	octo_port_send(port, 0, STRAY_FLOW, 1);
	octo_port_pump(1);
	for (int i = 0; i < 3; i++)
		octo_port_poll(port, 0, BURST, &tally);
	assert_int_equal(tally.packets, 1);
}

/* Who has work looks at idle legs as rarely as ever. */
static void
test_idle_legs_cost_a_busy_poller_nothing(void **state)
{
	uint16_t port = create_with_strays(&stray_conf);
	struct octo_port_tally tally = {0};
	unsigned int bursts = 0;

	(void)state;
	fill_legs(port, 500, 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(octo_port_poll(port, 0, 1, &tally), 1);
	octo_port_send(port, 0, STRAY_FLOW, 1);
	octo_port_pump(1);
	for (; octo_port_xstat(port, "rx_q0_stray_packets") == 0; bursts++)
		assert_int_equal(octo_port_poll(port, 0, 1, &tally), 1);
	assert_in_range(bursts, 16, 64);
}

/* What is sent = what comes + what is counted as dropped; rings are smaller than the load. */
static void
test_all_packets_are_accounted_for(void **state)
{
	uint16_t port = create_with_strays(&stray_conf);
	struct octo_port_tally tally = {0};
	struct rte_eth_stats stats;

	(void)state;
	octo_port_send(port, 0, HOME_FLOW, 900);
	octo_port_send(port, 1, STRAY_FLOW, 800);
	octo_port_pump(1);
	octo_port_receive(port, 0, 1700, &tally);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.opackets, 1700);
	assert_int_equal(stats.obytes, 1700 * OCTO_PORT_FRAME_LEN);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 900);
	assert_int_equal(octo_port_xstat(port, "tx_q1_pf1_packets"), 800);
	assert_int_equal(octo_port_xstat(port, "tx_pf0_packets"), 900);
	assert_int_equal(octo_port_xstat(port, "tx_pf1_packets"), 800);
	assert_true(stats.imissed > 0);
	assert_int_equal(stats.ipackets + stats.imissed + stats.ierrors + stats.rx_nombuf, 1700);
	assert_int_equal(stats.ipackets, tally.packets);
	assert_int_equal(stats.ibytes, tally.bytes);
	/* ethdev's own, by the counters of queues that it asks the port for */
	assert_int_equal(octo_port_xstat(port, "rx_q0_packets"), tally.packets);
	assert_int_equal(octo_port_xstat(port, "rx_q0_bytes"), tally.bytes);
	assert_int_equal(octo_port_xstat(port, "tx_q0_packets"), 900);
	assert_int_equal(octo_port_xstat(port, "tx_q1_packets"), 800);
	assert_int_equal(octo_port_xstat(port, "tx_q0_bytes"), 900 * OCTO_PORT_FRAME_LEN);
	assert_int_equal(octo_port_xstat(port, "tx_q1_bytes"), 800 * OCTO_PORT_FRAME_LEN);
	assert_int_equal(octo_port_xstat(port, "rx_home_packets") +
				 octo_port_xstat(port, "rx_stray_packets"),
			 tally.packets);
	assert_int_equal(octo_port_xstat(port, "pf0_rx_ring_full_drops") +
				 octo_port_xstat(port, "pf1_rx_ring_full_drops"),
			 stats.imissed);
}

/* A wire that is full takes what fits; the rest is the caller's. */
static void
test_a_full_wire_takes_what_fits(void **state)
{
	const struct octo_port_conf conf = {.wire_ring = 64};
	uint16_t port = octo_port_create(&conf);
	struct octo_port_tally tally = {0};
	struct rte_mbuf *pkts[96];
	uint16_t sent;

	(void)state;
	octo_port_up(port, 2);
	octo_port_make(port, HOME_FLOW, pkts, RTE_DIM(pkts));
	sent = rte_eth_tx_burst(port, 0, pkts, RTE_DIM(pkts));
	assert_in_range(sent, 32, 64);
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts + sent, RTE_DIM(pkts) - sent), 0);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), sent);
	rte_pktmbuf_free_bulk(pkts + sent, RTE_DIM(pkts) - sent);
	octo_port_receive(port, 0, sent, &tally);
	assert_int_equal(tally.packets, sent);
}

/* R27 */
static void
test_counters_survive_a_pf(void **state)
{
	uint16_t port = create_with_strays(&stray_conf);
	struct rte_eth_stats before, after;
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, HOME_FLOW, 100);
	octo_port_send(port, 1, STRAY_FLOW, 60);
	octo_port_receive(port, 0, 160, &tally);
	assert_int_equal(rte_eth_stats_get(port, &before), 0);
	assert_int_equal(before.ipackets, 160);
	assert_int_equal(octo_port_xstat(port, "tx_q1_bytes"), 60 * OCTO_PORT_FRAME_LEN);
	octo_port_remove_pf(1);
	assert_int_equal(octo_port_xstat(port, "tx_q1_bytes"), 60 * OCTO_PORT_FRAME_LEN);
	assert_int_equal(rte_eth_stats_get(port, &after), 0);
	assert_int_equal(after.ipackets, 160);
	assert_int_equal(after.ibytes, before.ibytes);
	assert_int_equal(after.opackets, 160);
	assert_int_equal(after.obytes, before.obytes);
	assert_queue_0(port, 100, 60);
	assert_int_equal(rte_eth_stats_reset(port), 0);
	assert_int_equal(rte_eth_stats_get(port, &after), 0);
	assert_int_equal(after.ipackets, 0);
	assert_int_equal(after.opackets, 0);
}

static void
tell_queue_xstats(bool on)
{
	for (unsigned int pf = 0; pf < 2; pf++) {
		struct rte_eth_dev_data *data = rte_eth_devices[octo_port_pf(pf)].data;

		data->dev_flags &= ~RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
		data->dev_flags |= on ? RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS : 0;
	}
}

/* PFs without xstats of queues tell all that they sent, and not by which queue. */
static void
test_bytes_sent_by_queue_are_of_pfs_that_tell_them(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = octo_port_create(&conf);
	struct rte_eth_stats stats;

	(void)state;
	octo_port_up(port, 2);
	tell_queue_xstats(false);
	octo_port_send(port, 0, HOME_FLOW, 10);
	octo_port_send(port, 1, HOME_FLOW, 20);
	assert_int_equal(octo_port_xstat(port, "tx_q0_bytes"), 0);
	assert_int_equal(octo_port_xstat(port, "tx_q1_bytes"), 0);
	assert_int_equal(octo_port_xstat(port, "tx_q1_packets"), 20);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.obytes, 30 * OCTO_PORT_FRAME_LEN);
	/* once told, they do not go back */
	for (int i = 0; i < 4; i++) {
		tell_queue_xstats(i % 2 == 0);
		assert_int_equal(octo_port_xstat(port, "tx_q0_bytes"), 10 * OCTO_PORT_FRAME_LEN);
		assert_int_equal(octo_port_xstat(port, "tx_q1_bytes"), 20 * OCTO_PORT_FRAME_LEN);
	}
}

struct poller {
	uint16_t port;
	RTE_ATOMIC(uint64_t) received; /* told after it was counted */
};

static void *
send_and_poll(void *arg)
{
	struct poller *p = arg;

	while (!octo_port_thread_must_stop()) {
		struct rte_mbuf *pkts[BURST];
		uint16_t got = rte_eth_rx_burst(p->port, 0, pkts, BURST);
		uint16_t sent = rte_eth_tx_burst(p->port, 0, pkts, got);

		rte_pktmbuf_free_bulk(pkts + sent, got - sent);
		rte_atomic_fetch_add_explicit(&p->received, got, rte_memory_order_release);
	}
	return NULL;
}

static uint64_t
received(struct poller *p)
{
	return rte_atomic_load_explicit(&p->received, rte_memory_order_acquire);
}

/* What is counted after a reset came after it; two bursts may be on their way. */
static void
check_reset(struct poller *p)
{
	const uint64_t before = received(p);
	struct octo_view_queue view;
	uint64_t counted;

	assert_int_equal(rte_eth_xstats_reset(p->port), 0);
	assert_int_equal(octo_view_queue(p->port, 0, &view), 0);
	counted = view.home_packets + view.stray_packets;
	assert_true(counted <= received(p) - before + 2 * BURST);
	/* a lot has to come, for a reset that was undone to be noticed */
	octo_port_await(received(p) - before > 4 * BURST);
}

#define RESETS 200

/* R12 */
static void
test_a_reset_is_not_undone(void **state)
{
	uint16_t port = create_with_strays(&stray_conf);
	static struct poller p;

	(void)state;
	p = (struct poller){.port = port};
	fill_legs(port, 64, 64);
	octo_port_thread_start(send_and_poll, &p);
	for (int i = 0; i < RESETS; i++)
		check_reset(&p);
	octo_port_thread_stop();
	octo_port_receive(port, 0, 128, &(struct octo_port_tally){0});
	assert_int_equal(rte_eth_xstats_reset(port), 0);
	assert_queue_0(port, 0, 0);
}

static int
tell_nothing(void)
{
	return -ENODEV;
}

static int
say_removed(struct rte_eth_dev *dev)
{
	(void)dev;
	return 1;
}

/* Its driver raises the event somewhat later. */
static void
test_counters_are_told_before_a_loss_is(void **state)
{
	static struct eth_dev_ops ops;
	uint16_t port = create_with_strays(&stray_conf);
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(1)];
	const struct eth_dev_ops *real = dev->dev_ops;
	struct octo_port_tally tally = {0};
	struct rte_eth_stats stats;

	(void)state;
	octo_port_send(port, 0, HOME_FLOW, 100);
	octo_port_send(port, 1, STRAY_FLOW, 60);
	octo_port_receive(port, 0, 160, &tally);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	ops = *real;
	/* its arguments are others in other versions of DPDK */
	ops.stats_get = (__typeof__(ops.stats_get))(uintptr_t)tell_nothing;
	dev->dev_ops = &ops;
	assert_int_equal(rte_eth_stats_get(port, &stats), -ENODEV);
	ops.is_removed = say_removed;
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.ipackets, 160);
	assert_queue_0(port, 100, 60);
	dev->dev_ops = real;
	dev->state = RTE_ETH_DEV_ATTACHED;
}

/* A queue goes on counting, as the port does, when it is set up again or is away for a while. */
static void
test_counters_outlive_their_queues(void **state)
{
	uint16_t port = create_with_strays(&stray_conf);
	struct octo_port_tally tally = {0};
	struct rte_eth_stats stats;

	(void)state;
	fill_legs(port, 30, 10);
	octo_port_receive(port, 0, 40, &tally);
	octo_port_send(port, 1, HOME_FLOW, 5);
	octo_port_receive(port, 0, 45, &tally);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, 1);
	assert_queue_0(port, 35, 10);
	assert_int_equal(octo_port_xstat(port, "tx_pf0_packets"), 40);
	assert_int_equal(octo_port_xstat(port, "tx_pf1_packets"), 5);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, 2);
	assert_queue_0(port, 35, 10);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 40);
	assert_int_equal(octo_port_xstat(port, "tx_q1_pf1_packets"), 5);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(octo_port_xstat(port, "rx_q0_packets"), stats.ipackets);
	assert_int_equal(rte_eth_stats_reset(port), 0);
	assert_queue_0(port, 0, 0);
	assert_int_equal(octo_port_xstat(port, "tx_pf1_packets"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_small_bursts),
		octo_port_test(test_strays_do_not_starve),
		octo_port_test(test_strays_alone_are_not_held_back),
		octo_port_test(test_a_sleeper_sees_strays_when_it_wakes),
		octo_port_test(test_idle_legs_cost_a_busy_poller_nothing),
		octo_port_test(test_all_packets_are_accounted_for),
		octo_port_test(test_a_full_wire_takes_what_fits),
		octo_port_test(test_counters_survive_a_pf),
		octo_port_test(test_counters_are_told_before_a_loss_is),
		octo_port_test(test_bytes_sent_by_queue_are_of_pfs_that_tell_them),
		octo_port_test(test_a_reset_is_not_undone),
		octo_port_test(test_counters_outlive_their_queues),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
