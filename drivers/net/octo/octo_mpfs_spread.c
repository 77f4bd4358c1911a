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
#define SPREAD_PRIORITY 4
#define DEFAULT_PRIORITY 6

static int
validate(const struct octo_dev *octo, const struct octo_flow_rule *r, struct rte_flow_error *error)
{
	const struct octo_port *proxy = octo_proxy(octo);
	const int ret = rte_flow_validate(proxy->port_id, &r->attr, r->pattern, r->actions, error);

	return ret == 0 ? 0 : octo_flow_blame(proxy, ret, error);
}

int
octo_mpfs_spread_probe(struct octo_dev *octo, struct rte_flow_error *error)
{
	static const struct octo_partition_rule odd = {.src = 1, .src_mask = 1, .dst_mask = 2};
	const uint16_t proxy = octo_proxy(octo)->port_id;
	struct octo_flow_rule r;
	int ret;

	octo_flow_build_masked(&r, OCTO_IPV4, &odd, SPREAD_PRIORITY, proxy, proxy, false);
	ret = validate(octo, &r, error);
	if (ret != 0)
		return ret;
	octo_flow_build_masked(&r, OCTO_IPV6, &odd, SPREAD_PRIORITY, proxy, proxy, false);
	ret = validate(octo, &r, error);
	if (ret != 0)
		return ret;
	octo_flow_build_mpfs(&r, NULL, DEFAULT_PRIORITY, proxy, proxy, false);
	return validate(octo, &r, error);
}

/* The set's rules that exist: all, or none if the port was lost that had them. */
static unsigned int
count(const struct octo_dev *octo, const struct octo_spreading *set)
{
	return set->life == octo->port[set->proxy].fsm.life ? set->nb_flows : 0;
}

static void
destroy(const struct octo_dev *octo, const struct octo_spreading *set)
{
	for (unsigned int i = count(octo, set); i > 0; i--)
		rte_flow_destroy(octo_port_usable_id(&octo->port[set->proxy]), set->flows[i - 1],
				 NULL);
}

/* Add a rule to a set that is being built. A port that was lost meanwhile gets none. */
static int
add(const struct octo_dev *octo, const struct octo_flow_rule *r, struct octo_spreading *set,
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
	   const struct octo_spread *spread, struct octo_spreading *set,
	   struct rte_flow_error *error)
{
	struct octo_flow_rule r;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < spread->nb_rules; i++) {
		octo_flow_build_masked(&r, family, &spread->rules[i], SPREAD_PRIORITY + set->turn,
				       octo->port[set->proxy].port_id,
				       octo->port[spread->rules[i].pf].port_id, set->counted);
		ret = add(octo, &r, set, error);
	}
	return ret;
}

/*
 * Create the whole set, or nothing. The catch-all is installed last, so that it cannot match
 * partitioned traffic.
 */
static int
create(const struct octo_dev *octo, const struct octo_spread *spread, struct octo_spreading *set,
       struct rte_flow_error *error)
{
	struct octo_flow_rule r;
	int ret = 0;

	set->nb_flows = 0;
	if (spread->ipv4)
		ret = add_family(octo, OCTO_IPV4, spread, set, error);
	if (ret == 0 && spread->ipv6)
		ret = add_family(octo, OCTO_IPV6, spread, set, error);
	if (ret == 0) {
		octo_flow_build_mpfs(&r, NULL, DEFAULT_PRIORITY + set->turn,
				     octo->port[set->proxy].port_id,
				     octo->port[spread->default_pf].port_id, set->counted);
		ret = add(octo, &r, set, error);
	}
	if (ret != 0)
		destroy(octo, set);
	return ret;
}

/* The PF's RETA is gone, and the masked rules if it was their transfer proxy PF. */
void
octo_mpfs_spread_lose_pf(struct octo_dev *octo, uint8_t pf)
{
	octo->spreading.level |= RTE_BIT32(pf);
	octo->spreading.lost = true;
	octo->spreading.settled = false;
	octo->spreading.stale |= octo->spreading.proxy == pf;
}

void
octo_mpfs_spread_clear(struct octo_dev *octo)
{
	struct octo_spreading *now = &octo->spreading;

	destroy(octo, now);
	free(now->flows);
	now->flows = NULL;
	now->nb_flows = 0;
}

/* The hits of all masked rules. Returns false if they are unknown. */
bool
octo_mpfs_spread_hits(const struct octo_dev *octo, uint64_t *hits)
{
	static const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_COUNT},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	*hits = 0;
	if (!octo->spreading.counted || count(octo, &octo->spreading) == 0)
		return false;
	for (unsigned int i = 0; i < octo->spreading.nb_flows; i++) {
		struct rte_flow_query_count count = {0};

		if (rte_flow_query(octo_port_usable_id(&octo->port[octo->spreading.proxy]),
				   octo->spreading.flows[i], actions, &count, NULL) != 0 ||
		    !count.hits_set)
			return false;
		*hits += count.hits;
	}
	return true;
}

int
octo_mpfs_spread_set(struct octo_dev *octo, const struct octo_spread *spread,
		     struct rte_flow_error *error)
{
	struct octo_spreading next = {
		.turn = octo->spreading.turn ^ 1,
		.proxy = octo->proxy,
		.life = octo_proxy(octo)->fsm.life,
	};
	int ret;

	next.counted = octo->mpfs_ops->counts(octo);
	next.flows = calloc(2 * spread->nb_rules + 1, sizeof(*next.flows));
	if (next.flows == NULL) {
		octo_mpfs_spread_clear(octo);
		return -ENOMEM;
	}
	ret = create(octo, spread, &next, error);
	octo_mpfs_spread_clear(octo);
	/* a full table, or a switch of few priorities, may have no room for both sets */
	if (ret != 0)
		ret = create(octo, spread, &next, error);
	if (ret != 0) {
		free(next.flows);
		return ret;
	}
	octo->spreading.flows = next.flows;
	octo->spreading.nb_flows = next.nb_flows;
	octo->spreading.proxy = next.proxy;
	octo->spreading.life = next.life;
	octo->spreading.turn = next.turn;
	octo->spreading.counted = next.counted;
	return 0;
}
