/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_PTP_H
#define OCTO_PORT_PTP_H

#include <rte_ether.h>
#include <rte_time.h>

#include "octo_port.h"

/**
 * @file
 * PTP frames, and clocks of ports, for tests.
 */

enum octo_port_ptp {
	OCTO_PORT_PTP_SYNC = 0,
	OCTO_PORT_PTP_FOLLOW_UP = 8, /**< no event message */
};

/** What the drivers' looks at the test's clock may take, in ns. */
#define OCTO_PORT_PTP_NOISE 100000

/** Send one by a queue, with these flags. */
static inline void
octo_port_ptp_send(uint16_t port, uint16_t queue, enum octo_port_ptp type, uint64_t flags)
{
	struct rte_mbuf *m;
	uint8_t *frame;

	octo_port_make(port, 1, &m, 1);
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	frame[12] = RTE_ETHER_TYPE_1588 >> 8;
	frame[13] = RTE_ETHER_TYPE_1588 & 0xff;
	frame[14] = type;
	m->ol_flags |= flags;
	assert_int_equal(rte_eth_tx_burst(port, queue, &m, 1), 1);
}

/** The time of a port's clock, in ns. */
static inline uint64_t
octo_port_ptp_now(uint16_t port)
{
	struct timespec time;

	assert_int_equal(rte_eth_timesync_read_time(port, &time), 0);
	return rte_timespec_to_ns(&time);
}

/** Is a time this one, or a moment later? */
static inline void
octo_port_ptp_assert_is(uint64_t ns, uint64_t expected)
{
	assert_in_range(ns, expected, expected + OCTO_PORT_PTP_NOISE);
}

/** Has the frame that was sent last left at this time of the port's clock, and only once? */
static inline void
octo_port_ptp_assert_sent(uint16_t port, uint64_t expected)
{
	struct timespec time;

	assert_int_equal(rte_eth_timesync_read_tx_timestamp(port, &time), 0);
	octo_port_ptp_assert_is(rte_timespec_to_ns(&time), expected);
	assert_int_equal(rte_eth_timesync_read_tx_timestamp(port, &time), -EINVAL);
}

/** Has this event message come at this time of the port's clock? */
static inline void
octo_port_ptp_assert_came(uint16_t port, const struct rte_mbuf *m, uint64_t expected)
{
	struct timespec time;

	assert_true(m->ol_flags & RTE_MBUF_F_RX_IEEE1588_PTP);
	assert_true(m->ol_flags & RTE_MBUF_F_RX_IEEE1588_TMST);
	assert_int_equal(rte_eth_timesync_read_rx_timestamp(port, &time, m->timesync), 0);
	octo_port_ptp_assert_is(rte_timespec_to_ns(&time), expected);
}

#endif /* OCTO_PORT_PTP_H */
