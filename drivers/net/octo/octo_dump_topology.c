/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints the PFs of a port, and the NUMA locality of each leg of a queue. */

#include <errno.h>
#include <string.h>

#include "octo_dump.h"
#include "octo_view.h"

static void
print_pfs(const struct octo_view_topology *view, FILE *file)
{
	char socket[OCTO_DUMP_NUMBER_MAX];

	fprintf(file, "  %-3s %-24s %4s %6s %-5s %-10s %s\n", "PF", "Name", "Port", "Socket",
		"Link", "State", "MPFS");
	for (uint16_t i = 0; i < view->nb_pfs; i++) {
		const struct octo_view_pf *pf = &view->pf[i];

		fprintf(file, "  %-3u %-24s %4u %6s %-5s %-10s %s\n", i, pf->name, pf->port_id,
			octo_dump_number(pf->socket, socket), pf->link_up ? "up" : "down",
			pf->state, pf->transfer_proxy ? "proxy" : "-");
	}
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
	char cpu[OCTO_DUMP_NUMBER_MAX], socket[OCTO_DUMP_NUMBER_MAX];
	char ring[OCTO_DUMP_NUMBER_MAX], pool[OCTO_DUMP_NUMBER_MAX];
	const char *cpu_text = "", *socket_text = "";
	char queue[16] = "";

	if (leg->home) {
		snprintf(queue, sizeof(queue), "%s %u", kind_of(leg), leg->queue);
		cpu_text = octo_dump_number(leg->cpu, cpu);
		socket_text = octo_dump_number(leg->cpu_socket, socket);
	}
	fprintf(file, "  %-7s %5s %6s %5s %5s  %d %-26s %-5s %s\n", queue, cpu_text, socket_text,
		octo_dump_number(leg->ring_socket, ring), octo_dump_number(leg->pool_socket, pool),
		leg->pf, octo_dump_pf_name(view, leg->pf), leg->home ? "home" : "stray",
		leg->crosses);
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
		kind_of(leg), leg->queue, leg->pf, octo_dump_pf_name(view, leg->pf), leg->pf_socket,
		thing, on);
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

int
octo_dump_topology(uint16_t port_id, FILE *file)
{
	char tier[OCTO_DUMP_TIER_MAX], socket[OCTO_DUMP_NUMBER_MAX];
	struct octo_view_topology view;
	int ret = octo_view_topology(port_id, &view);

	if (ret != 0)
		return ret;
	fprintf(file,
		"Port %u: %s, link %s, steering tier %s, MPFS back end %s, allocate on socket %s\n",
		port_id, view.name, view.link_up ? "up" : "down", octo_dump_tier(&view, tier),
		view.mpfs, octo_dump_number(view.socket, socket));
	print_pfs(&view, file);
	fprintf(file, "  %-7s %5s %6s %5s %5s  %-28s %-5s %s\n", "Queue", "CPU", "Socket", "Ring",
		"Pool", "PF", "Leg", "Crosses");
	dump_legs(port_id, &view, print_leg, file);
	dump_legs(port_id, &view, warn_of_leg, file);
	return 0;
}
