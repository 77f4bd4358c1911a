/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The back end for PFs that are slices of one port: a rule of that port leads its flow to a queue
 * of the PF's slice. So a flow has one rule, which is both its ARFS and its MPFS rule.
 */

#include <errno.h>

#include "octo_flow_build.h"
#include "octo_private.h"

static int
slices_probe(struct octo_dev *octo, struct rte_flow_error *error)
{
	const struct octo_port *port = &octo->port[0];
	struct rte_flow_error ignored;
	struct octo_flow_rule r;

	octo->proxy = OCTO_NO_PF;
	if (!octo_port_is(port, OCTO_PORT_RUNNING))
		return octo_flow_fail(error, ENODEV, "the port is gone");
	octo_flow_build_queue(&r, &octo_tuple_example, OCTO_LEARNED_PRIORITY, 0, octo->count_rules);
	octo->learned_priority = octo_port_nic(port)->validate(port, &r.attr, r.pattern, r.actions,
							       &ignored) == 0 ?
					 OCTO_LEARNED_PRIORITY :
					 0;
	octo->proxy = 0;
	return 0;
}

static int
slices_insert(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf,
	      struct rte_flow_error *error)
{
	int ret;

	/* the rule waits for the port */
	if (!octo_port_is(&octo->port[0], OCTO_PORT_RUNNING))
		return 0;
	rule->lead = octo_fanout_lead(octo, pf);
	ret = octo_fanout_insert_locked(octo, rule, error);
	if (ret != 0)
		octo_fanout_unlead(rule);
	return ret;
}

static int
slices_remove(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret = octo_fanout_remove_from_locked(octo, rule, 0, error);

	if (ret == 0)
		octo_fanout_unlead(rule);
	return ret;
}

/*
 * A full table, or a NIC of one priority, has no room for both rules: the old one is removed first,
 * and for a moment RSS chooses the queue. On failure the flow has the old rule or none.
 */
static int
slices_flip(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	struct octo_rule_spec spec = octo_fanout_spec_of(octo, rule);
	struct octo_pf_rule from, to;
	struct octo_hits hits;
	struct octo_lead lead;
	uint8_t before;
	int ret;

	if (octo_rule_on(octo, rule, 0) == NULL || !octo_port_is(&octo->port[0], OCTO_PORT_RUNNING))
		return slices_insert(octo, rule, pf, error);
	ret = octo_fanout_write(octo, &spec, &from, error);
	spec.pf = pf;
	if (ret == 0)
		ret = octo_fanout_write(octo, &spec, &to, error);
	lead = octo_fanout_lead(octo, pf);
	if (ret == 0)
		ret = octo_replace_on_pf(octo, 0, rule, &from, &to, error);
	if (ret == 0)
		rule->lead = lead;
	if ((ret != -EEXIST && !octo_rule_says_full(ret)) || octo_rule_on(octo, rule, 0) == NULL)
		return ret;
	before = rule->lead.pf;
	hits = octo_rule_hits_keep_pf_locked(octo, rule, 0);
	if (slices_remove(octo, rule, error) != 0)
		return ret;
	ret = slices_insert(octo, rule, pf, error);
	if (ret != 0)
		slices_insert(octo, rule, before, NULL);
	octo_rule_hits_resume_locked(octo, rule, 0, hits);
	return ret;
}

static bool
slices_counts(struct octo_dev *octo)
{
	return octo->count_rules;
}

const struct octo_mpfs_ops octo_mpfs_slices_ops = {
	.name = "slices",
	.probe = slices_probe,
	.insert = slices_insert,
	.flip = slices_flip,
	.remove = slices_remove,
	.counts = slices_counts,
};
