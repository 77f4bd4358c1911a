/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_FLOW_H
#define MPSIM_FLOW_H

#include "mpsim.h"
#include "mpsim_match.h"

/**
 * @file
 * rte_flow operations: mpsim_flow.c has the rules, mpsim_actions.c parses the actions, and
 * mpsim_fate.c allocates them.
 */

/** Parsed actions: nothing is allocated, pointers are the application's. */
struct mpsim_orders {
	struct mpsim_fate fate; /**< own.spread, counter and age are not set yet */
	const struct rte_flow_action_rss *rss;
	const struct rte_flow_action_age *age;
	uint32_t count_id;
	struct rte_flow_action_handle *dest_handle;  /**< used instead of fate.own, or NULL */
	struct rte_flow_action_handle *count_handle; /**< used instead of count_id, or NULL */
	struct rte_flow_action_handle *age_handle;   /**< used instead of age, or NULL */
	uint16_t to_port;                            /**< of a port action, or MPSIM_NO_PORT */
	bool to_represented;                         /**< REPRESENTED_PORT, else PORT_REPRESENTOR */
};

/** A parsed rule. */
struct mpsim_reading {
	uint32_t priority;
	uint32_t group;
	bool transfer;
	bool foreign;   /**< in another dialect than the NIC's: it matches nothing */
	bool whole_way; /**< all traffic from a port of an E-Switch */
	uint16_t from;  /**< index in nic->way[] */
	struct mpsim_match match;
	struct mpsim_orders orders;
};

/** Is the rule for a table of exact 5-tuples? A rule with PASSTHRU is not. */
static inline bool
mpsim_reading_is_exact(const struct mpsim_reading *r)
{
	return r->match.exact && r->group == 0 &&
	       mpsim_fate_dest(&r->orders.fate)->kind != MPSIM_TO_NEXT;
}

/** A rule, and the application's handle. */
struct rte_flow {
	struct mpsim_rule rule;
	TAILQ_ENTRY(rte_flow) list;
	struct mpsim_table *exact;     /**< its table: this one, */
	struct mpsim_generic *generic; /**< or this one; both NULL: nic->way[] */
	uint32_t group;
	uint16_t from; /**< index in nic->way[] */
	bool transfer;
	bool effective;                                 /**< in its table */
	struct rte_flow_template_table *template_table; /**< NULL: not from a flow queue */
	struct mpsim_match *match;                      /**< with generic, until inserted */
	uint32_t nb_entries;
	struct mpsim_entry *entries[]; /**< in a generic table */
};

/** An indirect action of a PF. */
struct rte_flow_action_handle {
	LIST_ENTRY(rte_flow_action_handle) list;
	struct mpsim_pf *pf; /**< NULL: it was closed, and other PFs still have rules */
	enum rte_flow_action_type type;
	uint32_t users; /**< rules with this destination; under the NIC's lock */
	struct mpsim_dest dest;
	struct mpsim_counter *counter; /**< used instead of dest; the handle has one reference */
	struct mpsim_age *age;         /**< as counter */
};

/** A parsed update of an indirect action. */
struct mpsim_indirect_update {
	struct mpsim_dest dest;
	struct rte_flow_update_age age; /**< if it is an AGE action */
};

/* mpsim_actions.c */

/** Parse the actions of a rule; does not access a device. */
int mpsim_actions_read(const struct rte_flow_attr *attr, const struct rte_flow_action actions[],
		       struct mpsim_orders *orders, struct rte_flow_error *error);

/** Check the handles, queues and hash of an ingress rule's actions against the PF. */
int mpsim_actions_check(const struct mpsim_pf *pf, const struct mpsim_orders *orders,
			struct rte_flow_error *error);

/* mpsim_fate.c */

/**
 * Allocate the actions. Without the NIC's lock.
 *
 * @param fate
 *   Filled on success; mpsim_fate_release() is its inverse.
 * @return
 *   0, or a negative errno with *error set.
 */
int mpsim_fate_make(struct mpsim_pf *pf, const struct mpsim_orders *orders, struct mpsim_fate *fate,
		    struct rte_flow_error *error);

/** Release the actions of rules that are in no table any more. Without the NIC's lock. */
void mpsim_fate_release(struct mpsim_pf *pf, struct mpsim_fate *fate);

/** Release a destination only. */
void mpsim_dest_release(struct mpsim_pf *pf, struct mpsim_dest *dest);

/** Release a shared counter. Without the NIC's lock. */
void mpsim_counter_release(struct mpsim_pf *pf, struct mpsim_counter *counter);

/* mpsim_flow.c */

/** Replace the actions of a rule. The replaced ones, or on failure the new ones, are released. */
int mpsim_flow_swap_fate(struct mpsim_pf *pf, struct rte_flow *flow, const struct mpsim_fate *fate,
			 struct rte_flow_error *error);

/** Set *error for a rule's fault. Returns 0 or a negative errno. */
int mpsim_flow_tell_fault(const struct mpsim_pf *pf, const struct mpsim_fate_of_rule *fault,
			  struct rte_flow_error *error);

/* mpsim_flow_indirect.c */
struct rte_flow_action_handle *
mpsim_indirect_create(struct rte_eth_dev *dev, const struct rte_flow_indir_action_conf *conf,
		      const struct rte_flow_action *action, struct rte_flow_error *error);
int mpsim_indirect_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *h,
			   struct rte_flow_error *error);
int mpsim_indirect_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *h,
			  const void *update, struct rte_flow_error *error);
int mpsim_indirect_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *h,
			 void *data, struct rte_flow_error *error);

/** Parse an update and allocate what it needs. On success it must be applied. */
int mpsim_indirect_read_update(struct mpsim_pf *pf, const struct rte_flow_action_handle *h,
			       const void *given, struct mpsim_indirect_update *update,
			       struct rte_flow_error *error);
int mpsim_indirect_apply(struct mpsim_pf *pf, struct rte_flow_action_handle *h,
			 const struct mpsim_indirect_update *update, struct rte_flow_error *error);

/** A rule begins to use a destination. Under the NIC's lock. */
void mpsim_indirect_use_locked(struct mpsim_dest *shared);

/** A rule ends to use it. Without the NIC's lock. */
void mpsim_indirect_leave(struct mpsim_nic *nic, struct mpsim_dest *shared);

/** May a rule of the PF have this action? One of another PF: in the dialect "indirect" only. */
bool mpsim_indirect_is_for(const struct mpsim_pf *pf, const struct rte_flow_action_handle *h);
void mpsim_indirect_free_all(struct mpsim_pf *pf);

/* mpsim_flow_query.c */
void mpsim_counter_query_locked(struct mpsim_counter *c, struct rte_flow_query_count *q);
int
mpsim_flow_query(struct rte_eth_dev *dev, struct rte_flow *flow,
		 const struct rte_flow_action *action, void *data, struct rte_flow_error *error);

/* mpsim_flow_dump.c */
int mpsim_flow_dump(struct rte_eth_dev *dev, struct rte_flow *flow, FILE *file,
		    struct rte_flow_error *error);

/* mpsim_eswitch.c */

/** Refuse a PF: only representors can have transfer rules. Under the NIC's lock. */
int mpsim_eswitch_check_owner(const struct mpsim_pf *pf, struct rte_flow_error *error);

/** Check a transfer rule and determine its ports. Under the NIC's lock. */
int mpsim_eswitch_check(const struct mpsim_pf *pf, struct mpsim_reading *reading,
			struct rte_flow_error *error);

#endif /* MPSIM_FLOW_H */
