/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "octo_measurement.h"

/* A read fails while a PF comes or goes; it is retried this often, at this interval. */
#define LOOKS 100
#define LOOK_MS 10

uint64_t
octo_measurement_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void
octo_measurement_free(struct octo_measurement *m)
{
	if (m == NULL)
		return;
	octo_uncore_close(&m->uncore);
	octo_measure_file_close(&m->csv);
	octo_measure_file_close(&m->json);
	free(m->csv_path);
	free(m->json_path);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static void
set_lack(struct octo_measurement *m, char *lack, const char *why)
{
	pthread_mutex_lock(&m->lock);
	snprintf(lack, OCTO_MEASURE_WHY_MAX, "%s", why != NULL ? why : "");
	pthread_mutex_unlock(&m->lock);
}

/* Get the values that the port does not have. */
static void
ask_application(struct octo_measurement *m, struct octo_counts *now)
{
	const struct octo_measure_source *source = m->source;
	const char *no_work = "the application does not tell";
	const char *no_latency = no_work;

	if (source->work != NULL)
		no_work = source->work(&m->port, &now->work);
	if (source->latency != NULL)
		no_latency = source->latency(&m->port, &now->latency);
	set_lack(m, m->view.lacks.work, no_work);
	set_lack(m, m->view.lacks.latency, no_latency);
}

static bool
is_alike(const struct octo_counts *a, const struct octo_counts *b)
{
	return a->nb_rx_queues == b->nb_rx_queues && a->nb_tx_queues == b->nb_tx_queues &&
	       a->nb_pfs == b->nb_pfs;
}

static int
look(struct octo_measurement *m, const struct octo_counts *before, struct octo_counts *now)
{
	int ret;

	octo_counts_begin(now, before);
	now->ns = octo_measurement_clock();
	ret = m->source->xstats(&m->port, now, m->fault);
	if (ret != 0)
		return ret;
	octo_counts_end(now);
	if (before != NULL && !is_alike(before, now)) {
		snprintf(m->fault, sizeof(m->fault), "the port was configured with other queues");
		return -ERANGE;
	}
	now->hits = m->source->hits(&m->port, now->rules.rules);
	ask_application(m, now);
	octo_uncore_read(&m->uncore, now);
	return 0;
}

/* The first and the last look are not left to the next one. */
static int
look_patiently(struct octo_measurement *m, const struct octo_counts *before,
	       struct octo_counts *now)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
	int ret = look(m, before, now);

	for (int i = 1; ret == -EAGAIN && i < LOOKS; i++) {
		nanosleep(&pause, NULL);
		ret = look(m, before, now);
	}
	return ret;
}

static int
blame(struct octo_measurement *m, const struct octo_measure_file *file, int ret)
{
	if (ret != 0)
		snprintf(m->fault, sizeof(m->fault), "cannot write %s: %s", file->path,
			 strerror(-ret));
	return ret;
}

static int
write_sample(struct octo_measurement *m)
{
	int ret = blame(m, &m->csv, octo_measure_csv_add(&m->csv, &m->view));

	return ret != 0 ? ret : blame(m, &m->json, octo_measure_json_add(&m->json, &m->view));
}

static void
publish(struct octo_measurement *m, bool is_sample)
{
	struct octo_measure_view *view = &m->view;

	pthread_mutex_lock(&m->lock);
	octo_counts_add(&view->sum, &m->span);
	if (is_sample) {
		memcpy(&view->last, &m->span, sizeof(view->last));
		view->seconds = (double)(m->counts[m->at].ns - m->began) / NS_PER_S;
		view->samples++;
	}
	pthread_mutex_unlock(&m->lock);
}

int
octo_measurement_sample(struct octo_measurement *m, bool is_last)
{
	const struct octo_counts *before = &m->counts[m->at];
	struct octo_counts *now = &m->counts[1 - m->at];
	bool is_sample;
	int ret = is_last ? look_patiently(m, before, now) : look(m, before, now);

	if (ret != 0)
		return ret == -EAGAIN ? 0 : ret;
	octo_counts_span(before, now, &m->span);
	is_sample = m->span.ns >= OCTO_MEASURE_MIN_MS * UINT64_C(1000000) / 2;
	if (!is_sample && !is_last)
		return 0;
	m->at = 1 - m->at;
	publish(m, is_sample);
	return is_sample ? write_sample(m) : 0;
}

static int
open_files(struct octo_measurement *m, const struct octo_measure_args *args, char *why)
{
	int ret;

	m->csv_path = args->csv == NULL ? NULL : strdup(args->csv);
	m->json_path = args->json == NULL ? NULL : strdup(args->json);
	if ((args->csv != NULL && m->csv_path == NULL) ||
	    (args->json != NULL && m->json_path == NULL)) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "there is no memory left");
		return -ENOMEM;
	}
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

void
octo_measurement_undo(struct octo_measurement *m)
{
	octo_measure_file_undo(&m->json);
	octo_measure_file_undo(&m->csv);
}

static int
begin_files(struct octo_measurement *m, char *why)
{
	int ret = blame(m, &m->csv, octo_measure_csv_begin(&m->csv, &m->view));

	if (ret == 0)
		ret = blame(m, &m->json, octo_measure_json_begin(&m->json, &m->view));
	if (ret != 0)
		memcpy(why, m->fault, OCTO_MEASURE_WHY_MAX);
	return ret;
}

/* Take the counters at the start; the sum gets the same numbers of PFs and queues. */
static int
begin_counts(struct octo_measurement *m, bool with_uncore, char *why)
{
	const struct octo_counts *first = &m->counts[0];
	int ret;

	if (with_uncore)
		octo_uncore_open(&m->uncore, "", NULL);
	set_lack(m, m->view.lacks.link, m->uncore.no_link);
	set_lack(m, m->view.lacks.dram, m->uncore.no_dram);
	ret = look_patiently(m, NULL, &m->counts[0]);
	if (ret != 0) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "its counters cannot be read: %.400s",
			 ret == -EAGAIN ? "a PF does not tell" : m->fault);
		return ret;
	}
	m->began = first->ns;
	octo_counts_span(first, first, &m->span);
	octo_counts_add(&m->view.sum, &m->span);
	memcpy(&m->view.last, &m->span, sizeof(m->span));
	return 0;
}

static int
begin(struct octo_measurement *m, const struct octo_measure_args *args, char *why)
{
	int ret = m->source->names(&m->port, &m->view.names, why);

	if (ret != 0)
		return ret;
	if (args->interval_ms < OCTO_MEASURE_MIN_MS || args->interval_ms > OCTO_MEASURE_MAX_MS) {
		snprintf(why, OCTO_MEASURE_WHY_MAX,
			 "bad interval %u: %u to %u milliseconds are expected", args->interval_ms,
			 OCTO_MEASURE_MIN_MS, OCTO_MEASURE_MAX_MS);
		return -EINVAL;
	}
	ret = open_files(m, args, why);
	if (ret != 0)
		return ret;
	ret = begin_counts(m, !args->without_uncore, why);
	if (ret == 0)
		ret = begin_files(m, why);
	if (ret != 0)
		octo_measurement_undo(m);
	return ret;
}

int
octo_measurement_begin(struct octo_measurement **measurement, const struct octo_measured *port,
		       const struct octo_measure_args *args, char *why)
{
	struct octo_measurement *m = calloc(1, sizeof(*m));
	int ret;

	if (m == NULL) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "there is no memory left");
		return -ENOMEM;
	}
	m->port = *port;
	m->source = args->source;
	m->csv.fd = -1;
	m->json.fd = -1;
	m->view.port_id = port->port_id;
	m->view.interval_ms = args->interval_ms;
	pthread_mutex_init(&m->lock, NULL);
	ret = begin(m, args, why);
	if (ret == 0)
		*measurement = m;
	else
		octo_measurement_free(m);
	return ret;
}

uint64_t
octo_measurement_next(const struct octo_measurement *m)
{
	const uint64_t interval = m->view.interval_ms * UINT64_C(1000000);

	return m->began + ((octo_measurement_clock() - m->began) / interval + 1) * interval;
}

int
octo_measurement_end(struct octo_measurement *m, const char *reason)
{
	const char *why = m->fault[0] != '\0' ? m->fault : reason;
	int ret = octo_measure_json_end(&m->json, &m->view, why);

	octo_measure_file_close(&m->csv);
	octo_measure_file_close(&m->json);
	return m->fault[0] != '\0' ? 0 : blame(m, &m->json, ret);
}

struct octo_measure_view *
octo_measurement_view(struct octo_measurement *m)
{
	struct octo_measure_view *view = malloc(sizeof(*view));

	if (view == NULL)
		return NULL;
	pthread_mutex_lock(&m->lock);
	memcpy(view, &m->view, sizeof(*view));
	pthread_mutex_unlock(&m->lock);
	return view;
}
