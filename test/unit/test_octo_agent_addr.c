/* SPDX-License-Identifier: BSD-3-Clause */

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_agent_addr.h"

static int
read_addr(struct octo_agent_addr *addr, const char *text)
{
	char why[128] = "";
	int ret = octo_agent_addr_read(addr, text, why, sizeof(why));

	assert_true((ret == 0) == (why[0] == '\0'));
	return ret;
}

static void
test_good(void **state)
{
	struct octo_agent_addr addr;

	(void)state;
	assert_int_equal(read_addr(&addr, "unix:/run/a.sock"), 0);
	assert_string_equal(addr.sock.un.sun_path, "/run/a.sock");
	assert_true(octo_agent_addr_is_local(&addr));
	assert_int_equal(read_addr(&addr, "dev:/dev/virtio-ports/org.octo.agent"), 0);
	assert_string_equal(addr.device, "/dev/virtio-ports/org.octo.agent");
	assert_true(octo_agent_addr_is_local(&addr));
	assert_int_equal(read_addr(&addr, "tcp:127.9.9.9:65535"), 0);
	assert_int_equal(ntohs(addr.sock.in.sin_port), 65535);
	assert_true(octo_agent_addr_is_local(&addr));
	assert_int_equal(read_addr(&addr, "tcp:[::1]:1"), 0);
	assert_int_equal(ntohs(addr.sock.in6.sin6_port), 1);
	assert_true(octo_agent_addr_is_local(&addr));
	assert_string_equal(addr.text, "tcp:[::1]:1");
}

static void
test_reachable_by_others(void **state)
{
	static const char *const remote[] = {"tcp:0.0.0.0:1", "tcp:192.0.2.1:1", "tcp:[::]:1",
					     "tcp:[2001:db8::1]:1", "tcp:[::ffff:192.0.2.1]:1"};
	struct octo_agent_addr addr;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(remote); i++) {
		assert_int_equal(read_addr(&addr, remote[i]), 0);
		assert_false(octo_agent_addr_is_local(&addr));
	}
}

static void
test_bad(void **state)
{
	static const char *const bad[] = {
		"",
		"/run/a.sock",
		"unix:",
		"udp:127.0.0.1:1",
		"dev:",
		"dev:ttyS0",
		"tcp:",
		"tcp:127.0.0.1",
		"tcp:127.0.0.1:",
		"tcp:127.0.0.1:0",
		"tcp:127.0.0.1:65536",
		"tcp:127.0.0.1:-1",
		"tcp:127.0.0.1: 1",
		"tcp:127.0.0.1:1x",
		"tcp:localhost:1",
		"tcp::1:1",
		"tcp:[::1]",
		"tcp:[]:1",
		"tcp:[::1:1",
		"tcp:[127.0.0.1]:1",
	};
	struct octo_agent_addr addr;
	char path[200];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(bad); i++)
		assert_true(read_addr(&addr, bad[i]) < 0);
	snprintf(path, sizeof(path), "unix:%0108d", 0);
	assert_true(read_addr(&addr, path) < 0);
	path[strlen(path) - 1] = '\0';
	assert_int_equal(read_addr(&addr, path), 0);
	snprintf(path, sizeof(path), "dev:/%0170d", 0);
	assert_true(read_addr(&addr, path) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_reachable_by_others),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
