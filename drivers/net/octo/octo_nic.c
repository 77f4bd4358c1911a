/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules, RETA and hash of a lower port, by the functions of ethdev. */

#include "octo_private.h"

static int
validate(const struct octo_port *port, const struct rte_flow_attr *attr,
	 const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	 struct rte_flow_error *error)
{
	return rte_flow_validate(octo_port_usable_id(port), attr, pattern, actions, error);
}

static struct rte_flow *
create_rule(const struct octo_port *port, const struct rte_flow_attr *attr,
	    const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	    struct rte_flow_error *error)
{
	return rte_flow_create(octo_port_usable_id(port), attr, pattern, actions, error);
}

static int
destroy(const struct octo_port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	return rte_flow_destroy(octo_port_usable_id(port), flow, error);
}

/* Also of a port that is not owned yet, or not any more. */
static int
flush(const struct octo_port *port)
{
	return rte_flow_flush(port->port_id, NULL);
}

static int
query_rule(const struct octo_port *port, struct rte_flow *flow,
	   const struct rte_flow_action actions[], void *data, struct rte_flow_error *error)
{
	return rte_flow_query(octo_port_usable_id(port), flow, actions, data, error);
}

static int
dump(const struct octo_port *port, struct rte_flow *flow, FILE *file, struct rte_flow_error *error)
{
	return rte_flow_dev_dump(octo_port_usable_id(port), flow, file, error);
}

static int
reta_update(struct octo_port *port, struct rte_eth_rss_reta_entry64 *entries, uint16_t size)
{
	return rte_eth_dev_rss_reta_update(port->port_id, entries, size);
}

static int
hash_update(struct octo_port *port, struct rte_eth_rss_conf *conf)
{
	return rte_eth_dev_rss_hash_update(port->port_id, conf);
}

static int
hash_get(const struct octo_port *port, struct rte_eth_rss_conf *conf)
{
	return rte_eth_dev_rss_hash_conf_get(port->port_id, conf);
}

const struct octo_nic_ops octo_nic_ethdev_ops = {
	.validate = validate,
	.create = create_rule,
	.destroy = destroy,
	.flush = flush,
	.query = query_rule,
	.dump = dump,
	.reta_update = reta_update,
	.hash_update = hash_update,
	.hash_get = hash_get,
};
