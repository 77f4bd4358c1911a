/* SPDX-License-Identifier: BSD-3-Clause */

/* /octo_agent/...: what the auditor found, and what the PFs do. */

#include <errno.h>
#include <stdio.h>

#include "agent_vhost.h"
#include "octo_tel.h"

/* A reply holds 16 KiB; a queue takes up to 700 bytes of it. */
#define QUEUES_PER_REPLY 20
#define MAX_PARAMS 2

/* Telemetry's callbacks bring nothing along. */
static RTE_ATOMIC(struct agent *) the_agent;

static struct agent *
get_agent(void)
{
	return rte_atomic_load_explicit(&the_agent, rte_memory_order_acquire);
}

static void
add_localities(struct rte_tel_data *dict, const char *what,
	       const uint64_t counts[AGENT_NB_LOCALITIES])
{
	static const char *const localities[] = {"local", "remote", "unknown"};
	char key[32];

	for (int i = 0; i < AGENT_NB_LOCALITIES; i++) {
		snprintf(key, sizeof(key), "%s_%s", what, localities[i]);
		rte_tel_data_add_dict_uint(dict, key, counts[i]);
	}
}

static struct rte_tel_data *
make_ring(struct agent_pf *pf, uint16_t queue, bool tx)
{
	struct rte_tel_data *dict = octo_tel_new_dict();
	struct agent_audit_row row;

	if (dict == NULL)
		return NULL;
	agent_report_row(pf, queue, tx, &row);
	rte_tel_data_add_dict_int(dict, "enabled", row.enabled);
	rte_tel_data_add_dict_int(dict, "desc_node", row.ring_node[AGENT_DESC]);
	rte_tel_data_add_dict_int(dict, "avail_node", row.ring_node[AGENT_AVAIL]);
	rte_tel_data_add_dict_int(dict, "used_node", row.ring_node[AGENT_USED]);
	add_localities(dict, "packets", row.count.packets);
	add_localities(dict, "bytes", row.count.bytes);
	add_localities(dict, "posted", row.waiting);
	return dict;
}

static void
add_queues(struct rte_tel_data *to, struct agent_pf *pf, uint32_t first)
{
	for (uint32_t q = first; q < pf->own->queues && q < first + QUEUES_PER_REPLY; q++) {
		struct rte_tel_data *dict = octo_tel_new_dict();

		if (dict == NULL)
			return;
		rte_tel_data_add_dict_uint(dict, "queue", q);
		octo_tel_add_dict(dict, "rx", make_ring(pf, q, false));
		octo_tel_add_dict(dict, "tx", make_ring(pf, q, true));
		octo_tel_add_numbered(to, q, dict);
	}
}

/* One PF, as a reply has no room for all queues of all. */
static int
handle_audit(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct agent *agent = get_agent();
	uint32_t at[MAX_PARAMS] = {0}; /* PF and first queue */
	struct rte_tel_data *queues;
	struct agent_pf *pf;

	RTE_SET_USED(cmd);
	if (agent == NULL)
		return -ENODEV;
	if (octo_tel_read_params(params, UINT16_MAX, at, MAX_PARAMS) < 1 ||
	    at[0] >= agent->options.nb_pfs)
		return -EINVAL;
	pf = &agent->pf[at[0]];
	queues = octo_tel_new_dict();
	if (queues == NULL)
		return -ENOMEM;
	add_queues(queues, pf, at[1]);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "pf", at[0]);
	rte_tel_data_add_dict_string(d, "name", pf->own->name);
	rte_tel_data_add_dict_int(d, "node", pf->own->node);
	rte_tel_data_add_dict_uint(d, "inexact", pf->inexact);
	rte_tel_data_add_dict_uint(d, "nb_queues", pf->own->queues);
	rte_tel_data_add_dict_container(d, "queues", queues, 0);
	return 0;
}

static int
handle_reset(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct agent *agent = get_agent();

	RTE_SET_USED(cmd);
	RTE_SET_USED(params);
	if (agent == NULL)
		return -ENODEV;
	agent_report_reset(agent);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_int(d, "reset", 1);
	return 0;
}

static void
add_sums(struct rte_tel_data *dict, const struct agent_pf *pf)
{
	struct agent_queue sum = {0};

	for (uint16_t i = 0; i < pf->own->queues; i++) {
		const struct agent_queue *queue = &pf->queue[i];

		sum.rx_packets += queue->rx_packets;
		sum.rx_no_client += queue->rx_no_client;
		sum.rx_no_buffer += queue->rx_no_buffer;
		sum.tx_packets += queue->tx_packets;
		sum.tx_malformed += queue->tx_malformed;
		sum.tx_dropped += queue->tx_dropped;
	}
	rte_tel_data_add_dict_uint(dict, "rx_packets", sum.rx_packets);
	rte_tel_data_add_dict_uint(dict, "rx_no_client_drops", sum.rx_no_client);
	rte_tel_data_add_dict_uint(dict, "rx_no_buffer_drops", sum.rx_no_buffer);
	rte_tel_data_add_dict_uint(dict, "tx_packets", sum.tx_packets);
	rte_tel_data_add_dict_uint(dict, "tx_malformed_drops", sum.tx_malformed);
	rte_tel_data_add_dict_uint(dict, "tx_wire_drops", sum.tx_dropped);
}

/* By a client that may not drive it: another one is refused. */
static bool
is_connected(const struct agent_pf *pf)
{
	return rte_atomic_load_explicit(&pf->connection, rte_memory_order_relaxed) >= 0;
}

static struct rte_tel_data *
make_pf(struct agent_pf *pf)
{
	struct rte_tel_data *dict = octo_tel_new_dict();
	uint32_t enabled = 0;

	if (dict == NULL)
		return NULL;
	rte_tel_data_add_dict_uint(dict, "index", pf->index);
	rte_tel_data_add_dict_string(dict, "name", pf->own->name);
	rte_tel_data_add_dict_string(dict, "vhost", pf->own->vhost);
	rte_tel_data_add_dict_uint(dict, "port", pf->port);
	rte_tel_data_add_dict_int(dict, "node", pf->own->node);
	rte_ticketlock_lock(&pf->lock);
	for (uint16_t i = 0; i < pf->own->queues; i++)
		enabled += pf->on[AGENT_RXQ(i)] && pf->on[AGENT_TXQ(i)];
	rte_tel_data_add_dict_int(dict, "connected", is_connected(pf));
	rte_tel_data_add_dict_uint(dict, "nb_queues", pf->own->queues);
	rte_tel_data_add_dict_uint(dict, "enabled_queues", enabled);
	add_sums(dict, pf);
	rte_ticketlock_unlock(&pf->lock);
	return dict;
}

static int
handle_pfs(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct agent *agent = get_agent();
	struct rte_tel_data *pfs;

	RTE_SET_USED(cmd);
	RTE_SET_USED(params);
	if (agent == NULL)
		return -ENODEV;
	pfs = octo_tel_new_dict();
	if (pfs == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < agent->options.nb_pfs; i++)
		octo_tel_add_numbered(pfs, i, make_pf(&agent->pf[i]));
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_container(d, "pfs", pfs, 0);
	return 0;
}

void
agent_telemetry_start(struct agent *agent)
{
	/* pairs with the acquire in get_agent() */
	rte_atomic_store_explicit(&the_agent, agent, rte_memory_order_release);
}

RTE_INIT(agent_telemetry_init)
{
	rte_telemetry_register_cmd("/octo_agent/audit", handle_audit,
				   "Returns where a PF's DMA went. Parameters: int pf [, int "
				   "queue]");
	rte_telemetry_register_cmd("/octo_agent/audit_reset", handle_reset,
				   "Forgets all packets. Takes no parameters");
	rte_telemetry_register_cmd("/octo_agent/pfs", handle_pfs,
				   "Returns PFs, clients and drops. Takes no parameters");
}
