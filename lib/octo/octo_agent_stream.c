/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <eal_export.h>
#include <rte_common.h>

#include "octo_agent_stream.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_stream_init)
void
octo_agent_stream_init(struct octo_agent_stream *stream)
{
	stream->fd = -1;
	stream->in = 0;
	stream->out = 0;
	stream->left = 0;
	stream->noise = 0;
}

void
octo_agent_stream_attach(struct octo_agent_stream *stream, int fd)
{
	const int on = 1;

	octo_agent_stream_init(stream);
	stream->fd = fd;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	/* for small messages in both directions; has no effect on other streams than TCP */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_stream_close)
void
octo_agent_stream_close(struct octo_agent_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	octo_agent_stream_init(stream);
}

static int
wait_for(int fd, short events, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = events};
	int ret = poll(&p, 1, timeout_ms);

	if (ret < 0)
		return errno == EINTR ? -ETIMEDOUT : -errno;
	if (ret == 0)
		return -ETIMEDOUT;
	/* POLLIN before POLLHUP: bytes that came before the end are read first */
	return (p.revents & events) != 0 ? 0 : -EPIPE;
}

/* Returns 0, -EINPROGRESS or another negative errno; in the last case *fd is closed. */
static int
open_socket(const struct octo_agent_addr *addr, int *fd)
{
	int ret = 0;

	*fd = socket(addr->sock.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return -errno;
	if (connect(*fd, &addr->sock.any, addr->len) != 0)
		ret = -errno;
	if (ret != 0 && ret != -EINPROGRESS)
		close(*fd);
	return ret;
}

/* Opens nothing but a character device: writing to a file would destroy it. */
static int
open_device(const char *path, int *fd)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return -errno;
	if (!S_ISCHR(st.st_mode))
		return -ENOTTY;
	*fd = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_stream_connect)
int
octo_agent_stream_connect(struct octo_agent_stream *stream, const struct octo_agent_addr *addr)
{
	int fd = -1;
	int ret = addr->device != NULL ? open_device(addr->device, &fd) : open_socket(addr, &fd);

	if (ret == 0 || ret == -EINPROGRESS)
		octo_agent_stream_attach(stream, fd);
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_stream_connected)
int
octo_agent_stream_connected(struct octo_agent_stream *stream)
{
	socklen_t len = sizeof(int);
	int error = 0;

	if (stream->fd < 0)
		return -ENOTCONN;
	if (wait_for(stream->fd, POLLOUT, 0) == -ETIMEDOUT)
		return -EINPROGRESS;
	if (getsockopt(stream->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error != 0)
		octo_agent_stream_close(stream);
	return -error;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_stream_look)
void
octo_agent_stream_look(struct octo_agent_stream *stream)
{
	stream->left = OCTO_AGENT_LOOK_BYTES;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_stream_flush)
int
octo_agent_stream_flush(struct octo_agent_stream *stream)
{
	while (stream->out > 0) {
		/* MSG_NOSIGNAL as the peer may be gone; a device does not support send() */
		ssize_t n = send(stream->fd, stream->unsent, stream->out, MSG_NOSIGNAL);

		if (n < 0 && errno == ENOTSOCK)
			n = write(stream->fd, stream->unsent, stream->out);
		if (n < 0)
			return errno == EINTR || errno == EWOULDBLOCK ? -EAGAIN : -errno;
		stream->out -= (size_t)n;
		memmove(stream->unsent, stream->unsent + n, stream->out);
	}
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_stream_send)
int
octo_agent_stream_send(struct octo_agent_stream *stream, const struct octo_agent_msg *msg)
{
	int ret;

	if (stream->fd < 0)
		return -ENOTCONN;
	if (sizeof(stream->unsent) - stream->out < OCTO_AGENT_MSG_MAX)
		return -EAGAIN;
	stream->out += octo_agent_msg_write(stream->unsent + stream->out, msg);
	ret = octo_agent_stream_flush(stream);
	return ret == -EAGAIN ? 0 : ret;
}

/* Reads from the file descriptor, as far as there is room and the look allows. */
static int
fill(struct octo_agent_stream *stream)
{
	const size_t room = RTE_MIN(sizeof(stream->bytes) - stream->in, stream->left);
	ssize_t n;

	if (room == 0)
		return -EAGAIN;
	n = read(stream->fd, stream->bytes + stream->in, room);
	if (n < 0)
		return errno == EINTR || errno == EWOULDBLOCK ? -EAGAIN : -errno;
	if (n == 0)
		return -EPIPE;
	stream->in += (size_t)n;
	stream->left -= (size_t)n;
	return 0;
}

/* -EAGAIN: the bytes contain no complete message; -EBADMSG: too many bytes that are none. */
static int
take(struct octo_agent_stream *stream, struct octo_agent_msg *msg)
{
	size_t used = 0;
	size_t all = 0;
	int ret;

	do {
		ret = octo_agent_msg_read(stream->bytes + all, stream->in - all, msg, &used);
		all += used;
		stream->noise = ret == 0 ? 0 : stream->noise + used;
	} while (ret == -EBADMSG && stream->noise <= OCTO_AGENT_MSG_MAX);
	stream->in -= all;
	memmove(stream->bytes, stream->bytes + all, stream->in);
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_stream_receive)
int
octo_agent_stream_receive(struct octo_agent_stream *stream, struct octo_agent_msg *msg)
{
	int ret;

	if (stream->fd < 0)
		return -ENOTCONN;
	while ((ret = take(stream, msg)) == -EAGAIN) {
		ret = fill(stream);
		if (ret != 0)
			break;
	}
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_stream_wait)
int
octo_agent_stream_wait(struct octo_agent_stream *stream, int timeout_ms)
{
	const short events = stream->out > 0 ? POLLIN | POLLOUT : POLLIN;

	return stream->fd < 0 ? -ENOTCONN : wait_for(stream->fd, events, timeout_ms);
}
