/* SPDX-License-Identifier: BSD-3-Clause */

/* What a port and the agent of a netdev take from each other. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_ethtool.h"
#include "octo_ethtool_msg.h"

#define KNOWN_RXNFC                                                                                \
	ETHTOOL_GRXFH, ETHTOOL_GRXCLSRLCNT, ETHTOOL_GRXCLSRULE, ETHTOOL_SRXCLSRLINS,               \
		ETHTOOL_SRXCLSRLDEL

static void
test_requests_have_a_length(void **state)
{
	static const uint32_t commands[] = {KNOWN_RXNFC};
	struct octo_ethtool_msg msg = {.cmd = OCTO_ETHTOOL_HELLO};

	(void)state;
	assert_int_equal(octo_ethtool_msg_len(&msg.cmd, SIZE_MAX), sizeof(msg.hello));
	for (unsigned int i = 0; i < RTE_DIM(commands); i++) {
		msg.cmd = commands[i];
		assert_int_equal(octo_ethtool_msg_len(&msg.cmd, SIZE_MAX), sizeof(msg.nfc));
	}
	octo_ethtool_ask_rss(&msg.rxfh, 128, 40);
	assert_int_equal(octo_ethtool_msg_len(&msg.cmd, SIZE_MAX), octo_ethtool_rss_len(128, 40));
}

/* The kernel has others that change a netdev: its channels, its key, its firmware. */
static void
test_other_commands_have_none(void **state)
{
	static const uint32_t known[] = {KNOWN_RXNFC, ETHTOOL_GRSSH, ETHTOOL_SRSSH};
	struct octo_ethtool_msg msg = {0};
	unsigned int nb = 0;

	(void)state;
	for (uint32_t cmd = 0; cmd < 0x200; cmd++) {
		bool is_known = false;

		for (unsigned int i = 0; i < RTE_DIM(known); i++)
			is_known |= known[i] == cmd;
		msg.cmd = cmd;
		assert_int_equal(octo_ethtool_msg_len(&msg.cmd, SIZE_MAX) != 0, is_known);
		nb += is_known;
	}
	assert_int_equal(nb, RTE_DIM(known));
	msg.cmd = UINT32_MAX;
	assert_int_equal(octo_ethtool_msg_len(&msg.cmd, SIZE_MAX), 0);
}

/* Read with the sanitizer, in memory that is no longer than what was received. */
static void
test_a_short_packet_is_not_read_beyond_its_end(void **state)
{
	static const uint32_t commands[] = {KNOWN_RXNFC, ETHTOOL_GRSSH, ETHTOOL_SRSSH,
					    OCTO_ETHTOOL_HELLO};

	(void)state;
	for (size_t room = 1; room < 300; room++) {
		uint8_t *bytes = malloc(room);

		assert_non_null(bytes);
		for (unsigned int i = 0; i < RTE_DIM(commands); i++) {
			memset(bytes, 0, room);
			memcpy(bytes, &commands[i], RTE_MIN(room, sizeof(commands[i])));
			if (room < sizeof(uint32_t))
				assert_int_equal(octo_ethtool_msg_len(bytes, room), 0);
			else
				octo_ethtool_msg_len(bytes, room);
		}
		free(bytes);
	}
}

static void
test_sizes_have_limits(void **state)
{
	struct octo_ethtool_msg msg = {0};
	struct ethtool_rxfh *rxfh = &msg.rxfh;

	(void)state;
	octo_ethtool_ask_rss(rxfh, OCTO_ETHTOOL_MAX_RETA, OCTO_ETHTOOL_MSG_MAX_KEY);
	assert_int_equal(octo_ethtool_msg_len(rxfh, SIZE_MAX), OCTO_ETHTOOL_MSG_MAX_BODY);
	rxfh->indir_size++;
	assert_int_equal(octo_ethtool_msg_len(rxfh, SIZE_MAX), 0);
	rxfh->indir_size = UINT32_MAX;
	assert_int_equal(octo_ethtool_msg_len(rxfh, SIZE_MAX), 0);
	rxfh->indir_size = 0;
	rxfh->key_size++;
	assert_int_equal(octo_ethtool_msg_len(rxfh, SIZE_MAX), 0);
	assert_int_equal(octo_ethtool_msg_len(rxfh, sizeof(*rxfh) - 1), 0);
}

static bool
is_answer(const void *request, const struct octo_ethtool_msg *answer)
{
	return octo_ethtool_msg_is_answer(
		request, answer, OCTO_ETHTOOL_MSG_HEADER + octo_ethtool_msg_len(request, SIZE_MAX));
}

static void
test_an_answer_fits_its_request(void **state)
{
	struct octo_ethtool_msg answer = {.ret = 0};
	struct ethtool_rxnfc nfc = {.cmd = ETHTOOL_GRXCLSRULE, .fs.location = 7};
	const size_t len = OCTO_ETHTOOL_MSG_HEADER + sizeof(nfc);

	(void)state;
	answer.nfc = nfc;
	assert_true(octo_ethtool_msg_is_answer(&nfc, &answer, len));
	assert_false(octo_ethtool_msg_is_answer(&nfc, &answer, len - 1));
	assert_false(octo_ethtool_msg_is_answer(&nfc, &answer, len + 1));
	assert_false(octo_ethtool_msg_is_answer(&nfc, &answer, 0));
	answer.ret = -ENOENT;
	assert_true(is_answer(&nfc, &answer));
	answer.ret = 1;
	assert_false(is_answer(&nfc, &answer));
	answer.ret = INT32_MIN;
	assert_false(is_answer(&nfc, &answer));
	answer.ret = 0;
	answer.cmd = ETHTOOL_SRXCLSRLDEL;
	assert_false(is_answer(&nfc, &answer));
}

/* What the port allocates and copies is as large as the agent says. */
static void
test_sizes_of_an_answer(void **state)
{
	struct octo_ethtool_msg answer = {.ret = 0};
	struct octo_ethtool_msg asked = {.ret = 0};

	(void)state;
	octo_ethtool_ask_rss(&asked.rxfh, 0, 0);
	octo_ethtool_ask_rss(&answer.rxfh, 128, 40);
	assert_true(is_answer(&asked.rxfh, &answer));
	answer.rxfh.indir_size = OCTO_ETHTOOL_MAX_RETA + 1;
	assert_false(is_answer(&asked.rxfh, &answer));
	answer.rxfh.indir_size = 128;
	answer.rxfh.key_size = OCTO_ETHTOOL_MSG_MAX_KEY + 1;
	assert_false(is_answer(&asked.rxfh, &answer));
	octo_ethtool_ask_rss(&asked.rxfh, 128, 40);
	octo_ethtool_ask_rss(&answer.rxfh, 128, 40);
	assert_true(is_answer(&asked.rxfh, &answer));
	answer.rxfh.indir_size = 64;
	assert_false(is_answer(&asked.rxfh, &answer));
	answer.rxfh.indir_size = 256;
	assert_false(is_answer(&asked.rxfh, &answer));
	answer.rxfh.indir_size = 128;
	answer.rxfh.key_size = 41;
	assert_false(is_answer(&asked.rxfh, &answer));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_have_a_length),
		cmocka_unit_test(test_other_commands_have_none),
		cmocka_unit_test(test_a_short_packet_is_not_read_beyond_its_end),
		cmocka_unit_test(test_sizes_have_limits),
		cmocka_unit_test(test_an_answer_fits_its_request),
		cmocka_unit_test(test_sizes_of_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
