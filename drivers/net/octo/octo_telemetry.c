/* SPDX-License-Identifier: BSD-3-Clause */

/* Telemetry commands /octo/...: the port's views. */

#include <errno.h>
#include <inttypes.h>

#include "octo_private.h"
#include "octo_tel.h"
#include "octo_learning.h"
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

/* Read "PORT[,NUMBER[,NUMBER]]". Returns how many numbers were read, or a negative errno. */
static int
read_port(const char *params, int max_params, uint32_t *numbers)
{
	const int n = octo_tel_read_params(params, UINT32_MAX, numbers, MAX_PARAMS);

	if (n < 1 || n > max_params || numbers[0] >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	return octo_view_is_octo((uint16_t)numbers[0]) ? n : -ENODEV;
}

static void
add_pf(struct rte_tel_data *pfs, uint16_t index, const struct octo_view_pf *view)
{
	struct rte_tel_data *pf = octo_tel_new_dict();

	if (pf == NULL)
		return;
	rte_tel_data_add_dict_uint(pf, "index", index);
	rte_tel_data_add_dict_string(pf, "name", view->name);
	rte_tel_data_add_dict_uint(pf, "port", view->port_id);
	rte_tel_data_add_dict_int(pf, "socket", view->socket);
	rte_tel_data_add_dict_string(pf, "link", view->link_up ? "up" : "down");
	rte_tel_data_add_dict_string(pf, "state", view->state);
	rte_tel_data_add_dict_int(pf, "transfer_proxy", view->transfer_proxy);
	octo_tel_add_numbered(pfs, index, pf);
}

static void
add_queue(struct rte_tel_data *queues, uint16_t index, const struct octo_view_queue *view)
{
	struct rte_tel_data *queue = octo_tel_new_dict();

	if (queue == NULL)
		return;
	rte_tel_data_add_dict_uint(queue, "queue", index);
	rte_tel_data_add_dict_int(queue, "cpu", view->cpu);
	rte_tel_data_add_dict_int(queue, "socket", view->socket);
	rte_tel_data_add_dict_int(queue, "home_pf", view->home_pf);
	rte_tel_data_add_dict_int(queue, "ring", view->ring_socket);
	rte_tel_data_add_dict_int(queue, "pool", view->pool_socket);
	rte_tel_data_add_dict_string(queue, "crosses", view->crosses);
	octo_tel_add_numbered(queues, index, queue);
}

static int
handle_topology(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct rte_tel_data *pfs, *queues;
	struct octo_view_topology view;
	struct octo_view_queue queue;
	uint32_t port[MAX_PARAMS] = {0}; /* port, first queue */
	int ret = read_port(params, 2, port);

	RTE_SET_USED(cmd);
	if (ret < 0)
		return ret;
	ret = rte_pmd_octo_view_topology((uint16_t)port[0], &view);
	if (ret != 0)
		return ret;
	pfs = octo_tel_new_dict();
	queues = octo_tel_new_dict();
	if (pfs == NULL || queues == NULL) {
		rte_tel_data_free(pfs);
		rte_tel_data_free(queues);
		return -ENOMEM;
	}
	for (uint16_t i = 0; i < view.nb_pfs; i++)
		add_pf(pfs, i, &view.pf[i]);
	for (uint32_t i = port[1]; i < view.nb_rx_queues && i < port[1] + QUEUES_PER_REPLY; i++)
		if (octo_view_queue((uint16_t)port[0], (uint16_t)i, &queue) == 0)
			add_queue(queues, (uint16_t)i, &queue);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", port[0]);
	rte_tel_data_add_dict_string(d, "name", view.name);
	rte_tel_data_add_dict_string(d, "tier", view.tier);
	rte_tel_data_add_dict_string(d, "mpfs", view.mpfs);
	rte_tel_data_add_dict_string(d, "ignored", view.ignored);
	rte_tel_data_add_dict_int(d, "socket", view.socket);
	rte_tel_data_add_dict_string(d, "link", view.link_up ? "up" : "down");
	rte_tel_data_add_dict_container(d, "pfs", pfs, 0);
	rte_tel_data_add_dict_container(d, "queues", queues, 0);
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
handle_legs(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct octo_view_leg view[LEGS_PER_REPLY];
	uint32_t args[MAX_PARAMS] = {0, 0, LEGS_PER_REPLY};
	int nb = read_port(params, MAX_PARAMS, args);
	struct rte_tel_data *legs;
	uint32_t total;

	RTE_SET_USED(cmd);
	if (nb < 0)
		return nb;
	nb = octo_view_legs((uint16_t)args[0], args[1], view, RTE_MIN(args[2], LEGS_PER_REPLY),
			    &total);
	legs = octo_tel_new_dict();
	if (nb < 0 || legs == NULL) {
		rte_tel_data_free(legs);
		return nb < 0 ? nb : -ENOMEM;
	}
	for (int i = 0; i < nb; i++)
		add_leg(legs, args[1] + i, &view[i]);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", args[0]);
	rte_tel_data_add_dict_uint(d, "total", total);
	rte_tel_data_add_dict_uint(d, "start", args[1]);
	rte_tel_data_add_dict_container(d, "legs", legs, 0);
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
handle_steering(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct octo_view_rule view[RULES_PER_REPLY];
	uint32_t args[MAX_PARAMS] = {0, 0, RULES_PER_REPLY};
	int nb = read_port(params, MAX_PARAMS, args);
	struct octo_view_topology topology;
	struct rte_tel_data *rules;
	uint32_t total;

	RTE_SET_USED(cmd);
	if (nb < 0)
		return nb;
	if (rte_pmd_octo_view_topology((uint16_t)args[0], &topology) != 0)
		return -ENODEV;
	nb = rte_pmd_octo_view_rules((uint16_t)args[0], args[1], view,
				     RTE_MIN(args[2], RULES_PER_REPLY), &total);
	rules = octo_tel_new_dict();
	if (nb < 0 || rules == NULL) {
		rte_tel_data_free(rules);
		return nb < 0 ? nb : -ENOMEM;
	}
	for (int i = 0; i < nb; i++)
		add_rule(rules, args[1] + i, &view[i]);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", args[0]);
	rte_tel_data_add_dict_uint(d, "total", total);
	rte_tel_data_add_dict_uint(d, "ineffective", topology.nb_ineffective);
	rte_tel_data_add_dict_uint(d, "others", topology.nb_others);
	rte_tel_data_add_dict_uint(d, "lingering", topology.nb_lingering);
	rte_tel_data_add_dict_uint(d, "bytes", topology.rule_bytes);
	rte_tel_data_add_dict_uint(d, "start", args[1]);
	rte_tel_data_add_dict_container(d, "rules", rules, 0);
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
handle_strays(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct octo_view_queue view, sum = {0};
	struct rte_tel_data *queues;
	uint32_t port[MAX_PARAMS] = {0}; /* port, first queue */
	char fraction[32];
	uint64_t all;
	int ret = read_port(params, 2, port);

	RTE_SET_USED(cmd);
	if (ret < 0)
		return ret;
	queues = octo_tel_new_dict();
	if (queues == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; octo_view_queue((uint16_t)port[0], i, &view) == 0; i++) {
		if (i >= port[1] && i < port[1] + QUEUES_PER_REPLY)
			add_strays(queues, i, &view);
		sum.home_packets += view.home_packets;
		sum.stray_packets += view.stray_packets;
	}
	all = sum.home_packets + sum.stray_packets;
	snprintf(fraction, sizeof(fraction), "%.6f",
		 all == 0 ? 0. : (double)sum.stray_packets / (double)all);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", port[0]);
	rte_tel_data_add_dict_uint(d, "home_packets", sum.home_packets);
	rte_tel_data_add_dict_uint(d, "stray_packets", sum.stray_packets);
	rte_tel_data_add_dict_string(d, "stray_fraction", fraction);
	rte_tel_data_add_dict_container(d, "queues", queues, 0);
	return 0;
}

static int
handle_learning(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct rte_pmd_octo_learning view;
	uint32_t port[MAX_PARAMS];
	int ret = read_port(params, 1, port);

	RTE_SET_USED(cmd);
	if (ret < 0)
		return ret;
	ret = rte_pmd_octo_learning_get((uint16_t)port[0], &view);
	if (ret != 0)
		return ret;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", port[0]);
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
handle_xstats(const char *cmd, const char *params, struct rte_tel_data *d)
{
	uint32_t port[MAX_PARAMS] = {0}; /* port, first xstat */
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;
	struct rte_tel_data *xstats;
	int nb = read_port(params, 2, port);

	RTE_SET_USED(cmd);
	if (nb < 0)
		return nb;
	/* hold the registry, so that nothing of the port is freed meanwhile */
	if (octo_registry_get((uint16_t)port[0]) == NULL)
		return -ENODEV;
	nb = octo_xstats_read((uint16_t)port[0], &names, &values);
	octo_registry_put();
	xstats = octo_tel_new_dict();
	if (nb < 0 || xstats == NULL) {
		rte_tel_data_free(xstats);
		free(names);
		return nb < 0 ? nb : -ENOMEM;
	}
	add_xstats(xstats, names, values, port[1], (uint32_t)nb);
	free(names);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", port[0]);
	rte_tel_data_add_dict_uint(d, "total", (uint64_t)nb);
	rte_tel_data_add_dict_uint(d, "start", port[1]);
	rte_tel_data_add_dict_container(d, "xstats", xstats, 0);
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
handle_locks(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct octo_hold_view view;
	struct rte_tel_data *holds;
	uint32_t port[MAX_PARAMS];
	int ret = read_port(params, 1, port);

	RTE_SET_USED(cmd);
	if (ret < 0)
		return ret;
	ret = octo_view_hold((uint16_t)port[0], &view);
	if (ret != 0)
		return ret;
	holds = octo_tel_new_dict();
	if (holds == NULL)
		return -ENOMEM;
	add_holds(holds, &view);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", port[0]);
	rte_tel_data_add_dict_uint(d, "held_ns", view.held_ns);
	rte_tel_data_add_dict_uint(d, "longest_ns", view.longest_ns);
	octo_tel_add_dict(d, "holds", holds);
	return 0;
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
	rte_telemetry_register_cmd("/octo/topology", handle_topology,
				   "Returns PFs, links, tier, homes. "
				   "Parameters: int port_id [, int queue]");
	rte_telemetry_register_cmd("/octo/legs", handle_legs,
				   "Returns sockets of ring, pool and CPU of each leg. "
				   "Parameters: int port_id [, int start [, int n]]");
	rte_telemetry_register_cmd("/octo/steering", handle_steering,
				   "Returns rules. "
				   "Parameters: int port_id [, int start [, int n]]");
	rte_telemetry_register_cmd("/octo/learning", handle_learning,
				   "Returns what strays have taught. "
				   "Parameters: int port_id");
	rte_telemetry_register_cmd("/octo/locks", handle_locks,
				   "Returns for how long the control mutex is held. "
				   "Parameters: int port_id");
	rte_telemetry_register_cmd("/octo/strays", handle_strays,
				   "Returns home and stray packets. "
				   "Parameters: int port_id [, int queue]");
	rte_telemetry_register_cmd("/octo/xstats", handle_xstats,
				   "Returns extended statistics. "
				   "Parameters: int port_id [, int start]");
}
