/* SPDX-License-Identifier: BSD-3-Clause */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_agent_stream.h"

struct pair {
	struct octo_agent_stream stream;
	int peer;
};

static int
setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	int fd[2];

	if (pair == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
		return -1;
	octo_agent_stream_attach(&pair->stream, fd[0]);
	octo_agent_stream_look(&pair->stream);
	pair->peer = fd[1];
	*state = pair;
	return 0;
}

static int
teardown(void **state)
{
	struct pair *pair = *state;

	octo_agent_stream_close(&pair->stream);
	close(pair->peer);
	free(pair);
	return 0;
}

static void
say(const struct pair *pair, const void *bytes, size_t len)
{
	assert_int_equal(write(pair->peer, bytes, len), len);
}

/* In one piece: a socket has less room for many small ones. */
static void
say_pings(const struct pair *pair, uint32_t first, uint32_t nb)
{
	uint8_t *bytes = malloc(nb * OCTO_AGENT_HEADER + OCTO_AGENT_MSG_MAX);
	size_t len = 0;

	assert_non_null(bytes);
	for (uint32_t i = 0; i < nb; i++) {
		const struct octo_agent_msg ping = {.type = OCTO_AGENT_PING, .seq = first + i};

		len += octo_agent_msg_write(bytes + len, &ping);
	}
	say(pair, bytes, len);
	free(bytes);
}

static void
test_a_look_ends(void **state)
{
	struct pair *pair = *state;
	const uint32_t nb = 2 * OCTO_AGENT_LOOK_BYTES / OCTO_AGENT_HEADER;
	struct octo_agent_msg msg;
	uint32_t heard = 0;

	say_pings(pair, 0, nb);
	while (octo_agent_stream_receive(&pair->stream, &msg) == 0)
		assert_int_equal(msg.seq, heard++);
	assert_int_equal(heard, nb / 2);
	assert_true(octo_agent_stream_is_cut(&pair->stream));
	/* nothing is lost: it is for the next look */
	octo_agent_stream_look(&pair->stream);
	while (octo_agent_stream_receive(&pair->stream, &msg) == 0)
		assert_int_equal(msg.seq, heard++);
	assert_int_equal(heard, nb);
}

static void
test_some_noise_is_skipped(void **state)
{
	static const uint8_t noise[OCTO_AGENT_MSG_MAX];
	struct pair *pair = *state;
	struct octo_agent_msg msg;

	for (uint32_t i = 0; i < 3; i++) {
		say(pair, noise, sizeof(noise));
		say_pings(pair, i, 1);
		assert_int_equal(octo_agent_stream_receive(&pair->stream, &msg), 0);
		assert_int_equal(msg.seq, i);
	}
}

static void
test_more_noise_breaks_the_stream(void **state)
{
	static const uint8_t noise[OCTO_AGENT_MSG_MAX];
	struct pair *pair = *state;
	struct octo_agent_msg msg;

	say(pair, noise, sizeof(noise));
	assert_int_equal(octo_agent_stream_receive(&pair->stream, &msg), -EAGAIN);
	say(pair, "O", 1);
	assert_int_equal(octo_agent_stream_receive(&pair->stream, &msg), -EAGAIN);
	say(pair, "x", 1);
	assert_int_equal(octo_agent_stream_receive(&pair->stream, &msg), -EBADMSG);
}

static void
listen_on_loopback(struct octo_agent_addr *addr, int *fd)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	socklen_t len = sizeof(in);
	char text[64], why[128];

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(*fd, (const struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(listen(*fd, 0), 0);
	assert_int_equal(getsockname(*fd, (struct sockaddr *)&in, &len), 0);
	snprintf(text, sizeof(text), "tcp:127.0.0.1:%u", ntohs(in.sin_port));
	assert_int_equal(octo_agent_addr_read(addr, text, why, sizeof(why)), 0);
}

/* A listener whose queue is full does not answer, as a machine that is not there. */
static void
test_a_connection_is_not_waited_for(void **state)
{
	struct octo_agent_stream streams[3];
	struct octo_agent_addr addr;
	int ear, fd;

	(void)state;
	listen_on_loopback(&addr, &ear);
	for (unsigned int i = 0; i < RTE_DIM(streams); i++)
		assert_int_equal(octo_agent_stream_connect(&streams[i], &addr), -EINPROGRESS);
	assert_int_equal(octo_agent_stream_connected(&streams[0]), 0);
	assert_int_equal(octo_agent_stream_connected(&streams[2]), -EINPROGRESS);
	fd = accept(ear, NULL, NULL);
	assert_true(fd >= 0);
	close(fd);
	close(ear);
	for (unsigned int i = 0; i < RTE_DIM(streams); i++)
		octo_agent_stream_close(&streams[i]);
}

static void
test_a_refused_connection_is_closed(void **state)
{
	struct octo_agent_stream stream;
	struct octo_agent_addr addr;
	int ear, ret;

	(void)state;
	listen_on_loopback(&addr, &ear);
	close(ear);
	octo_agent_stream_init(&stream);
	ret = octo_agent_stream_connect(&stream, &addr);
	if (ret == -EINPROGRESS)
		ret = octo_agent_stream_connected(&stream);
	assert_int_equal(ret, -ECONNREFUSED);
	assert_int_equal(stream.fd, -1);
}

/* What is written to a file destroys it. */
static void
test_a_device_is_no_file(void **state)
{
	char path[] = "/tmp/octo_agent_stream.XXXXXX", text[64], why[128];
	struct octo_agent_stream stream;
	struct octo_agent_addr addr;
	const int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	snprintf(text, sizeof(text), "dev:%s", path);
	assert_int_equal(octo_agent_addr_read(&addr, text, why, sizeof(why)), 0);
	octo_agent_stream_init(&stream);
	assert_int_equal(octo_agent_stream_connect(&stream, &addr), -ENOTTY);
	assert_int_equal(stream.fd, -1);
	close(fd);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_look_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_some_noise_is_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_more_noise_breaks_the_stream, setup, teardown),
		cmocka_unit_test(test_a_connection_is_not_waited_for),
		cmocka_unit_test(test_a_refused_connection_is_closed),
		cmocka_unit_test(test_a_device_is_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
