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
 * Messages over a non-blocking file descriptor. One thread at a time.
 *
 * The peer is not trusted: a look (octo_agent_stream_look()) reads a bounded number of bytes,
 * however fast the peer sends, and a stream with too many bytes that are no message is broken.
 */

/** Bytes that one look may read from the file descriptor: more than a window of messages. */
#define OCTO_AGENT_LOOK_BYTES 16384

struct octo_agent_stream {
	int fd;       /**< -1: closed */
	size_t in;    /**< bytes in `bytes` */
	size_t out;   /**< bytes in `unsent` */
	size_t left;  /**< bytes that this look may read from fd still */
	size_t noise; /**< bytes since the last message that belong to none */
	uint8_t bytes[32 * OCTO_AGENT_MSG_MAX];
	uint8_t unsent[32 * OCTO_AGENT_MSG_MAX];
};

/** Initialise a closed stream. */
__rte_internal
void octo_agent_stream_init(struct octo_agent_stream *stream);

/** Take over a file descriptor, which becomes non-blocking. */
void octo_agent_stream_attach(struct octo_agent_stream *stream, int fd);

/**
 * Begin to connect to an agent, or open its device. Never waits.
 *
 * @return
 *   0; -EINPROGRESS: octo_agent_stream_connected() tells the result; or another negative errno
 *   with the stream closed.
 */
__rte_internal
int octo_agent_stream_connect(struct octo_agent_stream *stream, const struct octo_agent_addr *addr);

/**
 * Result of a connection attempt. Never waits.
 *
 * @return
 *   0, -EINPROGRESS, or another negative errno with the stream closed.
 */
__rte_internal
int octo_agent_stream_connected(struct octo_agent_stream *stream);

/** Begin a look: OCTO_AGENT_LOOK_BYTES may be read from the file descriptor until the next one. */
__rte_internal
void octo_agent_stream_look(struct octo_agent_stream *stream);

/** Has the look read all it may? Then there may be more bytes, for the next look. */
static inline bool
octo_agent_stream_is_cut(const struct octo_agent_stream *stream)
{
	return stream->fd >= 0 && stream->left == 0;
}

/** Close the stream; does nothing if it is closed. */
__rte_internal
void octo_agent_stream_close(struct octo_agent_stream *stream);

/**
 * Send a message, or buffer it until octo_agent_stream_flush().
 *
 * @return
 *   0, -EAGAIN if the buffer has no room, -ENOTCONN if the stream is closed, or a negative
 *   errno of a broken stream.
 */
__rte_internal
int octo_agent_stream_send(struct octo_agent_stream *stream, const struct octo_agent_msg *msg);

/** Send buffered messages. @return 0 when all are sent, -EAGAIN, or a negative errno. */
__rte_internal
int octo_agent_stream_flush(struct octo_agent_stream *stream);

/**
 * Take the next message that was received. Up to OCTO_AGENT_MSG_MAX bytes that belong to none
 * are skipped: a device may contain half a message to an earlier reader.
 *
 * @return
 *   0; -EAGAIN if there is none or the look is over; -EPIPE at the end of the stream; -EBADMSG
 *   if the peer sends too many bytes that are no message; or another negative errno.
 */
__rte_internal
int octo_agent_stream_receive(struct octo_agent_stream *stream, struct octo_agent_msg *msg);

/**
 * Wait until bytes can be received (or buffered messages can be sent).
 *
 * @return
 *   0, -ETIMEDOUT (also if interrupted by a signal), -EPIPE if the peer is gone, -ENOTCONN if
 *   the stream is closed, or another negative errno.
 */
__rte_internal
int octo_agent_stream_wait(struct octo_agent_stream *stream, int timeout_ms);

#endif /* OCTO_AGENT_STREAM_H */
