/* SPDX-License-Identifier: BSD-3-Clause */

/* Measurements that only testpmd has: busy cycles and latency. */

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rte_ethdev.h>
#ifdef RTE_LIB_LATENCYSTATS
#include <rte_latencystats.h>
#endif

#include "octo_source.h"
#include "octo_testpmd.h"
#include "testpmd.h"

#define MAX_LATENCIES 16

/*
 * Another thread owns the streams, and frees them when the forwarding setup changes. Read
 * them like another process' memory: then a freed address is an error, and no fault.
 */
static bool
peek(void *to, const void *from, size_t len)
{
	const struct iovec local = {.iov_base = to, .iov_len = len};
	const struct iovec remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = len};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)len;
}

static bool
peek_stream(streamid_t i, struct fwd_stream *stream)
{
	struct fwd_stream **streams, *at;

	return peek(&streams, &fwd_streams, sizeof(streams)) && streams != NULL &&
	       peek(&at, &streams[i], sizeof(at)) && at != NULL &&
	       peek(stream, at, sizeof(*stream));
}

/* Packets a stream worked on: a stream that only sends receives none. */
static uint64_t
packets_of(const struct fwd_stream *stream)
{
	return RTE_MAX(stream->rx_packets, stream->tx_packets);
}

static const char *
get_work(const struct octo_measured *port, struct octo_work *work)
{
	const streamid_t nb = cur_fwd_config.nb_fwd_streams;
	struct octo_work sum = {0};
	struct fwd_stream stream;

	if (!record_core_cycles)
		return "testpmd does not record them: set record-core-cycles on";
	if (test_done)
		return "testpmd is not forwarding";
	for (streamid_t i = 0; i < nb; i++) {
		if (!peek_stream(i, &stream))
			return "the kernel does not let testpmd look at its streams";
		if (stream.rx_port != port->port_id)
			continue;
		sum.cycles += stream.busy_cycles;
		sum.packets += packets_of(&stream);
	}
	/* streams are freed only while test_done is set: then the sums are not valid */
	if (test_done)
		return "testpmd is not forwarding";
	*work = sum;
	return NULL;
}

#ifdef RTE_LIB_LATENCYSTATS
static uint64_t *
latency_called(struct octo_latency *latency, const char *name)
{
	if (strcmp(name, "min_latency_ns") == 0)
		return &latency->min_ns;
	if (strcmp(name, "avg_latency_ns") == 0)
		return &latency->avg_ns;
	if (strcmp(name, "max_latency_ns") == 0)
		return &latency->max_ns;
	if (strcmp(name, "jitter_ns") == 0)
		return &latency->jitter_ns;
	return NULL;
}

static const char *
get_latency(const struct octo_measured *port, struct octo_latency *latency)
{
	struct rte_metric_value values[MAX_LATENCIES] = {{0}};
	struct rte_metric_name names[MAX_LATENCIES] = {{{0}}};
	struct octo_latency found = *latency;
	int nb;

	RTE_SET_USED(port);
	if (!latencystats_enabled)
		return "testpmd was started without --latencystats=LCORE";
	nb = rte_latencystats_get_names(names, MAX_LATENCIES);
	if (nb <= 0 || nb > MAX_LATENCIES || rte_latencystats_get(values, MAX_LATENCIES) != nb)
		return "the latencystats library does not tell";
	for (int i = 0; i < nb; i++) {
		uint64_t *field = latency_called(&found, names[i].name);

		if (field != NULL)
			*field = values[i].value;
	}
	if (found.max_ns == 0)
		return "no packet was received and sent again";
	*latency = found;
	return NULL;
}
#else
static const char *
get_latency(const struct octo_measured *port, struct octo_latency *latency)
{
	RTE_SET_USED(port);
	RTE_SET_USED(latency);
	return "this DPDK was built without the latencystats library";
}
#endif

const struct octo_measure_source octo_testpmd_source = {
	.names = octo_source_names,
	.xstats = octo_measure_ethdev_xstats,
	.hits = octo_source_hits,
	.work = get_work,
	.latency = get_latency,
};
