/* SPDX-License-Identifier: BSD-3-Clause */

/* The frequency of the clock PF; ethdev can set it since 24.11. */

#include "octo_private.h"

int
octo_timesync_adjust_freq(struct rte_eth_dev *dev, int64_t ppm)
{
	return OCTO_WIRE_ASK(octo_timesync_turn(dev),
			     rte_eth_timesync_adjust_freq(pf_port_id, ppm));
}
