/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>

#include <rte_version.h>

#include "demo.h"

#define MIN_HALF 0.4
#define MAX_HALF 0.6

static double
stray_fraction(const struct demo_result *r)
{
	return r->packets == 0 ? 0 : (double)r->stray_packets / (double)r->packets;
}

void
demo_report_intro(const struct demo_machine *machine)
{
	printf("net_octo: the PFs of a multi-PF NIC as one port\n"
	       "\n"
	       "A simulated NIC has one PF on each of two sockets behind one wire. An application\n"
	       "with one lcore on each (CPU %u plays socket %d, CPU %u socket %d) echoes UDP on\n"
	       "%s, the port made of both, and knows nothing but ethdev and rte_flow.\n"
	       "A packet that comes in by the PF of the other socket is a stray: on real hardware\n"
	       "its DMA crosses the sockets. Without rules all packets come in by the default PF,\n"
	       "and those of the other socket's lcore stray. Then one rte_flow rule for each of\n"
	       "the %d flows brings it to the queue and the PF of the lcore that consumes it.\n\n",
	       machine->real.cpu[0], machine->pf_socket[0], machine->real.cpu[1],
	       machine->pf_socket[1], DEMO_PORT, DEMO_NB_FLOWS);
	fflush(stdout);
}

static void
print_phase(const struct demo_machine *machine, const struct demo_result *r)
{
	for (unsigned int i = 0; i < DEMO_NB_PFS; i++) {
		if (i == 0)
			printf("%-10s %10" PRIu64 " %10" PRIu64 " %7.1f%% %6" PRIu64 " %9" PRIu64,
			       r->name, r->packets, r->stray_packets, 100 * stray_fraction(r),
			       r->lost, r->reordered);
		else
			printf("%58s", "");
		printf("  %-12s %6d %10" PRIu64 " %10" PRIu64 "\n", machine->pf_name[i],
		       machine->pf_socket[i], r->pf[i].rx_packets, r->pf[i].tx_packets);
	}
}

void
demo_report_table(const struct demo_machine *machine, const struct demo_result results[],
		  unsigned int nb, double mpps)
{
	printf("%-10s %10s %10s %8s %6s %9s  %-12s %6s %10s %10s\n", "phase", "packets", "strays",
	       "stray %", "lost", "reordered", "PF", "socket", "rx packets", "tx packets");
	for (unsigned int i = 0; i < nb; i++)
		print_phase(machine, &results[i]);
	printf("\nThe simulated NIC alone: %.1f Mpps of 64-byte packets from wire to queue per "
	       "core.\n",
	       mpps);
}

static bool
is_about_half(uint64_t part, uint64_t whole)
{
	return part >= MIN_HALF * whole && part <= MAX_HALF * whole;
}

static unsigned int
claim(bool holds, const char *phase, const char *otherwise)
{
	if (!holds)
		printf("FAILED: %s: %s\n", phase, otherwise);
	return holds ? 0 : 1;
}

/* What must be so in any phase. */
static unsigned int
check_any(const struct demo_result *r)
{
	unsigned int failed = 0;

	failed += claim(r->packets > 0, r->name, "no packet arrived");
	failed += claim(r->lost == 0, r->name, "packets were lost");
	failed += claim(r->reordered == 0, r->name, "packets came back out of order");
	failed += claim(r->duplicated == 0, r->name, "packets came back twice or damaged");
	failed += claim(r->home_packets + r->stray_packets == r->packets, r->name,
			"home and stray packets do not add up to all that were received");
	return failed;
}

static unsigned int
check_steered(const struct demo_result *r)
{
	unsigned int failed = 0;

	failed += claim(r->stray_packets == 0, r->name, "there are still strays");
	failed += claim(r->elsewhere == 0, r->name, "packets came to an lcore that no rule says");
	for (unsigned int i = 0; i < DEMO_NB_PFS; i++)
		failed += claim(is_about_half(r->pf[i].rx_packets, r->packets), r->name,
				"not about half of the packets came in by each PF");
	return failed;
}

unsigned int
demo_report_status(const struct demo_result results[], unsigned int nb)
{
	const struct demo_result *unsteered = &results[0];
	unsigned int failed = 0;

	for (unsigned int i = 0; i < nb; i++)
		failed += check_any(&results[i]);
	failed += claim(is_about_half(unsteered->stray_packets, unsteered->packets),
			unsteered->name, "not about half of the packets are strays (40 to 60 %)");
	failed += check_steered(&results[nb - 1]);
	if (failed == 0)
		printf("It holds: steering took the strays from %.1f %% to none, and not one "
		       "packet was lost or reordered.\n",
		       100 * stray_fraction(unsteered));
	else
		printf("It does not hold: see above.\n");
	return failed;
}

static void
write_phase(FILE *f, const struct demo_machine *machine, const struct demo_result *r)
{
	fprintf(f,
		"    {\"name\": \"%s\", \"packets\": %" PRIu64 ", \"stray_packets\": %" PRIu64
		", \"stray_fraction\": %.6f,\n"
		"     \"lost\": %" PRIu64 ", \"reordered\": %" PRIu64 ", \"duplicated\": %" PRIu64
		",\n     \"pf\": [",
		r->name, r->packets, r->stray_packets, stray_fraction(r), r->lost, r->reordered,
		r->duplicated);
	for (unsigned int i = 0; i < DEMO_NB_PFS; i++)
		fprintf(f,
			"%s\n      {\"name\": \"%s\", \"socket\": %d, \"rx_packets\": %" PRIu64
			", \"tx_packets\": %" PRIu64 "}",
			i == 0 ? "" : ",", machine->pf_name[i], machine->pf_socket[i],
			r->pf[i].rx_packets, r->pf[i].tx_packets);
	fprintf(f, "]}");
}

void
demo_report_json(FILE *f, const struct demo_machine *machine, const struct demo_result results[],
		 unsigned int nb, double mpps)
{
	fprintf(f, "{\n  \"phases\": [\n");
	for (unsigned int i = 0; i < nb; i++) {
		write_phase(f, machine, &results[i]);
		fprintf(f, "%s\n", i + 1 < nb ? "," : "");
	}
	fprintf(f,
		"  ],\n"
		"  \"mpsim\": {\"mpps_per_core\": %.2f, \"frame_bytes\": 64},\n"
		"  \"simulated\": true,\n"
		"  \"flows\": %d,\n"
		"  \"cpus\": [%u, %u],\n"
		"  \"dpdk\": \"%s\"\n"
		"}\n",
		mpps, DEMO_NB_FLOWS, machine->real.cpu[0], machine->real.cpu[1], rte_version());
}
