/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <eal_export.h>

#include "octo_measure.h"
#include "octo_measure_file.h"
#include "octo_meter.h"
#include "octo_private.h"
#include "octo_uncore.h"
#include "octo_view.h"

/* Of one port. The thread has it to itself but for what is under the lock. */
struct measurement {
	uint16_t port_id;
	uint32_t interval_ms;
	const struct octo_measure_source *source;
	uint16_t nb_queues;
	uint64_t began; /* ns */
	rte_thread_t thread;
	struct octo_counts *before, *now, *span;
	struct octo_uncore uncore;
	struct octo_measure_file csv, json;
	char *csv_path, *json_path;
	char fault[OCTO_MEASURE_WHY_MAX]; /* why it ended by itself */

	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	bool ended;         /* by itself; the fault is for all to read */
	const char *reason; /* why it is to end */
	uint64_t samples;
	struct octo_counts *last, *sum;
	struct octo_measure_lacks lacks;
};

/* Those that run, and those that have ended by themselves. */
static pthread_mutex_t measurements_lock = PTHREAD_MUTEX_INITIALIZER;
static struct measurement *measurements[RTE_MAX_ETHPORTS];

static void
free_measurement(struct measurement *m)
{
	octo_uncore_close(&m->uncore);
	octo_measure_file_close(&m->csv);
	octo_measure_file_close(&m->json);
	free(m->csv_path);
	free(m->json_path);
	free(m->before);
	free(m->now);
	free(m->span);
	free(m->last);
	free(m->sum);
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static void
init_waiting(struct measurement *m)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&m->lock, NULL);
}

/* Counts of the same port, in case it is configured anew meanwhile. */
static struct octo_counts *
new_like(const struct octo_counts *counts)
{
	const size_t size = octo_counts_size(counts->nb_queues);
	struct octo_counts *copy = malloc(size);

	if (copy != NULL)
		memcpy(copy, counts, size);
	return copy;
}

static char *
copy_path(const char *path)
{
	return path == NULL ? NULL : strdup(path);
}

static struct measurement *
new_measurement(uint16_t port_id, const struct octo_measure_args *args)
{
	struct measurement *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	init_waiting(m);
	m->port_id = port_id;
	m->interval_ms = args->interval_ms;
	m->source = args->source;
	m->csv.fd = -1;
	m->json.fd = -1;
	m->csv_path = copy_path(args->csv);
	m->json_path = copy_path(args->json);
	m->before = octo_meter_new(port_id);
	if (m->before != NULL) {
		m->nb_queues = m->before->nb_queues;
		m->now = new_like(m->before);
		m->span = new_like(m->before);
		m->last = calloc(1, octo_counts_size(m->before->nb_queues));
		m->sum = calloc(1, octo_counts_size(m->before->nb_queues));
	}
	if (m->now == NULL || m->span == NULL || m->last == NULL || m->sum == NULL ||
	    (args->csv != NULL && m->csv_path == NULL) ||
	    (args->json != NULL && m->json_path == NULL)) {
		free_measurement(m);
		return NULL;
	}
	return m;
}

static void
set_lack(struct measurement *m, char *lack, const char *why)
{
	pthread_mutex_lock(&m->lock);
	snprintf(lack, OCTO_MEASURE_WHY_MAX, "%s", why != NULL ? why : "");
	pthread_mutex_unlock(&m->lock);
}

/* What the port does not know. */
static void
ask_source(struct measurement *m, struct octo_counts *now)
{
	const char *no_work = "the application does not tell";
	const char *no_latency = no_work;

	now->work.cycles = OCTO_RATE_UNKNOWN;
	now->latency = (struct octo_latency){OCTO_RATE_UNKNOWN, OCTO_RATE_UNKNOWN,
					     OCTO_RATE_UNKNOWN, OCTO_RATE_UNKNOWN};
	if (m->source != NULL) {
		no_work = m->source->work(m->port_id, &now->work);
		no_latency = m->source->latency(&now->latency);
	}
	set_lack(m, m->lacks.work, no_work);
	set_lack(m, m->lacks.latency, no_latency);
}

static int
look(struct measurement *m, const struct octo_counts *before, struct octo_counts *now)
{
	int ret = octo_meter_read(m->port_id, before, now);

	if (ret != 0)
		return ret;
	ask_source(m, now);
	octo_uncore_read(&m->uncore, now);
	return 0;
}

static void
publish(struct measurement *m, bool is_sample)
{
	pthread_mutex_lock(&m->lock);
	octo_counts_add(m->sum, m->span);
	if (is_sample)
		memcpy(m->last, m->span, octo_counts_size(m->nb_queues));
	m->samples += is_sample;
	pthread_mutex_unlock(&m->lock);
}

/* Nobody else writes what is read here. */
static struct octo_measure_summary
summary_of(const struct measurement *m, const char *ended)
{
	return (struct octo_measure_summary){
		.samples = m->samples,
		.ended = ended,
		.lacks = &m->lacks,
		.sum = m->sum,
	};
}

static int
blame(struct measurement *m, const struct octo_measure_file *file, int ret)
{
	if (ret != 0)
		snprintf(m->fault, sizeof(m->fault), "cannot write %s: %s", file->path,
			 strerror(-ret));
	return ret;
}

static int
write_sample(struct measurement *m)
{
	const struct octo_measure_summary summary = summary_of(m, "no");
	const double seconds = (double)(m->before->ns + m->span->ns - m->began) / NS_PER_S;
	int ret = blame(m, &m->csv, octo_measure_csv_add(&m->csv, seconds, m->span));

	if (ret != 0)
		return ret;
	return blame(m, &m->json, octo_measure_json_add(&m->json, seconds, m->span, &summary));
}

/*
 * What came since the last sample. Of a moment there is no rate: it belongs to the next
 * sample, and the last one only to the sum.
 */
static int
take_sample(struct measurement *m, bool is_last)
{
	struct octo_counts *now = m->now;
	bool is_sample;
	int ret = look(m, m->before, now);

	if (ret != 0) {
		snprintf(m->fault, sizeof(m->fault), "%s",
			 ret == -ERANGE ? "the port was configured with other queues" :
					  "the port is gone");
		return ret;
	}
	octo_counts_span(m->before, now, m->span);
	is_sample = m->span->ns >= OCTO_MEASURE_MIN_MS * UINT64_C(1000000) / 2;
	if (!is_sample && !is_last)
		return 0;
	publish(m, is_sample);
	ret = is_sample ? write_sample(m) : 0;
	m->now = m->before;
	m->before = now;
	return ret;
}

/* Sleep until it is time for the next sample; false if the measurement is to end. */
static bool
wait_for_next(struct measurement *m)
{
	const uint64_t interval = m->interval_ms * UINT64_C(1000000);
	const uint64_t next = m->began +
			      ((octo_meter_clock() - m->began) / interval + 1) * interval;
	const struct timespec until = {
		.tv_sec = (time_t)(next / NS_PER_S),
		.tv_nsec = (long)(next % NS_PER_S),
	};
	bool stop;

	pthread_mutex_lock(&m->lock);
	while (!m->stop && pthread_cond_timedwait(&m->wake, &m->lock, &until) != ETIMEDOUT)
		;
	stop = m->stop;
	pthread_mutex_unlock(&m->lock);
	return !stop;
}

/* Whoever ends it has said why, or the thread has. */
static void
finish(struct measurement *m, bool by_itself)
{
	const struct octo_measure_summary summary = summary_of(m, by_itself ? m->fault : m->reason);
	int ret = octo_measure_json_end(&m->json, &summary);

	octo_measure_file_close(&m->csv);
	octo_measure_file_close(&m->json);
	pthread_mutex_lock(&m->lock);
	m->ended = by_itself;
	pthread_mutex_unlock(&m->lock);
	if (by_itself)
		OCTO_LOG(WARNING, "port %u: the measurement ended: %s", m->port_id, m->fault);
	else if (ret != 0)
		OCTO_LOG(WARNING, "port %u: the measurement's %s is not complete: %s", m->port_id,
			 m->json.path, rte_strerror(-ret));
}

static uint32_t
run(void *arg)
{
	struct measurement *m = arg;
	int ret = 0;

	while (ret == 0 && wait_for_next(m))
		ret = take_sample(m, false);
	if (ret == 0)
		ret = take_sample(m, true);
	finish(m, ret != 0);
	return 0;
}

static int
open_files(struct measurement *m, char *why)
{
	int ret;

	if (m->csv_path != NULL && m->json_path != NULL && strcmp(m->csv_path, m->json_path) == 0) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "csv and json are the same file: %s",
			 m->csv_path);
		return -EINVAL;
	}
	ret = octo_measure_file_open(&m->csv, m->csv_path, why);
	if (ret != 0)
		return ret;
	ret = octo_measure_file_open(&m->json, m->json_path, why);
	if (ret != 0)
		octo_measure_file_undo(&m->csv);
	return ret;
}

static void
undo_files(struct measurement *m)
{
	octo_measure_file_undo(&m->json);
	octo_measure_file_undo(&m->csv);
}

static int
begin_files(struct measurement *m, char *why)
{
	const struct octo_measure_title title = {
		.port_id = m->port_id,
		.interval_ms = m->interval_ms,
	};
	int ret = blame(m, &m->csv, octo_measure_csv_begin(&m->csv, m->before));

	if (ret == 0)
		ret = blame(m, &m->json, octo_measure_json_begin(&m->json, &title));
	if (ret != 0)
		memcpy(why, m->fault, OCTO_MEASURE_WHY_MAX);
	return ret;
}

/* The moment from which on it is measured; sums have the shape of what will be added. */
static int
begin_counts(struct measurement *m, char *why)
{
	int ret;

	octo_uncore_open(&m->uncore, "", NULL);
	set_lack(m, m->lacks.link, m->uncore.no_link);
	set_lack(m, m->lacks.dram, m->uncore.no_dram);
	ret = look(m, NULL, m->before);
	if (ret != 0) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "its counters cannot be read: %s",
			 rte_strerror(-ret));
		return ret;
	}
	m->began = m->before->ns;
	octo_counts_span(m->before, m->before, m->span);
	octo_counts_add(m->sum, m->span);
	memcpy(m->last, m->span, octo_counts_size(m->nb_queues));
	return 0;
}

static int
begin_thread(struct measurement *m, char *why)
{
	int ret = rte_thread_create_internal_control(&m->thread, "octo-measure", run, m);

	if (ret != 0)
		snprintf(why, OCTO_MEASURE_WHY_MAX, "no thread: %s", rte_strerror(-ret));
	return ret;
}

static int
begin(struct measurement *m, char *why)
{
	int ret = open_files(m, why);

	if (ret != 0)
		return ret;
	ret = begin_counts(m, why);
	if (ret == 0)
		ret = begin_files(m, why);
	if (ret == 0)
		ret = begin_thread(m, why);
	if (ret != 0)
		undo_files(m);
	return ret;
}

/* The thread ends, with a last sample; for this reason, unless it has its own. */
static void
end(struct measurement *m, const char *reason)
{
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	m->reason = reason;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	rte_thread_join(m->thread, NULL);
}

static bool
has_ended(struct measurement *m)
{
	bool ended;

	pthread_mutex_lock(&m->lock);
	ended = m->ended;
	pthread_mutex_unlock(&m->lock);
	return ended;
}

static int
start_locked(uint16_t port_id, const struct octo_measure_args *args, char *why)
{
	struct measurement *m = measurements[port_id];
	int ret;

	if (m != NULL && !has_ended(m)) {
		snprintf(why, OCTO_MEASURE_WHY_MAX,
			 "it is being measured already: octo measure stop %u", port_id);
		return -EEXIST;
	}
	if (m != NULL) {
		measurements[port_id] = NULL;
		end(m, "no");
		free_measurement(m);
	}
	m = new_measurement(port_id, args);
	if (m == NULL) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "there is no memory left");
		return -ENOMEM;
	}
	ret = begin(m, why);
	if (ret != 0)
		free_measurement(m);
	else
		measurements[port_id] = m;
	return ret;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_measure_start, 26.11)
int
rte_pmd_octo_measure_start(uint16_t port_id, const struct octo_measure_args *args, char *why)
{
	int ret;

	if (port_id >= RTE_MAX_ETHPORTS || !octo_view_is_octo(port_id)) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "this is not an octo port");
		return -ENODEV;
	}
	if (args->interval_ms < OCTO_MEASURE_MIN_MS || args->interval_ms > OCTO_MEASURE_MAX_MS) {
		snprintf(why, OCTO_MEASURE_WHY_MAX,
			 "bad interval %u: %u to %u milliseconds are expected", args->interval_ms,
			 OCTO_MEASURE_MIN_MS, OCTO_MEASURE_MAX_MS);
		return -EINVAL;
	}
	pthread_mutex_lock(&measurements_lock);
	ret = start_locked(port_id, args, why);
	pthread_mutex_unlock(&measurements_lock);
	return ret;
}

/* One block; the counts are behind it. */
static struct octo_measure_view *
new_view(struct measurement *m, char *why)
{
	const size_t size = octo_counts_size(m->nb_queues);
	struct octo_measure_view *view = calloc(1, sizeof(*view) + 2 * size);
	struct octo_counts *counts = (struct octo_counts *)(view + 1);

	if (view == NULL) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "there is no memory left");
		return NULL;
	}
	pthread_mutex_lock(&m->lock);
	view->interval_ms = m->interval_ms;
	view->samples = m->samples;
	view->lacks = m->lacks;
	view->last = counts;
	memcpy(counts, m->last, size);
	counts = RTE_PTR_ADD(counts, size);
	view->sum = counts;
	memcpy(counts, m->sum, size);
	pthread_mutex_unlock(&m->lock);
	return view;
}

/* Why there is none. */
static void
tell_none(uint16_t port_id, struct measurement *m, char *why)
{
	if (port_id >= RTE_MAX_ETHPORTS || !octo_view_is_octo(port_id))
		snprintf(why, OCTO_MEASURE_WHY_MAX, "this is not an octo port");
	else if (m == NULL)
		snprintf(why, OCTO_MEASURE_WHY_MAX, "it is not being measured");
	else
		snprintf(why, OCTO_MEASURE_WHY_MAX, "it is not being measured any more: %.400s",
			 m->fault);
}

static struct measurement *
take_out(uint16_t port_id)
{
	struct measurement *m;

	if (port_id >= RTE_MAX_ETHPORTS)
		return NULL;
	pthread_mutex_lock(&measurements_lock);
	m = measurements[port_id];
	measurements[port_id] = NULL;
	pthread_mutex_unlock(&measurements_lock);
	return m;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_measure_stop, 26.11)
struct octo_measure_view *
rte_pmd_octo_measure_stop(uint16_t port_id, char *why)
{
	struct measurement *m = take_out(port_id);
	struct octo_measure_view *view = NULL;

	if (m == NULL) {
		tell_none(port_id, m, why);
		return NULL;
	}
	end(m, "stopped");
	if (has_ended(m))
		tell_none(port_id, m, why);
	else
		view = new_view(m, why);
	free_measurement(m);
	return view;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_measure_view, 26.11)
struct octo_measure_view *
rte_pmd_octo_measure_view(uint16_t port_id, char *why)
{
	struct octo_measure_view *view = NULL;
	struct measurement *m;

	pthread_mutex_lock(&measurements_lock);
	m = port_id < RTE_MAX_ETHPORTS ? measurements[port_id] : NULL;
	if (m == NULL || has_ended(m))
		tell_none(port_id, m, why);
	else
		view = new_view(m, why);
	pthread_mutex_unlock(&measurements_lock);
	return view;
}

void
octo_measure_forget(uint16_t port_id)
{
	struct measurement *m = take_out(port_id);

	octo_measure_forget_asked(port_id);
	if (m == NULL)
		return;
	end(m, "the port was closed");
	if (!has_ended(m))
		OCTO_LOG(NOTICE, "port %u: the measurement ended: the port was closed", port_id);
	free_measurement(m);
}
