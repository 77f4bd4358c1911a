/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PRIVATE_H
#define OCTO_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <ethdev_driver.h>
#include <rte_bitops.h>
#include <rte_ether.h>
#include <rte_flow.h>
#include <rte_flow_driver.h>
#include <rte_log.h>
#include <rte_stdatomic.h>

#include "octo_agent_addr.h"
#include "octo_agent_secret.h"
#include "octo_ctrl.h"
#include "octo_dialect.h"
#include "octo_epoch.h"
#include "octo_failover.h"
#include "octo_fence.h"
#include "octo_hold.h"
#include "octo_hooks.h"
#include "octo_legs.h"
#include "octo_lending.h"
#include "octo_lock.h"
#include "octo_log.h"
#include "octo_lower.h"
#include "octo_move.h"
#include "octo_mpfs.h"
#include "octo_locality.h"
#include "octo_mac.h"
#include "octo_pf_way.h"
#include "octo_plan.h"
#include "octo_replug.h"
#include "octo_policy.h"
#include "octo_pools.h"
#include "octo_ports.h"
#include "octo_flow_async.h"
#include "octo_flow_indirect.h"
#include "octo_flow_parse.h"
#include "octo_rss.h"
#include "octo_rule.h"
#include "octo_rx.h"
#include "octo_slab.h"
#include "octo_sync.h"
#include "octo_slice.h"
#include "octo_slices.h"
#include "octo_socket_map.h"
#include "octo_tier.h"
#include "octo_stats.h"
#include "octo_table.h"
#include "octo_timesync.h"
#include "octo_tuple.h"
#include "octo_tx.h"
#include "octo_tx_choice.h"
#include "octo_users.h"
#include "octo_tracking.h"

#define OCTO_DRIVER_NAME "net_octo"
#define OCTO_MAX_PFS OCTO_PLAN_MAX_PFS
#define OCTO_NO_PF UINT8_MAX
#define OCTO_MAX_RETA OCTO_MIGRATION_MAX_RETA
#define OCTO_MAX_RSS_KEY OCTO_NIC_MAX_KEY
/* A process that died inside a burst never leaves it. */
#define OCTO_EPOCH_TIMEOUT_US 1000000
/* Longest time that a thread without a CPU may stay in its burst, whose queues are not freed. */
#define OCTO_STALL_TIMEOUT_US 60000000

/* dev_private: in shared memory. */
struct octo_dev {
	uint16_t port_id;
	uint16_t nb_pfs;
	uint16_t nb_ports;
	bool sliced;              /* the PFs are slices of port[0] */
	uint8_t learned_priority; /* of learned rules, if sliced */
	enum octo_tier tier;
	enum octo_ignored ignored;
	enum octo_tier tier_wanted; /* highest tier that may be used */
	enum octo_tier tier_below;  /* that tier mac falls to */
	bool tier_forced;           /* by the devarg */
	bool rss_by_app;            /* the application uses RSS: the same for all PFs */
	uint8_t proxy;              /* index of the transfer proxy port, OCTO_NO_PF: none */
	bool count_rules;           /* the hits of all rules are counted */
	bool agent_queues;          /* the agent chooses the queue, as the PFs refuse ARFS rules */
	bool started;
	bool removal_raised; /* RTE_ETH_EVENT_INTR_RMV was raised, and no PF has come since */
	bool isolated;
	bool mapped; /* nodes come from socket_map or are simulated: unknown to libnuma */
	struct octo_crossings rx_crossings;
	struct octo_crossings tx_crossings;
	uint32_t configuration; /* number of configurations so far */
	bool clone_pools;       /* pools=local */
	enum octo_ring_mode ring_mode;
	bool reta_stale; /* the kernel has refused it: the RETA is not as it is to be */
	uint16_t reta_size;
	uint16_t reta[OCTO_MAX_RETA];
	/* of slices: the RETA of a port that was configured when it was found */
	struct {
		uint32_t life; /* of the port */
		uint16_t size; /* 0: there is none */
		struct rte_eth_rss_reta_entry64 reta[OCTO_MAX_RETA / RTE_ETH_RETA_GROUP_SIZE];
	} found;
	/* of slices that were started: the PF whose leg stands for a queue in what names queues */
	uint8_t leg_pf[RTE_MAX_QUEUES_PER_PORT];
	uint64_t owner_id;
	struct octo_port port[OCTO_MAX_PFS]; /* that of PF i is *pf[i].port */
	struct octo_pf pf[OCTO_MAX_PFS];
	struct octo_pf_fsm role[OCTO_MAX_PFS]; /* of a port's PFs in the traffic, by port */
	RTE_ATOMIC(uint32_t) plan_generation;  /* counts the changes of plan */
	bool tx_by_buffer;                     /* tx_pf=mbuf */
	struct octo_tx_hint tx_hint;
	uint64_t grace_cycles; /* TSC cycles that a packet may be in the NIC */
	struct octo_plan_pfs plan;
	int8_t cpu_node[OCTO_SOCKET_MAP_CPUS]; /* node of each CPU, -1 unknown */
	pthread_mutex_t mutex;      /* the control mutex: process-shared, robust, recursive */
	unsigned int lock_depth;    /* recursion depth of its holder */
	struct octo_hold hold;      /* for how long it is held */
	struct octo_askers waiting; /* threads that wait for mutex */
	/*
	 * Protects gone, rxq_gone, txq_gone, port[].past.{counted,last,base}, the values at the
	 * last reset (*_base, learning.base), and the freeing of queues.
	 */
	pthread_mutex_t counts_mutex;
	RTE_ATOMIC(bool) posted;    /* PFs have posted events */
	struct octo_askers walkers; /* threads that use queues without the mutex */
	uint32_t nb_macs;           /* entries of the port's MAC table */
	struct octo_pf_counts gone; /* counts of PFs that are gone */
	/* counts of earlier queues with this number, less those at the last reset */
	struct octo_rxq_counts rxq_gone[RTE_MAX_QUEUES_PER_PORT];
	struct octo_txq_counts txq_gone[RTE_MAX_QUEUES_PER_PORT];
	uint8_t tx_pin[RTE_MAX_QUEUES_PER_PORT]; /* PF index + 1 by map_aggr_tx_affinity, 0: free */
	struct octo_legs legs;
	struct octo_failover failover;
	struct octo_fences fences;
	struct octo_replug replug;
	struct octo_settings settings;
	struct octo_macs macs;
	struct octo_audit audit;
	struct octo_learning learning;
	struct octo_rule_counts rule_counts;
	RTE_ATOMIC(uint32_t) sample_every; /* about one of this many strays is sampled */
	/* primary only */
	struct octo_clones clones;
	unsigned int clones_made;
	const struct octo_mpfs_ops *mpfs_ops;
	struct octo_dialects dialects;
	/* By port and queue, for MPFS rules that choose the queue; NULL until one is used. */
	struct octo_handle *queue_actions[OCTO_MAX_PFS];
	struct octo_agent *agent;               /* NULL without */
	char ethtool[OCTO_AGENT_ADDR_TEXT_MAX]; /* of the agent that asks the kernel; empty: none */
	bool agent_resyncing;                   /* the resync of this session is not complete */
	struct octo_tier_partition partition;
	struct octo_default_pf default_pf;
	struct octo_timesync timesync;
	struct octo_table *table;
	struct octo_rules rules;  /* in order of creation */
	struct octo_rules others; /* not of one flow, in order of creation */
	uint32_t nb_others;
	/* of these, ingress rules of group 0: [0] go before OCTO_LEARNED_PRIORITY, [1] do not */
	uint32_t nb_ingress[2];
	struct octo_lingering lingering;
	struct {
		struct rte_flow *rule;   /* NULL: unknown */
		uint32_t start;          /* that a reader of the next page gives */
	} page;                          /* of the view of rules: where the next page begins */
	uint64_t app_spec_bytes;         /* of all generic rules */
	struct octo_indirects indirects; /* in order of creation */
	struct octo_async *async;        /* NULL without flow queues */
	struct octo_rule_exts rule_exts; /* all rule extensions */
	struct octo_slab rule_slab;      /* struct rte_flow for nb_pfs */
	struct octo_slab rule_ext_slab;  /* struct octo_rule_ext */
	struct octo_rules queue_rules[RTE_MAX_QUEUES_PER_PORT]; /* by the queue they lead to */
	struct octo_sync sync;
	struct octo_ctrl ctrl;
};

struct octo_args {
	const char *port; /* name of the port, for log messages */
	uint16_t nb_pfs;
	struct {
		char name[RTE_ETH_NAME_MAX_LEN];
		int node;         /* -1: not given */
		bool missing;     /* the device does not exist now */
		bool probed_here; /* by octo_attach_probe_missing() */
		bool is_slice;
		struct octo_slice slice; /* all queues if it is none */
	} pf[OCTO_MAX_PFS];
	bool sliced; /* pf= have slices, of one port */
	bool has_map;
	struct octo_socket_map map;
	int socket; /* -1: not given */
	bool has_mac;
	struct rte_ether_addr mac;
	char agent[OCTO_AGENT_ADDR_TEXT_MAX]; /* empty: not given */
	struct octo_agent_secret agent_secret;
	char ethtool[OCTO_AGENT_ADDR_TEXT_MAX]; /* empty: not given */
	bool tx_by_buffer;
	bool has_tier;
	enum octo_tier tier;
	uint8_t mac_source; /* enum octo_mac_source */
	uint32_t dialects;  /* mask of enum octo_dialect_id, 0: not given */
	struct rte_pmd_octo_learning_settings learning;
	bool clone_pools;
	uint8_t ring_mode; /* enum octo_ring_mode */
	struct octo_fence_settings fence;
	bool replug;
};

static inline struct octo_dev *
octo_of(const struct rte_eth_dev *dev)
{
	return dev->data->dev_private;
}

static inline struct rte_eth_dev_data *
octo_data(const struct octo_dev *octo)
{
	return rte_eth_devices[octo->port_id].data;
}

static inline const struct octo_port *
octo_proxy(const struct octo_dev *octo)
{
	return &octo->port[octo->proxy];
}

/*
 * Do MPFS rules choose the queue as well? They are ingress rules of the transfer proxy PF then,
 * above the ARFS rules. Constant, as this dialect is used only if it is asked for.
 */
static inline bool
octo_mpfs_choose_queues(const struct octo_dev *octo)
{
	return octo->dialects.wanted == RTE_BIT32(OCTO_DIALECT_INDIRECT);
}

/*
 * Is the flow's rule a single one, which chooses queue and PF at once? It is arfs[0] then, and
 * there is no MPFS rule.
 */
static inline bool
octo_rule_is_sole(const struct octo_dev *octo, const struct rte_flow *rule)
{
	return octo->sliced && octo_rule_has_tuple(rule) && octo_tier_has_mpfs(octo->tier);
}

/* The indirect action's handle on this port, or NULL. */
static inline struct rte_flow_action_handle *
octo_indirect_handle_on(const struct rte_flow_action_handle *handle, uint8_t port)
{
	return octo_port_object(&handle->octo->port[port], &handle->on[port]);
}

/* The rule on this port, or NULL. */
static inline struct rte_flow *
octo_rule_on(const struct octo_dev *octo, const struct rte_flow *rule, uint8_t port)
{
	return octo_port_object(&octo->port[port], &rule->arfs[port]);
}

/* The MPFS rule, or NULL: slices and agents have none either. */
static inline struct rte_flow *
octo_rule_mpfs(const struct octo_dev *octo, const struct rte_flow *rule)
{
	const struct octo_lead *lead = &rule->lead;

	return lead->proxy == OCTO_NO_PF ? NULL :
					   octo_port_object(&octo->port[lead->proxy], &lead->mpfs);
}

/* The PF to which the flow is led; OCTO_NO_PF if it is not, as the rule was lost with its port. */
static inline uint8_t
octo_rule_pf(const struct octo_dev *octo, const struct rte_flow *rule)
{
	const struct octo_lead *lead = &rule->lead;
	const bool exists = lead->proxy == OCTO_NO_PF ||
			    lead->mpfs.life == octo->port[lead->proxy].fsm.life;

	return exists ? lead->pf : OCTO_NO_PF;
}

/* Is what leads the flow written in the dialect of now? Others are known to have no effect. */
static inline bool
octo_rule_is_current(const struct octo_dev *octo, const struct rte_flow *rule)
{
	return rule->lead.dialect == octo->dialects.now;
}

/* Is the flow led to this PF, to the port and queue that it has now, and in the dialect of now? */
static inline bool
octo_rule_leads_to(const struct octo_dev *octo, const struct rte_flow *rule, uint8_t pf)
{
	return octo_rule_pf(octo, rule) == pf &&
	       rule->lead.pf_life == octo->pf[pf].port->fsm.life &&
	       octo_rule_is_current(octo, rule) &&
	       (rule->lead.queue == rule->queue || !octo_mpfs_choose_queues(octo));
}

/* Index of a PF's port. */
static inline uint8_t
octo_port_index(const struct octo_dev *octo, uint16_t pf)
{
	return (uint8_t)(octo->pf[pf].port - octo->port);
}

/* The first port from i on that has at least this state; nb_ports if there is none. */
static inline uint16_t
octo_port_next(const struct octo_dev *octo, uint16_t i, enum octo_port_state at_least)
{
	while (i < octo->nb_ports && !octo_port_is(&octo->port[i], at_least))
		i++;
	return i;
}

/* The first port from i on that has flow queues; nb_ports if there is none. */
static inline uint16_t
octo_port_next_async(const struct octo_dev *octo, uint16_t i)
{
	while (i < octo->nb_ports &&
	       (!octo_port_is(&octo->port[i], OCTO_PORT_READY) || octo->port[i].no_flow_queues))
		i++;
	return i;
}

/* The first PF from i on whose port has at least this state; nb_pfs if there is none. */
static inline uint16_t
octo_pf_next(const struct octo_dev *octo, uint16_t i, enum octo_port_state at_least)
{
	while (i < octo->nb_pfs && !octo_port_is(octo->pf[i].port, at_least))
		i++;
	return i;
}

/* The ports that have at least this state; index of the port in i. */
#define OCTO_FOREACH_PORT(octo, i, at_least)                                                       \
	for ((i) = octo_port_next(octo, 0, at_least); (i) < (octo)->nb_ports;                      \
	     (i) = octo_port_next(octo, (i) + 1, at_least))

/* The PFs whose ports have at least this state; PF index in i. */
#define OCTO_FOREACH_PF(octo, i, at_least)                                                         \
	for ((i) = octo_pf_next(octo, 0, at_least); (i) < (octo)->nb_pfs;                          \
	     (i) = octo_pf_next(octo, (i) + 1, at_least))

/* The ports with flow queues; index of the port in i. */
#define OCTO_FOREACH_ASYNC_PORT(octo, i)                                                           \
	for ((i) = octo_port_next_async(octo, 0); (i) < (octo)->nb_ports;                          \
	     (i) = octo_port_next_async(octo, (i) + 1))

/* The first queue from *i on that is set up, or NULL; *i becomes the index after it. */
static inline void *
octo_queue_next(void *const *queues, uint16_t nb, uint16_t *i)
{
	void *q = NULL;

	while (q == NULL && *i < nb)
		q = queues[(*i)++];
	return q;
}

/* The queues that are set up; q is the name of a variable. */
#define OCTO_FOREACH_RXQ(octo, q)                                                                  \
	for (uint16_t q##_next = 0;                                                                \
	     ((q) = octo_queue_next(octo_data(octo)->rx_queues, octo_data(octo)->nb_rx_queues,     \
				    &q##_next)) != NULL;)
#define OCTO_FOREACH_TXQ(octo, q)                                                                  \
	for (uint16_t q##_next = 0;                                                                \
	     ((q) = octo_queue_next(octo_data(octo)->tx_queues, octo_data(octo)->nb_tx_queues,     \
				    &q##_next)) != NULL;)

/* octo_args.c */
int octo_args_parse(const char *name, const char *text, struct octo_args *args);

/* octo_pf.c: operations on all PFs */
typedef int (*octo_pf_fn)(struct octo_pf *pf, const void *arg);
typedef int (*octo_port_fn)(struct octo_port *port, const void *arg);
bool octo_is_primary(const struct octo_dev *octo, const char *what);
int octo_pf_apply(struct octo_dev *octo, enum octo_port_state at_least, const char *what,
		  octo_pf_fn apply, octo_pf_fn undo, const void *arg, const void *undo_arg);
int octo_port_apply(struct octo_dev *octo, enum octo_port_state at_least, const char *what,
		    octo_port_fn apply, octo_port_fn undo, const void *arg, const void *undo_arg);
int octo_port_apply_to(struct octo_dev *octo, uint32_t ports, enum octo_port_state at_least,
		       const char *what, octo_port_fn apply, octo_port_fn undo, const void *arg,
		       const void *undo_arg);
typedef int (*octo_port_id_fn)(uint16_t port_id);
int octo_port_call(struct octo_dev *octo, uint32_t ports, enum octo_port_state at_least,
		   const char *what, octo_port_id_fn apply, octo_port_id_fn undo);
uint32_t octo_pf_mask(const struct octo_dev *octo, enum octo_port_state at_least);
int octo_port_first(const struct octo_dev *octo, enum octo_port_state at_least);
uint32_t octo_port_pfs(const struct octo_dev *octo, uint8_t port);
bool octo_port_is_joining(const struct octo_dev *octo, uint8_t port);
bool octo_port_is_any_joining(const struct octo_dev *octo);
bool octo_port_is_ejected(const struct octo_dev *octo, uint8_t port);
uint32_t octo_port_role_hear_locked(struct octo_dev *octo, uint8_t port, enum octo_pf_event event);
bool octo_port_is_kept(const struct octo_dev *octo, uint8_t port);
bool octo_port_may_lack_rules(const struct octo_dev *octo, uint8_t port);
bool octo_port_excuse_locked(struct octo_dev *octo, uint8_t port, int ret);
bool octo_port_works_locked(const struct octo_port *port);

/* octo_registry.c: the octo ports of this process */
void octo_registry_add(struct octo_dev *octo);
void octo_registry_await(void);
struct octo_dev *octo_registry_remove(uint16_t port_id, uint64_t owner_id);
struct octo_dev *octo_registry_get(uint16_t port_id);
struct octo_dev *octo_registry_get_any(uint16_t port_id);
/* Why octo_registry_get() has returned NULL. */
const char *octo_registry_refusal(uint16_t port_id);
struct octo_dev *octo_registry_get_by_pf(uint16_t pf_port_id);
void octo_registry_put(void);
bool octo_registry_is_named(const struct octo_port *port, uint16_t port_id);
void octo_registry_foreach(void (*fn)(struct octo_dev *octo, const void *what), const void *what);

/* octo_users.c: the first PF of this state that is usable; see octo_users.h */
bool octo_users_enter_first(const struct octo_dev *octo, enum octo_port_state at_least,
			    struct octo_use *use);

/* octo_event.c: events raised by PFs */
int octo_event_init(void);

/* octo_raise.c: events raised by the port */
void octo_raise(struct octo_dev *octo, enum rte_eth_event_type event);
void octo_raise_cancel(struct octo_dev *octo);

/* octo_info.c: capabilities that all PFs have */
int octo_info_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info);
int octo_info_check_alike(struct octo_dev *octo);
const uint32_t *octo_ptypes_get(struct rte_eth_dev *dev, size_t *n);
const uint32_t *octo_split_ptypes_get(struct rte_eth_dev *dev, size_t *n);

/* octo_topo.c: nodes, home PFs, legs */
void octo_topo_init(struct octo_dev *octo, const struct octo_args *args);
void octo_topo_update(struct octo_dev *octo);
void octo_topo_publish_live(struct octo_dev *octo, uint32_t live);
void octo_topo_begin_failover_locked(struct octo_dev *octo);
uint8_t octo_topo_home_of(const struct octo_dev *octo, uint16_t queue);

/* octo_poll.c */
int octo_poll_await_rxq(struct octo_dev *octo, struct octo_rxq *q);
int octo_poll_await_txq(struct octo_dev *octo, struct octo_txq *q);
int octo_poll_await_askers(struct octo_askers askers[2]);
int octo_poll_await_all(struct octo_dev *octo);
int octo_poll_unpublish(struct octo_dev *octo, uint32_t live);
void octo_poll_unpublish_unlocked(struct octo_dev *octo, uint32_t pfs);

/* octo_loss.c: a PF is lost */
int octo_loss_index(const struct octo_dev *octo, uint16_t pf_port_id);
void octo_loss_by_event(struct octo_dev *octo, uint16_t pf, enum rte_eth_event_type event);
void octo_loss_note(struct octo_dev *octo, uint16_t pf_port_id, enum rte_eth_event_type event);
void octo_loss_drained_locked(struct octo_dev *octo, uint8_t i);
void octo_loss_settle_locked(struct octo_dev *octo);
void octo_loss_hear_locked(struct octo_dev *octo, uint8_t i, const struct octo_port_answer *answer);
void octo_loss_answer_locked(struct octo_dev *octo, uint8_t i, enum octo_port_event event,
			     uint32_t life);
/* Is there no PF, and none that comes back by itself? */
bool octo_loss_is_removed(const struct octo_dev *octo);
void octo_loss_end_recovery(struct octo_dev *octo, uint16_t pf_port_id);

/* octo_pf_config.c */
int octo_pf_config_all_locked(struct octo_dev *octo);
/* Configure a PF's port while nobody else uses it: see octo_users_bar(). */
int octo_pf_config_alone_locked(struct octo_port *port, uint16_t nb_rx, uint16_t nb_tx,
				const struct rte_eth_conf *conf);

/* octo_home.c: consumer side */
void octo_home_read_distances(void);
octo_plan_distance_t octo_home_distance(const struct octo_dev *octo);
uint8_t octo_home_pf(const struct octo_dev *octo, int node, uint16_t queue);
int octo_home_here(const struct octo_dev *octo, int16_t *cpu);
enum octo_tracking_step octo_home_check(const struct octo_dev *octo, struct octo_tracking *tracking,
					int node, uint64_t now);
uint32_t octo_home_rx(struct octo_rxq *q, uint32_t live);
int octo_home_of_pool(struct rte_mempool *pool);

/* octo_queue.c */
int octo_rx_queue_setup(struct rte_eth_dev *dev, uint16_t queue_id, uint16_t nb_desc,
			unsigned int socket, const struct rte_eth_rxconf *conf,
			struct rte_mempool *pool);
void octo_rx_queue_release(struct rte_eth_dev *dev, uint16_t queue_id);
int octo_tx_queue_setup(struct rte_eth_dev *dev, uint16_t queue_id, uint16_t nb_desc,
			unsigned int socket, const struct rte_eth_txconf *conf);
void octo_tx_queue_release(struct rte_eth_dev *dev, uint16_t queue_id);
int octo_queue_setup_rx_leg_locked(struct octo_dev *octo, struct octo_rxq *q, uint8_t pf);
int octo_queue_setup_tx_leg_locked(struct octo_dev *octo, struct octo_txq *q, uint8_t pf);
void octo_rxq_info(struct rte_eth_dev *dev, uint16_t queue_id, struct rte_eth_rxq_info *info);
void octo_txq_info(struct rte_eth_dev *dev, uint16_t queue_id, struct rte_eth_txq_info *info);
int octo_rx_burst_mode(struct rte_eth_dev *dev, uint16_t queue_id, struct rte_eth_burst_mode *mode);
int octo_tx_burst_mode(struct rte_eth_dev *dev, uint16_t queue_id, struct rte_eth_burst_mode *mode);

/* octo_dump.c */
int octo_dump(struct rte_eth_dev *dev, FILE *file);

/* octo_ops.c */
extern const struct eth_dev_ops octo_dev_ops;

/* octo_ops_aggr.c; compat/ has no ops of it where DPDK is older than 23.03 */
int octo_count_aggr_ports(struct rte_eth_dev *dev);
int octo_map_aggr_tx_affinity(struct rte_eth_dev *dev, uint16_t tx_queue_id, uint8_t affinity);
#ifndef OCTO_AGGR_OPS
#define OCTO_AGGR_OPS                                                                              \
	.count_aggr_ports = octo_count_aggr_ports, .map_aggr_tx_affinity = octo_map_aggr_tx_affinity
#endif

/* octo_reset.c: rte_eth_dev_reset() */
int octo_reset(struct rte_eth_dev *dev);

/* octo_state.c: configure, start, stop */
int octo_configure(struct rte_eth_dev *dev);
int octo_start(struct rte_eth_dev *dev);
int octo_stop(struct rte_eth_dev *dev);
int octo_close(struct rte_eth_dev *dev);
int octo_take_down(struct rte_eth_dev *dev, bool remove_probed);

/* octo_link.c */
int octo_link_update(struct rte_eth_dev *dev, int wait_to_complete);
void octo_link_start_locked(struct octo_dev *octo);
int octo_set_link_up(struct rte_eth_dev *dev);
int octo_set_link_down(struct rte_eth_dev *dev);
bool octo_link_refresh(struct octo_dev *octo);

/* octo_filter.c: MAC, VLAN, promiscuity, MTU */
int octo_mtu_set(struct rte_eth_dev *dev, uint16_t mtu);
int octo_promiscuous_enable(struct rte_eth_dev *dev);
int octo_promiscuous_disable(struct rte_eth_dev *dev);
int octo_allmulticast_enable(struct rte_eth_dev *dev);
int octo_allmulticast_disable(struct rte_eth_dev *dev);
int octo_mac_set(struct rte_eth_dev *dev, struct rte_ether_addr *mac);
void octo_filter_restore(struct octo_dev *octo);
int
octo_mac_add(struct rte_eth_dev *dev, struct rte_ether_addr *mac, uint32_t index, uint32_t pool);
void octo_mac_remove(struct rte_eth_dev *dev, uint32_t index);
int octo_mc_list(struct rte_eth_dev *dev, struct rte_ether_addr *list, uint32_t nb);
int octo_vlan_filter(struct rte_eth_dev *dev, uint16_t vlan_id, int on);
int octo_vlan_offload(struct rte_eth_dev *dev, int mask);
void octo_vlan_strip_queue(struct rte_eth_dev *dev, uint16_t queue_id, int on);

/* octo_flow.c: rte_flow on the port */

/* A rule of the application and the spec derived from it. Contains pointers to itself. */
struct octo_flow_request {
	struct octo_flow_spec spec;
	struct rte_flow_conv_rule app_spec;
	struct octo_rule_spec rule_spec;
};

int octo_flow_read(const struct octo_dev *octo, const struct rte_flow_attr *attr,
		   const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		   struct octo_flow_request *r, struct rte_flow_error *error);
void octo_flow_specify_generic(struct octo_flow_request *r, bool steered);
struct rte_flow *
octo_flow_enter_locked(struct octo_dev *octo, const struct rte_flow_attr *attr,
		       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		       struct rte_flow_error *error);
void octo_flow_isolate_again_locked(struct octo_dev *octo);

/* octo_flow_error.c */
int octo_flow_blame(const struct octo_port *port, int ret, struct rte_flow_error *error);
int octo_flow_refuse(struct rte_flow_error *error, int code, const char *why);
int octo_flow_fail(struct rte_flow_error *error, int code, const char *why);
int octo_flow_error_memory(struct rte_flow_error *error);
int octo_flow_error_tier(struct rte_flow_error *error);
int octo_flow_destroyed(const struct octo_port *port, int ret, struct rte_flow_error *error);
int octo_flow_error_check_queue(const struct octo_dev *octo, uint16_t queue,
				struct rte_flow_error *error);

/* octo_queue_ops.c */
int octo_rx_queue_start(struct rte_eth_dev *dev, uint16_t queue_id);
int octo_rx_queue_stop(struct rte_eth_dev *dev, uint16_t queue_id);
int octo_tx_queue_start(struct rte_eth_dev *dev, uint16_t queue_id);
int octo_tx_queue_stop(struct rte_eth_dev *dev, uint16_t queue_id);

#endif /* OCTO_PRIVATE_H */
