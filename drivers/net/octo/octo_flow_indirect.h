/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FLOW_INDIRECT_H
#define OCTO_FLOW_INDIRECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_flow.h>

#include "octo_kept_hits.h"
#include "octo_life.h"
#include "octo_plan.h"
#include "octo_template.h"

struct octo_dev;

/* An indirect action of the octo port: one handle on every PF. */
struct rte_flow_action_handle {
	TAILQ_ENTRY(rte_flow_action_handle) next; /* in octo_dev.indirects */
	struct octo_dev *octo;                    /* the port it belongs to */
	struct rte_flow_indir_action_conf conf;
	struct rte_flow_action *action;           /* current action; owned by the handle */
	uint32_t users;                           /* rules and templates that refer to it */
	uint32_t pending;                         /* operations of flow queues that do */
	struct octo_kept_hits kept;               /* of COUNT, as of the last query */
	uint32_t aged_on;                         /* mask of PFs that have reported it as aged */
	uint64_t written;                         /* octo_sync.legs at its last write */
	bool aged_reported;                       /* the application was told that it has aged */
	struct octo_handle on[OCTO_PLAN_MAX_PFS]; /* octo_indirect_handle_on() */
};

TAILQ_HEAD(octo_indirects, rte_flow_action_handle);

/*
 * Actions translated for one PF: lists that contain indirect actions, or name queues that are legs
 * of slices, and samples around them.
 */
struct octo_indirect_own {
	struct rte_flow_action actions[OCTO_TEMPLATE_MAX];
	struct rte_flow_action_sample samples[OCTO_TEMPLATE_MAX / 2];
	struct rte_flow_action_queue queues[OCTO_TEMPLATE_MAX];
	struct rte_flow_action_rss rss; /* there is one at most */
	uint16_t rss_queues[RTE_MAX_QUEUES_PER_PORT];
	unsigned int nb_actions;
	unsigned int nb_samples;
	unsigned int nb_queues;
};

/* octo_indirect_use.c: actions of rules, which may be indirect */
int octo_indirect_check(const struct octo_dev *octo, const struct rte_flow_action actions[],
			struct rte_flow_error *error);
bool octo_indirect_is_in(const struct rte_flow_action actions[]);
bool octo_indirect_has(const struct rte_flow_action actions[], uint8_t port);
void octo_indirect_hold(const struct rte_flow_action actions[]);
void octo_indirect_release(const struct rte_flow_action actions[]);
bool octo_indirect_is_used(const struct rte_flow_action actions[],
			   const struct rte_flow_action_handle *handle);
const struct rte_flow_action *
octo_indirect_find(const struct rte_flow_action actions[], enum rte_flow_action_type type);
const struct rte_flow_action_handle *
octo_indirect_find_handle(const struct rte_flow_action actions[], enum rte_flow_action_type type);
const struct rte_flow_action *
octo_indirect_on_pf(const struct octo_dev *octo, const struct rte_flow_action actions[],
		    uint8_t port, struct octo_indirect_own *own);
const struct rte_flow_action *
octo_indirect_one_on_pf(const struct octo_dev *octo, const struct rte_flow_action *action,
			struct octo_indirect_own *own);

/* octo_indirect.c; all under the control mutex */
struct rte_flow_action_handle *
octo_indirect_create_locked(struct octo_dev *octo, const struct rte_flow_indir_action_conf *conf,
			    const struct rte_flow_action *action, struct rte_flow_error *error);
int octo_indirect_destroy_locked(struct octo_dev *octo, struct rte_flow_action_handle *handle,
				 struct rte_flow_error *error);
int octo_indirect_update_on_pf(struct octo_dev *octo, struct rte_flow_action_handle *handle,
			       uint8_t port, const void *update, struct rte_flow_error *error);
int octo_indirect_query_locked(struct octo_dev *octo, const struct rte_flow_action_handle *handle,
			       void *data, struct rte_flow_error *error);
int octo_indirect_install_locked(struct octo_dev *octo);
void octo_indirect_withdraw_locked(struct octo_dev *octo);
int octo_indirect_check_action(const struct octo_dev *octo, const struct rte_flow_action *action,
			       struct rte_flow_error *error);
struct rte_flow_action *
octo_indirect_copy_action(const struct rte_flow_action *action, struct rte_flow_error *error);
void octo_indirect_free_locked(struct octo_dev *octo);
int octo_indirect_fit_locked(const struct octo_dev *octo, uint16_t nb_queues);

/* octo_indirect_update.c; all under the control mutex */
int octo_indirect_update_locked(struct octo_dev *octo, struct rte_flow_action_handle *handle,
				const void *update, struct rte_flow_error *error);
void *octo_indirect_copy_update(const struct rte_flow_action_handle *handle, const void *update,
				struct rte_flow_error *error);

#endif /* OCTO_FLOW_INDIRECT_H */
