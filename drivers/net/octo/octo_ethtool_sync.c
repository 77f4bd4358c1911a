/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rules and RETA of a port of net_af_xdp by an agent, which takes them back when the connection
 * ends: octo_sync.c makes them again when the next one begins.
 */

#include "octo_private.h"

/*
 * The agent has removed the rules, or does so when it runs again. Until then they are not tried
 * again: only a queue that gets another home does that.
 */
static void
lose_rules(struct octo_dev *octo)
{
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->rules, next) {
		if (octo_rule_on(octo, rule, 0) == NULL)
			continue;
		octo_fanout_remove_from_locked(octo, rule, 0, NULL);
		octo_fanout_unlead(rule);
		octo_rule_ext_moved(octo, rule);
	}
}

void
octo_ethtool_sync_tick_locked(struct octo_dev *octo)
{
	switch (octo_nic_follow_agent(&octo->port[0])) {
	case OCTO_ETHTOOL_CLIENT_LOST:
		lose_rules(octo);
		break;
	case OCTO_ETHTOOL_CLIENT_BEGUN:
		if (octo->ignored == OCTO_IGNORED_NONE && !octo_tier_has_mpfs(octo->tier))
			octo_tier_probe_locked(octo);
		octo->reta_stale = octo->reta_size > 0;
		octo_sync_mark_flows_locked(octo);
		break;
	case OCTO_ETHTOOL_CLIENT_NOTHING:
		break;
	}
}
