/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TEST_EAL_H
#define OCTO_TEST_EAL_H

#include <sched.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_eal.h>

/* A cmocka group setup: EAL with nothing but memory, on the first CPU allowed. */
static inline int
octo_test_eal_init(void **state)
{
	static char lcores[32];
	char *argv[] = {
		(char *)(uintptr_t) "test",
		(char *)(uintptr_t) "--no-huge",
		(char *)(uintptr_t) "--no-pci",
		(char *)(uintptr_t) "--no-shconf",
		(char *)(uintptr_t) "--no-telemetry",
		(char *)(uintptr_t) "--log-level=warning",
		(char *)(uintptr_t) "-m",
		(char *)(uintptr_t) "256",
		lcores,
	};
	cpu_set_t allowed;
	int cpu = 0;

	RTE_SET_USED(state);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return -1;
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	snprintf(lcores, sizeof(lcores), "--lcores=0@%d", cpu);
	if (rte_eal_init(RTE_DIM(argv), argv) < 0)
		return -1;
	/* EAL binds this thread; those that the tests start shall run beside it */
	return sched_setaffinity(0, sizeof(allowed), &allowed);
}

static inline int
octo_test_eal_cleanup(void **state)
{
	RTE_SET_USED(state);
	return rte_eal_cleanup();
}

#endif /* OCTO_TEST_EAL_H */
