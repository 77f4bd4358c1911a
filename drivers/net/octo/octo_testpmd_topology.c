/* SPDX-License-Identifier: BSD-3-Clause */

/* octo show topology: PFs, and where each leg of a queue is. */

#include <stdio.h>
#include <string.h>

#include "octo_testpmd.h"
#include "octo_view.h"

static void
print_pfs(const struct octo_view_topology *view)
{
	char socket[16];

	printf("  %-3s %-24s %4s %6s %-5s %-10s %s\n", "PF", "Name", "Port", "Socket", "Link",
	       "State", "MPFS");
	for (uint16_t i = 0; i < view->nb_pfs; i++) {
		const struct octo_view_pf *pf = &view->pf[i];

		printf("  %-3u %-24s %4u %6s %-5s %-10s %s\n", i, pf->name, pf->port_id,
		       octo_testpmd_number(pf->socket, socket, sizeof(socket)),
		       pf->link_up ? "up" : "down", pf->state, pf->manager ? "manager" : "-");
	}
}

static const char *
kind_of(const struct octo_view_leg *leg)
{
	return leg->tx ? "Tx" : "Rx";
}

/* The home leg's line is the queue's. */
static void
print_leg(const struct octo_view_topology *view, const struct octo_view_leg *leg)
{
	char queue[16] = "", cpu[16], socket[16], ring[16], pool[16];
	const char *cpu_text = "", *socket_text = "";

	if (leg->home) {
		snprintf(queue, sizeof(queue), "%s %u", kind_of(leg), leg->queue);
		cpu_text = octo_testpmd_number(leg->cpu, cpu, sizeof(cpu));
		socket_text = octo_testpmd_number(leg->cpu_socket, socket, sizeof(socket));
	}
	printf("  %-7s %5s %6s %5s %5s  %d %-26s %-5s %s\n", queue, cpu_text, socket_text,
	       octo_testpmd_number(leg->ring_socket, ring, sizeof(ring)),
	       octo_testpmd_number(leg->pool_socket, pool, sizeof(pool)), leg->pf,
	       octo_testpmd_pf_name(view, leg->pf), leg->home ? "home" : "stray", leg->crosses);
}

static void
warn_of(const struct octo_view_topology *view, const struct octo_view_leg *leg, const char *thing,
	int socket)
{
	char on[32] = "several sockets";

	if (strstr(leg->crosses, thing) == NULL)
		return;
	if (socket >= 0)
		snprintf(on, sizeof(on), "socket %d", socket);
	printf("  Warning: %s queue %u by PF %u (%s, socket %d): its %s is on %s\n", kind_of(leg),
	       leg->queue, leg->pf, octo_testpmd_pf_name(view, leg->pf), leg->pf_socket, thing, on);
}

typedef void (*leg_fn)(const struct octo_view_topology *view, const struct octo_view_leg *leg);

static void
warn_of_leg(const struct octo_view_topology *view, const struct octo_view_leg *leg)
{
	warn_of(view, leg, "ring", leg->ring_socket);
	warn_of(view, leg, "pool", leg->pool_socket);
	warn_of(view, leg, "cpu", leg->cpu_socket);
}

/* Of each queue the home leg, then the others. */
static void
for_each_leg(uint16_t port_id, const struct octo_view_topology *view, leg_fn fn)
{
	struct octo_view_leg legs[OCTO_VIEW_MAX_PFS];
	uint32_t start = 0, total = 1;

	for (; start < total; start += view->nb_pfs) {
		const int nb = octo_view_legs(port_id, start, legs, view->nb_pfs, &total);

		for (int i = 0; i < nb; i++)
			if (legs[i].home)
				fn(view, &legs[i]);
		for (int i = 0; i < nb; i++)
			if (!legs[i].home)
				fn(view, &legs[i]);
		if (nb <= 0)
			return;
	}
}

static void
print_queues(uint16_t port_id, const struct octo_view_topology *view)
{
	printf("  %-7s %5s %6s %5s %5s  %-28s %-5s %s\n", "Queue", "CPU", "Socket", "Ring", "Pool",
	       "PF", "Leg", "Crosses");
	for_each_leg(port_id, view, print_leg);
	for_each_leg(port_id, view, warn_of_leg);
}

const char *
octo_testpmd_tier(const struct octo_view_topology *view, char *text)
{
	if (strcmp(view->ignored, "none") == 0)
		return view->tier;
	snprintf(text, OCTO_TESTPMD_TIER_MAX, "%s (the NIC accepts %s rules and ignores them)",
		 view->tier, view->ignored);
	return text;
}

void
octo_testpmd_show_topology(uint16_t port_id)
{
	struct octo_view_topology view;
	char tier[OCTO_TESTPMD_TIER_MAX];
	char socket[16];

	if (octo_view_topology(port_id, &view) != 0) {
		octo_testpmd_not_octo(port_id);
		return;
	}
	printf("Port %u: %s, link %s, steering tier %s, MPFS back end %s, allocate on socket %s\n",
	       port_id, view.name, view.link_up ? "up" : "down", octo_testpmd_tier(&view, tier),
	       view.mpfs, octo_testpmd_number(view.socket, socket, sizeof(socket)));
	print_pfs(&view);
	print_queues(port_id, &view);
}
