/* SPDX-License-Identifier: BSD-3-Clause */

/* From what events cost to what programs achieve. Pure functions; doc/guides/nudma.rst has them. */

#include <math.h>

#include "bench_nudma.h"

#define PS 1000.0
#define MIB 1048576.0
#define ROUNDS 200

/* PageRank: threads per socket, and how much of the graph is on the other one. */
#define PR_THREADS 8
#define PR_REMOTE 0.5

/* The cores that are left on each socket, each of which receives for itself. */
#define PR_RECEIVERS 6

/* Of the paper's figure 10: 512 KB values, 14 clients. */
#define STORE_VALUE 524288.0
#define STORE_CLIENTS 14

/* Of memslap: one SET for nine GETs. */
#define PR_SETS 0.1

/* In and out of a socket's memory. */
static uint64_t
dram_bytes(const struct nudma_tally *t, unsigned int node)
{
	return t->device.dram_read[node] + t->device.dram_write[node] + t->app.dram_read[node] +
	       t->app.dram_write[node];
}

static double
per_packet(uint64_t sum, const struct nudma_tally *t)
{
	return (double)sum / (double)RTE_MAX(t->packets, UINT64_C(1));
}

static double
per_message(uint64_t sum, const struct nudma_tally *t)
{
	return (double)sum / (double)RTE_MAX(t->messages, UINT64_C(1));
}

/* CPU time that a packet takes more than on a PF whose data are all in the LLC. */
static double
extra_ns(const struct nudma_tally *t)
{
	return per_packet(t->device.cpu_ps + t->app.cpu_ps, t) / PS;
}

static double
spill_ns(const struct nudma_tally *t)
{
	return per_packet(t->device.spill_ps + t->app.spill_ps, t) / PS;
}

static double
bits_ns(double bytes, double gbps)
{
	return bytes * 8 / gbps;
}

static double
window(const struct nudma_results *r)
{
	return r->machine.work.window_mib * MIB;
}

/*
 * Data wait for their reader in the receive window, and the slower it is the more of them are
 * evicted meanwhile, which makes it slower: iterated until that is the same.
 */
double
nudma_rx_ns(const struct nudma_results *r, enum nudma_config config, unsigned int load)
{
	const struct nudma_tally *t = &r->of[config][NUDMA_X_RX + load];
	const double least = bits_ns(NUDMA_FRAME, r->machine.work.tcp_rx_gbps) + extra_ns(t);
	double ns = least;

	for (unsigned int i = 0; i < ROUNDS; i++)
		ns = least + spill_ns(t) * nudma_evicted(&r->machine, window(r), NUDMA_FRAME / ns,
							 r->load[load].fill_gb[NUDMA_APP]);
	return ns;
}

double
nudma_rx_gbps(const struct nudma_results *r, enum nudma_config config, unsigned int load)
{
	const double wire = r->machine.nic.gbps * NUDMA_FRAME / (NUDMA_FRAME + NUDMA_GAP);

	return RTE_MIN(NUDMA_FRAME * 8 / nudma_rx_ns(r, config, load), wire);
}

double
nudma_dram_per_byte(const struct nudma_results *r, enum nudma_config config,
		    enum nudma_experiment x)
{
	const struct nudma_tally *t = &r->of[config][x];
	uint64_t sum = 0;

	for (unsigned int node = 0; node < NUDMA_NODES; node++)
		sum += dram_bytes(t, node);
	return (double)sum / (double)RTE_MAX(t->bytes, UINT64_C(1));
}

double
nudma_pktgen_mpps(const struct nudma_results *r, enum nudma_config config, enum nudma_experiment x)
{
	return 1e3 / (1e3 / r->machine.work.pktgen_mpps + extra_ns(&r->of[config][x]));
}

double
nudma_tso_gbps(const struct nudma_results *r, enum nudma_config config)
{
	const struct nudma_tally *t = &r->of[config][NUDMA_X_TSO];
	const double ns = bits_ns(NUDMA_SEGMENT, r->machine.work.tcp_tx_gbps) +
			  per_message(t->device.cpu_ps, t) / PS;
	const double wire = r->machine.nic.gbps * NUDMA_MSS / (NUDMA_FRAME + NUDMA_GAP);

	return RTE_MIN(NUDMA_SEGMENT * 8 / ns, wire);
}

/* What one end adds to a round trip: its CPU's waits, and those of the first packet's DMA. */
static double
end_ns(const struct nudma_results *r, enum nudma_config config, enum nudma_experiment x)
{
	const struct nudma_tally *t = &r->of[config][x];
	/* DMA of what follows goes on while the CPU is at work */
	const struct nudma_tally *first = x < NUDMA_X_SIZE      ? t :
					  x < NUDMA_X_SIZE_DRAM ? &r->of[config][NUDMA_X_SIZE] :
								  &r->of[config][NUDMA_X_SIZE_DRAM];

	return (per_message(t->device.cpu_ps + t->app.cpu_ps, t) +
		per_message(first->device.path_ps, first)) /
	       PS;
}

double
nudma_rtt_us(const struct nudma_results *r, enum nudma_config config, enum nudma_experiment x,
	     unsigned int ends)
{
	const struct nudma_plan plan = nudma_plan_of(x);
	const double more = (double)(plan.frames - 1) * NUDMA_FRAME;
	/* both ways: the rest of a message is received by one end and sent by the other */
	const double rest = 2 * (bits_ns(more, r->machine.work.tcp_rx_gbps) +
				 bits_ns(more, r->machine.work.tcp_tx_gbps));

	return r->machine.work.rtt_us + (rest + ends * end_ns(r, config, x)) / 1e3;
}

/* Streaming bytes that are in no cache: values, which are more than fit there. */
static double
value_ns(const struct nudma_results *r)
{
	const struct nudma_cpu *cpu = &r->machine.cpu;
	const double line = NUDMA_LINE / cpu->llc_gb;

	return STORE_VALUE / NUDMA_LINE *
	       RTE_MAX((cpu->llc_hit_ns + cpu->llc_miss_ns) / cpu->lines - line, 0.0);
}

double
nudma_store_rate(const struct nudma_results *r, enum nudma_config config, double sets)
{
	const struct nudma_tally *rx = &r->of[config][NUDMA_X_RX];
	const struct nudma_tally *tx = &r->of[config][NUDMA_X_TSO];
	const double evicted = nudma_evicted(&r->machine, STORE_CLIENTS * window(r), 1, 0);
	const double frame = bits_ns(NUDMA_FRAME, r->machine.work.tcp_rx_gbps) + extra_ns(rx) +
			     evicted * spill_ns(rx);
	const double segment = bits_ns(NUDMA_SEGMENT, r->machine.work.tcp_tx_gbps) +
			       per_message(tx->device.cpu_ps, tx) / PS;
	const double set = STORE_VALUE / NUDMA_MSS * frame + value_ns(r);
	const double get = STORE_VALUE / NUDMA_SEGMENT * segment + value_ns(r);

	return 1e9 / (sets * set + (1 - sets) * get);
}

double
nudma_pf_gbps(const struct nudma_results *r)
{
	const struct nudma_tally *t = &r->of[NUDMA_LOCAL][NUDMA_X_RX];
	const double gb = nudma_pcie_gb(&r->machine);

	return 8 * gb * NUDMA_FRAME / per_packet(t->device.pcie_up[NUDMA_APP], t);
}

static double
flits(const struct nudma_tally *t, unsigned int node)
{
	return per_packet(t->device.millflits[node] + t->app.millflits[node], t) / 1e3;
}

double
nudma_link_use(const struct nudma_results *r, enum nudma_config config)
{
	const struct nudma_tally *t = &r->of[config][NUDMA_X_RX];
	const double frames = r->machine.nic.gbps / 8 / (NUDMA_FRAME + NUDMA_GAP);

	return frames * nudma_flit_ns(&r->machine) * RTE_MAX(flits(t, 0), flits(t, 1));
}

static double
dram(const struct nudma_tally *t, const struct nudma_machine *m, double backlog)
{
	const double evicted = nudma_evicted(m, backlog, 1, 0);
	double bytes = 0;

	for (unsigned int node = 0; node < NUDMA_NODES; node++)
		/* what is evicted was written back before it is read */
		bytes += (double)dram_bytes(t, node) +
			 2 * evicted * (double)t->app.spill_bytes[node];
	return per_packet(1, t) * bytes;
}

/* Half of the wire for each socket, one of which does as the other one. */
static void
add_traffic(const struct nudma_results *r, const struct nudma_tally *t, double gbps,
	    struct nudma_open *open)
{
	const double frames = gbps / 8 / NUDMA_FRAME;

	for (unsigned int node = 0; node < NUDMA_NODES; node++) {
		open->flits[node] += frames * (flits(t, 0) + flits(t, 1));
		open->bytes[node] += frames * dram(t, &r->machine, PR_RECEIVERS * window(r));
	}
}

static double
pagerank_rate(const struct nudma_results *r, const struct nudma_open *open)
{
	struct nudma_demand demand = {.nb = NUDMA_NODES, .open = *open};
	struct nudma_load load;

	for (unsigned int node = 0; node < NUDMA_NODES; node++)
		demand.of[node] = (struct nudma_class){
			.node = node,
			.lines = PR_THREADS * r->machine.work.pagerank_lines,
			.remote = PR_REMOTE,
		};
	nudma_load_solve(&r->machine, &demand, &load);
	return load.rate[0];
}

double
nudma_pagerank_time(const struct nudma_results *r, enum nudma_config config,
		    enum nudma_neighbour neighbour)
{
	const double gbps = r->machine.nic.gbps / 2 * NUDMA_FRAME / (NUDMA_FRAME + NUDMA_GAP);
	const struct nudma_open nothing = {0};
	struct nudma_open open = {0};

	if (neighbour == NUDMA_NETPERF) {
		add_traffic(r, &r->of[config][NUDMA_X_RX], gbps, &open);
	} else {
		/* GETs fill the wire in one direction, SETs a part of the other one */
		add_traffic(r, &r->of[config][NUDMA_X_TSO], gbps, &open);
		add_traffic(r, &r->of[config][NUDMA_X_RX], gbps * PR_SETS / (1 - PR_SETS), &open);
	}
	return pagerank_rate(r, &nothing) / pagerank_rate(r, &open);
}
