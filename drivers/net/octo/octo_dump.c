/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A port as text: its PFs and legs, its steered flows, the strays of its queues. No lock is held
 * while something is printed.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <eal_export.h>
#include <rte_ether.h>

#include "octo_private.h"
#include "octo_view.h"
#include "rte_pmd_octo.h"

/* Limit on printed rules: `show port info all` must not list a million flows. */
#define FLOWS_AT_MOST 32
#define RULES_PER_PAGE 64
/* Room for a number, or for "-" if it is unknown. */
#define NUMBER_MAX 24
/* Room for the tier and the reason why it is not a higher one. */
#define TIER_MAX 96

static const char *
format_number(int64_t number, char text[NUMBER_MAX])
{
	if (number < 0)
		return "-";
	snprintf(text, NUMBER_MAX, "%" PRId64, number);
	return text;
}

/* The name of a PF, or "-" if there is no such PF. */
static const char *
pf_name(const struct octo_view_topology *view, int pf)
{
	return pf < 0 || pf >= view->nb_pfs ? "-" : view->pf[pf].name;
}

static const char *
format_tier(const struct octo_view_topology *view, char text[TIER_MAX])
{
	if (strcmp(view->ignored, "none") == 0)
		return view->tier;
	snprintf(text, TIER_MAX, "%s (the NIC accepts %s rules and ignores them)", view->tier,
		 view->ignored);
	return text;
}

static void
print_macs(const struct octo_view_topology *view, FILE *file)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	fprintf(file, "  %-3s %-17s %s\n", "PF", "MAC address", "Received by");
	for (uint16_t i = 0; i < view->nb_pfs; i++) {
		const struct octo_view_pf *pf = &view->pf[i];

		rte_ether_format_addr(mac, sizeof(mac), &pf->mac);
		fprintf(file, "  %-3u %-17s PF %u%s\n", i, mac, pf->mac_holder,
			pf->designated ? ", as all that is for several PFs" : "");
	}
}

static void
print_pfs(const struct octo_view_topology *view, FILE *file)
{
	char socket[NUMBER_MAX];

	fprintf(file, "  %-3s %-24s %4s %6s %-5s %-10s %s\n", "PF", "Name", "Port", "Socket",
		"Link", "State", "MPFS");
	for (uint16_t i = 0; i < view->nb_pfs; i++) {
		const struct octo_view_pf *pf = &view->pf[i];

		fprintf(file, "  %-3u %-24s %4u %6s %-5s %-10s %s\n", i, pf->name, pf->port_id,
			format_number(pf->socket, socket), pf->link_up ? "up" : "down", pf->state,
			pf->transfer_proxy ? "proxy" : "-");
	}
	if (strcmp(view->tier, "mac") == 0)
		print_macs(view, file);
}

static const char *
kind_of(const struct octo_view_leg *leg)
{
	return leg->tx ? "Tx" : "Rx";
}

/* Only the line of the home leg shows the queue's columns. */
static void
print_leg(const struct octo_view_topology *view, const struct octo_view_leg *leg, FILE *file)
{
	char cpu[NUMBER_MAX], socket[NUMBER_MAX];
	char ring[NUMBER_MAX], pool[NUMBER_MAX];
	const char *cpu_text = "", *socket_text = "";
	char queue[16] = "";

	if (leg->home) {
		snprintf(queue, sizeof(queue), "%s %u", kind_of(leg), leg->queue);
		cpu_text = format_number(leg->cpu, cpu);
		socket_text = format_number(leg->cpu_socket, socket);
	}
	fprintf(file, "  %-7s %5s %6s %5s %5s  %d %-26s %-5s %s\n", queue, cpu_text, socket_text,
		format_number(leg->ring_socket, ring), format_number(leg->pool_socket, pool),
		leg->pf, pf_name(view, leg->pf), leg->home ? "home" : "stray", leg->crosses);
}

static void
warn_of(const struct octo_view_topology *view, const struct octo_view_leg *leg, const char *thing,
	int socket, FILE *file)
{
	char on[32] = "several sockets";

	if (strstr(leg->crosses, thing) == NULL)
		return;
	if (socket >= 0)
		snprintf(on, sizeof(on), "socket %d", socket);
	fprintf(file, "  Warning: %s queue %u by PF %u (%s, socket %d): its %s is on %s\n",
		kind_of(leg), leg->queue, leg->pf, pf_name(view, leg->pf), leg->pf_socket, thing,
		on);
}

typedef void (*leg_fn)(const struct octo_view_topology *view, const struct octo_view_leg *leg,
		       FILE *file);

static void
warn_of_leg(const struct octo_view_topology *view, const struct octo_view_leg *leg, FILE *file)
{
	warn_of(view, leg, "ring", leg->ring_socket, file);
	warn_of(view, leg, "pool", leg->pool_socket, file);
	warn_of(view, leg, "cpu", leg->cpu_socket, file);
}

/* For each queue, the home leg first, then the others. */
static void
dump_legs(uint16_t port_id, const struct octo_view_topology *view, leg_fn fn, FILE *file)
{
	struct octo_view_leg legs[OCTO_VIEW_MAX_PFS];
	uint32_t start = 0, total = 1;

	for (; start < total; start += view->nb_pfs) {
		const int nb = octo_view_legs(port_id, start, legs, view->nb_pfs, &total);

		for (int i = 0; i < nb; i++)
			if (legs[i].home)
				fn(view, &legs[i], file);
		for (int i = 0; i < nb; i++)
			if (!legs[i].home)
				fn(view, &legs[i], file);
		if (nb <= 0)
			return;
	}
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_topology_dump, 26.11)
int
rte_pmd_octo_topology_dump(uint16_t port_id, FILE *file)
{
	char tier[TIER_MAX], socket[NUMBER_MAX];
	struct octo_view_topology view;
	int ret = rte_pmd_octo_view_topology(port_id, &view);

	if (ret != 0)
		return ret;
	fprintf(file,
		"Port %u: %s, link %s, steering tier %s, MPFS back end %s, allocate on socket %s\n",
		port_id, view.name, view.link_up ? "up" : "down", format_tier(&view, tier),
		view.mpfs, format_number(view.socket, socket));
	if (strcmp(view.dialect, "none") != 0)
		fprintf(file, "  MPFS rules are in dialect %s\n", view.dialect);
	print_pfs(&view, file);
	fprintf(file, "  %-7s %5s %6s %5s %5s  %-28s %-5s %s\n", "Queue", "CPU", "Socket", "Ring",
		"Pool", "PF", "Leg", "Crosses");
	dump_legs(port_id, &view, print_leg, file);
	dump_legs(port_id, &view, warn_of_leg, file);
	if (view.rx_ring != view.rx_ring_wanted)
		fprintf(file, "  Rx rings have %u of %u descriptors on each PF\n", view.rx_ring,
			view.rx_ring_wanted);
	return 0;
}

static void
print_rules(const struct octo_view_topology *view, const struct octo_view_rule *rules, int nb,
	    FILE *file)
{
	char text[OCTO_TUPLE_TEXT_MAX], hits[NUMBER_MAX];

	for (int i = 0; i < nb; i++)
		fprintf(file, "  %-56s %5u  %-24s %12s %8" PRIu64 "  %s%s\n",
			octo_tuple_format(&rules[i].tuple, text), rules[i].queue,
			pf_name(view, rules[i].pf), format_number(rules[i].hits, hits),
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
		const int nb = rte_pmd_octo_view_rules(port_id, start, rules, room, &total);

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

/* Print at most this many steered flows. */
static int
dump_steering(uint16_t port_id, uint32_t max, FILE *file)
{
	struct octo_view_topology view;
	char tier[TIER_MAX];
	int ret = rte_pmd_octo_view_topology(port_id, &view);
	uint32_t printed;

	if (ret != 0)
		return ret;
	fprintf(file, "Port %u: %u steered flows, %u of them ineffective, tier %s\n", port_id,
		view.nb_rules, view.nb_ineffective, format_tier(&view, tier));
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

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_steering_dump, 26.11)
int
rte_pmd_octo_steering_dump(uint16_t port_id, FILE *file)
{
	return dump_steering(port_id, UINT32_MAX, file);
}

static void
print_strays(const char *name, uint64_t home, uint64_t stray, FILE *file)
{
	const uint64_t all = RTE_MAX(home + stray, UINT64_C(1));

	fprintf(file, "  %-7s %16" PRIu64 " %16" PRIu64 " %8.3f %%\n", name, home, stray,
		100. * (double)stray / (double)all);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_strays_dump, 26.11)
int
rte_pmd_octo_strays_dump(uint16_t port_id, FILE *file)
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

/* ethdev's op eth_dev_priv_dump. */
int
octo_dump(struct rte_eth_dev *dev, FILE *file)
{
	int ret = rte_pmd_octo_topology_dump(dev->data->port_id, file);

	if (ret == 0)
		ret = dump_steering(dev->data->port_id, FLOWS_AT_MOST, file);
	return ret;
}
