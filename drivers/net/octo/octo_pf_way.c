/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_flow_build.h"
#include "octo_private.h"

/* Learned rules that may be evicted to make room for this one, which serves more flows. */
#define MAKE_ROOM_TRIES 4

bool
octo_pf_way_is_possible(const struct octo_dev *octo)
{
	return octo->agent == NULL &&
	       octo_mpfs_switch_dialect(octo)->from != RTE_FLOW_ITEM_TYPE_END;
}

static struct rte_flow *
flow_of(const struct octo_dev *octo, const struct octo_pf_way *rule)
{
	return octo_port_object(&octo->port[rule->proxy], &rule->flow);
}

bool
octo_pf_way_exists(const struct octo_dev *octo, const struct octo_pf_way *rule)
{
	return flow_of(octo, rule) != NULL;
}

bool
octo_pf_way_leads_to(const struct octo_dev *octo, const struct octo_pf_way *rule, uint8_t pf)
{
	return flow_of(octo, rule) != NULL && rule->pf == pf &&
	       rule->pf_life == octo->port[pf].fsm.life && rule->dialect == octo->dialects.now;
}

void
octo_pf_way_destroy_locked(struct octo_dev *octo, struct octo_pf_way *rule)
{
	struct rte_flow *flow = flow_of(octo, rule);

	if (flow != NULL)
		rte_flow_destroy(octo_port_usable_id(&octo->port[rule->proxy]), flow, NULL);
	rule->flow = (struct octo_handle){0};
}

static struct rte_flow *
create_flow(struct octo_dev *octo, uint16_t proxy, const struct octo_flow_rule *r,
	    struct rte_flow_error *error)
{
	struct rte_flow *flow = rte_flow_create(proxy, &r->attr, r->pattern, r->actions, error);

	for (unsigned int i = 0;
	     i < MAKE_ROOM_TRIES && flow == NULL && octo_rule_says_full(-rte_errno) &&
	     octo_hooks->make_room_locked(octo);
	     i++)
		flow = rte_flow_create(proxy, &r->attr, r->pattern, r->actions, error);
	return flow;
}

int
octo_pf_way_lead_locked(struct octo_dev *octo, struct octo_pf_way *rule, uint16_t ether_type,
			uint32_t priority, uint8_t pf, struct rte_flow_error *error)
{
	const uint8_t index = octo->proxy;
	const struct octo_port *proxy = &octo->port[index];
	const uint32_t life = proxy->fsm.life;
	const uint32_t pf_life = octo->port[pf].fsm.life;
	const uint8_t turn = rule->turn ^ 1;
	struct octo_flow_rule r;
	struct rte_flow *flow;

	octo_flow_build_to_pf(&r, octo->dialects.now, ether_type, priority + turn, proxy->port_id,
			      octo->port[pf].port_id);
	flow = create_flow(octo, proxy->port_id, &r, error);
	if (flow == NULL && flow_of(octo, rule) != NULL) {
		/* a full table, or a switch of few priorities, has no room for both */
		octo_pf_way_destroy_locked(octo, rule);
		flow = create_flow(octo, proxy->port_id, &r, error);
	}
	if (flow == NULL)
		return octo_flow_blame(proxy, -rte_errno, error);
	octo_pf_way_destroy_locked(octo, rule);
	*rule = (struct octo_pf_way){
		.pf = pf,
		.proxy = index,
		.dialect = octo->dialects.now,
		.turn = turn,
		.flow = octo_handle_make(flow, life),
		.pf_life = pf_life,
	};
	return 0;
}
