/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ETHTOOL_H
#define OCTO_ETHTOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/ethtool.h>

#include <rte_compat.h>

#include "octo_tuple.h"

/**
 * @file
 * Requests to the kernel (SIOCETHTOOL) that steer a netdev's flows to its channels: ntuple rules
 * and the RETA, filled as ethtool(8) fills them. Pure: accesses only the structures given; any
 * thread, any process. All functions that return an errno return it negative.
 */

/**
 * Fill the request that adds a rule, or replaces that at the location: what `ethtool -N IFACE
 * flow-type tcp4 src-ip .. dst-ip .. src-port .. dst-port .. action QUEUE loc LOCATION` sends.
 *
 * @param location
 *   RX_CLS_LOC_ANY where the driver chooses it.
 * @return
 *   0, or -ENOTSUP for SCTP, whose rules no driver is known to take.
 */
int octo_ethtool_fill_insert(struct ethtool_rxnfc *nfc, const struct octo_tuple *tuple,
			     uint32_t queue, uint32_t location);

/** Do two rules of ethtool(8), or of this file, match the same 5-tuple? */
bool
octo_ethtool_same_flow(const struct ethtool_rx_flow_spec *a, const struct ethtool_rx_flow_spec *b);

/** Read the 5-tuple of a rule. Returns false if the rule matches anything else. */
bool octo_ethtool_read_tuple(const struct ethtool_rx_flow_spec *fs, struct octo_tuple *tuple);

/**
 * The highest location that is free, so that the rules of others, which ethtool(8) puts there, too,
 * are left where they are.
 *
 * @param taken
 *   A bit for each location, in words of 64.
 * @return
 *   The location, or RX_CLS_LOC_ANY if there is none.
 */
uint32_t octo_ethtool_free_location(const uint64_t *taken, uint32_t size);

/** Bytes of a request that has a RETA of this size, and a key. */
size_t octo_ethtool_rss_len(uint32_t reta_size, uint32_t key_size);

/** Fill the question for RETA, key and hash function; 0 and 0 ask for the sizes alone. */
void octo_ethtool_ask_rss(struct ethtool_rxfh *rxfh, uint32_t reta_size, uint32_t key_size);

/**
 * How the netdev changes the fields of a packet before it hashes them: RXH_XFRM_... of an answer,
 * from Linux 6.8 on; 0: not at all.
 */
uint8_t octo_ethtool_xfrm(const struct ethtool_rxfh *rxfh);

/**
 * Fill the request that sets the RETA and nothing else: what `ethtool -X IFACE weight ..` sends.
 *
 * @param rxfh
 *   octo_ethtool_rss_len(reta_size, 0) bytes.
 * @param reta
 *   The channel of each entry. The RETA is repeated if the netdev has a multiple of its size: the
 *   channel of a hash is the same then.
 * @param size
 *   Of reta, a divisor of reta_size.
 * @param xfrm
 *   octo_ethtool_xfrm() of the netdev: the request sets it, too. Kernels before 6.8 take 0 only.
 */
void octo_ethtool_fill_reta(struct ethtool_rxfh *rxfh, uint32_t reta_size, const uint32_t *reta,
			    uint32_t size, uint8_t xfrm);

/** Fill the request that gives the RETA back to the driver, as `ethtool -X IFACE default`. */
void octo_ethtool_fill_default_reta(struct ethtool_rxfh *rxfh, uint8_t xfrm);

/** Flow types whose hash the kernel is asked for: TCP and UDP of IPv4, then of IPv6. */
#define OCTO_ETHTOOL_NB_HASHED 4

/** Fill the question for the fields of the hash of flow type i. */
void octo_ethtool_ask_hash(struct ethtool_rxnfc *nfc, unsigned int i);

/**
 * The RSS types (RTE_ETH_RSS_...) by which the kernel hashes.
 *
 * @param fields
 *   RXH_... of each flow type, 0 for one that is not hashed, or unknown.
 * @return
 *   Those of both families; those of a family whose hash RSS types cannot express are left out.
 */
uint64_t octo_ethtool_hash_types(const uint64_t fields[OCTO_ETHTOOL_NB_HASHED]);

/** A sentence for the user: why the kernel refuses a rule, by its errno (positive). */
__rte_internal
const char *octo_ethtool_rule_refusal(int code);

/** The same for the RETA. */
__rte_internal
const char *octo_ethtool_reta_refusal(int code);

#endif /* OCTO_ETHTOOL_H */
