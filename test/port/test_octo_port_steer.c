/* SPDX-License-Identifier: BSD-3-Clause */

/* What rte_pmd_octo.h has for applications: flows steered by hand, and learning. */

#include <netinet/in.h>

#include "octo_port.h"

#include "rte_pmd_octo.h"

#define QUEUES 2

static const struct octo_port_conf two_pfs = {0};

static struct rte_pmd_octo_tuple
tuple_of(const char *proto, const char *src, const char *dst)
{
	struct rte_pmd_octo_tuple t;
	const char *culprit = "nothing";

	assert_int_equal(rte_pmd_octo_tuple_read(&t, proto, src, 1000, dst, 9, &culprit), 0);
	return t;
}

static uint16_t
create(void)
{
	const uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, QUEUES);
	return port;
}

static void
test_tuples_are_read_and_written(void **state)
{
	struct rte_pmd_octo_tuple t = tuple_of("udp", "10.0.0.1", "10.0.0.2");
	char text[RTE_PMD_OCTO_TUPLE_TEXT_MAX];
	const char *culprit = NULL;

	(void)state;
	assert_int_equal(t.ip_version, 4);
	assert_int_equal(t.proto, IPPROTO_UDP);
	assert_int_equal(t.src_port, RTE_BE16(1000));
	assert_int_equal(t.dst_port, RTE_BE16(9));
	assert_string_equal(rte_pmd_octo_tuple_format(&t, text), "udp 10.0.0.1:1000 > 10.0.0.2:9");
	t = tuple_of("tcp", "2001:db8::1", "2001:db8::2");
	assert_int_equal(t.ip_version, 6);
	assert_ptr_equal(rte_pmd_octo_tuple_format(&t, text), text);
	assert_non_null(strstr(text, "2001:db8::1"));
	t.ip_version = 5;
	assert_string_equal(rte_pmd_octo_tuple_format(&t, text), "?");
	assert_int_equal(rte_pmd_octo_tuple_read(&t, "udp", "10.0.0.1", 1, "::1", 1, &culprit),
			 -EINVAL);
	assert_string_equal(culprit, "destination address");
}

/* Of IPv4 addresses four bytes count. */
static void
test_the_rest_of_a_tuple_is_not_looked_at(void **state)
{
	const uint16_t port = create();
	struct rte_pmd_octo_tuple t = tuple_of("udp", "10.0.0.1", "10.0.0.2");
	struct rte_flow_error error;

	(void)state;
	t.src[4] = 1;
	t.dst[15] = 1;
	assert_int_equal(rte_pmd_octo_steer_add(port, &t, 1, &error), 0);
	assert_true(octo_port_rule_pf(port, 1000) >= 0);
	t = tuple_of("udp", "10.0.0.1", "10.0.0.2");
	assert_int_equal(rte_pmd_octo_steer_remove(port, &t, &error), 0);
}

static void
assert_refused(uint16_t port, const struct rte_pmd_octo_tuple *t, int code, const char *why)
{
	struct rte_flow_error error = {.message = NULL};

	assert_int_equal(rte_pmd_octo_steer_add(port, t, 0, &error), code);
	assert_string_equal(error.message, why);
	error.message = NULL;
	assert_int_equal(rte_pmd_octo_steer_move(port, t, 0, &error), code);
	assert_string_equal(error.message, why);
	error.message = NULL;
	assert_int_equal(rte_pmd_octo_steer_remove(port, t, &error), code);
	assert_string_equal(error.message, why);
}

static void
test_what_is_no_flow_is_refused(void **state)
{
	static const char
		*const no_tuple = "this is no 5-tuple of TCP, UDP or SCTP by IPv4 or IPv6";
	const uint16_t port = create();
	struct rte_pmd_octo_tuple t = tuple_of("udp", "10.0.0.1", "10.0.0.2");
	struct rte_flow_error error = {.message = NULL};

	(void)state;
	t.ip_version = 0;
	assert_refused(port, &t, -EINVAL, no_tuple);
	t.ip_version = 4;
	t.proto = IPPROTO_ICMP;
	assert_refused(port, &t, -EINVAL, no_tuple);
	t.proto = IPPROTO_UDP;
	assert_refused(octo_port_pf(0), &t, -ENODEV, "this is not an octo port");
	assert_int_equal(rte_pmd_octo_steer_remove_all(octo_port_pf(0), &error), -ENODEV);
	assert_string_equal(error.message, "this is not an octo port");
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

/* All that were steered by hand, and not what the application made by rte_flow. */
static void
test_all_are_taken_back(void **state)
{
	const uint16_t port = create();
	struct rte_pmd_octo_tuple t = tuple_of("tcp", "10.0.0.1", "10.0.0.2");
	struct rte_flow_error error;

	(void)state;
	for (uint16_t i = 0; i < 3; i++) {
		t.src_port = rte_cpu_to_be_16(i);
		assert_int_equal(rte_pmd_octo_steer_add(port, &t, i % QUEUES, &error), 0);
	}
	assert_non_null(octo_port_steer(port, 1000, 0, NULL));
	t = tuple_of("udp", "10.0.0.1", "10.0.0.2");
	assert_int_equal(rte_pmd_octo_steer_remove(port, &t, &error), -EPERM);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 4);
	assert_int_equal(rte_pmd_octo_steer_remove_all(port, &error), 3);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 1);
}

static void
test_learning_is_set(void **state)
{
	const uint16_t port = create();
	struct rte_pmd_octo_learning learning;
	const char *why = NULL;

	(void)state;
	assert_int_equal(rte_pmd_octo_learning_get(port, &learning), 0);
	learning.settings.on = !learning.settings.on;
	learning.settings.max_rules = 7;
	assert_int_equal(rte_pmd_octo_learning_set(port, &learning.settings, &why), 0);
	assert_null(why);
	learning.settings.max_rules = 0;
	assert_int_equal(rte_pmd_octo_learning_set(port, &learning.settings, &why), -EINVAL);
	assert_string_equal(why, "1 to 16777216 learned rules are possible");
	assert_int_equal(rte_pmd_octo_learning_get(port, &learning), 0);
	assert_int_equal(learning.settings.max_rules, 7);
	assert_int_equal(rte_pmd_octo_learning_get(octo_port_pf(0), &learning), -ENODEV);
	assert_int_equal(rte_pmd_octo_learning_set(octo_port_pf(0), &learning.settings, &why),
			 -ENODEV);
	assert_string_equal(why, "this is not an octo port");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_tuples_are_read_and_written),
		octo_port_test(test_the_rest_of_a_tuple_is_not_looked_at),
		octo_port_test(test_what_is_no_flow_is_refused),
		octo_port_test(test_all_are_taken_back),
		octo_port_test(test_learning_is_set),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
