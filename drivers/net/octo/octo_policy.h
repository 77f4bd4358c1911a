/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_POLICY_H
#define OCTO_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_learn.h"
#include "octo_learning.h"
#include "octo_sample.h"
#include "octo_audit.h"

struct octo_dev;
struct rte_flow;

/* octo_learn.c: learning; all under the control mutex */
int octo_learn_init(struct octo_dev *octo, const struct rte_pmd_octo_learning_settings *settings);
void octo_learn_fini(struct octo_dev *octo);
void octo_learn_adapt_locked(struct octo_dev *octo);
void octo_learn_follow_tier_locked(struct octo_dev *octo);
void octo_learn_publish_counts_locked(struct octo_dev *octo);
void octo_learn_stray_locked(struct octo_dev *octo, const struct octo_sample *s);
void octo_learn_follow_queue_locked(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue);
bool octo_learn_make_room_locked(struct octo_dev *octo);
void octo_learn_unlearn_locked(struct octo_dev *octo, struct rte_flow *rule);
void octo_learn_forget_locked(struct octo_dev *octo, struct rte_flow *rule);
void octo_learn_tick_locked(struct octo_dev *octo);
void octo_learn_counts(const struct octo_dev *octo, struct octo_learn_stats *stats);
void octo_learn_reset_counts(struct octo_dev *octo);

/* octo_audit.c: audit of steered flows; all under the control mutex */
void octo_audit_start_locked(struct octo_dev *octo);
bool octo_audit_follow_locked(struct octo_dev *octo);
enum octo_rule_status
octo_audit_status_locked(struct octo_dev *octo, struct rte_flow *rule, int64_t *hits);

#endif /* OCTO_POLICY_H */
