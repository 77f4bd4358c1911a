/* SPDX-License-Identifier: BSD-3-Clause */

/* All PFs are gone, and some come back: the port goes on by these. */

#include <errno.h>
#include <stdio.h>

#include <rte_epoll.h>
#include <rte_interrupts.h>

#include "octo_port.h"
#include "octo_port_async.h"
#include "octo_port_ptp.h"
#include "mpsim_control.h"

#define QUEUE 1
#define FLOW 7
#define MAX_PFS 3
#define HELD 10
/* The control thread goes around. */
#define ROUND_US 10000

static const struct octo_port_conf two_pfs = {.replug = true};
static const struct octo_port_conf three_pfs = {.nb_pfs = 3, .replug = true};

static void
fault(unsigned int pf, const char *what)
{
	char text[64];

	snprintf(text, sizeof(text), "%s,%s", octo_port_pf_name(pf), what);
	assert_int_equal(rte_pmd_mpsim_fault(text), 0);
}

/* It comes back when it is plugged in, and not before. */
static void
take_away(uint16_t port, unsigned int pf)
{
	fault(pf, "remove");
	octo_port_await(!octo_port_pf_is_there(pf) && octo_port_pf_is(port, pf, "gone"));
}

static void
bring_back(uint16_t port, unsigned int pf)
{
	fault(pf, "plug");
	octo_port_await(octo_port_pf_is_started(port, pf));
	/* addresses move to it, if each PF has its own */
	octo_port_pass_us(ROUND_US);
}

static uint16_t
up(const struct octo_port_conf *conf)
{
	const uint16_t port = octo_port_create(conf);

	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, QUEUE, NULL));
	octo_port_assert_arrives(port, FLOW, QUEUE, 10);
	return port;
}

static void
assert_goes_on(uint16_t port)
{
	struct rte_eth_stats before, after;

	assert_int_equal(rte_eth_stats_get(port, &before), 0);
	octo_port_assert_arrives(port, FLOW, QUEUE, 10);
	assert_int_equal(rte_eth_stats_get(port, &after), 0);
	assert_int_equal(after.oerrors, before.oerrors);
	assert_int_equal(after.opackets, before.opackets + 10);
	assert_int_equal(after.ipackets, before.ipackets + 10);
	octo_port_assert_full_speed(port);
}

/* The NIC has its cable as long as there is one of its PFs, in its slot or beside it. */
static void
test_the_last_pf_goes_and_comes(void **state)
{
	const uint16_t port = up(&two_pfs);

	(void)state;
	take_away(port, 0);
	assert_goes_on(port);
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_goes_on(port);
	bring_back(port, 0);
	assert_goes_on(port);
}

static void
go_and_come(const struct octo_port_conf *conf, const unsigned int *back)
{
	const unsigned int nb = conf->nb_pfs == 0 ? 2 : conf->nb_pfs;
	const uint16_t port = up(conf);

	for (unsigned int pf = 0; pf < nb; pf++)
		take_away(port, pf);
	octo_port_pass_us(2000000);
	for (unsigned int i = 0; i < nb; i++) {
		bring_back(port, back[i]);
		assert_goes_on(port);
	}
	octo_port_destroy();
}

static void
test_all_pfs_go_and_come(void **state)
{
	static const struct octo_port_conf confs[] = {
		{.replug = true},
		{.replug = true, .octo = "tx_pf=mbuf"},
		{.replug = true, .octo = "tier=queue"},
		{.replug = true, .octo = "tier=partition"},
		{.replug = true, .octo = "tier=mac", .nic = "switch=mac"},
		{.replug = true, .octo = "tier=mac,mac_source=address", .nic = "switch=mac"},
		{.replug = true, .learn = true, .nic = "default_pf=1"},
		{.replug = true, .all = "tx_delay_us=200", .nic = "lost_pf=default"},
		{.replug = true, .all = "fill_rings=1", .octo = "rx_rings=shared"},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(confs); i++) {
		go_and_come(&confs[i], (const unsigned int[]){0, 1});
		go_and_come(&confs[i], (const unsigned int[]){1, 0});
	}
	go_and_come(&three_pfs, (const unsigned int[]){1, 2, 0});
	go_and_come(&three_pfs, (const unsigned int[]){2, 0, 1});
}

/* PFs of other NICs have the ids that the PFs had. */
static void
test_all_pfs_come_by_other_ids(void **state)
{
	const uint16_t port = up(&two_pfs);
	const uint16_t id = octo_port_pf(1);

	(void)state;
	take_away(port, 0);
	take_away(port, 1);
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_mpsim6", "nic=U"), 0);
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_mpsim7", "nic=U"), 0);
	bring_back(port, 1);
	assert_int_not_equal(octo_port_pf(1), id);
	assert_goes_on(port);
	bring_back(port, 0);
	assert_goes_on(port);
}

static void
test_all_slices_go_and_come(void **state)
{
	static const struct octo_port_conf slices = {.sliced = true, .replug = true};
	const uint16_t port = up(&slices);

	(void)state;
	take_away(port, 0);
	octo_port_pass_us(2000000);
	bring_back(port, 0);
	octo_port_await(octo_port_rule_pf(port, FLOW) >= 0);
	assert_goes_on(port);
}

/* They are dead before the port hears of it, and have packets that they never send. */
static void
test_all_pfs_die_and_come(void **state)
{
	const uint16_t port = up(&two_pfs);

	(void)state;
	fault(0, "surprise,1000");
	fault(1, "surprise,1000");
	octo_port_send(port, 0, FLOW, 32);
	octo_port_send(port, 1, FLOW, 32);
	octo_port_await(octo_port_pf_is(port, 0, "gone") && octo_port_pf_is(port, 1, "gone"));
	octo_port_pass_us(2000000);
	bring_back(port, 1);
	assert_goes_on(port);
	bring_back(port, 0);
	assert_goes_on(port);
}

static unsigned int events;

static int
count_event(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	events++;
	return 0;
}

static bool
has_link(uint16_t port)
{
	struct rte_eth_link link;

	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	return link.link_status == RTE_ETH_LINK_UP;
}

/* Nothing is sent, received or waited for meanwhile, and both changes of the link are told. */
static void
test_the_link_goes_and_comes(void **state)
{
	const uint16_t port = up(&two_pfs);
	struct rte_mbuf *m;

	(void)state;
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, count_event, NULL);
	events = 0;
	take_away(port, 0);
	take_away(port, 1);
	assert_int_equal(events, 1);
	assert_false(has_link(port));
	octo_port_make(port, FLOW, &m, 1);
	for (uint16_t q = 0; q < 2; q++) {
		assert_int_equal(rte_eth_tx_burst(port, q, &m, 1), 0);
		assert_int_equal(rte_eth_tx_prepare(port, q, &m, 1), 0);
		assert_int_equal(octo_port_poll(port, q, 32, &(struct octo_port_tally){0}), 0);
		assert_int_equal(rte_eth_tx_done_cleanup(port, q, 0), 0);
		assert_true(rte_eth_tx_descriptor_status(port, q, 0) < 0);
		assert_true(rte_eth_rx_queue_count(port, q) <= 0);
	}
	rte_pktmbuf_free(m);
	bring_back(port, 1);
	assert_int_equal(events, 2);
	assert_true(has_link(port));
	bring_back(port, 0);
	assert_int_equal(events, 2);
	assert_goes_on(port);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_LSC, count_event, NULL);
}

/* What is changed while there is no PF holds for those that come back. */
static void
test_changes_while_all_pfs_are_gone(void **state)
{
	const uint16_t port = up(&two_pfs);
	struct rte_flow *flow;
	uint16_t mtu = 0;

	(void)state;
	flow = octo_port_steer(port, FLOW + 1, QUEUE, NULL);
	assert_non_null(flow);
	take_away(port, 0);
	take_away(port, 1);
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
	assert_non_null(octo_port_steer(port, FLOW + 2, QUEUE, NULL));
	assert_int_equal(rte_eth_dev_set_mtu(port, 1400), 0);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	bring_back(port, 1);
	assert_goes_on(port);
	assert_int_equal(rte_eth_dev_get_mtu(octo_port_pf(1), &mtu), 0);
	assert_int_equal(mtu, 1400);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(1)), 1);
	assert_int_equal(octo_port_rule_pf(port, FLOW + 1), -2);
	octo_port_assert_arrives(port, FLOW + 2, QUEUE, 10);
	bring_back(port, 0);
	assert_goes_on(port);
	octo_port_assert_arrives(port, FLOW + 2, QUEUE, 10);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(0)), 1);
}

/* There is nothing to start then. */
static void
test_a_restart_while_all_pfs_are_gone(void **state)
{
	const uint16_t port = up(&two_pfs);

	(void)state;
	take_away(port, 0);
	take_away(port, 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), -EIO);
	fault(1, "plug");
	octo_port_await(octo_port_pf_is_there(1));
	octo_port_pass_us(2000000);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_pass_us(ROUND_US);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 1);
	assert_goes_on(port);
	bring_back(port, 0);
	assert_goes_on(port);
}

/* A queue on its way from PF 0 to PF 1 holds packets: they leave, by whichever PF comes first. */
static void
come_with_held_packets(unsigned int first)
{
	static const struct octo_port_conf far = {
		.two_nodes = true,
		.replug = true,
		.octo = "dwell_ms=0",
	};
	struct octo_port_tally tally = {0};
	uint64_t sent;
	uint16_t port;

	octo_port_run_on(0);
	port = up(&far);
	fault(0, "tx_stuck,on");
	octo_port_run_on(1);
	while (octo_port_xstat(port, "tx_switch_stashed") < HELD) {
		octo_port_send_numbered(port, 0, FLOW, 0, 1);
		octo_port_poll(port, QUEUE, 32, &tally);
	}
	assert_int_equal(octo_port_xstat(port, "tx_switch_stashed"), HELD);
	sent = octo_port_xstat(port, "tx_good_packets");
	/* PF 1 may send them before it goes, and nobody receives them then */
	take_away(port, 0);
	take_away(port, 1);
	bring_back(port, first);
	assert_int_equal(octo_port_xstat(port, "tx_good_packets"), sent + HELD);
	octo_port_receive(port, QUEUE, HELD, &tally);
	assert_int_equal(octo_port_xstat(port, "tx_switch_drops"), 0);
	assert_goes_on(port);
	bring_back(port, 1 - first);
	assert_goes_on(port);
	octo_port_destroy();
}

static void
test_held_packets(void **state)
{
	(void)state;
	come_with_held_packets(0);
	come_with_held_packets(1);
}

/* A receiver that sleeps is woken by the PF that is back. */
static void
test_a_sleeper_is_woken(void **state)
{
	const struct rte_eth_conf conf = {.intr_conf = {.lsc = 1, .rxq = 1}};
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_tally tally = {0};
	struct rte_epoll_event event;
	int n = 0;

	(void)state;
	octo_port_up_as(port, 2, &conf);
	assert_non_null(octo_port_steer(port, FLOW, QUEUE, NULL));
	assert_int_equal(rte_eth_dev_rx_intr_ctl_q(port, QUEUE, RTE_EPOLL_PER_THREAD,
						   RTE_INTR_EVENT_ADD, NULL),
			 0);
	take_away(port, 0);
	take_away(port, 1);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, QUEUE), 0);
	for (unsigned int pf = 2; pf-- > 0;) {
		bring_back(port, pf);
		/* woken, perhaps, to arm the PF */
		for (int i = 0; i < 100; i++) {
			octo_port_poll(port, QUEUE, 32, &tally);
			assert_int_equal(rte_eth_dev_rx_intr_enable(port, QUEUE), 0);
			octo_port_pass_us(2000);
			n = rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, 0);
			if (n == 0)
				break;
		}
		assert_int_equal(n, 0);
		octo_port_send(port, 0, FLOW, 1);
		octo_port_pass_us(2000);
		assert_int_equal(rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, 0), 1);
		octo_port_receive(port, QUEUE, 1, &tally);
	}
	assert_int_equal(tally.packets, 2);
	rte_eth_dev_rx_intr_ctl_q(port, QUEUE, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_DEL, NULL);
}

static void *
poll_and_send(void *arg)
{
	const uint16_t port = *(const uint16_t *)arg;
	struct octo_port_tally tally = {0};

	octo_port_run_on(0);
	while (!octo_port_thread_must_stop()) {
		for (uint16_t q = 0; q < 2; q++) {
			octo_port_poll(port, q, 32, &tally);
			octo_port_send_numbered(port, q, FLOW, 0, 4);
		}
	}
	return NULL;
}

static void
test_all_pfs_go_and_come_under_load(void **state)
{
	static uint16_t port;

	(void)state;
	port = up(&three_pfs);
	octo_port_thread_start(poll_and_send, &port);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int pf = 0; pf < 3; pf++)
			take_away(port, (pf + round) % 3);
		for (unsigned int pf = 0; pf < 3; pf++) {
			uint64_t before, sent;

			bring_back(port, (2 * pf + round) % 3);
			before = octo_port_xstat(port, "rx_good_packets");
			sent = octo_port_xstat(port, "tx_good_packets");
			octo_port_await(octo_port_xstat(port, "rx_good_packets") > before + 100 &&
					octo_port_xstat(port, "tx_good_packets") > sent + 100);
		}
	}
	octo_port_thread_stop();
}

static void
lose_both(uint16_t port)
{
	take_away(port, 0);
	take_away(port, 1);
}

static void
set_up_queues_again(uint16_t port)
{
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, QUEUE), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port, QUEUE, OCTO_PORT_NB_DESC / 2, SOCKET_ID_ANY,
						NULL, octo_port_pool),
			 0);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, QUEUE), 0);
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 0), 0);
	assert_int_equal(
		rte_eth_tx_queue_setup(port, 0, OCTO_PORT_NB_DESC / 2, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 0), 0);
}

/* Queues that are set up while there is no PF, a RETA, and counters that are reset. */
static void
test_queues_while_all_pfs_are_gone(void **state)
{
	static const struct rte_eth_conf conf = {
		.intr_conf = {.lsc = 1},
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf = {.rss_conf = {.rss_hf = RTE_ETH_RSS_IPV4}},
	};
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_stats stats;

	(void)state;
	octo_port_up_as(port, 2, &conf);
	assert_non_null(octo_port_steer(port, FLOW, QUEUE, NULL));
	octo_port_assert_arrives(port, FLOW, QUEUE, 10);
	lose_both(port);
	set_up_queues_again(port);
	octo_port_lead_all_to(port, QUEUE);
	assert_int_equal(rte_eth_stats_reset(port), 0);
	for (unsigned int pf = 2; pf-- > 0;) {
		bring_back(port, pf);
		assert_int_equal(octo_port_reta_of(pf), RTE_BIT32(QUEUE));
		assert_goes_on(port);
		octo_port_assert_arrives(port, FLOW + 1, QUEUE, 10);
	}
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.ipackets, 40);
	assert_int_equal(stats.opackets, 40);
}

/* Rules through flow queues, and their table, which are made and destroyed meanwhile. */
static void
test_a_table_while_all_pfs_are_gone(void **state)
{
	struct octo_port_table t;
	struct rte_flow *flow;
	uint16_t port;

	(void)state;
	port = octo_port_start_with_table(&two_pfs, &t);
	flow = octo_port_enqueue(&t, FLOW, QUEUE, false, NULL);
	octo_port_pull(port, FLOW, RTE_FLOW_OP_SUCCESS);
	lose_both(port);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, FLOW, false), 0);
	octo_port_pull(port, FLOW, RTE_FLOW_OP_SUCCESS);
	octo_port_table_destroy(&t);
	octo_port_table_create(&t, port, 64);
	assert_non_null(octo_port_enqueue(&t, FLOW, QUEUE, false, NULL));
	octo_port_pull(port, FLOW, RTE_FLOW_OP_SUCCESS);
	assert_non_null(
		octo_port_steer_by(port, FLOW + 1, octo_port_indirect_queue(port, QUEUE), NULL));
	for (unsigned int pf = 2; pf-- > 0;) {
		bring_back(port, pf);
		assert_goes_on(port);
		octo_port_assert_arrives(port, FLOW + 1, QUEUE, 10);
	}
}

/* Packets are timed by the one that is back. */
static void
test_the_clock_goes_and_comes(void **state)
{
	const uint16_t port = up(&two_pfs);
	struct timespec time;
	uint64_t now;

	(void)state;
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	lose_both(port);
	assert_true(rte_eth_timesync_read_time(port, &time) < 0);
	bring_back(port, 1);
	octo_port_await(rte_eth_timesync_read_time(port, &time) == 0);
	now = octo_port_ptp_now(port);
	octo_port_ptp_send(port, 0, OCTO_PORT_PTP_SYNC, RTE_MBUF_F_TX_IEEE1588_TMST);
	octo_port_ptp_assert_sent(port, now);
	rte_pktmbuf_free(octo_port_receive_one(port, 0));
	assert_goes_on(port);
	take_away(port, 1);
	assert_int_equal(rte_eth_timesync_disable(port), 0);
	bring_back(port, 0);
	assert_goes_on(port);
}

/* What was taken away can be probed by the next test. */
static int
teardown(void **state)
{
	const int ret = octo_port_teardown(state);
	char text[64];

	for (unsigned int pf = 0; pf < MAX_PFS; pf++) {
		snprintf(text, sizeof(text), "%s,plug,wait", octo_port_pf_name(pf));
		rte_pmd_mpsim_fault(text);
	}
	return ret;
}

#define gone_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		gone_test(test_the_last_pf_goes_and_comes),
		gone_test(test_all_pfs_go_and_come),
		gone_test(test_all_pfs_come_by_other_ids),
		gone_test(test_all_slices_go_and_come),
		gone_test(test_all_pfs_die_and_come),
		gone_test(test_the_link_goes_and_comes),
		gone_test(test_changes_while_all_pfs_are_gone),
		gone_test(test_all_pfs_go_and_come_under_load),
		gone_test(test_a_restart_while_all_pfs_are_gone),
		gone_test(test_held_packets),
		gone_test(test_a_sleeper_is_woken),
		gone_test(test_queues_while_all_pfs_are_gone),
		gone_test(test_a_table_while_all_pfs_are_gone),
		gone_test(test_the_clock_goes_and_comes),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
