/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints the steered flows of a port, and the strays of its queues. */

#include <errno.h>
#include <inttypes.h>

#include "octo_dump.h"
#include "octo_legs.h"
#include "octo_tuple.h"
#include "octo_view.h"

#define RULES_PER_PAGE 64

static void
print_rules(const struct octo_view_topology *view, const struct octo_view_rule *rules, int nb,
	    FILE *file)
{
	char text[OCTO_TUPLE_TEXT_MAX], hits[OCTO_DUMP_NUMBER_MAX];

	for (int i = 0; i < nb; i++)
		fprintf(file, "  %-56s %5u  %-24s %12s %8" PRIu64 "  %s%s\n",
			octo_tuple_format(&rules[i].tuple, text), rules[i].queue,
			octo_dump_pf_name(view, rules[i].pf), octo_dump_number(rules[i].hits, hits),
			rules[i].strays, rules[i].status, rules[i].learned ? ", learned" : "");
}

/* Returns the number of printed rules. */
static uint32_t
print_all_rules(uint16_t port_id, const struct octo_view_topology *view, uint32_t max, FILE *file)
{
	struct octo_view_rule rules[RULES_PER_PAGE];
	uint32_t start = 0, total;

	while (start < max) {
		const uint32_t room = RTE_MIN(max - start, (uint32_t)RULES_PER_PAGE);
		const int nb = octo_view_rules(port_id, start, rules, room, &total);

		if (nb <= 0)
			break;
		if (start == 0)
			fprintf(file, "  %-56s %5s  %-24s %12s %8s  %s\n", "Flow", "Queue", "PF",
				"Hits", "Strays", "Status");
		print_rules(view, rules, nb, file);
		start += (uint32_t)nb;
	}
	return start;
}

int
octo_dump_steering(uint16_t port_id, uint32_t max, FILE *file)
{
	struct octo_view_topology view;
	char tier[OCTO_DUMP_TIER_MAX];
	int ret = octo_view_topology(port_id, &view);
	uint32_t printed;

	if (ret != 0)
		return ret;
	fprintf(file, "Port %u: %u steered flows, %u of them ineffective, tier %s\n", port_id,
		view.nb_rules, view.nb_ineffective, octo_dump_tier(&view, tier));
	if (view.nb_others > 0)
		fprintf(file,
			"  and %u rules that steer no single flow: see flow dump %u all FILE\n",
			view.nb_others, port_id);
	if (view.nb_lingering > 0)
		fprintf(file, "  and %u rules that were destroyed and lead their flows yet\n",
			view.nb_lingering);
	printed = print_all_rules(port_id, &view, max, file);
	/* otherwise rules were removed meanwhile */
	if (printed < view.nb_rules && (printed == max || octo_legs_borrowed))
		fprintf(file, "  %u flows are not listed: see telemetry /octo/steering,%u\n",
			view.nb_rules - printed, port_id);
	return 0;
}

static double
stray_percent(uint64_t home, uint64_t stray)
{
	return home + stray == 0 ? 0. : 100. * (double)stray / (double)(home + stray);
}

static void
print_strays(const char *name, uint64_t home, uint64_t stray, FILE *file)
{
	fprintf(file, "  %-7s %16" PRIu64 " %16" PRIu64 " %8.3f %%\n", name, home, stray,
		stray_percent(home, stray));
}

int
octo_dump_strays(uint16_t port_id, FILE *file)
{
	struct octo_view_queue queue;
	uint64_t home = 0, stray = 0;
	char name[16];

	if (!octo_view_is_octo(port_id))
		return -ENODEV;
	fprintf(file, "Port %u: packets that arrived by the home PF of their queue, and strays\n",
		port_id);
	fprintf(file, "  %-7s %16s %16s %10s\n", "Queue", "Home", "Stray", "Stray");
	for (uint16_t i = 0; octo_view_queue(port_id, i, &queue) == 0; i++) {
		snprintf(name, sizeof(name), "Rx %u", i);
		print_strays(name, queue.home_packets, queue.stray_packets, file);
		home += queue.home_packets;
		stray += queue.stray_packets;
	}
	print_strays("All", home, stray, file);
	return 0;
}
