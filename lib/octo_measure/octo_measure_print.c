/* SPDX-License-Identifier: BSD-3-Clause */

/* Results of a measurement as a table. */

#include <inttypes.h>

#include <eal_export.h>
#include <rte_common.h>

#include "octo_measure.h"

#define CELL_MAX 16

/* Format a value in units of `by`; "-" if unknown. */
static const char *
scaled(double value, double by, char text[CELL_MAX])
{
	if (isnan(value))
		return "-";
	snprintf(text, CELL_MAX, "%.3f", value / by);
	return text;
}

static void
print_packets(FILE *to, uint64_t packets, uint64_t bytes, uint64_t ns)
{
	char mpps[CELL_MAX], gbps[CELL_MAX];

	fprintf(to, " %10s %9s", scaled(octo_rate_per_second(packets, ns), 1e6, mpps),
		scaled(8 * octo_rate_per_second(bytes, ns), 1e9, gbps));
}

static void
print_traffic(FILE *to, const struct octo_traffic *of, const char *strays, uint64_t ns)
{
	print_packets(to, of->rx_packets, of->rx_bytes, ns);
	print_packets(to, of->tx_packets, of->tx_bytes, ns);
	fprintf(to, " %9s %10.0f %10.0f %10.0f %10.0f\n", strays,
		octo_rate_per_second(of->rx_missed, ns), octo_rate_per_second(of->rx_errors, ns),
		octo_rate_per_second(of->rx_nombuf, ns), octo_rate_per_second(of->tx_errors, ns));
}

static void
print_ports(FILE *to, const struct octo_measure_names *names, const struct octo_counts *span)
{
	char strays[CELL_MAX];
	uint64_t home, stray;

	octo_counts_strays(span, &home, &stray);
	snprintf(strays, sizeof(strays), "%.3f", 100 * octo_rate_share(stray, home));
	fprintf(to, "  %-28s %10s %9s %10s %9s %9s %10s %10s %10s %10s\n", "", "Rx Mpps", "Rx Gb/s",
		"Tx Mpps", "Tx Gb/s", "Stray %", "Missed/s", "Errors/s", "No mbuf/s", "Tx errs/s");
	fprintf(to, "  %-28s", "Port");
	print_traffic(to, &span->port, strays, span->ns);
	for (uint16_t i = 0; i < span->nb_pfs; i++) {
		fprintf(to, "  PF %u %-23s", i, names->pf[i]);
		print_traffic(to, &span->pf[i], "-", span->ns);
	}
}

static void
print_queue(FILE *to, const struct octo_counts *span, uint16_t i)
{
	const struct octo_queue_traffic *q = &span->queue[i];

	fprintf(to, "  Queue %-22u", i);
	if (i < span->nb_rx_queues)
		print_packets(to, q->home_packets + q->stray_packets,
			      q->home_bytes + q->stray_bytes, span->ns);
	else
		fprintf(to, " %10s %9s", "-", "-");
	if (i < span->nb_tx_queues)
		print_packets(to, q->tx_packets, q->tx_bytes, span->ns);
	else
		fprintf(to, " %10s %9s", "-", "-");
	if (i < span->nb_rx_queues)
		fprintf(to, " %9.3f", 100 * octo_rate_share(q->stray_packets, q->home_packets));
	fprintf(to, "\n");
}

static void
print_rules(FILE *to, const struct octo_counts *span)
{
	const double hits = octo_rate_per_second(span->hits, span->ns);

	fprintf(to, "  %-22s %" PRIu64 ", of them learned %" PRIu64 ", ineffective %" PRIu64,
		"Rules", span->rules.rules, span->rules.learned, span->rules.ineffective);
	if (isnan(hits))
		fprintf(to, ", hits not known\n");
	else
		fprintf(to, ", %.3f M hits/s\n", hits / 1e6);
}

static void
print_lack(FILE *to, const char *what, const char *why)
{
	fprintf(to, "  %-22s not available here, because %s\n", what, why);
}

static void
print_application(FILE *to, const struct octo_counts *span, const struct octo_measure_lacks *lacks)
{
	const double each = octo_rate_each(span->work.cycles, span->work.packets);
	const struct octo_latency *l = &span->latency;

	if (!isnan(each))
		fprintf(to, "  %-22s %.1f per packet (TSC)\n", "Busy cycles", each);
	else
		print_lack(to, "Busy cycles",
			   lacks->work[0] != '\0' ? lacks->work : "there were no packets");
	if (lacks->latency[0] != '\0')
		print_lack(to, "Latency", lacks->latency);
	else
		fprintf(to,
			"  %-22s %" PRIu64 " ns on average, %" PRIu64 " to %" PRIu64
			", jitter %" PRIu64 " (of all ports, since their start)\n",
			"Latency", l->avg_ns, l->min_ns, l->max_ns, l->jitter_ns);
}

static void
print_bytes(FILE *to, const struct octo_counts *span, uint16_t socket, int kind)
{
	static const char *const words[] = {
		[OCTO_UNCORE_LINK_OUT] = "out",   [OCTO_UNCORE_LINK_IN] = "in",
		[OCTO_UNCORE_DRAM_READ] = "read", [OCTO_UNCORE_DRAM_WRITE] = "written",
		[OCTO_UNCORE_DRAM] = "both ways",
	};
	const double rate = octo_rate_per_second(span->socket[socket].of[kind], span->ns);

	if (!isnan(rate))
		fprintf(to, " %s %.3f GB/s", words[kind], rate / 1e9);
}

/* Print these kinds of bytes for each socket. */
static void
print_sockets(FILE *to, const struct octo_counts *span, const char *what, int first, int last)
{
	for (uint16_t i = 0; i < span->nb_sockets; i++) {
		fprintf(to, "  %s of socket %-7u", what, i);
		for (int kind = first; kind <= last; kind++)
			print_bytes(to, span, i, kind);
		fprintf(to, "\n");
	}
}

static void
print_machine(FILE *to, const struct octo_counts *span, const struct octo_measure_lacks *lacks)
{
	if (lacks->link[0] != '\0')
		print_lack(to, "Link between sockets", lacks->link);
	else
		print_sockets(to, span, "Link", OCTO_UNCORE_LINK_OUT, OCTO_UNCORE_LINK_IN);
	if (lacks->dram[0] != '\0')
		print_lack(to, "DRAM", lacks->dram);
	else
		print_sockets(to, span, "DRAM", OCTO_UNCORE_DRAM_READ, OCTO_UNCORE_DRAM);
}

static void
print_span(FILE *to, const struct octo_measure_view *view, const struct octo_counts *span)
{
	print_ports(to, &view->names, span);
	for (uint16_t i = 0; i < span->nb_queues; i++)
		print_queue(to, span, i);
	print_rules(to, span);
	print_application(to, span, &view->lacks);
	print_machine(to, span, &view->lacks);
	if (span->restarted)
		fprintf(to, "  Counters began anew meanwhile: more may have come\n");
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_measure_print_last, 26.11)
void
octo_measure_print_last(const struct octo_measure_view *view, FILE *to)
{
	fprintf(to, "Port %u: measured every %u ms, ", view->port_id, view->interval_ms);
	if (view->samples == 0) {
		fprintf(to, "no sample yet\n");
		return;
	}
	fprintf(to, "sample %" PRIu64 "\n", view->samples);
	print_span(to, view, &view->last);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_measure_print_sum, 26.11)
void
octo_measure_print_sum(const struct octo_measure_view *view, FILE *to)
{
	fprintf(to, "Port %u: measured for %.3f s, %" PRIu64 " samples; on average:\n",
		view->port_id, (double)view->sum.ns / 1e9, view->samples);
	print_span(to, view, &view->sum);
}
