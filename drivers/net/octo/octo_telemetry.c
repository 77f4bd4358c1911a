/* SPDX-License-Identifier: BSD-3-Clause */

/* Telemetry commands /octo/...: the port's views. */

#include <errno.h>
#include <inttypes.h>

#include <rte_ether.h>

#include "octo_private.h"
#include "octo_tel.h"
#include "octo_view.h"

/*
 * A reply holds 16 KiB. A rule takes up to 282 bytes of it, a leg 150, a queue 140, an
 * xstat 24 bytes and its name.
 */
#define XSTATS_BYTES (15u * 1024)
#define XSTAT_BYTES 24
#define RULES_PER_REPLY 50u
#define LEGS_PER_REPLY 96u
#define QUEUES_PER_REPLY 96
#define MAX_PARAMS 3

/* Part of a list that a command asks for. */
struct page {
	uint32_t start;
	uint32_t nb;
};

/*
 * Add a dictionary, which is filled after that. Returns NULL without memory: then the reply lacks
 * it.
 */
static struct rte_tel_data *
open_dict(struct rte_tel_data *to, const char *key)
{
	struct rte_tel_data *dict = octo_tel_new_dict();

	if (dict == NULL || rte_tel_data_add_dict_container(to, key, dict, 0) == 0)
		return dict;
	rte_tel_data_free(dict);
	return NULL;
}

static void
add_pf(struct rte_tel_data *pfs, uint16_t index, const struct octo_view_pf *view)
{
	struct rte_tel_data *pf = octo_tel_new_dict();
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	if (pf == NULL)
		return;
	rte_tel_data_add_dict_uint(pf, "index", index);
	rte_tel_data_add_dict_string(pf, "name", view->name);
	rte_tel_data_add_dict_uint(pf, "port", view->port_id);
	rte_tel_data_add_dict_int(pf, "socket", view->socket);
	rte_tel_data_add_dict_string(pf, "link", view->link_up ? "up" : "down");
	rte_tel_data_add_dict_string(pf, "state", view->state);
	rte_tel_data_add_dict_int(pf, "transfer_proxy", view->transfer_proxy);
	rte_ether_format_addr(mac, sizeof(mac), &view->mac);
	rte_tel_data_add_dict_string(pf, "mac", mac);
	rte_tel_data_add_dict_uint(pf, "mac_holder", view->mac_holder);
	rte_tel_data_add_dict_int(pf, "designated", view->designated);
	octo_tel_add_numbered(pfs, index, pf);
}

static void
add_queue(struct rte_tel_data *queues, uint16_t index, const struct octo_view_leg *view)
{
	struct rte_tel_data *queue = octo_tel_new_dict();

	if (queue == NULL)
		return;
	rte_tel_data_add_dict_uint(queue, "queue", index);
	rte_tel_data_add_dict_int(queue, "cpu", view->cpu);
	rte_tel_data_add_dict_int(queue, "socket", view->cpu_socket);
	rte_tel_data_add_dict_int(queue, "home_pf", view->pf);
	rte_tel_data_add_dict_int(queue, "ring", view->ring_socket);
	rte_tel_data_add_dict_int(queue, "pool", view->pool_socket);
	rte_tel_data_add_dict_string(queue, "crosses", view->crosses);
	octo_tel_add_numbered(queues, index, queue);
}

static int
reply_topology(uint16_t port, const struct page *page, struct rte_tel_data *d)
{
	struct octo_view_topology view;
	struct octo_view_queue queue;
	struct rte_tel_data *list;
	int ret = rte_pmd_octo_view_topology(port, &view);

	if (ret != 0)
		return ret;
	rte_tel_data_add_dict_string(d, "name", view.name);
	rte_tel_data_add_dict_string(d, "tier", view.tier);
	rte_tel_data_add_dict_string(d, "mpfs", view.mpfs);
	rte_tel_data_add_dict_string(d, "dialect", view.dialect);
	rte_tel_data_add_dict_string(d, "ignored", view.ignored);
	rte_tel_data_add_dict_int(d, "socket", view.socket);
	rte_tel_data_add_dict_uint(d, "rx_ring", view.rx_ring);
	rte_tel_data_add_dict_uint(d, "rx_ring_wanted", view.rx_ring_wanted);
	rte_tel_data_add_dict_string(d, "link", view.link_up ? "up" : "down");
	list = open_dict(d, "pfs");
	for (uint16_t i = 0; list != NULL && i < view.nb_pfs; i++)
		add_pf(list, i, &view.pf[i]);
	list = open_dict(d, "queues");
	for (uint32_t i = page->start;
	     list != NULL && i < view.nb_rx_queues && i - page->start < QUEUES_PER_REPLY; i++)
		if (octo_view_queue(port, (uint16_t)i, &queue) == 0)
			add_queue(list, (uint16_t)i, &queue.home);
	return 0;
}

static void
add_leg(struct rte_tel_data *legs, uint32_t index, const struct octo_view_leg *view)
{
	struct rte_tel_data *leg = octo_tel_new_dict();

	if (leg == NULL)
		return;
	rte_tel_data_add_dict_string(leg, "queue", view->tx ? "tx" : "rx");
	rte_tel_data_add_dict_uint(leg, "index", view->queue);
	rte_tel_data_add_dict_uint(leg, "pf", view->pf);
	rte_tel_data_add_dict_int(leg, "home", view->home);
	rte_tel_data_add_dict_int(leg, "cpu", view->cpu);
	rte_tel_data_add_dict_int(leg, "cpu_socket", view->cpu_socket);
	rte_tel_data_add_dict_int(leg, "pf_socket", view->pf_socket);
	rte_tel_data_add_dict_int(leg, "ring", view->ring_socket);
	rte_tel_data_add_dict_int(leg, "pool", view->pool_socket);
	rte_tel_data_add_dict_string(leg, "crosses", view->crosses);
	octo_tel_add_numbered(legs, index, leg);
}

static int
reply_legs(uint16_t port, const struct page *page, struct rte_tel_data *d)
{
	struct octo_view_leg view[LEGS_PER_REPLY];
	struct rte_tel_data *legs;
	uint32_t total;
	int nb = octo_view_legs(port, page->start, view, RTE_MIN(page->nb, LEGS_PER_REPLY), &total);

	if (nb < 0)
		return nb;
	rte_tel_data_add_dict_uint(d, "total", total);
	rte_tel_data_add_dict_uint(d, "start", page->start);
	legs = open_dict(d, "legs");
	for (int i = 0; legs != NULL && i < nb; i++)
		add_leg(legs, page->start + i, &view[i]);
	return 0;
}

static void
add_address(struct rte_tel_data *rule, const char *key, const struct octo_tuple *t,
	    const uint8_t *addr)
{
	char text[OCTO_ADDR_TEXT_MAX];

	rte_tel_data_add_dict_string(rule, key, octo_tuple_format_addr(t, addr, text));
}

static void
add_rule(struct rte_tel_data *rules, uint32_t index, const struct octo_view_rule *view)
{
	const struct octo_tuple *t = &view->tuple;
	struct rte_tel_data *rule = octo_tel_new_dict();

	if (rule == NULL)
		return;
	rte_tel_data_add_dict_string(rule, "proto", octo_tuple_proto_name(t->proto));
	add_address(rule, "src", t, t->src);
	rte_tel_data_add_dict_uint(rule, "src_port", rte_be_to_cpu_16(t->src_port));
	add_address(rule, "dst", t, t->dst);
	rte_tel_data_add_dict_uint(rule, "dst_port", rte_be_to_cpu_16(t->dst_port));
	rte_tel_data_add_dict_uint(rule, "queue", view->queue);
	rte_tel_data_add_dict_int(rule, "pf", view->pf);
	/* DPDK 22.11 has only 32 bits in a signed number */
	if (view->hits < 0)
		rte_tel_data_add_dict_int(rule, "hits", -1);
	else
		rte_tel_data_add_dict_uint(rule, "hits", view->hits);
	rte_tel_data_add_dict_uint(rule, "strays", view->strays);
	rte_tel_data_add_dict_string(rule, "status", view->status);
	rte_tel_data_add_dict_int(rule, "learned", view->learned);
	octo_tel_add_numbered(rules, index, rule);
}

static int
reply_steering(uint16_t port, const struct page *page, struct rte_tel_data *d)
{
	struct octo_view_rule view[RULES_PER_REPLY];
	struct octo_view_topology topology;
	struct rte_tel_data *rules;
	uint32_t total;
	int nb = rte_pmd_octo_view_topology(port, &topology);

	if (nb == 0)
		nb = rte_pmd_octo_view_rules(port, page->start, view,
					     RTE_MIN(page->nb, RULES_PER_REPLY), &total);
	if (nb < 0)
		return nb;
	rte_tel_data_add_dict_uint(d, "total", total);
	rte_tel_data_add_dict_uint(d, "ineffective", topology.nb_ineffective);
	rte_tel_data_add_dict_uint(d, "others", topology.nb_others);
	rte_tel_data_add_dict_uint(d, "lingering", topology.nb_lingering);
	rte_tel_data_add_dict_uint(d, "bytes", topology.rule_bytes);
	rte_tel_data_add_dict_uint(d, "start", page->start);
	rules = open_dict(d, "rules");
	for (int i = 0; rules != NULL && i < nb; i++)
		add_rule(rules, page->start + i, &view[i]);
	return 0;
}

static void
add_strays(struct rte_tel_data *queues, uint16_t index, const struct octo_view_queue *view)
{
	struct rte_tel_data *queue = octo_tel_new_dict();

	if (queue == NULL)
		return;
	rte_tel_data_add_dict_uint(queue, "queue", index);
	rte_tel_data_add_dict_uint(queue, "home_packets", view->home_packets);
	rte_tel_data_add_dict_uint(queue, "stray_packets", view->stray_packets);
	octo_tel_add_numbered(queues, index, queue);
}

static int
reply_strays(uint16_t port, const struct page *page, struct rte_tel_data *d)
{
	struct rte_tel_data *queues = open_dict(d, "queues");
	struct octo_view_queue view, sum = {0};
	char fraction[32];
	uint64_t all;

	for (uint16_t i = 0; octo_view_queue(port, i, &view) == 0; i++) {
		if (queues != NULL && i >= page->start && i - page->start < QUEUES_PER_REPLY)
			add_strays(queues, i, &view);
		sum.home_packets += view.home_packets;
		sum.stray_packets += view.stray_packets;
	}
	all = sum.home_packets + sum.stray_packets;
	snprintf(fraction, sizeof(fraction), "%.6f",
		 all == 0 ? 0. : (double)sum.stray_packets / (double)all);
	rte_tel_data_add_dict_uint(d, "home_packets", sum.home_packets);
	rte_tel_data_add_dict_uint(d, "stray_packets", sum.stray_packets);
	rte_tel_data_add_dict_string(d, "stray_fraction", fraction);
	return 0;
}

static int
reply_learning(uint16_t port, const struct page *page, struct rte_tel_data *d)
{
	struct rte_pmd_octo_learning view;
	int ret = rte_pmd_octo_learning_get(port, &view);

	RTE_SET_USED(page);
	if (ret != 0)
		return ret;
	rte_tel_data_add_dict_string(d, "state", view.state);
	rte_tel_data_add_dict_uint(d, "learn_sample", view.settings.sample);
	rte_tel_data_add_dict_uint(d, "learn_max", view.settings.max_rules);
	rte_tel_data_add_dict_uint(d, "idle_ms", view.settings.idle_ms);
	rte_tel_data_add_dict_int(d, "counted", view.counted);
	rte_tel_data_add_dict_uint(d, "rules", view.rules);
	rte_tel_data_add_dict_uint(d, "candidates", view.candidates);
	rte_tel_data_add_dict_uint(d, "samples", view.samples);
	rte_tel_data_add_dict_uint(d, "installed", view.installed);
	rte_tel_data_add_dict_uint(d, "evicted", view.evicted);
	rte_tel_data_add_dict_uint(d, "aged", view.aged);
	rte_tel_data_add_dict_uint(d, "refused", view.refused);
	rte_tel_data_add_dict_uint(d, "failed", view.failed);
	return 0;
}

/* Add as many xstats as fit into a reply. */
static void
add_xstats(struct rte_tel_data *to, const struct rte_eth_xstat_name *names,
	   const struct rte_eth_xstat *values, uint32_t start, uint32_t nb)
{
	size_t len = 0;

	for (uint32_t i = start; i < nb && i - start < RTE_TEL_MAX_DICT_ENTRIES; i++) {
		len += strlen(names[i].name) + XSTAT_BYTES;
		if (len > XSTATS_BYTES)
			return;
		rte_tel_data_add_dict_uint(to, names[i].name, values[i].value);
	}
}

static int
reply_xstats(uint16_t port, const struct page *page, struct rte_tel_data *d)
{
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;
	struct rte_tel_data *xstats;
	int nb;

	/* hold the registry, so that nothing of the port is freed meanwhile */
	if (octo_registry_get(port) == NULL)
		return -ENODEV;
	nb = octo_xstats_read(port, &names, &values);
	octo_registry_put();
	if (nb < 0)
		return nb;
	rte_tel_data_add_dict_uint(d, "total", (uint64_t)nb);
	rte_tel_data_add_dict_uint(d, "start", page->start);
	xstats = open_dict(d, "xstats");
	if (xstats != NULL)
		add_xstats(xstats, names, values, page->start, (uint32_t)nb);
	free(names);
	return 0;
}

/* The key is the lower end of the bucket in microseconds. */
static void
add_holds(struct rte_tel_data *to, const struct octo_hold_view *view)
{
	char key[24];

	for (unsigned int i = 0; i < OCTO_HOLD_BUCKETS; i++) {
		snprintf(key, sizeof(key), "%" PRIu64, octo_hold_floor_us(i));
		rte_tel_data_add_dict_uint(to, key, view->holds[i]);
	}
}

static int
reply_locks(uint16_t port, const struct page *page, struct rte_tel_data *d)
{
	struct octo_hold_view view;
	struct rte_tel_data *holds;
	int ret = octo_view_hold(port, &view);

	RTE_SET_USED(page);
	if (ret != 0)
		return ret;
	rte_tel_data_add_dict_uint(d, "held_ns", view.held_ns);
	rte_tel_data_add_dict_uint(d, "longest_ns", view.longest_ns);
	holds = open_dict(d, "holds");
	if (holds != NULL)
		add_holds(holds, &view);
	return 0;
}

/* A command on one port. */
static const struct command {
	const char *name;
	const char *help;
	int max_params; /* the port included */
	int (*reply)(uint16_t port, const struct page *page, struct rte_tel_data *d);
} commands[] = {
	{"/octo/topology", "Returns PFs, links, tier, homes. Parameters: int port_id [, int queue]",
	 2, reply_topology},
	{"/octo/legs",
	 "Returns sockets of ring, pool and CPU of each leg. "
	 "Parameters: int port_id [, int start [, int n]]",
	 3, reply_legs},
	{"/octo/steering", "Returns rules. Parameters: int port_id [, int start [, int n]]", 3,
	 reply_steering},
	{"/octo/learning", "Returns what strays have taught. Parameters: int port_id", 1,
	 reply_learning},
	{"/octo/locks", "Returns for how long the control mutex is held. Parameters: int port_id",
	 1, reply_locks},
	{"/octo/strays", "Returns home and stray packets. Parameters: int port_id [, int queue]", 2,
	 reply_strays},
	{"/octo/xstats", "Returns extended statistics. Parameters: int port_id [, int start]", 2,
	 reply_xstats},
};

/* Read "PORT[,START[,NUMBER]]", and reply. */
static int
handle_port(const char *cmd, const char *params, struct rte_tel_data *d)
{
	uint32_t numbers[MAX_PARAMS] = {0, 0, UINT32_MAX};
	const int nb = octo_tel_read_params(params, UINT32_MAX, numbers, MAX_PARAMS);
	const uint16_t port = (uint16_t)numbers[0];
	const struct page page = {numbers[1], numbers[2]};
	const struct command *c = commands;

	while (strcmp(c->name, cmd) != 0)
		c++;
	if (nb < 1 || nb > c->max_params || numbers[0] >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	if (!octo_view_is_octo(port))
		return -ENODEV;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", port);
	return c->reply(port, &page, d);
}

static int
handle_list(const char *cmd, const char *params, struct rte_tel_data *d)
{
	uint16_t port;

	RTE_SET_USED(cmd);
	RTE_SET_USED(params);
	rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
	RTE_ETH_FOREACH_DEV(port)
		if (octo_view_is_octo(port))
			rte_tel_data_add_array_int(d, port);
	return 0;
}

RTE_INIT(octo_telemetry_init)
{
	rte_telemetry_register_cmd("/octo/list", handle_list,
				   "Returns the octo ports. Takes no parameters");
	for (unsigned int i = 0; i < RTE_DIM(commands); i++)
		rte_telemetry_register_cmd(commands[i].name, handle_port, commands[i].help);
}
