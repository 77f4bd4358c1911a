/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_H
#define MPSIM_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <ethdev_driver.h>
#include <rte_flow_driver.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_power_intrinsics.h>
#include <rte_ring.h>
#include <rte_spinlock.h>
#include <rte_stdatomic.h>

#include "mpsim_account.h"
#include "mpsim_args.h"
#include "mpsim_clock.h"
#include "mpsim_fault.h"
#include "mpsim_generic.h"
#include "mpsim_model.h"
#include "mpsim_parse.h"
#include "mpsim_pipe.h"
#include "mpsim_post.h"
#include "mpsim_rss.h"
#include "mpsim_split.h"
#include "mpsim_table.h"
#include "mpsim_tx.h"

/**
 * @file
 * The simulated multi-PF NIC.
 *
 * Everything below lives in shared memory, so that a secondary process can poll and send. Data
 * that the receive side of a NIC reads is changed only under the NIC's lock, which also guards
 * moving packets from the wire to the queues.
 */

#define MPSIM_MAX_PFS 8
/* Slots of nic->pf[]: the PFs, the representor of each, the uplink. */
#define MPSIM_REP(pf) (MPSIM_MAX_PFS + (pf))
#define MPSIM_UPLINK (2 * MPSIM_MAX_PFS)
#define MPSIM_MAX_PORTS (MPSIM_UPLINK + 1)
#define MPSIM_MAX_QUEUES 64
#define MPSIM_MAX_MACS 64
#define MPSIM_MAX_MC_ADDRS 64
#define MPSIM_BURST 32

#define MPSIM_FRAME_MAX 9728
#define MPSIM_OVERHEAD 18 /* Ethernet header and one VLAN tag */
#define MPSIM_MTU_MAX (MPSIM_FRAME_MAX - MPSIM_OVERHEAD)
#define MPSIM_MTU_MIN 68

#define MPSIM_BUF_MIN 256 /* all headers fit: MPSIM_HDR_MAX */
#define MPSIM_DESC_MIN 32
#define MPSIM_DESC_MAX 8192
#define MPSIM_DESC_DEFAULT 1024

extern int mpsim_logtype;
#define RTE_LOGTYPE_MPSIM mpsim_logtype
#define MPSIM_LOG(level, who, ...) RTE_LOG_LINE_PREFIX(level, MPSIM, "%s: ", who, __VA_ARGS__)

/** Written under the NIC's lock. */
struct mpsim_rxq_stats {
	alignas(RTE_CACHE_LINE_SIZE) uint64_t packets;
	uint64_t bytes;
	uint64_t missed; /**< ring full */
	uint64_t nombuf;
	uint64_t errors; /**< longer than a buffer, without scatter */
};

/** Drops and decisions of one PF. Written under the NIC's lock. */
struct mpsim_pf_stats {
	uint64_t stopped; /**< PF or queue not started */
	uint64_t link_down;
	uint64_t oversize; /**< longer than the MTU allows */
	uint64_t vlan_filtered;
	uint64_t isolated;   /**< matched no rule in isolated mode */
	uint64_t rule_drops; /**< DROP action, or QUEUE that is not set up */
	uint64_t arfs_hits;
	uint64_t mpfs_hits; /**< sent here by an MPFS rule */
	uint64_t pipe_full; /**< dropped because the pipeline was full */
	uint64_t dead;      /**< dropped while it was recovering, or dead */
};

/** Written under the NIC's lock. */
struct mpsim_nic_stats {
	uint64_t wire_packets; /**< taken from the wire */
	uint64_t copied;       /**< copies of these, each for one more PF */
	uint64_t wire_bytes;
	uint64_t mac_filtered;
	uint64_t runts;     /**< shorter than an Ethernet header */
	uint64_t no_pf;     /**< for a PF that is gone */
	uint64_t dead_tx;   /**< in the Tx rings of queues that were stopped */
	uint64_t lost;      /**< in rings and pipelines of PFs that were stopped or removed */
	uint64_t switched;  /**< received from a PF or a representor, not from the wire */
	uint64_t wire_lost; /**< on the wire when it was stopped */
};

struct mpsim_async;
struct mpsim_pf;
struct mpsim_nic;

struct mpsim_rxq {
	/* consumer */
	alignas(RTE_CACHE_LINE_SIZE) struct rte_ring *ring;
	struct mpsim_nic *nic;
	struct mpsim_pipe *pipe;     /**< of its PF */
	uint64_t delivered;          /**< frames given to the application */
	struct mpsim_charge *charge; /**< NULL without a model */
	struct mpsim_post post;
	/* producer, under the NIC's lock */
	alignas(RTE_CACHE_LINE_SIZE) struct rte_mempool *pool;
	struct mpsim_rxq_stats *stats;
	struct mpsim_pf *pf;
	uint64_t offloads; /**< RTE_ETH_RX_OFFLOAD_* */
	uint32_t room;     /**< bytes of data per buffer; 0: each frame is split */
	uint16_t port_id;
	bool started;
	bool chains; /**< a frame may take several buffers */
	bool full;   /**< a fault: it accepts no more frames */
	bool armed;  /**< the next frame is signalled; see mpsim_intr.h */
	uint8_t nb_pending;
	uint8_t pending[MPSIM_BURST]; /**< indices of frames in the pump's burst */
	uint64_t armed_at;            /**< stats->packets at that time */
	struct mpsim_split split;
	/* control */
	uint16_t nb_desc;
	bool deferred_start;
};

TAILQ_HEAD(mpsim_flows, rte_flow);

/** dev_private of a port: of a PF, or of a representor, which has the same fields. */
struct mpsim_pf {
	struct mpsim_nic *nic;
	struct rte_eth_dev_data *data;
	uint16_t port_id;
	uint16_t index;  /**< in nic->pf[]; a representor from MPSIM_MAX_PFS on */
	uint16_t nb_rxq; /**< configured */
	bool started;
	uint8_t mute;    /**< enum mpsim_mute */
	bool unplugged;  /**< out of its slot, but the device is not removed yet */
	bool removing;   /**< a removal is under way; under the control lock */
	bool closing;    /**< a close is under way; under the control lock */
	bool interrupts; /**< it is started with Rx interrupts; changed under the control lock */
	bool isolated;
	bool rss;
	bool vlan_filter;
	RTE_ATOMIC(bool) link_up;  /**< false if set down, or by a fault */
	RTE_ATOMIC(bool) tx_stuck; /**< nothing leaves its Tx rings */
	uint32_t max_frame;        /**< from the MTU */
	struct mpsim_rxq *rxq[MPSIM_MAX_QUEUES];
	struct mpsim_table arfs;      /**< ingress rules of exact 5-tuples */
	struct mpsim_generic generic; /**< other ingress rules */
	struct mpsim_rss rss_state;
	struct mpsim_pipe pipe;
	struct mpsim_clock clock;
	uint64_t vlans[4096 / 64]; /**< bit per VLAN id that is accepted */
	struct mpsim_pf_stats stats;
	uint64_t delivered;           /**< by queues that were released */
	struct mpsim_charge *charges; /**< of Rx queues, then of Tx queues; NULL: no model */
	struct mpsim_rxq_stats rxq_stats[MPSIM_MAX_QUEUES];
	struct mpsim_txq_stats txq_stats[MPSIM_MAX_QUEUES];
	struct mpsim_txq_stats tx_ring_stats[MPSIM_MAX_QUEUES]; /**< see mpsim_tx_ring.h */
	/* control only */
	struct mpsim_flows flows;
	struct mpsim_async *async;                   /**< NULL without flow queues */
	LIST_HEAD(, rte_flow_action_handle) handles; /**< indirect actions */
	struct mpsim_counters counters;              /**< with an id */
	struct mpsim_ages ages;                      /**< changed under the NIC's lock */
	struct mpsim_faults faults;
	rte_spinlock_t link_lock; /**< protects the link state and its report */
	bool link_down;           /**< as set by rte_eth_dev_set_link_down() */
	bool told_of_aged;        /**< FLOW_AGED was raised; no query since */
	struct mpsim_args args;
	struct mpsim_pf_stats base;
	struct mpsim_nic_stats nic_base;
	struct mpsim_rxq_stats rxq_base[MPSIM_MAX_QUEUES];
	struct mpsim_txq_stats txq_base[MPSIM_MAX_QUEUES];
	struct mpsim_txq_stats tx_ring_base[MPSIM_MAX_QUEUES];
	struct mpsim_fetch_stats fetch_base;
	struct nudma_account model_base;
	uint64_t mac; /**< mpsim_mac_key() of its own address, where the switch sorts by these */
	uint32_t nb_mc;
	uint64_t mc[MPSIM_MAX_MC_ADDRS]; /**< mpsim_mac_key() */
};

struct mpsim_mac {
	uint64_t key;     /**< mpsim_mac_key() */
	uint32_t pf_mask; /**< PFs that requested it */
};

struct mpsim_nic {
	rte_spinlock_t lock;
	RTE_ATOMIC(uint32_t) waiters; /**< control threads that wait for the lock */

	/* wire */
	alignas(RTE_CACHE_LINE_SIZE) RTE_ATOMIC(uint32_t) wire_kind; /**< enum mpsim_wire_kind */
	uint16_t wire_port;                                          /**< ethdev wire: port id */
	bool wire_linear;             /**< ethdev wire: does not accept chained mbufs */
	RTE_ATOMIC(bool) wire_on;     /**< ethdev wire: started */
	RTE_ATOMIC(uint32_t) started; /**< mask of the ports that are started */
	RTE_ATOMIC(uint32_t) to_wire; /**< mask of the ports that send to the wire */
	struct mpsim_fetch fetch;
	RTE_ATOMIC(uint32_t) tx_waiting; /**< frames in Tx rings */
	struct mpsim_model *model;       /**< NULL: none */
	struct mpsim_nic *peer;          /**< receives Tx: other NIC, or this one for loop */
	struct rte_ring *wire_frames;    /**< frames that arrive, or that the primary has to send */
	struct rte_mempool *pool; /**< for the wire and for copies on Tx; NULL until needed */
	alignas(RTE_CACHE_LINE_SIZE) rte_spinlock_t tx_lock; /**< of the ethdev wire's Tx queue */

	/* receive side */
	alignas(RTE_CACHE_LINE_SIZE) struct mpsim_pf *pf[MPSIM_MAX_PORTS];
	uint32_t promisc;  /**< mask of PFs */
	uint32_t allmulti; /**< mask of PFs */
	uint64_t mac;      /**< mpsim_mac_key() of the NIC's own address */
	uint16_t nb_macs;
	uint16_t nb_ports;        /**< PFs and representors */
	struct mpsim_pf *manager; /**< the transfer proxy PF */
	uint32_t default_pf;
	bool takes_any_dialect; /**< transfer rules of other dialects are taken and match nothing */
	uint8_t dialect;        /**< enum octo_dialect_id of transfer rules, without an E-Switch */
	bool sorts_by_mac;      /**< each PF has an address, and the switch takes no rules */
	bool routes_around;     /**< a transfer rule to a lost PF leads to the default PF */
	struct mpsim_mac macs[MPSIM_MAX_MACS]; /**< further ones */
	struct mpsim_table mpfs;               /**< transfer rules of exact 5-tuples */
	struct mpsim_generic masked;           /**< others; mpfs.max limits the sum */
	/** rules for all traffic from a port: the effective one, and another */
	struct mpsim_rule *way[MPSIM_MAX_PORTS][2];
	struct mpsim_nic_stats stats;
	struct mpsim_past past;
	uint8_t scratch[MPSIM_BURST][MPSIM_HDR_MAX]; /**< headers of chained frames */

	/* control only */
	struct mpsim_hash_keys hash_keys;
	char name[MPSIM_NAME_MAX];
	char pf_name[MPSIM_MAX_PFS][RTE_ETH_NAME_MAX_LEN]; /**< PF that has, or had, the slot */
	char wire_name[RTE_ETH_NAME_MAX_LEN];
	char model_name[MPSIM_PATH_MAX];
	uint32_t given;     /**< bits of enum mpsim_nic_arg */
	uint32_t room;      /**< for transfer rules, if less than mpfs.max; under the lock */
	uint32_t held;      /**< references that keep it while it has no port */
	uint32_t wire_ring; /**< size of wire_frames */
	uint64_t wire_owner;
	uint16_t switch_domain;
	struct rte_ether_addr mac_addr;
	struct rte_ether_addr mac_given; /**< its first one, by mac= */
	TAILQ_ENTRY(mpsim_nic) list;
};

/** Are there frames in Tx rings? No pair: a sender counts its frames before it puts them there. */
static inline bool
mpsim_tx_ring_waits(const struct mpsim_nic *nic)
{
	return rte_atomic_load_explicit(&nic->tx_waiting, rte_memory_order_relaxed) != 0;
}

/** An address as a number, for fast comparison. */
static inline uint64_t
mpsim_mac_key(const uint8_t *addr)
{
	uint32_t high;
	uint16_t low;

	memcpy(&high, addr, 4);
	memcpy(&low, addr + 4, 2);
	return (uint64_t)low << 32 | high;
}

/* mpsim_nic.c */

/** Serialises probing, starting and stopping; process-local, of the primary. */
void mpsim_control_lock(void);
void mpsim_control_unlock(void);

/**
 * Find or create the NIC that a PF names, and check that their devargs agree. Control lock
 * held.
 *
 * @return
 *   0 or a negative errno; an error was logged.
 */
int mpsim_nic_get(const char *who, const struct mpsim_args *args, struct mpsim_nic **nic);

/** Free the NIC if no PF, no slot of a PF and no cable uses it. Control lock held. */
void mpsim_nic_put(struct mpsim_nic *nic);

/** The NIC of that name, or NULL. Control lock held. */
struct mpsim_nic *mpsim_nic_find(const char *name);

/** Iterate over all NICs, starting with NULL. Control lock held. */
struct mpsim_nic *mpsim_nic_next(struct mpsim_nic *nic);

/** Find a NIC, or create one without a PF: the far end of a cable. Control lock held. */
struct mpsim_nic *mpsim_nic_find_or_create(const char *name);

/**
 * Set the address of the NIC, which its PFs and their ports have, too, unless the switch sorts by
 * addresses. Under the NIC's lock.
 */
void mpsim_nic_set_mac(struct mpsim_nic *nic, const struct rte_ether_addr *addr);

void mpsim_nic_add_pf(struct mpsim_nic *nic, struct mpsim_pf *pf);
void mpsim_nic_remove_pf(struct mpsim_nic *nic, struct mpsim_pf *pf);

/** The PF that becomes the transfer proxy when the previous one is gone. */
struct mpsim_pf *mpsim_nic_first_pf(const struct mpsim_nic *nic);

/** Take the PF out of its slot: its link to the CPU is down. */
void mpsim_nic_unplug(struct mpsim_pf *pf);

/** The PF that gets frames which match no transfer rule. */
struct mpsim_pf *mpsim_nic_default_pf(const struct mpsim_nic *nic);

/** The PF to which a transfer rule with this target leads; NULL: none. */
struct mpsim_pf *mpsim_nic_target(const struct mpsim_nic *nic, uint16_t target);

/** The PF or representor of this NIC with this port id, or NULL. */
struct mpsim_pf *mpsim_nic_pf_by_port(const struct mpsim_nic *nic, uint16_t port_id);

/** Set the bit of every port that is not being closed. Control lock held. */
void mpsim_nic_get_ports(uint64_t *ports);

/** For control threads: waits for the lock; pollers, which only try it, pause meanwhile. */
void mpsim_nic_lock(struct mpsim_nic *nic) __rte_acquire_capability(&nic->lock);
void mpsim_nic_unlock(struct mpsim_nic *nic) __rte_release_capability(&nic->lock);

/**
 * Allocate the NIC's own mbufs, for its ethdev wire and for copies on Tx. 0 or a negative
 * errno.
 */
int mpsim_nic_need_pool(struct mpsim_nic *nic);

/* mpsim_wire.c */

/** Pairs with mpsim_wire_set_kind(): all fields of this kind are set. */
static inline enum mpsim_wire_kind
mpsim_wire_kind(const struct mpsim_nic *nic)
{
	return (enum mpsim_wire_kind)rte_atomic_load_explicit(&nic->wire_kind,
							      rte_memory_order_acquire);
}

static inline void
mpsim_wire_set_kind(struct mpsim_nic *nic, enum mpsim_wire_kind kind)
{
	rte_atomic_store_explicit(&nic->wire_kind, (uint32_t)kind, rte_memory_order_release);
}

/** Do the devargs name a different wire than the NIC has? */
bool mpsim_wire_differs(const struct mpsim_nic *nic, const struct mpsim_args *args);

int mpsim_wire_attach(struct mpsim_nic *nic, const char *who, const struct mpsim_args *args);
void mpsim_wire_detach(struct mpsim_nic *nic);
int mpsim_wire_start(struct mpsim_nic *nic);
void mpsim_wire_stop(struct mpsim_nic *nic);
bool mpsim_wire_is_up(struct mpsim_nic *nic);

/* mpsim_wire_io.c */

/** Under the NIC's lock. */
uint16_t mpsim_wire_rx(struct mpsim_nic *nic, struct rte_mbuf **pkts, uint16_t n);

/** After mpsim_wire_has_listener(), by any thread. Accepts the first frames; returns how many. */
uint16_t mpsim_wire_tx(struct mpsim_nic *nic, struct rte_mbuf **pkts, uint16_t n);

/** Can the other end of the wire receive? */
bool mpsim_wire_has_listener(const struct mpsim_nic *nic);

/** Is the wire known to have no frames? Without the lock. */
bool mpsim_wire_is_idle(const struct mpsim_nic *nic);

/** Is the wire at most half full? Not for an ethdev wire. */
bool mpsim_wire_is_half_empty(const struct mpsim_nic *nic);

/* mpsim_ethdev.c */
int mpsim_close(struct rte_eth_dev *dev);

/* mpsim_ops.c */
extern const struct eth_dev_ops mpsim_ops;
void mpsim_set_bursts(struct rte_eth_dev *dev);

/* mpsim_link.c */
int mpsim_link_update(struct rte_eth_dev *dev, int wait);
int mpsim_set_link_up(struct rte_eth_dev *dev);
int mpsim_set_link_down(struct rte_eth_dev *dev);

/** Recompute whether the PF has a link. Control lock held, or by the PF's only user. */
void mpsim_link_apply(struct mpsim_pf *pf);

/** A wire may have changed: recheck the links of all PFs soon, in another thread. */
void mpsim_link_recheck(void);

/* mpsim_tell.c */
#define MPSIM_PORT_WORDS ((RTE_MAX_ETHPORTS + 63) / 64)

/**
 * Begin to raise an event of a port, in the interrupt thread. Returns false if the port is
 * gone; else the port is not closed before mpsim_tell_end(), which must follow.
 */
bool mpsim_tell_begin(uint16_t port);
void mpsim_tell_end(void);

/** The PF is being closed: wait for events of it, except one that the caller handles. */
void mpsim_tell_no_more(struct mpsim_pf *pf);

/* mpsim_info.c */
int mpsim_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info);
const uint32_t *mpsim_ptypes_get(struct rte_eth_dev *dev, size_t *n);
/** Headers after which frames can be split. */
const uint32_t *mpsim_split_ptypes_get(struct rte_eth_dev *dev, size_t *n);
int mpsim_burst_mode_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_burst_mode *mode);
int
mpsim_tx_burst_mode_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_burst_mode *mode);

/* mpsim_rss_ops.c */
int mpsim_rss_configure(struct mpsim_pf *pf, const struct rte_eth_conf *conf);
int mpsim_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int mpsim_rss_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int
mpsim_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size);
int mpsim_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size);

/* mpsim_queue.c */
int
mpsim_rx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		     const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
void mpsim_rx_queue_release(struct rte_eth_dev *dev, uint16_t queue);
int mpsim_rx_queue_start(struct rte_eth_dev *dev, uint16_t queue);
int mpsim_rx_queue_stop(struct rte_eth_dev *dev, uint16_t queue);

/** Free the frames on the ring, and count them as lost. The queue must not be polled. */
void mpsim_rx_queue_drain(struct rte_eth_dev *dev, uint16_t queue);

int mpsim_tx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc,
			 unsigned int socket, const struct rte_eth_txconf *conf);
void mpsim_tx_queue_release(struct rte_eth_dev *dev, uint16_t queue);
int mpsim_tx_queue_start(struct rte_eth_dev *dev, uint16_t queue);
int mpsim_tx_queue_stop(struct rte_eth_dev *dev, uint16_t queue);
void mpsim_rxq_info_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_rxq_info *info);
void mpsim_txq_info_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_txq_info *info);
int mpsim_rx_queue_count(void *rxq);
int mpsim_rx_descriptor_status(void *rxq, uint16_t offset);
int mpsim_get_monitor_addr(void *rxq, struct rte_power_monitor_cond *cond);

/* mpsim_rx.c, mpsim_pump.c, mpsim_classify.c */
uint16_t mpsim_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t n);

/** Move frames whose latency is over to the rings, as hardware would have done. */
void mpsim_rx_settle(const struct mpsim_rxq *q);

/** A ring of nb_desc mbufs, with one producer and one consumer; rte_free() frees it. */
struct rte_ring *mpsim_ring_create(uint16_t nb_desc, unsigned int socket);

/** Move a burst from the wire to the queues. Under the NIC's lock. */
void mpsim_pump(struct mpsim_nic *nic);

/** Move up to MPSIM_BURST frames to the queues of this port. Under the NIC's lock. */
void mpsim_pump_to(struct mpsim_pf *pf, struct rte_mbuf *const *pkts, uint16_t n);

/** A burst while it is being classified. */
struct mpsim_batch {
	uint16_t n;
	struct rte_mbuf *frame[MPSIM_BURST];
	const uint8_t *hdr[MPSIM_BURST]; /**< headers, contiguous */
	struct mpsim_parsed parsed[MPSIM_BURST];
	struct mpsim_pf *pf[MPSIM_BURST];   /**< NULL: drop */
	struct mpsim_rxq *rxq[MPSIM_BURST]; /**< NULL: drop */
	uint32_t hash[MPSIM_BURST];
	bool hashed[MPSIM_BURST];
	struct mpsim_rule *rule[MPSIM_BURST]; /**< ARFS rule, or NULL */
	uint8_t marked[MPSIM_BURST];          /**< MPSIM_FATE_MARK, MPSIM_FATE_FLAG */
	uint32_t mark[MPSIM_BURST];
	uint32_t keyed;       /**< mask of the frames whose key[] is set */
	uint32_t keyed_inner; /**< mask of the frames whose key[] includes tunnelled headers */
	struct mpsim_key key[MPSIM_BURST];
};

/** Contiguous bytes at b->hdr[i]. */
static inline uint32_t
mpsim_batch_avail(const struct mpsim_batch *b, uint16_t i)
{
	return RTE_MIN(b->frame[i]->pkt_len, (uint32_t)MPSIM_HDR_MAX);
}

/** Find the port and the queue of every frame from the wire. Under the NIC's lock. */
void mpsim_classify(struct mpsim_nic *nic, struct mpsim_batch *b);

/** Find the queue of every frame on this port. Under the NIC's lock. */
void mpsim_classify_on(struct mpsim_pf *pf, struct mpsim_batch *b);

/* mpsim_steer.c: the two rule tables in the data path */
void mpsim_steer(struct mpsim_nic *nic, struct mpsim_batch *b);

/** Apply the ports' ingress rules only. */
void mpsim_steer_queues(struct mpsim_nic *nic, struct mpsim_batch *b);

/** Is there an ingress rule that may match the frame on its PF? */
static inline bool
mpsim_has_ingress_rules(const struct mpsim_batch *b, uint16_t i)
{
	return b->rule[i] != NULL || b->pf[i]->generic.count > 0;
}

/**
 * Apply the ingress rules of the frame's PF.
 *
 * @return
 *   The destination of the last one, or NULL if there is none.
 */
const struct mpsim_dest *mpsim_steer_ingress(struct mpsim_batch *b, uint16_t i);

/* mpsim_eswitch.c */

/** Has the NIC an E-Switch: an uplink representor for another CPU that owns the switch? */
static inline bool
mpsim_has_eswitch(const struct mpsim_nic *nic)
{
	return nic->pf[MPSIM_UPLINK] != NULL;
}

static inline bool
mpsim_is_representor(const struct mpsim_pf *pf)
{
	return pf->index >= MPSIM_MAX_PFS;
}

/** Does the port send to the wire, and not to the other side of its representor? */
static inline bool
mpsim_sends_to_wire(const struct mpsim_pf *pf)
{
	/* no pair: no other data depends on it */
	return (rte_atomic_load_explicit(&pf->nic->to_wire, rte_memory_order_relaxed) >> pf->index &
		1) != 0;
}

/** Recompute where ports send to. Under the NIC's lock. */
void mpsim_eswitch_update(struct mpsim_nic *nic);

/** Add a rule for all traffic from a port. Returns 0, or -EEXIST. */
int mpsim_eswitch_add_way(struct mpsim_nic *nic, uint16_t from, struct mpsim_rule *rule);

void mpsim_eswitch_remove_way(struct mpsim_nic *nic, uint16_t from, const struct mpsim_rule *rule);

/** Is the other side of this PF's representor, or of this representor, started? */
bool mpsim_eswitch_has_listener(const struct mpsim_pf *pf);

/** As mpsim_wire_tx(), to the other side of a representor; at most MPSIM_BURST frames. */
uint16_t mpsim_eswitch_tx(struct mpsim_pf *pf, struct rte_mbuf **pkts, uint16_t n);

/* mpsim_stats.c */
int mpsim_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats,
		    struct eth_queue_stats *qstats);
int mpsim_stats_reset(struct rte_eth_dev *dev);
int mpsim_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n);
int
mpsim_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n);

/* mpsim_flow.c */
int mpsim_flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops);

/** Parse and allocate a rule, not in any table yet. Returns NULL with *error set. */
struct rte_flow *
mpsim_flow_make(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		struct rte_flow_error *error);

/** Insert a rule into its table. On failure mpsim_flow_drop() must still be called. */
int mpsim_flow_put(struct mpsim_pf *pf, struct rte_flow *flow, struct rte_flow_error *error);

/** Remove a rule from its table, if it is there, and free it. */
void mpsim_flow_drop(struct mpsim_pf *pf, struct rte_flow *flow);

/** Set *error with a formatted sentence, which is valid until the thread's next call. */
__rte_format_printf(4, 5) int mpsim_flow_refuse(struct rte_flow_error *error, int code,
						enum rte_flow_error_type type, const char *format,
						...);

/** Free all rules created on this PF. */
void mpsim_flow_free_all(struct mpsim_pf *pf);

#endif /* MPSIM_H */
