/* SPDX-License-Identifier: BSD-3-Clause */

/* The clock of a simulated PF: its time, and the timestamps of PTP frames. */

#include <errno.h>

#include "octo_port.h"
#include "octo_port_ptp.h"
#include "mpsim_clock.h"

#define S_NS 1000000000ull

static const struct octo_port_conf plain;
static const struct octo_port_conf no_clock = {.all = "caps=-timesync"};

/* PF 0, which hears what it sends. */
static uint16_t
start(const struct octo_port_conf *conf)
{
	uint16_t pf;

	octo_port_add_pfs(conf);
	pf = octo_port_pf(0);
	octo_port_up(pf, 1);
	return pf;
}

/* The frame that was sent last. */
static struct rte_mbuf *
receive(uint16_t pf)
{
	struct rte_mbuf *m;

	assert_int_equal(rte_eth_rx_burst(pf, 0, &m, 1), 1);
	return m;
}

static void
test_the_time_is_set_and_passes(void **state)
{
	const struct timespec set = {.tv_sec = 7, .tv_nsec = 250};
	const uint16_t pf = start(&plain);
	uint64_t before, after;

	(void)state;
	assert_int_equal(rte_eth_timesync_write_time(pf, &set), 0);
	octo_port_ptp_assert_is(octo_port_ptp_now(pf), 7 * S_NS + 250);
	octo_port_pass_us(1000000);
	octo_port_ptp_assert_is(octo_port_ptp_now(pf), 8 * S_NS + 250);
	assert_int_equal(rte_eth_timesync_adjust_time(pf, -2 * (int64_t)S_NS), 0);
	octo_port_ptp_assert_is(octo_port_ptp_now(pf), 6 * S_NS + 250);
	assert_int_equal(rte_eth_read_clock(pf, &before), 0);
	octo_port_pass_us(1000000);
	assert_int_equal(rte_eth_read_clock(pf, &after), 0);
	octo_port_ptp_assert_is(after - before, S_NS);
}

/* By 100 ppm, then by -50; the time that has passed stays. */
static void
test_a_frequency_changes_the_time_and_not_the_counter(void **state)
{
	const struct timespec set = {.tv_sec = 10};
	const uint16_t pf = start(&plain);
	struct rte_eth_dev *dev = &rte_eth_devices[pf];
	uint64_t before, after;

	(void)state;
	assert_int_equal(rte_eth_timesync_write_time(pf, &set), 0);
	assert_int_equal(rte_eth_read_clock(pf, &before), 0);
	assert_int_equal(mpsim_timesync_adjust_freq(dev, 100 * 65536), 0);
	octo_port_pass_us(10000000);
	octo_port_ptp_assert_is(octo_port_ptp_now(pf), 20 * S_NS + 1000000);
	assert_int_equal(mpsim_timesync_adjust_freq(dev, -50 * 65536), 0);
	octo_port_pass_us(10000000);
	octo_port_ptp_assert_is(octo_port_ptp_now(pf), 30 * S_NS + 500000);
	assert_int_equal(rte_eth_read_clock(pf, &after), 0);
	octo_port_ptp_assert_is(after - before, 20 * S_NS);
}

static void
test_pfs_have_clocks_of_their_own(void **state)
{
	const struct timespec set = {.tv_sec = 7};
	const uint16_t pf = start(&plain);
	const uint64_t other = octo_port_ptp_now(octo_port_pf(1));

	(void)state;
	assert_in_range(other - octo_port_ptp_now(pf), 999 * S_NS, 1001 * S_NS);
	assert_int_equal(rte_eth_timesync_write_time(pf, &set), 0);
	octo_port_ptp_assert_is(octo_port_ptp_now(octo_port_pf(1)), other);
}

static void
test_events_are_stamped(void **state)
{
	const uint16_t pf = start(&plain);
	struct timespec time;
	struct rte_mbuf *m;
	uint64_t now;

	(void)state;
	assert_int_equal(rte_eth_timesync_enable(pf), 0);
	now = octo_port_ptp_now(pf);
	for (unsigned int i = 0; i < 2 * MPSIM_CLOCK_STAMPS; i++) {
		octo_port_ptp_send(pf, 0, OCTO_PORT_PTP_SYNC, RTE_MBUF_F_TX_IEEE1588_TMST);
		m = receive(pf);
		octo_port_pass_us(1000000);
		octo_port_ptp_assert_came(pf, m, now + i * S_NS);
		octo_port_ptp_assert_sent(pf, now + i * S_NS);
		assert_int_equal(rte_eth_timesync_read_rx_timestamp(pf, &time, m->timesync),
				 -EINVAL);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(rte_eth_timesync_read_rx_timestamp(pf, &time, MPSIM_CLOCK_STAMPS),
			 -EINVAL);
}

static void
assert_not_stamped(uint16_t pf, uint64_t flags)
{
	struct rte_mbuf *m = receive(pf);
	struct timespec time;

	assert_int_equal(m->ol_flags & (RTE_MBUF_F_RX_IEEE1588_PTP | RTE_MBUF_F_RX_IEEE1588_TMST),
			 flags);
	rte_pktmbuf_free(m);
	for (uint32_t i = 0; i < MPSIM_CLOCK_STAMPS; i++)
		assert_int_equal(rte_eth_timesync_read_rx_timestamp(pf, &time, i), -EINVAL);
	assert_int_equal(rte_eth_timesync_read_tx_timestamp(pf, &time), -EINVAL);
}

static void
test_others_are_not(void **state)
{
	const uint16_t pf = start(&plain);

	(void)state;
	octo_port_ptp_send(pf, 0, OCTO_PORT_PTP_SYNC, RTE_MBUF_F_TX_IEEE1588_TMST);
	assert_not_stamped(pf, 0);
	assert_int_equal(rte_eth_timesync_enable(pf), 0);
	octo_port_ptp_send(pf, 0, OCTO_PORT_PTP_FOLLOW_UP, 0);
	assert_not_stamped(pf, RTE_MBUF_F_RX_IEEE1588_PTP);
	octo_port_send(pf, 0, 1, 1);
	assert_not_stamped(pf, 0);
	assert_int_equal(rte_eth_timesync_disable(pf), 0);
	octo_port_ptp_send(pf, 0, OCTO_PORT_PTP_SYNC, RTE_MBUF_F_TX_IEEE1588_TMST);
	assert_not_stamped(pf, 0);
}

static void
test_a_pf_without_a_clock(void **state)
{
	const uint16_t pf = start(&no_clock);
	struct timespec time = {0};
	uint64_t clock;

	(void)state;
	assert_int_equal(rte_eth_timesync_enable(pf), -ENOTSUP);
	assert_int_equal(rte_eth_timesync_disable(pf), -ENOTSUP);
	assert_int_equal(rte_eth_timesync_read_time(pf, &time), -ENOTSUP);
	assert_int_equal(rte_eth_timesync_write_time(pf, &time), -ENOTSUP);
	assert_int_equal(rte_eth_timesync_adjust_time(pf, 1), -ENOTSUP);
	assert_int_equal(mpsim_timesync_adjust_freq(&rte_eth_devices[pf], 1), -ENOTSUP);
	assert_int_equal(rte_eth_timesync_read_rx_timestamp(pf, &time, 0), -ENOTSUP);
	assert_int_equal(rte_eth_timesync_read_tx_timestamp(pf, &time), -ENOTSUP);
	assert_int_equal(rte_eth_read_clock(pf, &clock), -ENOTSUP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_time_is_set_and_passes),
		octo_port_test(test_a_frequency_changes_the_time_and_not_the_counter),
		octo_port_test(test_pfs_have_clocks_of_their_own),
		octo_port_test(test_events_are_stamped),
		octo_port_test(test_others_are_not),
		octo_port_test(test_a_pf_without_a_clock),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
