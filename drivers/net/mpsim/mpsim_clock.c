/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_time.h>

#include "octo_clock.h"
#include "mpsim.h"
#include "mpsim_caps.h"

/* The clock of PF i is ahead of that of PF i - 1 by this. */
#define APART_NS (1000 * NSEC_PER_SEC)
/* Scale of a frequency. */
#define PPM 65536e6
/* Types of PTP messages below this one are events, which are stamped. */
#define FIRST_GENERAL_MESSAGE 8

static uint64_t
count_ns(const struct mpsim_clock *clock)
{
	const uint64_t hz = rte_get_timer_hz();
	const uint64_t cycles = octo_now() - clock->born;

	return clock->began_at + cycles / hz * NSEC_PER_SEC + cycles % hz * NSEC_PER_SEC / hz;
}

static int64_t
time_ns(const struct mpsim_clock *clock)
{
	const int64_t ns = (int64_t)(count_ns(clock) - clock->set_at);

	return clock->time + ns + (int64_t)((double)ns * (double)clock->ppm / PPM);
}

static void
set_time(struct mpsim_clock *clock, int64_t ns)
{
	clock->set_at = count_ns(clock);
	clock->time = ns;
}

static void
stamp(struct mpsim_clock *clock, struct mpsim_stamp *s)
{
	s->ns = time_ns(clock);
	s->is_set = true;
}

void
mpsim_clock_init(struct mpsim_pf *pf)
{
	struct mpsim_clock *clock = &pf->clock;

	clock->born = octo_now();
	clock->began_at = (pf->index + 1) * APART_NS;
	set_time(clock, (int64_t)clock->began_at);
}

void
mpsim_clock_receive(struct mpsim_pf *pf, const uint8_t *frame, struct rte_mbuf *m)
{
	const uint16_t type = frame[2 * RTE_ETHER_ADDR_LEN] << 8 |
			      frame[2 * RTE_ETHER_ADDR_LEN + 1];
	struct mpsim_clock *clock = &pf->clock;

	if (type != RTE_ETHER_TYPE_1588 || m->pkt_len <= RTE_ETHER_HDR_LEN)
		return;
	m->ol_flags |= RTE_MBUF_F_RX_IEEE1588_PTP;
	if ((frame[RTE_ETHER_HDR_LEN] & 0xf) >= FIRST_GENERAL_MESSAGE)
		return;
	m->ol_flags |= RTE_MBUF_F_RX_IEEE1588_TMST;
	m->timesync = clock->next_rx++ % MPSIM_CLOCK_STAMPS;
	stamp(clock, &clock->rx[m->timesync]);
}

uint16_t
mpsim_clock_find(struct rte_mbuf *const *pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		if (pkts[i]->ol_flags & RTE_MBUF_F_TX_IEEE1588_TMST)
			return i + 1;
	return 0;
}

void
mpsim_clock_send(struct mpsim_pf *pf)
{
	mpsim_nic_lock(pf->nic);
	stamp(&pf->clock, &pf->clock.tx);
	mpsim_nic_unlock(pf->nic);
}

/* NULL: the PF has no clock. */
static struct mpsim_pf *
clock_pf(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	return mpsim_caps_has(pf, MPSIM_CAP_TIMESYNC) ? pf : NULL;
}

static int
turn(struct rte_eth_dev *dev, bool on)
{
	struct mpsim_pf *pf = clock_pf(dev);

	if (pf == NULL)
		return -ENOTSUP;
	mpsim_nic_lock(pf->nic);
	memset(pf->clock.rx, 0, sizeof(pf->clock.rx));
	pf->clock.tx.is_set = false;
	rte_atomic_store_explicit(&pf->clock.on, on, rte_memory_order_relaxed);
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_timesync_enable(struct rte_eth_dev *dev)
{
	return turn(dev, true);
}

int
mpsim_timesync_disable(struct rte_eth_dev *dev)
{
	return turn(dev, false);
}

static int
take(struct mpsim_stamp *s, struct timespec *time)
{
	if (!s->is_set)
		return -EINVAL;
	*time = rte_ns_to_timespec((uint64_t)s->ns);
	s->is_set = false;
	return 0;
}

int
mpsim_timesync_read_rx(struct rte_eth_dev *dev, struct timespec *time, uint32_t number)
{
	struct mpsim_pf *pf = clock_pf(dev);
	int ret;

	if (pf == NULL)
		return -ENOTSUP;
	if (number >= MPSIM_CLOCK_STAMPS)
		return -EINVAL;
	mpsim_nic_lock(pf->nic);
	ret = take(&pf->clock.rx[number], time);
	mpsim_nic_unlock(pf->nic);
	return ret;
}

int
mpsim_timesync_read_tx(struct rte_eth_dev *dev, struct timespec *time)
{
	struct mpsim_pf *pf = clock_pf(dev);
	int ret;

	if (pf == NULL)
		return -ENOTSUP;
	mpsim_nic_lock(pf->nic);
	ret = take(&pf->clock.tx, time);
	mpsim_nic_unlock(pf->nic);
	return ret;
}

int
mpsim_timesync_adjust_time(struct rte_eth_dev *dev, int64_t ns)
{
	struct mpsim_pf *pf = clock_pf(dev);

	if (pf == NULL)
		return -ENOTSUP;
	mpsim_nic_lock(pf->nic);
	set_time(&pf->clock, time_ns(&pf->clock) + ns);
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_timesync_adjust_freq(struct rte_eth_dev *dev, int64_t ppm)
{
	struct mpsim_pf *pf = clock_pf(dev);

	if (pf == NULL)
		return -ENOTSUP;
	mpsim_nic_lock(pf->nic);
	set_time(&pf->clock, time_ns(&pf->clock));
	pf->clock.ppm = ppm;
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_timesync_read_time(struct rte_eth_dev *dev, struct timespec *time)
{
	struct mpsim_pf *pf = clock_pf(dev);

	if (pf == NULL)
		return -ENOTSUP;
	mpsim_nic_lock(pf->nic);
	*time = rte_ns_to_timespec((uint64_t)time_ns(&pf->clock));
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_timesync_write_time(struct rte_eth_dev *dev, const struct timespec *time)
{
	struct mpsim_pf *pf = clock_pf(dev);

	if (pf == NULL)
		return -ENOTSUP;
	mpsim_nic_lock(pf->nic);
	set_time(&pf->clock, (int64_t)rte_timespec_to_ns(time));
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_read_clock(struct rte_eth_dev *dev, uint64_t *clock)
{
	struct mpsim_pf *pf = clock_pf(dev);

	if (pf == NULL)
		return -ENOTSUP;
	mpsim_nic_lock(pf->nic);
	*clock = count_ns(&pf->clock);
	mpsim_nic_unlock(pf->nic);
	return 0;
}
