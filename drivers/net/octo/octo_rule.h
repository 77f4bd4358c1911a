/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RULE_H
#define OCTO_RULE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>

#include <rte_flow.h>

#include "octo_learn.h"
#include "octo_flow_build.h"
#include "octo_kept_hits.h"
#include "octo_life.h"
#include "octo_tuple.h"
#include "octo_audit.h"

/* Creator of a rule. Of two rules for one flow that of a later origin gives way. */
enum octo_origin {
	OCTO_BY_APP,      /* rte_flow: the application holds its handle */
	OCTO_BY_COMMAND,  /* rte_pmd_octo_steer_add() */
	OCTO_BY_LEARNING, /* from strays: only an MPFS rule, RSS chooses the queue on every PF */
};

/* Deep copy of what the application wrote, of rules that are more than a 5-tuple and a queue. */
struct octo_app_spec {
	struct rte_flow_conv_rule *rule; /* own copy */
	void *age_context;               /* reported to the application when the rule is aged */
	uint32_t bytes;
	uint32_t aged_on;   /* mask of PFs that reported it as aged */
	bool aged_reported; /* reported to the application */
	bool ages;          /* has an AGE action */
};

/*
 * Rule extension: fields that few rules need, namely rules that have strayed, whose hits
 * were read, or that are more than a 5-tuple and a queue.
 */
struct octo_rule_ext {
	TAILQ_ENTRY(octo_rule_ext) next;
	struct rte_flow *rule;
	struct octo_app_spec app_spec; /* of a generic rule */
	struct octo_observed observed;
	struct rte_flow_template_table *table; /* if by_table */
	uint16_t flow_queue;                   /* if by_table */
	bool ineffective;                      /* counted in octo_rule_counts */
	bool lost;                             /* a PF that refused a change may lack it */
	uint64_t strays;                       /* samples */
	uint64_t written;                      /* octo_sync.legs at its last write */
	struct {
		uint64_t hits;
		uint64_t bytes;
	} agent_base;                /* the agent's counts at the last reset */
	struct octo_kept_hits *kept; /* of COUNT; NULL: not read yet */
};

/*
 * The rule that leads a flow to a PF: an MPFS rule, the agent's rule, or the one rule of a slice.
 * It exists in one life of the port that has it, and leads to one life of the PF's port:
 * octo_rule_pf(), octo_rule_leads_to().
 */
struct octo_lead {
	struct octo_handle mpfs; /* MPFS rule; h is NULL for slices and an agent */
	uint32_t pf_life;        /* of the port of pf */
	uint8_t pf;              /* OCTO_NO_PF: nothing leads it */
	uint8_t proxy;           /* port of mpfs, OCTO_NO_PF: the agent */
	uint16_t priority : 2;   /* of mpfs: one of two, alternating */
	uint16_t dialect : 2;    /* of mpfs: enum octo_dialect_id */
	uint16_t queue : 12;     /* of mpfs, where it chooses the queue as well */
};

/*
 * A steered flow: an ARFS rule on every PF, an MPFS rule on the transfer proxy PF. There
 * may be millions, so rarely used fields are in the rule extension. A generic rule is
 * inserted on every PF as the application wrote it; it also has an MPFS rule if it leads a
 * 5-tuple to a queue.
 */
struct rte_flow {
	TAILQ_ENTRY(rte_flow) next;          /* in octo_dev.rules, or .others without a tuple */
	TAILQ_ENTRY(rte_flow) next_of_queue; /* in octo_dev.queue_rules */
	struct octo_tuple tuple;             /* key in the table; family 0: no tuple */
	struct octo_rule_ext *ext;           /* rule extension, NULL until it is needed */
	struct octo_lead lead;
	uint32_t priority;
	uint32_t installed; /* ms, lower 32 bits; when it was installed or last moved */
	uint16_t queue;
	uint8_t origin;               /* enum octo_origin */
	bool generic : 1;             /* inserted as in ext->app_spec */
	bool count : 1;               /* the application asked for COUNT */
	bool by_table : 1;            /* from a template table, through a flow queue */
	bool pending : 1;             /* if by_table: not yet completed by the PFs */
	bool rejected : 1;            /* if by_table: by a PF; on none, or to be destroyed again */
	bool crowded : 1;             /* the agent, which has it, refused to flip it */
	bool no_room : 1;             /* the agent, which lacks it, is too full for it */
	bool moved : 1;               /* it led elsewhere before; hits may date from then */
	struct octo_learned *learned; /* NULL unless learned */
	struct octo_handle arfs[];    /* indexed by port */
};

TAILQ_HEAD(octo_rules, rte_flow);
TAILQ_HEAD(octo_rule_exts, octo_rule_ext);

#define OCTO_LINGERING_BUCKETS 256
/*
 * Upper limit of lingering rules: it bounds the time to free a full table, during which
 * other threads wait for the mutex.
 */
#define OCTO_LINGERING_MAX 1024

/* Lingering rules: destroyed or replaced, but still on the PFs. See octo_rule_linger.c. */
struct octo_lingering {
	struct octo_rules rules;                            /* oldest first */
	struct octo_rules by_tuple[OCTO_LINGERING_BUCKETS]; /* linked by next_of_queue */
	/* ms, by bucket; see octo_rule_linger_is_stale_locked() */
	uint64_t stale_until[OCTO_LINGERING_BUCKETS];
	uint32_t nb;
	bool tracked; /* poller[] is valid */
	struct {
		uint32_t epoch;
		uint32_t since; /* ms, lower 32 bits; when this epoch was first seen */
	} poller[RTE_MAX_QUEUES_PER_PORT];
};

/* Published by the primary process: a secondary cannot read the rules. */
struct octo_rule_counts {
	uint32_t steered;
	uint32_t ineffective; /* as far as is known */
	uint64_t bytes;
	struct octo_learn_stats learned;
};

/* Rule spec: of a rule to be created, before it is written for PFs. */
struct octo_rule_spec {
	const struct octo_tuple *tuple; /* NULL: more than one flow, or not to a single queue */
	const struct rte_flow_conv_rule *app_spec; /* as given to rte_flow, or NULL */
	enum octo_origin origin;
	uint32_t priority;
	uint16_t queue;
	uint8_t pf; /* whose leg of the queue, if the PFs are slices of one port */
	bool count;
};

/* A rule as it is given to PFs. Contains pointers into itself. */
struct octo_pf_rule {
	struct octo_flow_rule built;
	struct rte_flow_conv_rule rule;
	uint32_t pfs;  /* mask of PFs that get it */
	bool is_built; /* the queue in its actions is a leg; the application's name octo queues */
};

struct octo_dev;

static inline bool
octo_rule_has_tuple(const struct rte_flow *rule)
{
	return rule->tuple.family != 0;
}

/* Drivers report a full table by either of two errors. */
static inline bool
octo_rule_says_full(int ret)
{
	return ret == -ENOSPC || ret == -ENOMEM;
}

/* A learned rule that is to be removed, as the agent has no room for it. */
static inline bool
octo_rule_is_unlearned(const struct rte_flow *rule)
{
	return rule->no_room && rule->origin == OCTO_BY_LEARNING;
}

/* octo_rule.c: a rule on all PFs; all under the control mutex */
struct rte_flow *octo_rule_create_locked(struct octo_dev *octo, const struct octo_rule_spec *spec,
					 struct rte_flow_error *error);
int
octo_rule_remove_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error);
int
octo_rule_retire_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error);
int octo_rule_check_locked(struct octo_dev *octo, const struct octo_rule_spec *spec,
			   struct rte_flow_error *error);
int octo_rule_install_locked(struct octo_dev *octo, struct rte_flow *rule,
			     struct rte_flow_error *error);
void octo_rule_withdraw_locked(struct octo_dev *octo, struct rte_flow *rule);
struct rte_flow *octo_rule_enter_locked(struct octo_dev *octo, const struct octo_rule_spec *spec,
					struct rte_flow_error *error);
void octo_rule_leave_locked(struct octo_dev *octo, struct rte_flow *rule);
struct rte_flow *octo_rule_learn_locked(struct octo_dev *octo, const struct octo_tuple *tuple,
					uint16_t queue, struct rte_flow_error *error);

/* octo_rule_linger.c: lingering rules */
bool octo_rule_linger_locked(struct octo_dev *octo, struct rte_flow *rule);
bool octo_rule_linger_end_locked(struct octo_dev *octo);
void octo_rule_linger_take_locked(struct octo_dev *octo, struct rte_flow *rule);
void octo_rule_linger_forget_switch(struct octo_dev *octo);
bool octo_rule_linger_leads_to_locked(const struct octo_dev *octo, uint8_t pf);
int octo_rule_linger_queue_locked(struct octo_dev *octo, const struct octo_tuple *tuple);
bool octo_rule_linger_is_stale_locked(const struct octo_dev *octo, const struct octo_sample *s);
bool octo_rule_linger_replace_locked(struct octo_dev *octo, struct rte_flow *new);

/* octo_rule_end.c */
void octo_rule_end_all_locked(struct octo_dev *octo);
bool octo_rule_end_tick_locked(struct octo_dev *octo);

/* octo_rule_list.c: operations on all rules */
void octo_rule_list_drop_learned_locked(struct octo_dev *octo);
int octo_rule_list_install_locked(struct octo_dev *octo);
void octo_rule_list_withdraw_locked(struct octo_dev *octo);
int octo_rule_list_fit_locked(const struct octo_dev *octo, uint16_t nb_queues);
void octo_rule_list_drop_commands_locked(struct octo_dev *octo);
void octo_rule_list_cut_rss_locked(struct octo_dev *octo);
int octo_rule_list_flush_locked(struct octo_dev *octo, struct rte_flow_error *error);
int octo_rule_list_write_locked(struct octo_dev *octo, struct rte_flow *rule);
void octo_rule_list_name_again_locked(struct octo_dev *octo);
void octo_rule_list_name_lost_locked(struct octo_dev *octo, uint8_t port);

/* octo_rule_ext.c: rule extensions */
void octo_rule_ext_count_locked(struct octo_dev *octo, struct octo_rule_ext *ext);
uint64_t octo_rule_ext_time_installed(const struct rte_flow *rule);
struct octo_rule_ext *octo_rule_ext_get(struct octo_dev *octo, struct rte_flow *rule);
void octo_rule_ext_drop(struct octo_dev *octo, struct rte_flow *rule);
void octo_rule_ext_installed(struct rte_flow *rule);
void octo_rule_ext_moved(struct octo_dev *octo, struct rte_flow *rule);
void octo_rule_ext_reset(struct octo_dev *octo, struct rte_flow *rule);
enum octo_rule_status octo_rule_ext_status(const struct rte_flow *rule);

/* octo_app_spec.c: what the application wrote */
/* Stands for the port id of a PF that is gone: no port has an id as high. */
#define OCTO_LOST_PORT(pf) ((uint16_t)(0xff00 + (pf)))
int octo_app_spec_take(struct octo_app_spec *app_spec, const struct rte_flow_conv_rule *rule,
		       void *owner, struct rte_flow_error *error);
void octo_app_spec_drop(struct octo_app_spec *app_spec);
const struct rte_flow_action *
octo_app_spec_find(const struct rte_flow_action *actions, enum rte_flow_action_type type);
int octo_app_spec_pfs(const struct octo_dev *octo, const struct rte_flow_conv_rule *rule,
		      uint32_t *pfs, struct rte_flow_error *error);
bool octo_app_spec_renumber(struct octo_app_spec *app_spec, uint16_t from, uint16_t to);
bool octo_app_spec_choose_queue(const struct rte_flow_action actions[]);
int
octo_app_spec_check_samples(const struct rte_flow_action actions[], struct rte_flow_error *error);
bool octo_app_spec_names_queue(const struct rte_flow_action actions[], uint16_t queue);
int octo_app_spec_max_queue(const struct rte_flow_action actions[], bool cut);
bool octo_app_spec_cut_rss(struct octo_app_spec *app_spec, uint16_t nb_queues);

/* octo_rule_hits.c: counters of rules */
extern const struct rte_flow_action octo_rule_hits_count[]; /* a query of COUNT */
struct octo_hits
octo_rule_hits_keep_pf_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port);
void octo_rule_hits_resume_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port,
				  struct octo_hits before);
void octo_rule_hits_keep_lead_locked(struct octo_dev *octo, struct rte_flow *rule);
void octo_rule_hits_keep_all_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port);
void octo_rule_hits_hand_over_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port,
				     const struct octo_handle *next);
void octo_rule_hits_end_pf(struct rte_flow *rule, uint8_t port);
int octo_rule_hits_query_locked(struct octo_dev *octo, struct rte_flow *rule,
				const struct rte_flow_action *action, void *data,
				struct rte_flow_error *error);
void octo_rule_hits_merge_age(struct rte_flow_query_age *all, const struct rte_flow_query_age *one);
void octo_rule_hits_merge_lost(const struct octo_dev *octo, const struct rte_flow_action *action,
			       struct rte_flow_query_age *all);
bool
octo_rule_hits_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port, uint64_t *hits);

/* octo_rule_aged.c */
int octo_rule_aged_locked(struct octo_dev *octo, void **contexts, uint32_t nb,
			  struct rte_flow_error *error);
void octo_rule_aged_tick_locked(struct octo_dev *octo, uint64_t now);

/* octo_rule_dump.c: rules as text */
#define OCTO_RULE_TEXT_MAX 512
char *octo_rule_dump_format(const struct rte_flow *rule, char *text);
int octo_rule_dump_locked(struct octo_dev *octo, struct rte_flow *rule, FILE *file,
			  struct rte_flow_error *error);

/* octo_fanout.c */
bool octo_fanout_goes_by_flow_queue(const struct octo_dev *octo, const struct rte_flow *rule,
				    uint8_t port);
const struct rte_flow_action *
octo_fanout_actions_on(const struct octo_dev *octo, uint8_t port,
		       const struct octo_pf_rule *pf_rule, struct octo_indirect_own *own);
bool octo_fanout_lacks_action(const struct octo_pf_rule *pf_rule, uint8_t port,
			      struct rte_flow_error *error);
struct octo_handle
octo_fanout_create_on(const struct octo_dev *octo, uint8_t port, const struct octo_pf_rule *pf_rule,
		      uint32_t step, struct rte_flow_error *error);
int octo_fanout_insert_locked(struct octo_dev *octo, struct rte_flow *rule,
			      struct rte_flow_error *error);
int octo_fanout_remove_locked(struct octo_dev *octo, struct rte_flow *rule,
			      struct rte_flow_error *error);
int octo_fanout_validate_locked(const struct octo_dev *octo, const struct octo_rule_spec *spec,
				struct rte_flow_error *error);
int octo_fanout_check_agent(const struct octo_dev *octo, bool count, struct rte_flow_error *error);
void octo_fanout_end_locked(struct octo_dev *octo, struct rte_flow *rule);
int octo_fanout_remove_from_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port,
				   struct rte_flow_error *error);
int octo_fanout_write(const struct octo_dev *octo, const struct octo_rule_spec *spec,
		      struct octo_pf_rule *pf_rule, struct rte_flow_error *error);
struct octo_rule_spec octo_fanout_spec_of(const struct octo_dev *octo, const struct rte_flow *rule);
int octo_fanout_join_locked(struct octo_dev *octo, struct rte_flow *rule, uint32_t ports,
			    struct rte_flow_error *error);
bool octo_fanout_is_transfer(const struct rte_flow *rule);
void octo_fanout_lose(struct octo_dev *octo, struct rte_flow *rule);
uint32_t octo_fanout_lacking(const struct octo_dev *octo, const struct rte_flow *rule);
struct octo_lead octo_fanout_lead(const struct octo_dev *octo, uint8_t pf);
int octo_fanout_lead_to_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf);
void octo_fanout_unlead(struct rte_flow *rule);
void octo_fanout_drop(struct rte_flow *rule, uint8_t port);

/* octo_rule_store.c */
struct rte_flow *octo_rule_store_new(struct octo_dev *octo, const struct octo_rule_spec *spec,
				     struct rte_flow_error *error);
void octo_rule_store_free(struct octo_dev *octo, struct rte_flow *rule);
void octo_rule_store_publish_locked(struct octo_dev *octo);
void octo_rule_store_enlist(struct octo_dev *octo, struct rte_flow *rule);
void octo_rule_store_delist_locked(struct octo_dev *octo, struct rte_flow *rule);
bool octo_rule_store_is_behind_learned(const struct octo_dev *octo, const struct rte_flow *rule);
bool octo_rule_store_may_place_locked(const struct octo_dev *octo);
bool octo_rule_store_forbids_learning(const struct octo_dev *octo);
struct rte_flow *
octo_rule_store_next_locked(struct octo_dev *octo, unsigned int cursor, bool *others);
bool octo_rule_store_has_handle(const struct rte_flow *rule,
				const struct rte_flow_action_handle *handle);
void octo_rule_store_swap_app_spec(struct octo_dev *octo, struct rte_flow *rule,
				   struct octo_app_spec *app_spec);
int octo_rule_store_init(struct octo_dev *octo);
void octo_rule_store_fini(struct octo_dev *octo);
void octo_rule_store_join_queue(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue);
void octo_rule_store_mark_queue_locked(struct octo_dev *octo, uint16_t queue);
void octo_rule_store_look_again_locked(struct octo_dev *octo, uint16_t queue);
void octo_rule_store_refused_locked(struct octo_dev *octo, uint16_t queue);
void octo_rule_store_mark_others_locked(struct octo_dev *octo);
void octo_rule_store_led_locked(struct octo_dev *octo, uint16_t queue, uint8_t pf);
void octo_rule_store_leave_queue(struct octo_dev *octo, struct rte_flow *rule);

#endif /* OCTO_RULE_H */
