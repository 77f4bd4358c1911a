/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What net_octo sends to the kernel for the rules and RETAs that stdin names, one a line:
 *
 *     add tcp|udp SRC SRC_PORT DST DST_PORT QUEUE
 *     del N               the rule of the N-th add
 *     reta CHANNEL...     as many as the netdev's RETA has
 *
 * The argument is a netdev, and a second one the address of octo-agent, which is asked in the
 * kernel's place. Prints the result of each line, and the location of each rule.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <net/if.h>

#include <rte_common.h>
#include <rte_eal.h>

#include "octo_ethtool_table.h"

#define MAX_RULES 2000

static struct octo_ethtool_note *rules[MAX_RULES];
static unsigned int nb_rules;

static int
add(struct octo_ethtool *et, const char *words)
{
	unsigned int src_port, dst_port, queue;
	char proto[8], src[64], dst[64];
	struct octo_tuple t;
	int ret;

	if (sscanf(words, "%7s %63s %u %63s %u %u", proto, src, &src_port, dst, &dst_port,
		   &queue) != 6 ||
	    nb_rules == MAX_RULES ||
	    octo_tuple_read(&t, proto, src, (uint16_t)src_port, dst, (uint16_t)dst_port, NULL) != 0)
		return -1;
	ret = octo_ethtool_insert(et, &t, queue, &rules[nb_rules]);
	if (ret == 0)
		printf("location %u ", rules[nb_rules]->fs.location);
	nb_rules++;
	return ret;
}

static int
set_reta(struct octo_ethtool *et, char *words)
{
	uint32_t reta[OCTO_ETHTOOL_MAX_RETA];
	uint32_t n = 0;
	char *rest = NULL;

	for (char *word = strtok_r(words, " \n", &rest); word != NULL && n < OCTO_ETHTOOL_MAX_RETA;
	     word = strtok_r(NULL, " \n", &rest))
		reta[n++] = (uint32_t)strtoul(word, NULL, 10);
	return octo_ethtool_set_reta(et, reta, n);
}

static int
obey(struct octo_ethtool *et, char *line)
{
	if (strncmp(line, "add ", 4) == 0)
		return add(et, line + 4);
	if (strncmp(line, "del ", 4) == 0)
		return octo_ethtool_remove(et, rules[strtoul(line + 4, NULL, 10) % MAX_RULES]);
	if (strncmp(line, "reta ", 5) == 0)
		return set_reta(et, line + 5);
	return -1;
}

/* Of EAL the clock is needed: the agent's time is limited. */
static int
init_eal(void)
{
	static char words[][16] = {"octo-test", "--no-huge",     "-m", "8", "--no-shconf",
				   "--no-pci",  "--no-telemetry"};
	char *argv[RTE_DIM(words)];

	for (unsigned int i = 0; i < RTE_DIM(words); i++)
		argv[i] = words[i];
	return rte_eal_init(RTE_DIM(words), argv);
}

int
main(int argc, char **argv)
{
	const unsigned int ifindex = argc < 2 ? 0 : if_nametoindex(argv[1]);
	static char line[8 * OCTO_ETHTOOL_MAX_RETA];
	struct octo_ethtool *et;

	if (argc >= 3 && init_eal() < 0)
		return 1;
	et = argc < 3 ? octo_ethtool_open(NULL, ifindex) :
			octo_ethtool_open_by_agent(argv[2], ifindex);
	if (et == NULL)
		return 1;
	printf("rules %d, reta %d\n", et->rules_refused, et->reta_refused);
	/* what is asked line by line is answered so */
	setlinebuf(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL)
		printf("%d\n", obey(et, line));
	octo_ethtool_close(et);
	return 0;
}
