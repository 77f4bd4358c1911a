/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AGENT_STREAM_H
#define OCTO_AGENT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_agent_addr.h"
#include "octo_agent_msg.h"

/**
 * @file
 * Messages over a file descriptor that does not block. One thread at a time.
 */

struct octo_agent_stream {
	int fd;     /**< -1: closed */
	size_t in;  /**< bytes in `bytes` */
	size_t out; /**< bytes in `unsent` */
	uint8_t bytes[32 * OCTO_AGENT_MSG_MAX];
	uint8_t unsent[32 * OCTO_AGENT_MSG_MAX];
};

/** Set up a stream that is closed. */
__rte_internal
void octo_agent_stream_init(struct octo_agent_stream *stream);

/** Take over a file descriptor, which is made not to block. */
__rte_internal
void octo_agent_stream_attach(struct octo_agent_stream *stream, int fd);

/**
 * Connect to an agent, or open its device.
 *
 * @param timeout_ms
 *   How long a connection may take.
 * @return
 *   0, or a negative errno with the stream closed.
 */
__rte_internal
int octo_agent_stream_connect(struct octo_agent_stream *stream, const struct octo_agent_addr *addr,
			      int timeout_ms);

/** Close it; harmless if it is closed. */
__rte_internal
void octo_agent_stream_close(struct octo_agent_stream *stream);

/**
 * Send a message, or keep it until octo_agent_stream_flush().
 *
 * @return
 *   0, -EAGAIN if there is no room to keep it, or a negative errno of a broken stream.
 */
__rte_internal
int octo_agent_stream_send(struct octo_agent_stream *stream, const struct octo_agent_msg *msg);

/** Send what was kept. @return 0 when all is sent, -EAGAIN, or a negative errno. */
__rte_internal
int octo_agent_stream_flush(struct octo_agent_stream *stream);

/**
 * Take the next message that came in. Bytes that are none are skipped.
 *
 * @return
 *   0, -EAGAIN if there is none yet, -EPIPE at the end of the stream, or another
 *   negative errno.
 */
__rte_internal
int octo_agent_stream_receive(struct octo_agent_stream *stream, struct octo_agent_msg *msg);

/**
 * Wait until something can be received (or kept messages can be sent).
 *
 * @return
 *   0, -ETIMEDOUT, or -EPIPE if the peer is gone.
 */
__rte_internal
int octo_agent_stream_wait(struct octo_agent_stream *stream, int timeout_ms);

#endif /* OCTO_AGENT_STREAM_H */
