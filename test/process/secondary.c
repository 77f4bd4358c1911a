/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A secondary process that does what a line of its input says: "count PORT", "close PORT",
 * "die PORT PF", inside of the driver of that PF while it asks the port how full a queue is, or
 * "stay PORT PF", inside of the driver while it asks for the port's info, for as long as the PF
 * is there: the answer is whether it had gone by then.
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <ethdev_driver.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_stdatomic.h>

#define LINE_MAX_LEN 80
#define STAY_MS 1000

static int
die(void *rxq)
{
	RTE_SET_USED(rxq);
	raise(SIGKILL);
	return 0;
}

static struct {
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	unsigned int port, pf;
	RTE_ATOMIC(bool) is_out;
} slow;

static int
see_end(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (port == slow.pf)
		rte_atomic_store_explicit(&slow.is_out, true, rte_memory_order_release);
	return 0;
}

static int
slow_info(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	bool is_out = false;

	dev->dev_ops = slow.real;
	printf("inside\n");
	for (int i = 0; i < STAY_MS && !is_out; i++) {
		rte_delay_us_sleep(1000);
		is_out = rte_atomic_load_explicit(&slow.is_out, rte_memory_order_acquire);
	}
	printf("answer %d\n", is_out);
	return is_out ? -ENODEV : slow.real->dev_infos_get(dev, info);
}

static void *
ask_info(void *arg)
{
	struct rte_eth_dev_info info;
	const int ret = rte_eth_dev_info_get((uint16_t)slow.port, &info);

	/* newer releases want it looked at; slow_info() has told */
	RTE_SET_USED(ret);
	RTE_SET_USED(arg);
	return NULL;
}

static void
stay(void)
{
	struct rte_eth_dev *dev = &rte_eth_devices[slow.pf];
	pthread_t thread;

	slow.real = dev->dev_ops;
	slow.ops = *dev->dev_ops;
	slow.ops.dev_infos_get = slow_info;
	dev->dev_ops = &slow.ops;
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, see_end, NULL);
	if (pthread_create(&thread, NULL, ask_info, NULL) == 0)
		pthread_join(thread, NULL);
}

static void
obey(const char *line)
{
	unsigned int port, pf;
	int ret = -EINVAL;

	if (sscanf(line, "stay %u %u", &slow.port, &slow.pf) == 2) {
		stay();
		return;
	}
	if (sscanf(line, "die %u %u", &port, &pf) == 2) {
		rte_eth_fp_ops[pf].rx_queue_count = (eth_rx_queue_count_t)die;
		ret = rte_eth_rx_queue_count((uint16_t)port, 0);
	} else if (sscanf(line, "count %u", &port) == 1) {
		ret = rte_eth_rx_queue_count((uint16_t)port, 0);
	} else if (sscanf(line, "intr %u", &port) == 1) {
		ret = rte_eth_dev_rx_intr_enable((uint16_t)port, 0);
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
