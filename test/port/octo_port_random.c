/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <ethdev_driver.h>

#include "mpsim_control.h"
#include "octo_port_random.h"
#include "octo_private.h"

struct random_port random_port;

static uint64_t
mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint32_t
random_below(uint32_t n)
{
	random_port.rng++;
	return (uint32_t)(mix(random_port.rng) >> 33) % n;
}

bool
random_one_in(uint32_t n)
{
	return random_below(n) == 0;
}

void
random_step(unsigned int step)
{
	random_port.step = step;
	random_port.rng = mix(mix(random_port.seed) + step);
}

void
random_say(const char *format, ...)
{
	static int verbose = -1;
	va_list args;

	if (verbose < 0)
		verbose = getenv("OCTO_PORT_TRACE") != NULL;
	if (verbose == 0)
		return;
	va_start(args, format);
	fprintf(stderr, "%u [%" PRIu64 " us] ", random_port.step,
		octo_now() / (rte_get_timer_hz() / US_PER_S));
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
}

int
random_fault(const char *format, ...)
{
	char text[96];
	va_list args;
	int ret;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	ret = rte_pmd_mpsim_fault(text);
	random_say("fault %s: %d", text, ret);
	return ret;
}

static const struct rte_eth_dev *
dev(void)
{
	return &rte_eth_devices[random_port.port];
}

bool
random_rx_runs(uint16_t queue)
{
	return !random_port.stopped && dev()->data->rx_queues[queue] != NULL &&
	       dev()->data->rx_queue_state[queue] == RTE_ETH_QUEUE_STATE_STARTED;
}

bool
random_tx_runs(uint16_t queue)
{
	return !random_port.stopped && dev()->data->tx_queues[queue] != NULL &&
	       dev()->data->tx_queue_state[queue] == RTE_ETH_QUEUE_STATE_STARTED;
}

void
random_forget_objects(void)
{
	memset(random_port.flow, 0, sizeof(random_port.flow));
	memset(random_port.handle, 0, sizeof(random_port.handle));
	memset(random_port.other, 0, sizeof(random_port.other));
	memset(random_port.steered, 0, sizeof(random_port.steered));
	random_port.count = NULL;
	random_port.has_table = false;
}

int
random_bring_up(void)
{
	struct rte_eth_conf conf = {
		.intr_conf = {.lsc = 1},
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf.rss_conf = {.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP},
	};
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(random_port.port, &info);

	if (ret != 0)
		return ret;
	conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	ret = rte_eth_dev_configure(random_port.port, random_port.nb_queues, random_port.nb_queues,
				    &conf);
	if (ret == 0)
		ret = octo_port_setup_queues(random_port.port, random_port.nb_queues);
	random_say("configure %u queues: %d", random_port.nb_queues, ret);
	if (ret != 0)
		return ret;
	random_port.unconfigured = false;
	if (!random_port.has_table)
		random_make_table();
	random_start();
	return random_port.stopped ? -EIO : 0;
}
