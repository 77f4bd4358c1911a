/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Devargs, a device a line, as --vdev takes them: read, and where that is cheap
 * and harmless, probed. What is wrong gets one message and leaves nothing.
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <ethdev_driver.h>

#include "fuzz_devargs.h"

#define MAX_LINES 6
#define PATIENCE_MS 10000

static size_t heap_before;

struct line {
	char *name;
	const char *args;
};

bool
fuzz_is_device(const char *name, const char *driver)
{
	size_t len = strlen(driver);

	if (strncmp(name, driver, len) != 0 || name[len] == '\0')
		return false;
	for (; name[len] != '\0'; len++)
		if (!isdigit((unsigned char)name[len]))
			return false;
	return len < RTE_ETH_NAME_MAX_LEN;
}

/* Refused with a message, or taken without. */
static void
check_log(const struct line *line, int ret)
{
	FUZZ_CHECK((ret != 0) == (fuzz_log_lines() != 0), "\"%s,%s\": %d with %u messages",
		   line->name, line->args, ret, fuzz_log_lines());
	FUZZ_CHECK(ret <= 0 && fuzz_log_lines() <= 1, "\"%s,%s\": %d with %u messages", line->name,
		   line->args, ret, fuzz_log_lines());
}

/* Returns whether to probe it. */
static bool
read_args(const struct line *line)
{
	bool harmless = true;
	int ret;

	if (fuzz_is_device(line->name, "net_mpsim"))
		ret = fuzz_read_mpsim(line->name, line->args, &harmless);
	else if (fuzz_is_device(line->name, "net_octo"))
		ret = fuzz_read_octo(line->name, line->args, &harmless);
	else
		return false;
	check_log(line, ret);
	return harmless;
}

/*
 * A PF that an octo port was having plugged again when it was removed itself is taken out by
 * EAL's interrupt thread, in a moment: what is too much may go yet.
 */
static void
await_hotplug(uint16_t ports, size_t heap)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		if (rte_eth_dev_count_total() <= ports &&
		    (heap == 0 || fuzz_heap_bytes() == heap) &&
		    (ports > 0 || fuzz_heap_live() == 0))
			return;
		rte_delay_us_sleep(1000);
	}
}

/* Returns whether the device is there now. */
static bool
probe(const struct line *line)
{
	const uint16_t ports = rte_eth_dev_count_total();
	const size_t heap = fuzz_heap_bytes();
	int ret;

	if (!read_args(line))
		return false;
	ret = rte_eal_hotplug_add("vdev", line->name, line->args);
	/* EAL takes it for done what was done before */
	if (ret == 0)
		return rte_eth_dev_count_total() > ports;
	await_hotplug(ports, heap_before == 0 ? 0 : heap);
	FUZZ_CHECK(rte_eth_dev_count_total() == ports, "\"%s,%s\" left a port", line->name,
		   line->args);
	FUZZ_CHECK(heap_before == 0 || fuzz_heap_bytes() == heap, "\"%s,%s\" left memory",
		   line->name, line->args);
	return false;
}

/* Before the first ',' is the name. */
static struct line
split(char *text)
{
	struct line line = {.name = text, .args = ""};
	char *comma = strchr(text, ',');

	if (comma != NULL) {
		*comma = '\0';
		line.args = comma + 1;
	}
	return line;
}

static void
run(char *text)
{
	struct line probed[MAX_LINES];
	unsigned int nb = 0;
	char *rest = text;

	for (int i = 0; i < MAX_LINES && rest != NULL; i++) {
		char *one = strsep(&rest, "\n");

		fuzz_log_forget();
		probed[nb] = split(one);
		nb += probe(&probed[nb]) ? 1 : 0;
	}
	fuzz_log_forget();
	while (nb-- > 0)
		FUZZ_CHECK(rte_eal_hotplug_remove("vdev", probed[nb].name) == 0, "%s stays",
			   probed[nb].name);
}

/* What ethdev and the drivers keep for good, they have after the first time. */
int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char first[] = "net_mpsim0,nic=A,wire=loop\n"
		       "net_mpsim1,nic=B,wire=nic:C\n"
		       "net_octo0,pf=net_mpsim0,pf=net_mpsim1\n"
		       "net_octo1";

	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	fuzz_eal_init();
	fuzz_heap_guard(true);
	run(first);
	heap_before = fuzz_heap_bytes();
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint16_t port;

	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	run(text);
	await_hotplug(0, heap_before);
	port = rte_eth_find_next(0);
	FUZZ_CHECK(port >= RTE_MAX_ETHPORTS, "port %s is left", rte_eth_devices[port].data->name);
	FUZZ_CHECK(fuzz_heap_bytes() == heap_before, "%zu bytes more are in use than before",
		   fuzz_heap_bytes() - heap_before);
	FUZZ_CHECK(fuzz_heap_live() == 0, "%d objects are left", fuzz_heap_live());
	free(text);
	return 0;
}
