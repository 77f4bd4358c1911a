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
 *
 * The peer is not trusted: a look (octo_agent_stream_look()) takes a bounded number of
 * bytes, however fast the peer talks, and a peer that sends bytes that are no message
 * has a broken stream.
 */

/** Bytes that one look takes from the file descriptor: more than a window of messages. */
#define OCTO_AGENT_LOOK_BYTES 16384

struct octo_agent_stream {
	int fd;       /**< -1: closed */
	size_t in;    /**< bytes in `bytes` */
	size_t out;   /**< bytes in `unsent` */
	size_t left;  /**< bytes that this look may still take from fd */
	size_t noise; /**< bytes since the last message that are none */
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
 * Begin to connect to an agent, or open its device. Never waits.
 *
 * @return
 *   0, -EINPROGRESS: octo_agent_stream_connected() tells what becomes of it, or another
 *   negative errno with the stream closed.
 */
__rte_internal
int octo_agent_stream_connect(struct octo_agent_stream *stream, const struct octo_agent_addr *addr);

/**
 * What has become of a connection that was begun. Never waits.
 *
 * @return
 *   0, -EINPROGRESS, or another negative errno with the stream closed.
 */
__rte_internal
int octo_agent_stream_connected(struct octo_agent_stream *stream);

/** Begin a look: OCTO_AGENT_LOOK_BYTES may be taken from the file descriptor until the next. */
__rte_internal
void octo_agent_stream_look(struct octo_agent_stream *stream);

/** Has the look taken all it may? There may be more, for the next one. */
static inline bool
octo_agent_stream_is_cut(const struct octo_agent_stream *stream)
{
	return stream->fd >= 0 && stream->left == 0;
}

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
 * Take the next message that came in. As many bytes that are none as a message may have
 * are skipped: a device may keep half of what was said to somebody else.
 *
 * @return
 *   0, -EAGAIN if there is none yet or the look is over, -EPIPE at the end of the
 *   stream, -EBADMSG if the peer sends what is no message, or another negative errno.
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
