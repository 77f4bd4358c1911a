/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_APP_SPEC_H
#define OCTO_APP_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/* Deep copy of what the application wrote, of rules that are more than a 5-tuple and a queue. */
struct octo_app_spec {
	struct rte_flow_conv_rule *rule; /* own copy */
	void *age_context;               /* reported to the application when the rule is aged */
	uint32_t bytes;
	uint32_t aged_on;   /* mask of PFs that reported it as aged */
	bool aged_reported; /* reported to the application */
	bool ages;          /* has an AGE action */
};

struct octo_dev;

/** Stands for the port id of a PF that is gone: no port has an id as high. */
#define OCTO_LOST_PORT(pf) ((uint16_t)(0xff00 + (pf)))

int octo_app_spec_take(struct octo_app_spec *app_spec, const struct rte_flow_conv_rule *rule,
		       void *owner, struct rte_flow_error *error);
void octo_app_spec_drop(struct octo_app_spec *app_spec);
const void *octo_app_spec_find(const struct rte_flow_action *actions,
			       enum rte_flow_action_type type, bool *found);
int octo_app_spec_pfs(const struct octo_dev *octo, const struct rte_flow_conv_rule *rule,
		      uint32_t *pfs, struct rte_flow_error *error);
bool octo_app_spec_renumber(struct octo_app_spec *app_spec, uint16_t from, uint16_t to);
bool octo_app_spec_choose_queue(const struct rte_flow_action actions[]);
int
octo_app_spec_check_samples(const struct rte_flow_action actions[], struct rte_flow_error *error);
bool octo_app_spec_names_queue(const struct rte_flow_action actions[], uint16_t queue);
int octo_app_spec_max_queue(const struct rte_flow_action actions[]);

#endif /* OCTO_APP_SPEC_H */
