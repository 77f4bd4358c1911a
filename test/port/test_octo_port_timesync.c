/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Timesync of an octo port, by the clock of one PF: PTP frames come by that PF, though it is not
 * the default one, and leave by it, though it is not the home of their queue.
 */

#include <errno.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_port_ptp.h"
#include "mpsim_control.h"

#define S_NS 1000000000ull
#define POLLS 1000

static const struct octo_port_conf by_first = {.nic = "default_pf=1"};
/* Queue 0 sends by PF 0. */
static const struct octo_port_conf by_second = {.pf = {"caps=-timesync"}};
static const struct octo_port_conf by_second_and_buffer = {.pf = {"caps=-timesync"},
							   .octo = "tx_pf=mbuf"};

static uint16_t
start(const struct octo_port_conf *conf)
{
	const uint16_t port = octo_port_create(conf);

	octo_port_up(port, 1);
	return port;
}

static uint64_t
rules(void)
{
	struct mpsim_account nic;

	assert_int_equal(rte_pmd_mpsim_account_get("T", &nic), 0);
	return nic.rules;
}

static struct rte_eth_stats
stats_of(unsigned int pf)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(octo_port_pf(pf), &stats), 0);
	return stats;
}

static struct rte_mbuf *
receive(uint16_t port)
{
	struct rte_mbuf *m = NULL;

	for (unsigned int i = 0; i < POLLS && rte_eth_rx_burst(port, 0, &m, 1) == 0; i++)
		octo_port_pass_us(10);
	assert_non_null(m);
	assert_int_equal(m->port, port);
	return m;
}

/* Is PTP stamped by the clock of this PF, both ways? */
static void
assert_clock_is(uint16_t port, unsigned int pf)
{
	const struct rte_eth_stats before = stats_of(pf);
	struct rte_mbuf *m;
	uint64_t now;

	now = octo_port_ptp_now(octo_port_pf(pf));
	octo_port_ptp_assert_is(octo_port_ptp_now(port), now);
	now = octo_port_ptp_now(port);
	octo_port_ptp_send(port, 0, OCTO_PORT_PTP_SYNC, RTE_MBUF_F_TX_IEEE1588_TMST);
	octo_port_ptp_assert_sent(port, now);
	m = receive(port);
	assert_true(m->ol_flags & RTE_MBUF_F_RX_IEEE1588_TMST);
	rte_pktmbuf_free(m);
	assert_int_equal(stats_of(pf).opackets, before.opackets + 1);
	assert_int_equal(stats_of(pf).ipackets, before.ipackets + 1);
}

static void
test_ptp_comes_by_the_clock_pf(void **state)
{
	const uint16_t port = start(&by_first);
	struct rte_mbuf *m;
	uint64_t now;

	(void)state;
	octo_port_ptp_send(port, 0, OCTO_PORT_PTP_SYNC, 0);
	m = receive(port);
	assert_false(m->ol_flags & RTE_MBUF_F_RX_IEEE1588_PTP);
	rte_pktmbuf_free(m);
	assert_int_equal(stats_of(1).ipackets, 1);
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_int_equal(rules(), 1);
	now = octo_port_ptp_now(port);
	octo_port_ptp_send(port, 0, OCTO_PORT_PTP_SYNC, 0);
	m = receive(port);
	octo_port_ptp_assert_came(port, m, now);
	rte_pktmbuf_free(m);
	octo_port_ptp_send(port, 0, OCTO_PORT_PTP_FOLLOW_UP, 0);
	m = receive(port);
	assert_true(m->ol_flags & RTE_MBUF_F_RX_IEEE1588_PTP);
	rte_pktmbuf_free(m);
	assert_int_equal(stats_of(0).ipackets, 2);
	/* other packets come as before */
	octo_port_send(port, 0, 1, 1);
	rte_pktmbuf_free(receive(port));
	assert_int_equal(stats_of(1).ipackets, 2);
}

static void
send_mixed(uint16_t port, const bool *timed, uint16_t nb)
{
	struct rte_mbuf *pkts[8];

	assert_true(nb <= RTE_DIM(pkts));
	octo_port_make(port, 1, pkts, nb);
	for (uint16_t i = 0; i < nb; i++)
		if (timed[i])
			pkts[i]->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, nb), nb);
}

static void
assert_sent(uint64_t by_first_pf, uint64_t by_second_pf)
{
	assert_int_equal(stats_of(0).opackets, by_first_pf);
	assert_int_equal(stats_of(1).opackets, by_second_pf);
}

static void
test_timed_packets_leave_by_the_clock_pf(void **state)
{
	static const bool mixed[] = {false, true, true, false, true};
	const struct octo_port_conf *const confs[] = {&by_second, &by_second_and_buffer};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(confs); i++) {
		const uint16_t port = start(confs[i]);
		struct timespec time;

		/* many, so that the next one is sent by what was looked up for these */
		for (unsigned int k = 0; k < 10; k++)
			octo_port_send(port, 0, 1, 1);
		assert_sent(10, 0);
		assert_int_equal(rte_eth_timesync_enable(port), 0);
		assert_int_equal(rte_eth_timesync_read_tx_timestamp(port, &time), -EINVAL);
		send_mixed(port, mixed, RTE_DIM(mixed));
		assert_sent(12, 3);
		assert_int_equal(rte_eth_timesync_read_tx_timestamp(port, &time), 0);
		assert_int_equal(time.tv_sec, octo_port_ptp_now(octo_port_pf(1)) / S_NS);
		assert_int_equal(rte_eth_timesync_disable(port), 0);
		send_mixed(port, mixed, RTE_DIM(mixed));
		assert_sent(17, 3);
		octo_port_destroy();
	}
}

static void
test_the_time_is_that_of_the_clock_pf(void **state)
{
	const uint16_t port = start(&by_second);
	const struct timespec set = {.tv_sec = 7};
	uint64_t clock, counter;

	(void)state;
	/* while timesync is off, of the first PF that has a clock */
	assert_int_equal(rte_eth_read_clock(port, &clock), 0);
	assert_int_equal(rte_eth_read_clock(octo_port_pf(1), &counter), 0);
	octo_port_ptp_assert_is(counter, clock);
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_int_equal(rte_eth_timesync_write_time(port, &set), 0);
	octo_port_ptp_assert_is(octo_port_ptp_now(octo_port_pf(1)), 7 * S_NS);
	assert_int_equal(rte_eth_timesync_adjust_time(port, S_NS), 0);
	octo_port_ptp_assert_is(octo_port_ptp_now(port), 8 * S_NS);
	assert_int_equal(rte_eth_read_clock(port, &clock), 0);
	assert_int_equal(rte_eth_read_clock(octo_port_pf(1), &counter), 0);
	octo_port_ptp_assert_is(counter, clock);
}

/* The PFs' clocks stay off. */
static void
assert_refused(const struct octo_port_conf *conf, int error)
{
	const uint16_t port = start(conf);
	const uint64_t before = rules();
	struct rte_mbuf *m;

	assert_int_equal(rte_eth_timesync_enable(port), error);
	assert_int_equal(rules(), before);
	octo_port_ptp_send(port, 0, OCTO_PORT_PTP_SYNC, RTE_MBUF_F_TX_IEEE1588_TMST);
	m = receive(port);
	assert_false(m->ol_flags & RTE_MBUF_F_RX_IEEE1588_PTP);
	rte_pktmbuf_free(m);
	octo_port_destroy();
}

static void
test_refused_without_a_rule_or_a_clock(void **state)
{
	static const struct octo_port_conf confs[] = {
		{.octo = "tier=queue"},    {.octo = "tier=none"},
		{.all = "caps=-mpfs"},     {.all = "caps=-masked"},
		{.all = "caps=-timesync"}, {.nic = "dialect=no-item", .octo = "dialect=no-item"},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(confs); i++)
		assert_refused(&confs[i], -ENOTSUP);
}

static void
test_refused_by_a_full_switch(void **state)
{
	const uint16_t port = start(&by_first);

	(void)state;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,room,mpfs,0"), 0);
	assert_int_equal(rte_eth_timesync_enable(port), -ENOSPC);
	assert_int_equal(rules(), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,room,mpfs,9"), 0);
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_clock_is(port, 0);
}

/* A clock that fails is passed over, and says more than a PF that has none. */
static void
test_the_first_clock_that_works_is_taken(void **state)
{
	static const struct octo_port_conf conf = {.nb_pfs = 3, .pf = {"caps=-timesync"}};
	const uint16_t port = start(&conf);
	struct octo_port_faults *second = octo_port_faults_on(1), *third = octo_port_faults_on(2);

	(void)state;
	second->timesync_enable = EBUSY;
	third->timesync_enable = ENOTSUP;
	assert_int_equal(rte_eth_timesync_enable(port), -EBUSY);
	third->timesync_enable = ENOMEM;
	assert_int_equal(rte_eth_timesync_enable(port), -EBUSY);
	third->timesync_enable = 0;
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_clock_is(port, 2);
}

static void
test_only_of_a_started_port(void **state)
{
	const uint16_t port = octo_port_create(&by_first);

	(void)state;
	assert_int_equal(rte_eth_timesync_enable(port), -EINVAL);
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_int_equal(rules(), 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rules(), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_pass_us(100000);
	assert_int_equal(rules(), 0);
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_clock_is(port, 0);
	assert_int_equal(rte_eth_timesync_disable(port), 0);
	assert_int_equal(rules(), 0);
}

/* With a single port all comes and goes by that, so there is no rule. */
static void
test_slices_and_single_pfs_need_no_rule(void **state)
{
	static const struct octo_port_conf confs[] = {
		{.sliced = true},
		{.nb_pfs = 1, .octo = "tier=none"},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(confs); i++) {
		const uint16_t port = start(&confs[i]);

		assert_int_equal(rte_eth_timesync_enable(port), 0);
		assert_int_equal(rules(), 0);
		assert_clock_is(port, 0);
		octo_port_destroy();
	}
}

static void
test_another_pf_follows_a_lost_one(void **state)
{
	static const struct octo_port_conf conf = {.nb_pfs = 3, .pf = {NULL, "caps=-timesync"}};
	const uint16_t port = start(&conf);
	struct timespec time;

	(void)state;
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_clock_is(port, 0);
	octo_port_remove_pf(0);
	octo_port_await(rte_eth_timesync_read_time(port, &time) == 0);
	assert_clock_is(port, 2);
	octo_port_remove_pf(2);
	octo_port_pass_us(100000);
	assert_int_equal(rte_eth_timesync_read_time(port, &time), -ENODEV);
	assert_int_equal(rules(), 0);
}

/* The PF that has the rule is gone, and no other takes it for a while: the clock goes on. */
static void
test_the_rule_follows_the_transfer_proxy(void **state)
{
	static const struct octo_port_conf conf = {.nb_pfs = 3, .pf = {"caps=-timesync"}};
	const uint16_t port = start(&conf);
	struct octo_port_faults *others[2];
	struct timespec time;

	(void)state;
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	for (unsigned int i = 0; i < RTE_DIM(others); i++)
		others[i] = octo_port_faults_on(i + 1);
	others[0]->validate_transfer = ENOTSUP;
	others[1]->validate_transfer = ENOTSUP;
	octo_port_remove_pf(0);
	for (unsigned int i = 0; i < 10; i++) {
		octo_port_pass_us(1000);
		assert_int_equal(rte_eth_timesync_read_time(port, &time), 0);
	}
	assert_int_equal(rules(), 0);
	others[0]->validate_transfer = 0;
	others[1]->validate_transfer = 0;
	octo_port_pass_us(10000);
	assert_int_equal(rules(), 1);
	assert_clock_is(port, 1);
}

/* One without a link is as good as lost; it does not become the clock PF again by itself. */
static void
test_another_pf_follows_one_without_a_link(void **state)
{
	const uint16_t port = start(&by_first);

	(void)state;
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,link,down"), 0);
	octo_port_await(octo_port_xstat(port, "usable_pfs") == 1);
	octo_port_pass_us(10000);
	assert_clock_is(port, 1);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,link,up"), 0);
	octo_port_await(octo_port_xstat(port, "usable_pfs") == 2);
	octo_port_pass_us(10000);
	assert_clock_is(port, 1);
	assert_int_equal(rte_eth_timesync_disable(port), 0);
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_clock_is(port, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_ptp_comes_by_the_clock_pf),
		octo_port_test(test_timed_packets_leave_by_the_clock_pf),
		octo_port_test(test_the_time_is_that_of_the_clock_pf),
		octo_port_test(test_refused_without_a_rule_or_a_clock),
		octo_port_test(test_refused_by_a_full_switch),
		octo_port_test(test_the_first_clock_that_works_is_taken),
		octo_port_test(test_only_of_a_started_port),
		octo_port_test(test_slices_and_single_pfs_need_no_rule),
		octo_port_test(test_another_pf_follows_a_lost_one),
		octo_port_test(test_the_rule_follows_the_transfer_proxy),
		octo_port_test(test_another_pf_follows_one_without_a_link),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
