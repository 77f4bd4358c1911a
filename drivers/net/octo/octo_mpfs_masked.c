/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Masked `transfer` rules of the NIC's own switch, and a catch-all for packets from the
 * network; see octo_mpfs_switch.c.
 */

#include <errno.h>
#include <stdlib.h>

#include "octo_flow_build.h"
#include "octo_private.h"

/*
 * Below the rules of flows. Two priorities each, used alternately: the new set is installed
 * before the old one is removed.
 */
#define MASKED_PRIORITY 4
#define DEFAULT_PRIORITY 6

static int
validate(const struct octo_dev *octo, const struct octo_flow_rule *r, struct rte_flow_error *error)
{
	const struct octo_port *proxy = octo_proxy(octo);
	const int ret = rte_flow_validate(proxy->port_id, &r->attr, r->pattern, r->actions, error);

	return ret == 0 ? 0 : octo_flow_blame(proxy, ret, error);
}

int
octo_mpfs_masked_probe(struct octo_dev *octo, struct rte_flow_error *error)
{
	static const enum octo_tuple_family families[] = {OCTO_IPV4, OCTO_IPV6};
	static const struct octo_partition_rule odd = {.src = 1, .src_mask = 1, .dst_mask = 2};
	const uint16_t proxy = octo_proxy(octo)->port_id;
	struct octo_flow_rule r;
	int ret;

	if (octo_mpfs_switch_dialect(octo)->from == RTE_FLOW_ITEM_TYPE_END)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, NULL,
					  "rules of this NIC have no port item, so a catch-all "
					  "would match what PFs send");
	for (unsigned int i = 0; i < RTE_DIM(families); i++) {
		octo_flow_build_masked(&r, octo->dialects.now, families[i], &odd, MASKED_PRIORITY,
				       proxy, proxy, false);
		ret = validate(octo, &r, error);
		if (ret != 0)
			return ret;
	}
	octo_flow_build_transfer(&r, octo->dialects.now, NULL, DEFAULT_PRIORITY, proxy, proxy,
				 false);
	return validate(octo, &r, error);
}

/* The set's rules that exist: all, or none if the port was lost that had them. */
static unsigned int
count(const struct octo_dev *octo, const struct octo_masked_set *set)
{
	return set->life == octo->port[set->proxy].fsm.life ? set->nb_flows : 0;
}

static void
destroy(const struct octo_dev *octo, const struct octo_masked_set *set)
{
	for (unsigned int i = count(octo, set); i > 0; i--)
		rte_flow_destroy(octo_port_usable_id(&octo->port[set->proxy]), set->flows[i - 1],
				 NULL);
}

/* Add a rule to a set that is being built. A port that was lost meanwhile gets none. */
static int
add_rule(const struct octo_dev *octo, const struct octo_flow_rule *r, struct octo_masked_set *set,
	 struct rte_flow_error *error)
{
	const struct octo_port *proxy = &octo->port[set->proxy];
	struct rte_flow *flow;

	if (proxy->fsm.life != set->life)
		return 0;
	flow = rte_flow_create(proxy->port_id, &r->attr, r->pattern, r->actions, error);
	if (flow == NULL)
		return octo_flow_blame(proxy, -rte_errno, error);
	set->flows[set->nb_flows++] = flow;
	return 0;
}

static int
add_family(const struct octo_dev *octo, enum octo_tuple_family family,
	   const struct octo_masked_rules *masked, struct octo_masked_set *set,
	   struct rte_flow_error *error)
{
	struct octo_flow_rule r;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < masked->nb_rules; i++) {
		octo_flow_build_masked(&r, octo->dialects.now, family, &masked->rules[i],
				       MASKED_PRIORITY + set->turn, octo->port[set->proxy].port_id,
				       octo->port[masked->rules[i].pf].port_id, set->counted);
		ret = add_rule(octo, &r, set, error);
	}
	return ret;
}

/*
 * Create the whole set, or nothing. The catch-all is installed last, so that it cannot match
 * partitioned traffic.
 */
static int
create_set(const struct octo_dev *octo, const struct octo_masked_rules *masked,
	   struct octo_masked_set *set, struct rte_flow_error *error)
{
	struct octo_flow_rule r;
	int ret = 0;

	set->nb_flows = 0;
	if (masked->ipv4)
		ret = add_family(octo, OCTO_IPV4, masked, set, error);
	if (ret == 0 && masked->ipv6)
		ret = add_family(octo, OCTO_IPV6, masked, set, error);
	if (ret == 0) {
		octo_flow_build_transfer(&r, octo->dialects.now, NULL, DEFAULT_PRIORITY + set->turn,
					 octo->port[set->proxy].port_id,
					 octo->port[masked->default_pf].port_id, set->counted);
		ret = add_rule(octo, &r, set, error);
	}
	if (ret != 0)
		destroy(octo, set);
	return ret;
}

/* The PF's RETA is gone, and the masked rules if it was their transfer proxy PF. */
void
octo_mpfs_masked_lose_pf(struct octo_dev *octo, uint8_t port)
{
	octo->partition.level |= RTE_BIT32(port);
	octo->partition.lost = true;
	octo->partition.settled = false;
	octo->partition.stale |= octo->partition.set.proxy == port;
}

void
octo_mpfs_masked_clear(struct octo_dev *octo)
{
	struct octo_masked_set *set = &octo->partition.set;

	destroy(octo, set);
	free(set->flows);
	set->flows = NULL;
	set->nb_flows = 0;
}

bool
octo_mpfs_masked_hits(const struct octo_dev *octo, uint64_t *hits)
{
	const struct octo_masked_set *set = &octo->partition.set;

	*hits = 0;
	if (!set->counted || count(octo, set) == 0)
		return false;
	for (unsigned int i = 0; i < set->nb_flows; i++) {
		struct rte_flow_query_count count = {0};

		if (rte_flow_query(octo_port_usable_id(&octo->port[set->proxy]), set->flows[i],
				   octo_rule_hits_count, &count, NULL) != 0 ||
		    !count.hits_set)
			return false;
		*hits += count.hits;
	}
	return true;
}

int
octo_mpfs_masked_set(struct octo_dev *octo, const struct octo_masked_rules *masked,
		     struct rte_flow_error *error)
{
	struct octo_masked_set next = {
		.flows = calloc(2 * masked->nb_rules + 1, sizeof(*next.flows)),
		.life = octo_proxy(octo)->fsm.life,
		.proxy = octo->proxy,
		.turn = octo->partition.set.turn ^ 1,
		.counted = octo->mpfs_ops->counts(octo),
	};
	int ret;

	if (next.flows == NULL) {
		octo_mpfs_masked_clear(octo);
		return -ENOMEM;
	}
	ret = create_set(octo, masked, &next, error);
	octo_mpfs_masked_clear(octo);
	/* a full table, or a switch of few priorities, may have no room for both sets */
	if (ret != 0)
		ret = create_set(octo, masked, &next, error);
	if (ret != 0) {
		free(next.flows);
		return ret;
	}
	octo->partition.set = next;
	return 0;
}
