/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_FLOW_H
#define MPSIM_FLOW_H

#include "mpsim.h"
#include "mpsim_match.h"

/**
 * @file
 * The rte_flow operations: mpsim_flow.c has the rules, mpsim_actions.c reads
 * what they ask for, mpsim_fate.c makes it.
 */

/** Actions that were read: nothing is allocated, pointers are the application's. */
struct mpsim_orders {
	struct mpsim_fate fate; /**< own.spread, counter, age: not made yet */
	const struct rte_flow_action_rss *rss;
	const struct rte_flow_action_age *age;
	uint32_t count_id;
	struct rte_flow_action_handle *dest_handle;  /**< instead of fate.own, or NULL */
	struct rte_flow_action_handle *count_handle; /**< instead of count_id, or NULL */
	struct rte_flow_action_handle *age_handle;   /**< instead of age, or NULL */
	uint16_t to_port;    /**< ethdev of a port action, or MPSIM_NO_PORT */
	bool to_represented; /**< REPRESENTED_PORT, not PORT_REPRESENTOR */
};

/** A rule that was read. */
struct mpsim_reading {
	uint32_t priority;
	uint32_t group;
	bool transfer;
	bool whole_way; /**< all that comes from behind a port of an E-Switch */
	uint16_t from;  /**< index in nic->way[] */
	struct mpsim_match match;
	struct mpsim_orders orders;
};

/** Is it for a table of exact 5-tuples? What goes on to further rules is not. */
static inline bool
mpsim_reading_is_exact(const struct mpsim_reading *r)
{
	return r->match.exact && r->group == 0 &&
	       mpsim_fate_dest(&r->orders.fate)->kind != MPSIM_TO_NEXT;
}

/** A rule, as the application holds it. */
struct rte_flow {
	struct mpsim_rule rule;
	TAILQ_ENTRY(rte_flow) list;
	struct mpsim_table *exact;     /**< the table that it is in: this, */
	struct mpsim_generic *generic; /**< or this; neither: nic->way[] */
	uint32_t group;
	uint16_t from; /**< index in nic->way[] */
	bool transfer;
	bool effective;                                 /**< it is in its table */
	struct rte_flow_template_table *template_table; /**< NULL: not by a flow queue */
	struct mpsim_match *match;                      /**< with generic, until it is in there */
	uint32_t nb_entries;
	struct mpsim_entry *entries[]; /**< with generic */
};

/** An indirect action of a PF. */
struct rte_flow_action_handle {
	LIST_ENTRY(rte_flow_action_handle) list;
	struct mpsim_pf *pf;
	enum rte_flow_action_type type;
	uint32_t users; /**< rules that go to dest; under the NIC's lock */
	struct mpsim_dest dest;
	struct mpsim_counter *counter; /**< instead of dest; one reference is the handle's */
	struct mpsim_age *age;         /**< the same */
};

/** What an indirect action is to be. */
struct mpsim_indirect_update {
	struct mpsim_dest dest;
	struct rte_flow_update_age age; /**< if it is an age */
};

/* mpsim_actions.c */

/** Read the actions of a rule; looks at no device. */
int mpsim_actions_read(const struct rte_flow_attr *attr, const struct rte_flow_action actions[],
		       struct mpsim_orders *orders, struct rte_flow_error *error);

/** Can this PF do that? For ingress rules. */
int mpsim_actions_check(const struct mpsim_pf *pf, const struct mpsim_orders *orders,
			struct rte_flow_error *error);

/* mpsim_fate.c */

/**
 * Make what was ordered. Without the NIC's lock.
 *
 * @param fate
 *   Filled on success; mpsim_fate_release() is its inverse.
 */
int mpsim_fate_make(struct mpsim_pf *pf, const struct mpsim_orders *orders, struct mpsim_fate *fate,
		    struct rte_flow_error *error);

/** The rules that had it are out of the tables. Without the NIC's lock. */
void mpsim_fate_release(struct mpsim_pf *pf, struct mpsim_fate *fate);

/** Of a destination only. */
void mpsim_dest_release(struct mpsim_pf *pf, struct mpsim_dest *dest);

/** Of a counter that is shared. Without the NIC's lock. */
void mpsim_counter_release(struct mpsim_pf *pf, struct mpsim_counter *counter);

/* mpsim_flow.c */

/** Give a rule other actions. Those that it has no more are released, whatever comes of it. */
int mpsim_flow_swap_fate(struct mpsim_pf *pf, struct rte_flow *flow, const struct mpsim_fate *fate,
			 struct rte_flow_error *error);

/** What is said of a rule that was made, or not. @return 0 or a negative errno. */
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

/** Read an update and make what it needs; on success it must be applied. */
int mpsim_indirect_read_update(struct mpsim_pf *pf, const struct rte_flow_action_handle *h,
			       const void *given, struct mpsim_indirect_update *update,
			       struct rte_flow_error *error);
int mpsim_indirect_apply(struct mpsim_pf *pf, struct rte_flow_action_handle *h,
			 const struct mpsim_indirect_update *update, struct rte_flow_error *error);
void mpsim_indirect_count_user(struct mpsim_dest *shared, int step);
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

/** Refuse a PF: only representors have to do with the rules. Under the NIC's lock. */
int mpsim_eswitch_check_owner(const struct mpsim_pf *pf, struct rte_flow_error *error);

/** Check a transfer rule and find out what it means. Under the NIC's lock. */
int mpsim_eswitch_check(const struct mpsim_pf *pf, struct mpsim_reading *reading,
			struct rte_flow_error *error);

#endif /* MPSIM_FLOW_H */
