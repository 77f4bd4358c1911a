/* SPDX-License-Identifier: BSD-3-Clause */

/* The frequency of the clock PF; ethdev can set it since 24.11. */

#include "octo_private.h"
#include "octo_timesync.h"

static int
adjust_freq(uint16_t port_id, void *ppm)
{
	return rte_eth_timesync_adjust_freq(port_id, *(const int64_t *)ppm);
}

int
octo_timesync_adjust_freq(struct rte_eth_dev *dev, int64_t ppm)
{
	return octo_timesync_ask(octo_of(dev), adjust_freq, &ppm);
}
