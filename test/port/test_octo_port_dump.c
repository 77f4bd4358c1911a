/* SPDX-License-Identifier: BSD-3-Clause */

/* A port as text: what rte_eth_dev_priv_dump() prints, and when it refuses. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "octo_port.h"

#include "rte_pmd_octo.h"

#define QUEUES 2
#define FLOWS 40
#define LISTED 32 /* by rte_eth_dev_priv_dump() */

typedef int (*dump_fn)(uint16_t port, FILE *file);

/* To be freed. */
static char *
text_of(uint16_t port, dump_fn dump)
{
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	assert_non_null(file);
	assert_int_equal(dump(port, file), 0);
	assert_int_equal(fclose(file), 0);
	return text;
}

static unsigned int
count(const char *text, const char *what)
{
	unsigned int nb = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		nb++;
	}
	return nb;
}

__rte_format_printf(2, 3) static void assert_has(const char *text, const char *format, ...)
{
	char line[160];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (strstr(text, line) == NULL)
		fail_msg("there is no '%s' in:\n%s", line, text);
}

static uint16_t
create_with_flows(unsigned int nb)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = octo_port_create(&conf);

	octo_port_up(port, QUEUES);
	for (unsigned int i = 0; i < nb; i++)
		assert_non_null(octo_port_steer(port, (uint16_t)(1000 + i), 0, NULL));
	return port;
}

/* Topology and steering, as they are printed alone. */
static void
test_dump_has_topology_and_steering(void **state)
{
	const uint16_t port = create_with_flows(2);
	char *topology = text_of(port, rte_pmd_octo_topology_dump);
	char *steering = text_of(port, rte_pmd_octo_steering_dump);
	char *all = text_of(port, rte_eth_dev_priv_dump);

	(void)state;
	assert_has(topology, "Port %u: net_octo0, link up, steering tier exact, MPFS back end ",
		   port);
	assert_int_equal(count(topology, " proxy\n"), 1);
	assert_int_equal(count(topology, " home  "), 2 * QUEUES);
	assert_int_equal(count(topology, " stray "), 2 * QUEUES);
	assert_has(steering, "Port %u: 2 steered flows, 0 of them ineffective, tier exact\n", port);
	assert_int_equal(count(steering, "  udp "), 2);
	assert_memory_equal(all, topology, strlen(topology));
	assert_string_equal(all + strlen(topology), steering);
	free(topology);
	free(steering);
	free(all);
}

static void
test_dump_lists_some_flows_and_counts_all(void **state)
{
	const uint16_t port = create_with_flows(FLOWS);
	char *all = text_of(port, rte_eth_dev_priv_dump);
	char *steering = text_of(port, rte_pmd_octo_steering_dump);

	(void)state;
	assert_has(all, ": %u steered flows", FLOWS);
	assert_int_equal(count(all, "  udp "), LISTED);
	assert_has(all, "  %u flows are not listed: see telemetry /octo/steering,", FLOWS - LISTED);
	assert_int_equal(count(steering, "  udp "), FLOWS);
	assert_int_equal(count(steering, "not listed"), 0);
	free(all);
	free(steering);
}

/* A line for each queue that is polled, and the sum. */
static void
test_strays_are_printed(void **state)
{
	const uint16_t port = create_with_flows(1);
	struct octo_port_tally tally = {0};
	char *text;

	(void)state;
	octo_port_send(port, 0, 1000, 5);
	octo_port_receive(port, 0, 5, &tally);
	text = text_of(port, rte_pmd_octo_strays_dump);
	assert_int_equal(count(text, "  Rx "), QUEUES);
	assert_has(text, "  All     %16u                0    0.000 %%\n", 5);
	free(text);
}

/* A port that is stopped has a dump, one that was closed is none. */
static void
test_closed_port_has_no_dump(void **state)
{
	const uint16_t port = create_with_flows(1);
	char *text;

	(void)state;
	assert_int_equal(rte_eth_dev_stop(port), 0);
	text = text_of(port, rte_eth_dev_priv_dump);
	assert_has(text, "Port %u: net_octo0, ", port);
	free(text);
	assert_int_equal(rte_eth_dev_close(port), 0);
	assert_int_equal(rte_eth_dev_priv_dump(port, stdout), -ENODEV);
	assert_int_equal(rte_pmd_octo_topology_dump(port, stdout), -ENODEV);
	assert_int_equal(rte_pmd_octo_steering_dump(port, stdout), -ENODEV);
	assert_int_equal(rte_pmd_octo_strays_dump(port, stdout), -ENODEV);
}

static void
test_other_ports_have_no_dump(void **state)
{
	create_with_flows(0);

	(void)state;
	assert_int_equal(rte_pmd_octo_topology_dump(octo_port_pf(0), stdout), -ENODEV);
	assert_int_equal(rte_pmd_octo_steering_dump(octo_port_pf(0), stdout), -ENODEV);
	assert_int_equal(rte_pmd_octo_strays_dump(UINT16_MAX, stdout), -ENODEV);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_dump_has_topology_and_steering),
		octo_port_test(test_dump_lists_some_flows_and_counts_all),
		octo_port_test(test_strays_are_printed),
		octo_port_test(test_closed_port_has_no_dump),
		octo_port_test(test_other_ports_have_no_dump),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
