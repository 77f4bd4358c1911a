/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What was published of nonuniform DMA, and what it comes to in the model.
 *
 * [I]: I. Smolyar et al., "IOctopus: Outsmarting Nonuniform DMA", ASPLOS 2020.
 * [D]: Dell, "SNAP I/O Value Proposition", Direct from Development tech note.
 * [M]: Mellanox, "Maximizing Server Performance with Mellanox Socket Direct Adapter".
 */

#include <string.h>

#include "bench_nudma.h"

#define TESTBED "e5-2660v4"
#define RISER "r740-snapio"
#define FULL (NUDMA_NB_LOADS - 1)

const char *const nudma_roles[NUDMA_NB_ROLES] = {
	[NUDMA_CALIBRATED] = "calibrated",
	[NUDMA_PREDICTED] = "predicted",
	[NUDMA_NOT_COMPARABLE] = "not comparable",
	[NUDMA_ANOTHER_MACHINE] = "another machine",
};

static double
percent_more(double a, double b)
{
	return (a / b - 1) * 100;
}

static double
percent_less(double a, double b)
{
	return (1 - a / b) * 100;
}

/* Keep a value of each configuration, for which c stands in the expression. */
#define SET_CONFIGS(row, c, value)                                                                 \
	do {                                                                                       \
		for (unsigned int c = 0; c < NUDMA_NB_CONFIGS; c++)                                \
			(row)->of[c] = (value);                                                    \
		(row)->has_configs = true;                                                         \
	} while (0)

static void
set_one(struct nudma_row *row, double value)
{
	row->modelled = row->least = row->most = value;
}

/* One of a sweep; the last one is what counts. */
static void
add_step(struct nudma_row *row, double value, bool first)
{
	row->least = first ? value : RTE_MIN(row->least, value);
	row->most = first ? value : RTE_MAX(row->most, value);
	row->modelled = value;
}

static double
rx_ratio(const struct nudma_results *r, unsigned int load)
{
	return nudma_rx_gbps(r, NUDMA_LOCAL, load) / nudma_rx_gbps(r, NUDMA_REMOTE, load);
}

static void
rx_under(const struct nudma_results *r, struct nudma_row *row, unsigned int load)
{
	SET_CONFIGS(row, c, nudma_rx_gbps(r, c, load));
	set_one(row, rx_ratio(r, load));
}

static void
rx_sweep(const struct nudma_results *r, struct nudma_row *row)
{
	rx_under(r, row, FULL);
	for (unsigned int load = 0; load < NUDMA_NB_LOADS; load++)
		add_step(row, rx_ratio(r, load), load == 0);
}

static void
headline_throughput(const struct nudma_results *r, struct nudma_row *row)
{
	rx_sweep(r, row);
	set_one(row, row->most);
}

static double
echo_us(const struct nudma_results *r, enum nudma_config config, unsigned int load)
{
	return nudma_rtt_us(r, config, NUDMA_X_ECHO + load, 1);
}

static void
echo_sweep(const struct nudma_results *r, struct nudma_row *row)
{
	SET_CONFIGS(row, c, echo_us(r, c, FULL));
	for (unsigned int load = 0; load < NUDMA_NB_LOADS; load++) {
		const double local = echo_us(r, NUDMA_LOCAL, load);

		add_step(row, percent_less(local, echo_us(r, NUDMA_REMOTE, load)), load == 0);
	}
}

static void
headline_latency(const struct nudma_results *r, struct nudma_row *row)
{
	echo_sweep(r, row);
	set_one(row, row->of[NUDMA_REMOTE] / row->of[NUDMA_LOCAL]);
}

static void
remote_ring(const struct nudma_results *r, struct nudma_row *row)
{
	set_one(row, percent_more(nudma_pktgen_mpps(r, NUDMA_REMOTE, NUDMA_X_PKTGEN_RINGS),
				  nudma_pktgen_mpps(r, NUDMA_REMOTE, NUDMA_X_PKTGEN)));
}

static void
rx_idle(const struct nudma_results *r, struct nudma_row *row)
{
	rx_under(r, row, 0);
}

static void
remote_memory(const struct nudma_results *r, struct nudma_row *row, enum nudma_experiment x)
{
	SET_CONFIGS(row, c, nudma_dram_per_byte(r, c, x));
	set_one(row, row->of[NUDMA_REMOTE]);
}

static void
rx_memory(const struct nudma_results *r, struct nudma_row *row)
{
	remote_memory(r, row, NUDMA_X_RX);
}

static void
tx_throughput(const struct nudma_results *r, struct nudma_row *row)
{
	SET_CONFIGS(row, c, nudma_tso_gbps(r, c));
	set_one(row, row->of[NUDMA_LOCAL] / row->of[NUDMA_REMOTE]);
}

static void
tx_memory(const struct nudma_results *r, struct nudma_row *row)
{
	remote_memory(r, row, NUDMA_X_TSO);
}

static void
pktgen(const struct nudma_results *r, struct nudma_row *row)
{
	SET_CONFIGS(row, c, nudma_pktgen_mpps(r, c, NUDMA_X_PKTGEN));
	set_one(row, row->of[NUDMA_LOCAL] / row->of[NUDMA_REMOTE]);
}

static void
pktgen_miss(const struct nudma_results *r, struct nudma_row *row)
{
	SET_CONFIGS(row, c,
		    1e3 / nudma_pktgen_mpps(r, c, NUDMA_X_PKTGEN) -
			    1e3 / r->machine.work.pktgen_mpps);
	set_one(row, row->of[NUDMA_REMOTE]);
}

static double
message_us(const struct nudma_results *r, enum nudma_config config, unsigned int size)
{
	return nudma_rtt_us(r, config, NUDMA_X_SIZE + size, 2);
}

/* From the largest message to the smallest, which is what counts. */
static void
request_response(const struct nudma_results *r, struct nudma_row *row)
{
	SET_CONFIGS(row, c, message_us(r, c, 0));
	for (unsigned int k = NUDMA_NB_SIZES; k-- > 0;) {
		const double remote = message_us(r, NUDMA_REMOTE, k);

		add_step(row, percent_more(remote, message_us(r, NUDMA_LOCAL, k)),
			 k == NUDMA_NB_SIZES - 1);
	}
}

static void
request_response_link(const struct nudma_results *r, struct nudma_row *row)
{
	for (unsigned int k = NUDMA_NB_SIZES; k-- > 0;)
		add_step(row,
			 percent_more(message_us(r, NUDMA_REMOTE, k),
				      nudma_rtt_us(r, NUDMA_LOCAL, NUDMA_X_SIZE_DRAM + k, 2)),
			 k == NUDMA_NB_SIZES - 1);
}

static void
memcached(const struct nudma_results *r, struct nudma_row *row)
{
	SET_CONFIGS(row, c, nudma_store_rate(r, c, 1));
	for (unsigned int k = 0; k <= 4; k++)
		add_step(row,
			 percent_more(nudma_store_rate(r, NUDMA_LOCAL, k / 4.0),
				      nudma_store_rate(r, NUDMA_REMOTE, k / 4.0)),
			 k == 0);
}

static void
pagerank(const struct nudma_results *r, struct nudma_row *row, enum nudma_neighbour neighbour)
{
	SET_CONFIGS(row, c, nudma_pagerank_time(r, c, neighbour));
	set_one(row, percent_more(row->of[NUDMA_REMOTE], row->of[NUDMA_LOCAL]));
}

static void
pagerank_netperf(const struct nudma_results *r, struct nudma_row *row)
{
	pagerank(r, row, NUDMA_NETPERF);
}

static void
pagerank_memcached(const struct nudma_results *r, struct nudma_row *row)
{
	pagerank(r, row, NUDMA_MEMCACHED);
}

static void
migration(const struct nudma_results *r, struct nudma_row *row)
{
	set_one(row, (double)(r->migration.lost + r->migration.reordered));
}

static void
latency_both_ends(const struct nudma_results *r, struct nudma_row *row)
{
	set_one(row, percent_less(message_us(r, NUDMA_LOCAL, 0), message_us(r, NUDMA_REMOTE, 0)));
}

static void
rx_five(const struct nudma_results *r, struct nudma_row *row)
{
	rx_under(r, row, NUDMA_FIVE);
	set_one(row, (rx_ratio(r, NUDMA_FIVE) - 1) * 100);
}

static void
link_use(const struct nudma_results *r, struct nudma_row *row)
{
	SET_CONFIGS(row, c, nudma_link_use(r, c) * 100);
	set_one(row, row->of[NUDMA_REMOTE]);
}

/* As much is received: what the local receiver was seen to take, times what each packet costs. */
static void
receiver_cpu(const struct nudma_results *r, struct nudma_row *row)
{
	set_one(row, 32 * rx_ratio(r, NUDMA_FIVE));
}

static void
pf_lanes(const struct nudma_results *r, struct nudma_row *row)
{
	set_one(row, nudma_pf_gbps(r));
}

static void
rx_full_gain(const struct nudma_results *r, struct nudma_row *row)
{
	rx_sweep(r, row);
	row->modelled = (row->modelled - 1) * 100;
	row->least = (row->least - 1) * 100;
	row->most = (row->most - 1) * 100;
}

static void
cpu_full(const struct nudma_results *r, struct nudma_row *row)
{
	for (unsigned int load = 0; load < NUDMA_NB_LOADS; load++)
		add_step(row, (1 - 1 / rx_ratio(r, load)) * 100, load == 0);
}

static void
rdma(const struct nudma_results *r, struct nudma_row *row)
{
	/* no CPU is at work, and the link has room for all that the wire brings */
	const double use = nudma_link_use(r, NUDMA_REMOTE);

	set_one(row, (RTE_MAX(use, 1.0) - 1) * 100);
}

#define UNKNOWN_SERVER "neither processors nor the rate that is to be compared were published"

struct nudma_row nudma_rows[NUDMA_MAX_ROWS] = {
	{"ioct-headline-thr", "[I] abstract", "TCP Rx, best gain over remote", "x", TESTBED, 2.7,
	 2.7, false, NULL, headline_throughput},
	{"ioct-headline-lat", "[I] abstract", "latency, best gain over remote", "x", TESTBED, 1.28,
	 1.28, false, NULL, headline_latency},
	{"ioct-remote-ddio", "[I] 2.4", "pktgen, ring on the PF's socket", "%", TESTBED, 0, 2,
	 false, NULL, remote_ring},
	{"ioct-fig6-rx", "[I] fig 6", "TCP Rx, local over remote", "x", TESTBED, 1.25, 1.25, false,
	 NULL, rx_idle},
	{"ioct-fig6-membw", "[I] fig 6", "DRAM traffic per byte, remote Rx", "x", TESTBED, 3, 3,
	 false, NULL, rx_memory},
	{"ioct-fig7-tx", "[I] fig 7", "TCP Tx, local over remote", "x", TESTBED, 1, 1, false, NULL,
	 tx_throughput},
	{"ioct-fig7-membw", "[I] fig 7", "DRAM traffic per byte, remote Tx", "x", TESTBED, 1, 1,
	 false, NULL, tx_memory},
	{"ioct-fig8-pps", "[I] fig 8", "pktgen, local over remote", "x", TESTBED, 1.3, 1.33, true,
	 NULL, pktgen},
	{"ioct-fig8-miss", "[I] fig 8", "a completion that is a miss", "ns", TESTBED, 80, 80, true,
	 NULL, pktgen_miss},
	{"ioct-fig9-rr", "[I] fig 9", "TCP RR, both ends remote", "%", TESTBED, 10, 25, true, NULL,
	 request_response},
	{"ioct-fig9-qpi", "[I] fig 9", "of that, the link alone", "%", TESTBED, 5, 15, false, NULL,
	 request_response_link},
	{"ioct-fig10-memcached", "[I] fig 10", "memcached, gain with SETs only", "%", TESTBED, 0,
	 16, false, NULL, memcached},
	{"ioct-fig11-qpi-load", "[I] fig 11", "TCP Rx under STREAM", "x", TESTBED, 1.82, 2.67,
	 false, NULL, rx_sweep},
	{"ioct-fig12-udp", "[I] fig 12", "UDP latency under STREAM", "%", TESTBED, 10, 22, false,
	 NULL, echo_sweep},
	{"ioct-fig13-pr-netperf", "[I] fig 13", "PageRank next to remote netperf", "%", TESTBED, 12,
	 12, true, NULL, pagerank_netperf},
	{"ioct-fig13-pr-memcached", "[I] fig 13", "PageRank next to remote memcached", "%", TESTBED,
	 4, 4, false, "the rate of memcached was not published", pagerank_memcached},
	{"ioct-fig14-migration", "[I] fig 14", "lost or reordered by migration", "packets", TESTBED,
	 0, 0, false, NULL, migration},
	{"dell-latency", "[D] fig 4-5", "latency against remote", "%", RISER, 40, 40, false,
	 UNKNOWN_SERVER, latency_both_ends},
	{"dell-bw-os", "[D] fig 6", "TCP Rx under 5 STREAMs", "%", RISER, 24, 24, false,
	 UNKNOWN_SERVER, rx_five},
	{"dell-bw-docker", "[D] fig 6", "the same in a container", "%", RISER, 9.2, 9.2, false,
	 "nor what the container's network costs", rx_five},
	{"dell-upi", "[D] fig 7", "inter-socket link in use", "%", RISER, 63, 63, false,
	 "nor how many links, nor what else used them", link_use},
	{"dell-cpu-rx", "[D] fig 8", "CPU use of the remote receiver", "%", RISER, 55, 55, false,
	 UNKNOWN_SERVER, receiver_cpu},
	{"dell-per-cpu-limit", "[D] who will benefit", "by one half of the riser", "Gb/s", RISER,
	 50, 50, false, NULL, pf_lanes},
	{"mlx-throughput-load", "[M] fig 8", "throughput under load", "%", TESTBED, 16, 28, false,
	 "neither servers nor load were published", rx_full_gain},
	{"mlx-latency", "[M] fig 5", "latency against remote", "%", TESTBED, 80, 80, false,
	 "neither servers nor load were published", latency_both_ends},
	{"mlx-cpu", "[M] fig 6", "CPU use under load, less", "%", TESTBED, 50, 60, false,
	 "neither servers nor load were published", cpu_full},
	{"mlx-roce", "[M] fig 9", "RoCE against remote", "%", TESTBED, 25, 25, false,
	 "how many DMA writes a PF may have under way was not published", rdma},
};

unsigned int
nudma_nb_rows(void)
{
	unsigned int nb = 0;

	while (nb < NUDMA_MAX_ROWS && nudma_rows[nb].id != NULL)
		nb++;
	return nb;
}

bool
nudma_row_fits(const struct nudma_row *row)
{
	return row->modelled >= 0.9 * row->low && row->modelled <= 1.1 * row->high;
}

enum nudma_role
nudma_row_role(const struct nudma_row *row, const struct bench *bench)
{
	if (bench->options.machine != NULL &&
	    strcmp(nudma_results_first()->machine.name, row->machine) != 0)
		return NUDMA_ANOTHER_MACHINE;
	if (row->why != NULL)
		return NUDMA_NOT_COMPARABLE;
	return row->calibrated ? NUDMA_CALIBRATED : NUDMA_PREDICTED;
}
