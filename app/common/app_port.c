/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_stdatomic.h>

#include "app.h"

#define POOL_CACHE 256
#define LINK_WAIT_MS 2000
/* above the 10 ms after which net_bonding's link monitor is called */
#define ALARMS_US (20 * 1000)
#define XSTAT_TRIES 100
#define XSTAT_LOOK_US 200

struct rte_mempool *
app_pool_create(const char *name, unsigned int size)
{
	struct rte_mempool *pool;

	pool = rte_pktmbuf_pool_create(name, size, POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	if (pool == NULL)
		fprintf(stderr, "%s: no memory for buffers: %s\n", app_name,
			rte_strerror(rte_errno));
	return pool;
}

static int
spread(uint16_t port, struct rte_eth_conf *conf)
{
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port, &info);

	if (ret != 0)
		return ret;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_hf = (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP) &
					    info.flow_type_rss_offloads;
	return 0;
}

static int
set_up_queues(uint16_t port, uint16_t nb_queues, uint16_t nb_desc, struct rte_mempool *pool)
{
	int ret = 0;

	for (uint16_t q = 0; q < nb_queues && ret == 0; q++) {
		ret = rte_eth_rx_queue_setup(port, q, nb_desc, SOCKET_ID_ANY, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port, q, nb_desc, SOCKET_ID_ANY, NULL);
	}
	return ret;
}

static void
note_alarm(void *arg)
{
	RTE_ATOMIC(bool) *rang = arg;

	/* pairs with the load in await_alarms() */
	rte_atomic_store_explicit(rang, true, rte_memory_order_release);
}

/*
 * A defect of net_bonding, seen in DPDK 22.11 to 26.07: where it does not start because a
 * member's address cannot be set, the alarm of its link monitor stays set, and the monitor
 * reads the port even if that was closed meanwhile. From 23.11 on that is a crash. Alarms
 * are called one after the other in the order of their times, so the monitor was called
 * before this one.
 */
static void
await_alarms(void)
{
	RTE_ATOMIC(bool) rang = false;

	if (rte_eal_alarm_set(ALARMS_US, note_alarm, &rang) != 0)
		return;
	while (!rte_atomic_load_explicit(&rang, rte_memory_order_acquire))
		rte_delay_us_sleep(1000);
}

static int
start_configured(uint16_t port)
{
	const int ret = rte_eth_dev_start(port);

	if (ret != 0)
		await_alarms();
	return ret;
}

int
app_port_start_as(const char *name, const struct rte_eth_conf *conf, uint16_t nb_queues,
		  uint16_t nb_desc, struct rte_mempool *pool, uint16_t *port)
{
	int ret = rte_eth_dev_get_port_by_name(name, port);

	if (ret == 0)
		ret = rte_eth_dev_configure(*port, nb_queues, nb_queues, conf);
	if (ret == 0)
		ret = set_up_queues(*port, nb_queues, nb_desc, pool);
	return ret == 0 ? start_configured(*port) : ret;
}

int
app_port_start(const char *name, uint16_t nb_queues, uint16_t nb_desc, struct rte_mempool *pool,
	       uint16_t *port)
{
	struct rte_eth_conf conf = {0};
	int ret = rte_eth_dev_get_port_by_name(name, port);

	if (ret == 0)
		ret = spread(*port, &conf);
	if (ret == 0)
		ret = app_port_start_as(name, &conf, nb_queues, nb_desc, pool, port);
	if (ret != 0)
		fprintf(stderr, "%s: port %s does not start: %s\n", app_name, name,
			rte_strerror(-ret));
	return ret;
}

void
app_port_stop(uint16_t port)
{
	rte_eth_dev_stop(port);
	rte_eth_dev_close(port);
}

int
app_port_await_link(uint16_t port, const char *name)
{
	struct rte_eth_link link = {0};

	for (int i = 0; i < LINK_WAIT_MS / 10; i++) {
		if (rte_eth_link_get_nowait(port, &link) == 0 && link.link_status)
			return 0;
		rte_delay_us_sleep(10 * 1000);
	}
	fprintf(stderr, "%s: the link of %s does not come up\n", app_name, name);
	return -ENETDOWN;
}

/*
 * rte_eth_xstats_get_id_by_name(), without its line of log where the number of statistics
 * changes between its two looks, as it does when an octo port loses a PF.
 */
static int
find_xstat(uint16_t port, const char *name, uint64_t *id)
{
	const int nb = rte_eth_xstats_get_names(port, NULL, 0);
	struct rte_eth_xstat_name *names = nb <= 0 ? NULL : calloc((size_t)nb, sizeof(*names));
	int ret = -EAGAIN;

	if (names != NULL && rte_eth_xstats_get_names(port, names, (unsigned int)nb) == nb) {
		ret = -ENOENT;
		for (int i = 0; ret != 0 && i < nb; i++) {
			*id = (uint64_t)i;
			ret = strcmp(names[i].name, name) == 0 ? 0 : -ENOENT;
		}
	}
	free(names);
	return ret;
}

static bool
get_xstat(uint16_t port, const char *name, uint64_t *value)
{
	uint64_t id;

	return find_xstat(port, name, &id) == 0 &&
	       rte_eth_xstats_get_by_id(port, &id, value, 1) == 1;
}

int
app_xstat(uint16_t port, const char *name, uint64_t *value)
{
	for (int i = 0; i < XSTAT_TRIES; i++) {
		if (get_xstat(port, name, value))
			return 0;
		rte_delay_us_sleep(XSTAT_LOOK_US);
	}
	fprintf(stderr, "%s: port %u has no statistic %s\n", app_name, port, name);
	return -ENOENT;
}

int
app_xstats_by_id(uint16_t port, const uint64_t *ids, uint64_t *values, unsigned int nb)
{
	for (int i = 0; i < XSTAT_TRIES; i++) {
		if (rte_eth_xstats_get_by_id(port, ids, values, nb) == (int)nb)
			return 0;
		rte_delay_us_sleep(XSTAT_LOOK_US);
	}
	fprintf(stderr, "%s: port %u does not tell its statistics\n", app_name, port);
	return -EIO;
}
