/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A secondary process that does what a line of its input says: "count PORT", "close PORT",
 * or "die PORT PF", inside of the driver of that PF while it asks the port how full a queue is.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#define LINE_MAX_LEN 80

static int
die(void *rxq)
{
	RTE_SET_USED(rxq);
	raise(SIGKILL);
	return 0;
}

static void
obey(const char *line)
{
	unsigned int port, pf;
	int ret = -EINVAL;

	if (sscanf(line, "die %u %u", &port, &pf) == 2) {
		rte_eth_fp_ops[pf].rx_queue_count = (eth_rx_queue_count_t)die;
		ret = rte_eth_rx_queue_count((uint16_t)port, 0);
	} else if (sscanf(line, "count %u", &port) == 1) {
		ret = rte_eth_rx_queue_count((uint16_t)port, 0);
	} else if (sscanf(line, "close %u", &port) == 1) {
		ret = rte_eth_dev_close((uint16_t)port);
	}
	printf("answer %d\n", ret);
}

int
main(int argc, char **argv)
{
	char line[LINE_MAX_LEN];

	if (rte_eal_init(argc, argv) < 0)
		return EXIT_FAILURE;
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin) != NULL && line[0] != 'q')
		obey(line);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
