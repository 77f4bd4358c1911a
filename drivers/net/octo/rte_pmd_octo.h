/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef RTE_PMD_OCTO_H
#define RTE_PMD_OCTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_byteorder.h>
#include <rte_compat.h>
#include <rte_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Functions of net_octo beyond ethdev and rte_flow.
 *
 * Threads: any thread, EAL's or not, may call each function, at the same time as any other, but
 * not inside a burst nor in the handler of an ethdev event. None is for the data path.
 */

/**
 * Print the PFs of a port, with their sockets, links and states; for each queue its CPU;
 * for each leg the sockets of its ring and its mbufs. rte_eth_dev_priv_dump() includes
 * this. In any process.
 *
 * @param port_id
 *   An octo port.
 * @param file
 *   Output; no lock is held while it is written to, and write errors are ignored.
 * @return
 *   0, or -ENODEV if the port is not an octo port.
 */
__rte_experimental
int rte_pmd_octo_topology_dump(uint16_t port_id, FILE *file);

/**
 * Print the steered flows of a port, with queue, PF, hits in packets, sampled strays and
 * the audit's status; rte_eth_dev_priv_dump() prints the first 32. A secondary process
 * prints only their number.
 *
 * @param port_id
 *   An octo port.
 * @param file
 *   As for rte_pmd_octo_topology_dump().
 * @return
 *   0, or -ENODEV if the port is not an octo port.
 */
__rte_experimental
int rte_pmd_octo_steering_dump(uint16_t port_id, FILE *file);

/**
 * Print for each queue the packets since the last reset that arrived by its home PF, and by
 * others. In any process.
 *
 * @param port_id
 *   An octo port.
 * @param file
 *   As for rte_pmd_octo_topology_dump().
 * @return
 *   0, or -ENODEV if the port is not an octo port.
 */
__rte_experimental
int rte_pmd_octo_strays_dump(uint16_t port_id, FILE *file);

/** A flow, by its 5-tuple. */
struct rte_pmd_octo_tuple {
	uint8_t ip_version; /**< 4 or 6 */
	uint8_t proto;      /**< IPPROTO_TCP, IPPROTO_UDP or IPPROTO_SCTP */
	rte_be16_t src_port;
	rte_be16_t dst_port;
	uint8_t src[16]; /**< network order; of IPv4 the first four bytes */
	uint8_t dst[16]; /**< likewise */
};

/** Room for a tuple as text, with the terminating NUL. */
#define RTE_PMD_OCTO_TUPLE_TEXT_MAX 128

/**
 * Read a tuple from its five parts.
 *
 * @param tuple
 *   Set on success.
 * @param proto
 *   "tcp", "udp" or "sctp".
 * @param src
 *   An IPv4 or IPv6 address.
 * @param src_port
 *   In host order.
 * @param dst
 *   An address of the same version.
 * @param dst_port
 *   In host order.
 * @param culprit
 *   Set on failure to the name of the argument that is wrong.
 * @return
 *   0, or -EINVAL.
 */
__rte_experimental
int rte_pmd_octo_tuple_read(struct rte_pmd_octo_tuple *tuple, const char *proto, const char *src,
			    uint16_t src_port, const char *dst, uint16_t dst_port,
			    const char **culprit);

/**
 * Format a tuple as text: "tcp 10.0.0.1:80 > 10.0.0.2:4000".
 *
 * @param tuple
 *   A valid tuple.
 * @param text
 *   At least RTE_PMD_OCTO_TUPLE_TEXT_MAX bytes.
 * @return
 *   text
 */
__rte_experimental
char *rte_pmd_octo_tuple_format(const struct rte_pmd_octo_tuple *tuple, char *text);

/**
 * Steer a flow to an Rx queue. The rule is separate from those of rte_flow: it has no
 * handle, but rte_flow_flush() removes it. In the primary process.
 *
 * @param port_id
 *   An octo port.
 * @param tuple
 *   The flow.
 * @param queue
 *   An Rx queue of the port.
 * @param error
 *   Filled on failure, as by rte_flow_create().
 * @return
 *   0, or a negative errno: -ENODEV if the port is not an octo port, -EINVAL if the tuple is
 *   not valid, or an error of rte_flow_create().
 */
__rte_experimental
int rte_pmd_octo_steer_add(uint16_t port_id, const struct rte_pmd_octo_tuple *tuple, uint16_t queue,
			   struct rte_flow_error *error);

/**
 * Move a steered flow to another Rx queue, without reordering its packets. The rule may be
 * one of rte_flow_create() if it steers by a 5-tuple alone. In the primary process.
 *
 * @param port_id
 *   An octo port, started.
 * @param tuple
 *   The flow.
 * @param queue
 *   An Rx queue of the port.
 * @param error
 *   Filled on failure.
 * @return
 *   0, or a negative errno: -ENODEV if the port is not an octo port, -EINVAL if the tuple or the
 *   queue is not valid, -ENOENT if the flow is not steered, -ENOTSUP if its rule can be changed
 *   through rte_flow only, or if the port is stopped.
 */
__rte_experimental
int rte_pmd_octo_steer_move(uint16_t port_id, const struct rte_pmd_octo_tuple *tuple,
			    uint16_t queue, struct rte_flow_error *error);

/**
 * Remove a flow added by rte_pmd_octo_steer_add(). In the primary process.
 *
 * @param port_id
 *   An octo port.
 * @param tuple
 *   The flow.
 * @param error
 *   Filled on failure.
 * @return
 *   0, or a negative errno: -ENODEV if the port is not an octo port, -EINVAL if the tuple is not
 *   valid, -ENOENT if the flow is not steered, -EPERM if its rule was made through rte_flow.
 */
__rte_experimental
int rte_pmd_octo_steer_remove(uint16_t port_id, const struct rte_pmd_octo_tuple *tuple,
			      struct rte_flow_error *error);

/**
 * Remove all flows added by rte_pmd_octo_steer_add(). In the primary process.
 *
 * @param port_id
 *   An octo port.
 * @param error
 *   Filled on failure.
 * @return
 *   The number of flows removed, or the first negative errno; then the other flows are
 *   removed all the same.
 */
__rte_experimental
int rte_pmd_octo_steer_remove_all(uint16_t port_id, struct rte_flow_error *error);

/**
 * Settings of learning: rules are created for flows that stray. devargs have the same
 * names.
 */
struct rte_pmd_octo_learning_settings {
	bool on;
	uint32_t sample;    /**< about one of this many strays is sampled, 1 to 65536 */
	uint32_t max_rules; /**< upper limit of learned flows, 1 to 16777216 */
	uint32_t idle_ms;   /**< ms; a rule without hits for so long is removed; 0: never */
};

/** State and counters of learning. */
struct rte_pmd_octo_learning {
	struct rte_pmd_octo_learning_settings settings;
	const char *state;   /**< "on", "off", or why it is inactive; static text */
	uint64_t samples;    /**< sampled strays of flows without a rule */
	uint64_t installed;  /**< rules installed */
	uint64_t evicted;    /**< rules removed to make room for others */
	uint64_t aged;       /**< rules removed because they had no hits */
	uint64_t refused;    /**< rules the NIC had no room for */
	uint64_t failed;     /**< rules the NIC refused for another reason */
	uint32_t rules;      /**< learned flows at present; two directions may be one */
	uint32_t candidates; /**< flows without a rule that are tracked at present */
	bool counted;        /**< the switch counts the hits of learned rules */
};

/**
 * Get the settings and state of learning; counters are since the last reset of statistics.
 * In the primary process.
 *
 * @param port_id
 *   An octo port.
 * @param learning
 *   Filled on success.
 * @return
 *   0, or -ENODEV if the port is not an octo port.
 */
__rte_experimental
int rte_pmd_octo_learning_get(uint16_t port_id, struct rte_pmd_octo_learning *learning);

/**
 * Set all settings of learning. After it is switched off, the control thread removes
 * the learned rules. In the primary process.
 *
 * @param port_id
 *   An octo port.
 * @param settings
 *   All settings; the others are not kept.
 * @param why
 *   Set to a sentence, static text, on failure.
 * @return
 *   0, -ENODEV if the port is not an octo port, or -EINVAL if a setting is out of range.
 */
__rte_experimental
int
rte_pmd_octo_learning_set(uint16_t port_id, const struct rte_pmd_octo_learning_settings *settings,
			  const char **why);

#ifdef __cplusplus
}
#endif

#endif /* RTE_PMD_OCTO_H */
