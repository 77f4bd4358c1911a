/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>
#include <string.h>

#include <eal_export.h>
#include <rte_common.h>

#include "nudma_load.h"

/* Stations: the link from each node to the other, then the memory of each node. */
#define NB_STATIONS (2 * NUDMA_NODES)
#define DRAM(node) (NUDMA_NODES + (node))

#define MAX_ROUNDS 20000
#define PRECISION 1e-10

/* Largest use of a resource by open traffic; the rest is left for cores. */
#define MAX_OPEN 0.99

struct network {
	unsigned int nb;
	double lines[NUDMA_MAX_CLASSES];
	double think[NUDMA_MAX_CLASSES]; /* ns; time away from all stations */
	double demand[NUDMA_MAX_CLASSES][NB_STATIONS];
	double queue[NUDMA_MAX_CLASSES][NB_STATIONS];
	double rate[NUDMA_MAX_CLASSES];
	double open[NB_STATIONS]; /* utilisation by open traffic */
};

RTE_EXPORT_INTERNAL_SYMBOL(nudma_flit_ns)
double
nudma_flit_ns(const struct nudma_machine *machine)
{
	return NUDMA_LINE / machine->link.gb / machine->link.data_flits;
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_dram_line_ns)
double
nudma_dram_line_ns(const struct nudma_machine *machine)
{
	return NUDMA_LINE / machine->dram_gb;
}

/* Flits for a line that is read over the link, and perhaps written back. */
static double
flits_out(const struct nudma_machine *m, const struct nudma_class *c)
{
	return c->remote * (m->link.control_flits + c->writes * m->link.data_flits);
}

static void
set_class(struct network *n, unsigned int i, const struct nudma_machine *m,
	  const struct nudma_class *c)
{
	const unsigned int near = c->node, far = 1 - c->node;
	const double flit = nudma_flit_ns(m), line = nudma_dram_line_ns(m);

	n->lines[i] = c->lines;
	n->think[i] = c->think_ns + m->cpu.llc_hit_ns + m->cpu.llc_miss_ns +
		      c->remote * 2 * m->link.hop_ns;
	n->demand[i][near] = flits_out(m, c) * flit;
	n->demand[i][far] = c->remote * m->link.data_flits * flit;
	n->demand[i][DRAM(far)] = c->remote * (1 + c->writes) * line;
	n->demand[i][DRAM(near)] = (1 - c->remote) * (1 + c->writes) * line;
}

static void
set_open(struct network *n, const struct nudma_machine *m, const struct nudma_open *open)
{
	for (unsigned int k = 0; k < NUDMA_NODES; k++) {
		n->open[k] = RTE_MIN(open->flits[k] * nudma_flit_ns(m), MAX_OPEN);
		n->open[DRAM(k)] = RTE_MIN(open->bytes[k] / m->dram_gb, MAX_OPEN);
	}
}

/* A line of class i waits behind the other lines of its class, and all lines of other classes. */
static double
seen(const struct network *n, unsigned int i, unsigned int s)
{
	double sum = 0;

	for (unsigned int j = 0; j < n->nb; j++)
		sum += n->queue[j][s] * (j == i ? (n->lines[i] - 1) / n->lines[i] : 1);
	return RTE_MAX(sum, 0.0);
}

/* One step of the iteration. Returns the largest change of a queue. */
static double
step(struct network *n)
{
	double next[NUDMA_MAX_CLASSES][NB_STATIONS], change = 0;

	for (unsigned int i = 0; i < n->nb; i++) {
		double stay = n->think[i];

		for (unsigned int s = 0; s < NB_STATIONS; s++) {
			next[i][s] = n->demand[i][s] / (1 - n->open[s]) * (1 + seen(n, i, s));
			stay += next[i][s];
		}
		n->rate[i] = n->lines[i] / stay;
		for (unsigned int s = 0; s < NB_STATIONS; s++)
			next[i][s] *= n->rate[i];
	}
	for (unsigned int i = 0; i < n->nb; i++)
		for (unsigned int s = 0; s < NB_STATIONS; s++) {
			const double by = next[i][s] - n->queue[i][s];

			change = RTE_MAX(change, fabs(by));
			n->queue[i][s] += by / 2;
		}
	return change;
}

/* Mean wait: all waiting messages, open traffic included, each for the mean service time. */
static double
wait_at(const struct network *n, unsigned int s, double service)
{
	double queue = 0;

	for (unsigned int i = 0; i < n->nb; i++)
		queue += n->queue[i][s];
	return (queue + n->open[s]) * service / (1 - n->open[s]);
}

/* Mean time of a message on the link from this node. */
static double
message_ns(const struct network *n, const struct nudma_machine *m,
	   const struct nudma_demand *demand, unsigned int node)
{
	double time = 0, messages = 0;

	for (unsigned int i = 0; i < n->nb; i++) {
		const struct nudma_class *c = &demand->of[i];
		const double each = c->node == node ? c->remote * (1 + c->writes) : c->remote;

		time += n->rate[i] * n->demand[i][node];
		messages += n->rate[i] * each;
	}
	return messages > 0 ? time / messages : m->link.data_flits * nudma_flit_ns(m);
}

static void
read_out(const struct network *n, const struct nudma_machine *m, const struct nudma_demand *demand,
	 struct nudma_load *load)
{
	*load = (struct nudma_load){0};
	for (unsigned int k = 0; k < NUDMA_NODES; k++) {
		load->link_wait_ns[k] = wait_at(n, k, message_ns(n, m, demand, k));
		load->dram_wait_ns[k] = wait_at(n, DRAM(k), nudma_dram_line_ns(m));
		load->link_use[k] = n->open[k];
		load->dram_use[k] = n->open[DRAM(k)];
		for (unsigned int i = 0; i < n->nb; i++) {
			load->link_use[k] += n->rate[i] * n->demand[i][k];
			load->dram_use[k] += n->rate[i] * n->demand[i][DRAM(k)];
			if (demand->of[i].node == k)
				load->fill_gb[k] += n->rate[i] * NUDMA_LINE;
		}
	}
	memcpy(load->rate, n->rate, sizeof(load->rate));
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_load_solve)
void
nudma_load_solve(const struct nudma_machine *machine, const struct nudma_demand *demand,
		 struct nudma_load *load)
{
	struct network n = {.nb = demand->nb};

	set_open(&n, machine, &demand->open);
	for (unsigned int i = 0; i < demand->nb; i++)
		set_class(&n, i, machine, &demand->of[i]);
	for (unsigned int k = 0; k < MAX_ROUNDS && step(&n) > PRECISION; k++)
		;
	read_out(&n, machine, demand, load);
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_demand_stream)
void
nudma_demand_stream(struct nudma_demand *demand, const struct nudma_machine *machine,
		    unsigned int node, unsigned int cores, int writing)
{
	if (cores == 0 || demand->nb == NUDMA_MAX_CLASSES)
		return;
	demand->of[demand->nb++] = (struct nudma_class){
		.node = node,
		.lines = cores * machine->cpu.lines,
		.remote = 1,
		.writes = writing ? 1 : 0,
	};
}
