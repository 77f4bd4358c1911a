/* SPDX-License-Identifier: BSD-3-Clause */

/* The agent's protocol: the guide's bytes, and whatever else may come in. */

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_agent_msg.h"

static struct octo_tuple
tuple_of(const char *src, const char *dst)
{
	struct octo_tuple t;

	assert_int_equal(octo_tuple_read(&t, "udp", src, 1000, dst, 9, NULL), 0);
	return t;
}

static const struct octo_agent_msg hello = {
	.type = OCTO_AGENT_HELLO,
	.session = 0x01020304,
	.seq = 5,
	.hello = {.min_version = 1, .max_version = 2, .nb_pfs = 3},
};

static void
assert_same(const struct octo_agent_msg *a, const struct octo_agent_msg *b)
{
	uint8_t x[OCTO_AGENT_MSG_MAX], y[OCTO_AGENT_MSG_MAX];
	size_t len = octo_agent_msg_write(x, a);

	assert_int_equal(octo_agent_msg_write(y, b), len);
	assert_memory_equal(x, y, len);
}

static void
assert_round_trip(const struct octo_agent_msg *msg, size_t body)
{
	uint8_t bytes[OCTO_AGENT_MSG_MAX];
	struct octo_agent_msg again;
	size_t used;
	size_t len;

	len = octo_agent_msg_write(bytes, msg);
	assert_int_equal(len, OCTO_AGENT_HEADER + body);
	for (size_t part = 0; part < len; part++) {
		assert_int_equal(octo_agent_msg_read(bytes, part, &again, &used), -EAGAIN);
		assert_int_equal(used, 0);
	}
	assert_int_equal(octo_agent_msg_read(bytes, len, &again, &used), 0);
	assert_int_equal(used, len);
	assert_same(msg, &again);
}

static void
test_what_is_written_is_read(void **state)
{
	const struct octo_agent_msg msgs[] = {
		{.type = OCTO_AGENT_SYNCED, .session = UINT32_MAX, .seq = UINT32_MAX},
		{.type = OCTO_AGENT_PING, .seq = 1},
		{.type = OCTO_AGENT_DEFAULT, .seq = 2, .default_pf = 7},
	};
	struct octo_agent_msg msg = {.type = OCTO_AGENT_PUT, .rule = {.pf = 7, .queue = 513}};

	(void)state;
	assert_round_trip(&hello, 8);
	assert_round_trip(&msgs[0], 0);
	assert_round_trip(&msgs[1], 0);
	assert_round_trip(&msgs[2], 4);
	msg.rule.tuple = tuple_of("10.0.0.1", "10.0.0.2");
	assert_round_trip(&msg, 44);
	msg.rule.tuple = tuple_of("2001:db8::1", "2001:db8::2");
	assert_round_trip(&msg, 44);
	msg.type = OCTO_AGENT_REMOVE;
	assert_round_trip(&msg, 40);
	msg.type = OCTO_AGENT_QUERY;
	assert_round_trip(&msg, 40);
	msg = (struct octo_agent_msg){.type = OCTO_AGENT_WELCOME,
				      .welcome = {1, 2, OCTO_AGENT_COUNTS, 1u << 31}};
	assert_round_trip(&msg, 8);
	msg = (struct octo_agent_msg){.type = OCTO_AGENT_COUNT, .count = {UINT64_MAX, 1ull << 40}};
	assert_round_trip(&msg, 16);
	msg = (struct octo_agent_msg){.type = OCTO_AGENT_RESULT, .result = {ENOSPC, "full"}};
	assert_round_trip(&msg, 8);
	msg.result.text[0] = '\0';
	assert_round_trip(&msg, 4);
	memset(msg.result.text, 'x', sizeof(msg.result.text));
	assert_round_trip(&msg, 4 + OCTO_AGENT_TEXT_MAX - 1);
}

static void
test_the_bytes_are_those_of_the_guide(void **state)
{
	static const uint8_t expected[] = {'O', 'C', 'T', 'O', 0, 1, 0, 8, 1, 2, 3, 4,
					   0,   0,   0,   5,   0, 1, 0, 2, 3, 0, 0, 0};
	uint8_t bytes[OCTO_AGENT_MSG_MAX];

	(void)state;
	assert_int_equal(octo_agent_msg_write(bytes, &hello), sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
}

/* Reads to the first message, as a stream does. Returns how many bytes were dropped before it. */
static size_t
read_past_garbage(const uint8_t *bytes, size_t len, struct octo_agent_msg *msg)
{
	size_t at = 0;
	size_t used;
	int ret;

	while ((ret = octo_agent_msg_read(bytes + at, len - at, msg, &used)) == -EBADMSG) {
		assert_true(used > 0 && used <= len - at);
		at += used;
	}
	assert_int_equal(ret, 0);
	return at;
}

static void
test_garbage_is_skipped(void **state)
{
	static const char *const garbage[] = {
		"x",
		"OCT",
		"OCTOOCTO",
		"OOOOOOO",
		"a longer text without it",
		/* a type, a length that do not exist */
		"OCTO\0\0\0\0",
		"OCTO\0\x1\xff\xff",
	};
	static const size_t lens[] = {1, 3, 8, 7, 24, 8, 8};
	uint8_t bytes[64 + OCTO_AGENT_MSG_MAX];
	struct octo_agent_msg msg;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(garbage); i++) {
		memcpy(bytes, garbage[i], lens[i]);
		assert_int_equal(
			read_past_garbage(bytes,
					  lens[i] + octo_agent_msg_write(bytes + lens[i], &hello),
					  &msg),
			lens[i]);
		assert_same(&msg, &hello);
	}
}

static void
test_half_a_message_is_skipped(void **state)
{
	uint8_t bytes[2 * OCTO_AGENT_MSG_MAX];
	struct octo_agent_msg msg;
	size_t half = 10;
	size_t len;

	(void)state;
	octo_agent_msg_write(bytes, &hello);
	len = half + octo_agent_msg_write(bytes + half, &hello);
	/* what begins like a message of 8 bytes ends inside of the next */
	assert_true(read_past_garbage(bytes, len, &msg) <= len - OCTO_AGENT_HEADER - 8);
}

static void
test_a_tuple_is_canonical_or_refused(void **state)
{
	struct octo_agent_msg msg = {.type = OCTO_AGENT_REMOVE};
	uint8_t bytes[OCTO_AGENT_MSG_MAX];
	struct octo_agent_msg again;
	size_t used;
	size_t len;

	(void)state;
	msg.rule.tuple = tuple_of("10.0.0.1", "10.0.0.2");
	len = octo_agent_msg_write(bytes, &msg);
	for (size_t at = OCTO_AGENT_HEADER; at < len; at++) {
		const uint8_t was = bytes[at];
		const size_t field = at - OCTO_AGENT_HEADER;
		const bool free_choice = (field >= 2 && field < 12) || (field >= 24 && field < 28);

		bytes[at] = (uint8_t)(was + 100);
		assert_int_equal(octo_agent_msg_read(bytes, len, &again, &used),
				 free_choice ? 0 : -EBADMSG);
		assert_int_equal(used, len);
		bytes[at] = was;
	}
}

/* It is logged: a peer must not reach a terminal, or begin a line of its own. */
static void
test_a_text_is_printable(void **state)
{
	const struct octo_agent_msg evil = {
		.type = OCTO_AGENT_RESULT,
		.result = {EIO, "full\nOCTO: \033[2J\r\t\x7f\xff~ "},
	};
	uint8_t bytes[OCTO_AGENT_MSG_MAX];
	struct octo_agent_msg msg;
	size_t used;
	size_t len;

	(void)state;
	len = octo_agent_msg_write(bytes, &evil);
	/* the end of the text is that of the message */
	bytes[OCTO_AGENT_HEADER + 4] = '\0';
	assert_int_equal(octo_agent_msg_read(bytes, len, &msg, &used), 0);
	assert_string_equal(msg.result.text, "?ull?OCTO: ?[2J????~ ");
}

/* Whatever comes in: never read beyond, never stand still. */
static void
test_noise(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		const size_t len = (size_t)rand() % 300;
		uint8_t *bytes = malloc(len + 1);
		struct octo_agent_msg msg;
		size_t at = 0;
		size_t used;

		assert_non_null(bytes);
		for (size_t i = 0; i < len; i++)
			bytes[i] = rand() % 4 != 0 ? (uint8_t) "OCTO\0\1\2\3"[rand() % 8] :
						     (uint8_t)rand();
		while (octo_agent_msg_read(bytes + at, len - at, &msg, &used) != -EAGAIN) {
			assert_true(used > 0 && used <= len - at);
			at += used;
		}
		free(bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_is_read),
		cmocka_unit_test(test_the_bytes_are_those_of_the_guide),
		cmocka_unit_test(test_garbage_is_skipped),
		cmocka_unit_test(test_half_a_message_is_skipped),
		cmocka_unit_test(test_a_tuple_is_canonical_or_refused),
		cmocka_unit_test(test_a_text_is_printable),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
