/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MPFS_H
#define OCTO_MPFS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include "octo_tier.h"

/* Of learned rules, below explicit ones, where the NIC has priorities; the next one is used too. */
#define OCTO_LEARNED_PRIORITY 2

/*
 * The dialects of MPFS rules, see octo_dialect.h; masks of enum octo_dialect_id. Other back ends
 * than "switch" have one way to write a rule, and none is taken.
 */
struct octo_dialects {
	uint8_t now;     /* of rules that are written now; those of others are written again */
	uint32_t wanted; /* by the devarg, or else those that are tried by themselves */
	uint32_t taken;  /* wanted, the ports accept them, and they have not failed */
	uint32_t made;   /* a rule was created in it since the port was started */
	uint32_t left;   /* have been left since the port was started: others are tried before */
	uint32_t failed; /* were taken without effect since the port was started */
};

struct octo_args;
struct octo_dialect;
struct octo_dev;

/*
 * Back ends for MPFS rules: see "Steering tiers" in doc/guides/nics/octo.rst. All under the
 * control mutex. Functions that return int return 0 or a negative errno, usually with *error
 * filled.
 */
struct octo_mpfs_ops {
	const char *name;
	/* Could a rule be inserted? Decides about tier exact. */
	int (*probe)(struct octo_dev *octo, struct rte_flow_error *error);
	/*
	 * Lead rule->tuple to PF pf: sets rule->lead. Returns -EAGAIN if it cannot be tried now. If
	 * there is settle(), 0 means that the rule was sent.
	 */
	int (*insert)(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf,
		      struct rte_flow_error *error);
	/*
	 * Insert the rule, or flip it if it exists, and return -EAGAIN instead of waiting for room.
	 * NULL: insert() and flip() do not wait.
	 */
	int (*lead)(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf,
		    struct rte_flow_error *error);
	/*
	 * Lead it to another PF; on failure to the one before or, at worst, to none. NULL if there
	 * is lead(), which is called instead.
	 */
	int (*flip)(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf,
		    struct rte_flow_error *error);
	/*
	 * Wait for the result of insert() or lead(), or after -EAGAIN until lead() can be tried
	 * again. Returns an error if the rule was refused. NULL: the result is known at once.
	 */
	int (*settle)(struct octo_dev *octo, struct rte_flow *rule);
	/* Remove whatever is installed of the rule. */
	int (*remove)(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error);
	/* Are the hits counted of rules that only the back end has? */
	bool (*counts)(struct octo_dev *octo);
	/* Query the hits of such a rule. NULL: they are those of the PFs. */
	int (*query)(struct octo_dev *octo, struct rte_flow *rule,
		     struct rte_flow_query_count *count, struct rte_flow_error *error);
	/* Must packets be held until rules that came or went take effect? May be NULL. */
	bool (*flips)(const struct octo_dev *octo);
};

/* octo_mpfs_switch.c */
extern const struct octo_mpfs_ops octo_mpfs_switch_ops;
const struct octo_dialect *octo_mpfs_switch_dialect(const struct octo_dev *octo);
bool octo_mpfs_switch_has_next(const struct octo_dev *octo);
bool octo_mpfs_switch_has_untried(const struct octo_dev *octo);
void octo_mpfs_switch_take_next_locked(struct octo_dev *octo, bool failed);

/* Priorities of MPFS rules, which ARFS rules of the same PF are below. */
#define OCTO_MPFS_PRIORITIES (OCTO_LEARNED_PRIORITY + 2)
/* Destroy the indirect actions of MPFS rules; no rule has them any more. */
void octo_mpfs_actions_end_locked(struct octo_dev *octo);

/* octo_mpfs_masked.c: the masked rules of that switch; no other back end has any */
/* Could masked rules be inserted? Decides about tier partition. */
int octo_mpfs_masked_probe(struct octo_dev *octo, struct rte_flow_error *error);
/*
 * Install masked rules for packets without rules of their own, and a catch-all to default_pf, in
 * place of the previous set. On failure there are none.
 */
int octo_mpfs_masked_set(struct octo_dev *octo, const struct octo_masked_rules *masked,
			 struct rte_flow_error *error);
void octo_mpfs_masked_clear(struct octo_dev *octo);
void octo_mpfs_masked_lose_pf(struct octo_dev *octo, uint8_t port);
/* The hits of these rules; false if they are not counted. */
bool octo_mpfs_masked_hits(const struct octo_dev *octo, uint64_t *hits);

/* octo_mpfs_slices.c */
extern const struct octo_mpfs_ops octo_mpfs_slices_ops;

/* octo_mpfs_agent.c */
extern const struct octo_mpfs_ops octo_mpfs_agent_ops;
int octo_mpfs_agent_init(struct octo_dev *octo, const struct octo_args *args);
void octo_mpfs_agent_fini(struct octo_dev *octo);
bool octo_mpfs_agent_chooses_queues(const struct octo_dev *octo);
bool octo_mpfs_agent_counts(struct octo_dev *octo);
/* Were messages sent that the agent may not have executed so far, and not long ago? */
bool octo_mpfs_agent_flips(const struct octo_dev *octo);
void octo_mpfs_agent_hear_all(struct octo_dev *octo);
void octo_mpfs_agent_say_synced(struct octo_dev *octo);
bool octo_mpfs_agent_is_asked(const struct octo_dev *octo, const struct rte_flow *rule);
int octo_mpfs_agent_await_locked(struct octo_dev *octo, struct rte_flow **rule,
				 struct rte_flow_error *error);
bool octo_mpfs_agent_may_lack(const struct octo_dev *octo, const struct rte_flow *rule);

/* octo_agent_sync.c */
void octo_agent_sync_tick_locked(struct octo_dev *octo);
void octo_ethtool_sync_tick_locked(struct octo_dev *octo);
/* Wait for the agent as long as a start may; without the mutex. */
void octo_agent_sync_await(struct octo_dev *octo);

#endif /* OCTO_MPFS_H */
