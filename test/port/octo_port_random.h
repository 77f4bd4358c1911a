/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_RANDOM_H
#define OCTO_PORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_mac_plan.h"
#include "octo_port.h"
#include "octo_port_async.h"

/**
 * @file
 * Random operations on a port, and what must hold meanwhile and at the end. An operation and its
 * arguments depend on the seed and the number of the step only, so that a step that is left out
 * changes none of the others.
 */

#define RANDOM_QUEUES 4
#define RANDOM_FLOWS 24
/* Flows of which no rule is made: they are for learning and RSS. */
#define RANDOM_FREE 8
#define RANDOM_ALL (RANDOM_FLOWS + RANDOM_FREE)
#define RANDOM_FIRST_PORT 100
#define RANDOM_HANDLES 3
#define RANDOM_OTHERS 6
#define RANDOM_NUMBERS 4096

enum random_mode {
	RANDOM_ROUGH,   /**< faults; counts are read before a PF goes */
	RANDOM_FORGETS, /**< also ways to go in which they cannot be */
	RANDOM_GENTLE,  /**< planned changes only: nothing is lost, and flows are in order */
};

struct random_flow {
	struct rte_flow *rule;
	uint16_t queue;
	int handle; /**< index, or -1: by an action of its own */
	bool counts;
	bool ages;
	bool shared;  /**< counts by the common action */
	bool tabled;  /**< made by a flow queue */
	bool pending; /**< its result was not pulled so far */
	uint64_t hits;
	uint64_t rest; /**< a rule that was made before this may not be in order */
};

struct random_handle {
	struct rte_flow_action_handle *action;
	uint16_t queue;
};

struct random_traffic {
	uint32_t sent;
	uint32_t next;                      /**< after the highest that came */
	uint32_t doubted;                   /**< those below may come twice */
	uint64_t came[RANDOM_NUMBERS / 64]; /**< bit mask of numbers */
};

struct random_port {
	const struct octo_port_conf *conf;
	enum random_mode mode;
	bool by_mac;
	bool by_agent;
	uint16_t port;
	unsigned int nb_ports; /**< of PFs */
	uint64_t seed;
	unsigned int step;
	uint64_t rng;
	bool stopped;
	bool unconfigured; /**< after a reset */
	bool may_keep;     /**< a PF may keep rules that were flushed */
	bool has_table;
	struct octo_port_table table;
	struct random_flow flow[RANDOM_FLOWS];
	struct random_handle handle[RANDOM_HANDLES];
	struct rte_flow *other[RANDOM_OTHERS];
	struct rte_flow_action_handle *count; /**< of several rules */
	uint64_t count_hits;
	bool steered[RANDOM_FREE]; /**< flows that octo's own calls have steered */
	uint16_t nb_queues;
	unsigned int nb_groups; /**< of multicast, from this one on */
	unsigned int first_group;
	struct random_traffic traffic[RANDOM_ALL];
	int ejected;
	uint64_t sent;
	uint64_t received;
	struct rte_eth_stats stats;
	uint64_t sent_before; /**< the last reset of the counters */
	uint64_t received_before;
	bool other_nic;               /**< it came after the last look, without packets */
	uint64_t delivered_by_before; /**< received, when this NIC was first looked at */
	uint64_t delivered_before;    /**< delivered by it until then */
	bool were_apart;              /**< tier mac; what follows is of it, too */
	struct octo_mac_plan macs;
	uint64_t copies;
	uint64_t copies_before;
};

extern struct random_port random_port;

/* octo_port_random.c */
uint32_t random_below(uint32_t n);
bool random_one_in(uint32_t n);
/** A number of its own for each step. */
void random_step(unsigned int step);
void random_say(const char *format, ...) __rte_format_printf(1, 2);
/** A fault of a simulated PF; one that is not there has none. @return 0, or a negative errno. */
int random_fault(const char *format, ...) __rte_format_printf(1, 2);
/** Configure, set up and start the port. Returns 0, or a negative errno. */
int random_bring_up(void);
bool random_rx_runs(uint16_t queue);
bool random_tx_runs(uint16_t queue);
/** What the application has made on the port is gone. */
void random_forget_objects(void);

/* octo_port_random_traffic.c */
void random_poll_all(void);
/** The next packets of a flow, by a queue. @return how many were sent. */
uint16_t random_send(unsigned int flow, uint16_t queue, uint16_t n);
void random_send_some(void);
/** Traffic of gentle runs. */
void random_send_gently(void);
void random_check_counters(void);
/** Counters begin at zero. */
void random_reset_counters(void);

/* octo_port_random_flows.c: rules, indirect actions */
void random_create(struct random_flow *f);
void random_query(struct random_flow *f);
void random_op_create_or_move(void);
void random_op_destroy(void);
void random_op_replace(void);
void random_op_flush(void);
void random_op_change_handle(void);
void random_op_query_all(void);
void random_op_update(void);
void random_op_aged(void);
void random_op_count(void);
void random_op_steer(void);
unsigned int random_nb_steered(void);

/* octo_port_random_async.c: flow queues, and rules without a 5-tuple */
void random_make_table(void);
/** Take the results that are there. */
void random_pull(void);
void random_op_async(void);
void random_op_push_or_pull(void);
void random_op_other(void);

/* octo_port_random_state.c: the port and its queues */
void random_start(void);
void random_stop(void);
int random_set_up_queue(uint16_t queue, bool deferred);
void random_op_stop_or_start(void);
void random_op_nb_queues(void);
void random_op_rx_queue(void);
void random_op_tx_queue(void);
void random_op_reset(void);
void random_op_close(void);

/* octo_port_random_settings.c */
void random_op_setting(void);
void random_op_reta(void);
void random_op_reset_stats(void);
/** Every PF has the port's settings. */
void random_check_settings(void);

/* octo_port_random_calls.c */
void random_op_question(void);
void random_op_rare_setting(void);
/** Counters begin at zero. */
void random_forget_xstats(void);
/** The same of settings that few applications make. */
void random_check_rare_settings(unsigned int pf, bool shares);

/* octo_port_random_faults.c */
/** PFs that come may refuse from now on, or not any more. */
void random_watch_pfs(bool on);
void random_op_refuse_to_join(void);
/** No PF refuses what it is asked for. */
void random_relent(void);
void random_op_change_pf(void);
void random_op_eject(void);
void random_op_refuse_rules(void);
void random_heal(unsigned int pf);

/* octo_port_random_agent.c */
void random_agent_begin(void);
void random_agent_end(void);
/** Where the port looks for it, or back. */
void random_agent_hide(bool hide);
/** Answer what was said. @return whether anything was. */
bool random_agent_serve(void);
void random_agent_heal(void);
void random_op_agent(void);
void random_agent_check(void);

/* octo_port_random_mac.c: tier mac */
bool random_mac_is_apart(void);
/** Have addresses moved? Then packets that were sent so far may come twice. */
void random_mac_note(void);
struct rte_ether_addr random_mac_dst(unsigned int flow);
/** How many times a rule counts each packet of its flow, if all PFs are there. */
unsigned int random_mac_hits(unsigned int flow);
/** How many copies the port has dropped. */
uint64_t random_mac_copies(void);

/* octo_port_random_rest.c */
bool random_is_whole(void);
void random_rest(unsigned int rounds);
/** No more faults: wait until all PFs are back, and nothing is left to do. */
void random_settle(void);
void random_check_rest(void);
/** Remove all: no rule is left. */
void random_check_end(void);

#endif /* OCTO_PORT_RANDOM_H */
