/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_tuple.h"

struct text_case {
	const char *proto;
	const char *src;
	uint16_t src_port;
	const char *dst;
	uint16_t dst_port;
	const char *text;
};

static const struct text_case good[] = {
	{"tcp", "10.0.0.1", 80, "10.0.0.2", 4000, "tcp 10.0.0.1:80 > 10.0.0.2:4000"},
	{"udp", "255.255.255.255", 65535, "0.0.0.0", 0, "udp 255.255.255.255:65535 > 0.0.0.0:0"},
	{"sctp", "2001:db8::1", 1, "2001:db8::2", 2, "sctp [2001:db8::1]:1 > [2001:db8::2]:2"},
	{"tcp", "::", 0, "::ffff:1.2.3.4", 9, "tcp [::]:0 > [::ffff:1.2.3.4]:9"},
	{"udp", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 65535,
	 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 65535,
	 "udp [ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535 > "
	 "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"},
};

static int
read_case(struct octo_tuple *t, const struct text_case *c, const char **culprit)
{
	return octo_tuple_read(t, c->proto, c->src, c->src_port, c->dst, c->dst_port, culprit);
}

static void
test_read_then_format(void **state)
{
	char text[OCTO_TUPLE_TEXT_MAX];
	struct octo_tuple t;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(good); i++) {
		assert_int_equal(read_case(&t, &good[i], NULL), 0);
		assert_string_equal(octo_tuple_format(&t, text), good[i].text);
	}
}

/* Leave garbage where the next function has its variables. */
static __rte_noinline void
soil_stack(int value)
{
	uint8_t garbage[4096];

	memset(garbage, value, sizeof(garbage));
	/* or it would not be done at all */
	__asm__ volatile("" : : "r"(garbage) : "memory");
}

static void
test_read_fills_every_byte(void **state)
{
	struct octo_tuple zeroed, ones;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(good); i++) {
		soil_stack(0);
		assert_int_equal(read_case(&zeroed, &good[i], NULL), 0);
		soil_stack(0xff);
		assert_int_equal(read_case(&ones, &good[i], NULL), 0);
		assert_true(octo_tuple_equal(&zeroed, &ones));
		assert_int_equal(octo_tuple_hash(&zeroed, 7), octo_tuple_hash(&ones, 7));
	}
}

static void
test_read_is_in_network_order(void **state)
{
	const uint8_t src[] = {10, 0, 0, 1};
	struct octo_tuple t;

	(void)state;
	assert_int_equal(read_case(&t, &good[0], NULL), 0);
	assert_int_equal(t.family, OCTO_IPV4);
	assert_int_equal(t.proto, IPPROTO_TCP);
	assert_int_equal(t.src_port, htons(80));
	assert_int_equal(t.dst_port, htons(4000));
	assert_memory_equal(t.src, src, sizeof(src));
}

static void
test_read_refuses_and_names_the_culprit(void **state)
{
	static const struct text_case bad[] = {
		{"icmp", "1.1.1.1", 1, "2.2.2.2", 2, "protocol"},
		{"TCP", "1.1.1.1", 1, "2.2.2.2", 2, "protocol"},
		{"", "1.1.1.1", 1, "2.2.2.2", 2, "protocol"},
		{"tcp", "1.1.1", 1, "2.2.2.2", 2, "source address"},
		{"tcp", "", 1, "2.2.2.2", 2, "source address"},
		{"tcp", "1.1.1.256", 1, "2.2.2.2", 2, "source address"},
		{"tcp", "1::2::3", 1, "::1", 2, "source address"},
		{"tcp", "1.1.1.1", 1, "::1", 2, "destination address"},
		{"tcp", "::1", 1, "1.1.1.1", 2, "destination address"},
		{"tcp", "1.1.1.1", 1, "2.2.2.2 ", 2, "destination address"},
	};
	struct octo_tuple before, t;

	(void)state;
	memset(&before, 0x5a, sizeof(before));
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		const char *culprit = NULL;

		t = before;
		assert_int_equal(read_case(&t, &bad[i], &culprit), -EINVAL);
		assert_string_equal(culprit, bad[i].text);
		assert_memory_equal(&t, &before, sizeof(t));
		assert_int_equal(read_case(&t, &bad[i], NULL), -EINVAL);
	}
}

static void
test_every_part_distinguishes(void **state)
{
	struct octo_tuple a, b;

	(void)state;
	assert_int_equal(read_case(&a, &good[2], NULL), 0);
	for (size_t i = 0; i < sizeof(a); i++) {
		b = a;
		((uint8_t *)&b)[i] ^= 1;
		assert_false(octo_tuple_equal(&a, &b));
		assert_int_not_equal(octo_tuple_hash(&a, 0), octo_tuple_hash(&b, 0));
	}
}

static void
test_is_made_of_whole_aligned_words(void **state)
{
	const struct {
		char before;
		struct octo_tuple tuple;
	} s = {0};

	(void)state;
	assert_int_equal((uintptr_t)&s.tuple % sizeof(uint64_t), 0);
	assert_int_equal(sizeof(s.tuple) % sizeof(uint64_t), 0);
	assert_int_equal(sizeof(s.tuple), 2 + 2 * sizeof(rte_be16_t) + 2 + 2 * 16);
}

static void
test_proto_name_of_the_unknown(void **state)
{
	(void)state;
	assert_string_equal(octo_tuple_proto_name(IPPROTO_SCTP), "sctp");
	assert_string_equal(octo_tuple_proto_name(IPPROTO_ICMP), "?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_then_format),
		cmocka_unit_test(test_read_fills_every_byte),
		cmocka_unit_test(test_read_is_in_network_order),
		cmocka_unit_test(test_read_refuses_and_names_the_culprit),
		cmocka_unit_test(test_every_part_distinguishes),
		cmocka_unit_test(test_is_made_of_whole_aligned_words),
		cmocka_unit_test(test_proto_name_of_the_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
