/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ETHTOOL_MSG_H
#define OCTO_ETHTOOL_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "octo_ethtool_journal.h"

/**
 * @file
 * The messages between a port of net_af_xdp that lacks CAP_NET_ADMIN and the agent that steers its
 * netdev; the guide, "The agent's protocol", is the reference.
 *
 * A message is one packet of a unix socket (SOCK_SEQPACKET): a result, and a request to the kernel
 * as ethtool(8) fills it. The answer has the same length. Both sides are on one machine, so the
 * structures are the kernel's. Pure functions: any thread, any process.
 */

#define OCTO_ETHTOOL_MSG_VERSION 1

/** The first request of a connection; no command of the kernel has this number. */
#define OCTO_ETHTOOL_HELLO 0x6f63746fu

/** Longest RSS key of a message. */
#define OCTO_ETHTOOL_MSG_MAX_KEY 256

/** Which netdev the port is of. */
struct octo_ethtool_hello {
	uint32_t cmd;     /**< OCTO_ETHTOOL_HELLO */
	uint32_t version; /**< OCTO_ETHTOOL_MSG_VERSION */
	uint64_t netns;   /**< octo_ethtool_io_netns() */
	uint32_t ifindex;
	uint32_t reserved; /**< zero */
};

#define OCTO_ETHTOOL_MSG_HEADER 8
#define OCTO_ETHTOOL_MSG_MAX_BODY                                                                  \
	(sizeof(struct ethtool_rxfh) + OCTO_ETHTOOL_MAX_RETA * sizeof(uint32_t) +                  \
	 OCTO_ETHTOOL_MSG_MAX_KEY)

struct octo_ethtool_msg {
	int32_t ret;       /**< of an answer: 0 or a negative errno; of a request: 0 */
	uint32_t reserved; /**< zero */
	union {
		uint32_t cmd;
		struct octo_ethtool_hello hello;
		struct ethtool_rxnfc nfc;
		struct ethtool_rxfh rxfh;
		uint8_t bytes[OCTO_ETHTOOL_MSG_MAX_BODY];
	};
};

/**
 * Length of a request.
 *
 * @param room
 *   Bytes that may be read from the request.
 * @return
 *   Bytes of the request, whatever the room; 0 if it is none of the protocol.
 */
size_t octo_ethtool_msg_len(const void *request, size_t room);

/** Is it an answer to the request that fits into the request's memory? */
bool
octo_ethtool_msg_is_answer(const void *request, const struct octo_ethtool_msg *answer, size_t len);

#endif /* OCTO_ETHTOOL_MSG_H */
