/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_FLOW_H
#define OCTOSIM_FLOW_H

#include "octosim.h"
#include "octosim_match.h"

/**
 * @file
 * The rte_flow operations: octosim_flow.c has the rules, octosim_actions.c reads
 * what they ask for, octosim_fate.c makes it.
 */

/** Actions that were read: nothing is allocated, pointers are the application's. */
struct octosim_orders {
	struct octosim_fate fate; /**< own.spread, counter, age: not made yet */
	const struct rte_flow_action_rss *rss;
	const struct rte_flow_action_age *age;
	uint32_t count_id;
	struct rte_flow_action_handle *dest_handle;  /**< instead of fate.own, or NULL */
	struct rte_flow_action_handle *count_handle; /**< instead of count_id, or NULL */
	struct rte_flow_action_handle *age_handle;   /**< instead of age, or NULL */
	uint16_t to_port;    /**< ethdev of a port action, or OCTOSIM_NO_PORT */
	bool to_represented; /**< REPRESENTED_PORT, not PORT_REPRESENTOR */
};

/** A rule that was read. */
struct octosim_reading {
	uint32_t priority;
	uint32_t group;
	bool transfer;
	bool whole_way; /**< all that comes from behind a port of an E-Switch */
	uint16_t from;  /**< index in nic->way[] */
	struct octosim_match match;
	struct octosim_orders orders;
};

/** Is it for a table of exact 5-tuples? What goes on to further rules is not. */
static inline bool
octosim_reading_is_exact(const struct octosim_reading *r)
{
	return r->match.exact && r->group == 0 &&
	       octosim_fate_dest(&r->orders.fate)->kind != OCTOSIM_TO_NEXT;
}

/** A rule, as the application holds it. */
struct rte_flow {
	struct octosim_rule rule;
	TAILQ_ENTRY(rte_flow) list;
	struct octosim_table *exact;     /**< the table that it is in: this, */
	struct octosim_generic *generic; /**< or this; neither: nic->way[] */
	uint32_t group;
	uint16_t from; /**< index in nic->way[] */
	bool transfer;
	bool effective;                                 /**< it is in its table */
	struct rte_flow_template_table *template_table; /**< NULL: not by a flow queue */
	struct octosim_match *match;                    /**< with generic, until it is in there */
	uint32_t nb_entries;
	struct octosim_entry *entries[]; /**< with generic */
};

/** An indirect action of a PF. */
struct rte_flow_action_handle {
	LIST_ENTRY(rte_flow_action_handle) list;
	struct octosim_pf *pf;
	enum rte_flow_action_type type;
	uint32_t users; /**< rules that go to dest; under the NIC's lock */
	struct octosim_dest dest;
	struct octosim_counter *counter; /**< instead of dest; one reference is the handle's */
	struct octosim_age *age;         /**< the same */
};

/** What an indirect action is to be. */
struct octosim_indirect_update {
	struct octosim_dest dest;
	struct rte_flow_update_age age; /**< if it is an age */
};

/* octosim_actions.c */

/** Read the actions of a rule; looks at no device. */
int octosim_actions_read(const struct rte_flow_attr *attr, const struct rte_flow_action actions[],
			 struct octosim_orders *orders, struct rte_flow_error *error);

/** Can this PF do that? For ingress rules. */
int octosim_actions_check(const struct octosim_pf *pf, const struct octosim_orders *orders,
			  struct rte_flow_error *error);

/* octosim_fate.c */

/**
 * Make what was ordered. Without the NIC's lock.
 *
 * @param fate
 *   Filled on success; octosim_fate_release() is its inverse.
 */
int octosim_fate_make(struct octosim_pf *pf, const struct octosim_orders *orders,
		      struct octosim_fate *fate, struct rte_flow_error *error);

/** The rules that had it are out of the tables. Without the NIC's lock. */
void octosim_fate_release(struct octosim_pf *pf, struct octosim_fate *fate);

/** Of a destination only. */
void octosim_dest_release(struct octosim_pf *pf, struct octosim_dest *dest);

/** Of a counter that is shared. Without the NIC's lock. */
void octosim_counter_release(struct octosim_pf *pf, struct octosim_counter *counter);

/* octosim_flow.c */

/** Give a rule other actions. Those that it has no more are released, whatever comes of it. */
int octosim_flow_swap_fate(struct octosim_pf *pf, struct rte_flow *flow,
			   const struct octosim_fate *fate, struct rte_flow_error *error);

/** What is said of a rule that was made, or not. @return 0 or a negative errno. */
int octosim_flow_tell_fault(const struct octosim_pf *pf, const struct octosim_fate_of_rule *fault,
			    struct rte_flow_error *error);

/* octosim_flow_indirect.c */
struct rte_flow_action_handle *
octosim_indirect_create(struct rte_eth_dev *dev, const struct rte_flow_indir_action_conf *conf,
			const struct rte_flow_action *action, struct rte_flow_error *error);
int octosim_indirect_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *h,
			     struct rte_flow_error *error);
int octosim_indirect_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *h,
			   void *data, struct rte_flow_error *error);

/** Read an update and make what it needs; on success it must be applied. */
int octosim_indirect_read_update(struct octosim_pf *pf, const struct rte_flow_action_handle *h,
				 const void *given, struct octosim_indirect_update *update,
				 struct rte_flow_error *error);
int
octosim_indirect_apply(struct octosim_pf *pf, struct rte_flow_action_handle *h,
		       const struct octosim_indirect_update *update, struct rte_flow_error *error);
void octosim_indirect_count_user(struct octosim_dest *shared, int step);
void octosim_indirect_free_all(struct octosim_pf *pf);

/* octosim_flow_query.c */
void octosim_counter_query_locked(struct octosim_counter *c, struct rte_flow_query_count *q);
int
octosim_flow_query(struct rte_eth_dev *dev, struct rte_flow *flow,
		   const struct rte_flow_action *action, void *data, struct rte_flow_error *error);

/* octosim_flow_dump.c */
int octosim_flow_dump(struct rte_eth_dev *dev, struct rte_flow *flow, FILE *file,
		      struct rte_flow_error *error);

/* octosim_eswitch.c */

/** Refuse a PF: only representors have to do with the rules. Under the NIC's lock. */
int octosim_eswitch_check_owner(const struct octosim_pf *pf, struct rte_flow_error *error);

/** Check a transfer rule and find out what it means. Under the NIC's lock. */
int octosim_eswitch_check(const struct octosim_pf *pf, struct octosim_reading *reading,
			  struct rte_flow_error *error);

#endif /* OCTOSIM_FLOW_H */
