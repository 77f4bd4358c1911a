/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <eal_export.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_thread.h>

#include "octo_measurement.h"

RTE_LOG_REGISTER_DEFAULT(octo_measure_logtype, NOTICE)
#define RTE_LOGTYPE_OCTO_MEASURE octo_measure_logtype

/* A port's measurement and its thread. */
struct measurer {
	uint16_t port_id;
	struct octo_measurement *measurement;
	rte_thread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	const char *reason; /* why it has to end, or NULL */
	bool ended;         /* by a fault, which others may read */
};

/* Running measurers, and those that ended by a fault. */
static pthread_mutex_t measurers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct measurer *measurers[RTE_MAX_ETHPORTS];

static void
free_measurer(struct measurer *m)
{
	octo_measurement_free(m->measurement);
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static struct measurer *
new_measurer(uint16_t port_id)
{
	struct measurer *m = calloc(1, sizeof(*m));
	pthread_condattr_t attr;

	if (m == NULL)
		return NULL;
	m->port_id = port_id;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

/* Sleep until the next sample is due. Returns false if the measurement has to end. */
static bool
wait_for_next(struct measurer *m)
{
	const uint64_t next = octo_measurement_next(m->measurement);
	const struct timespec until = {
		.tv_sec = (time_t)(next / NS_PER_S),
		.tv_nsec = (long)(next % NS_PER_S),
	};
	bool stop;

	pthread_mutex_lock(&m->lock);
	while (m->reason == NULL && pthread_cond_timedwait(&m->wake, &m->lock, &until) != ETIMEDOUT)
		;
	stop = m->reason != NULL;
	pthread_mutex_unlock(&m->lock);
	return !stop;
}

/* End the measurement for m->reason, or by its fault, and log a fault. */
static void
finish(struct measurer *m, bool by_itself)
{
	int ret = octo_measurement_end(m->measurement, m->reason);

	pthread_mutex_lock(&m->lock);
	m->ended = by_itself;
	pthread_mutex_unlock(&m->lock);
	if (by_itself)
		RTE_LOG_LINE(WARNING, OCTO_MEASURE, "port %u: the measurement ended: %s",
			     m->port_id, m->measurement->fault);
	else if (ret != 0)
		RTE_LOG_LINE(WARNING, OCTO_MEASURE, "port %u: the measurement is not complete: %s",
			     m->port_id, m->measurement->fault);
}

static uint32_t
run(void *arg)
{
	struct measurer *m = arg;
	int ret = 0;

	while (ret == 0 && wait_for_next(m))
		ret = octo_measurement_sample(m->measurement, false);
	if (ret == 0)
		ret = octo_measurement_sample(m->measurement, true);
	finish(m, ret != 0);
	return 0;
}

static bool
has_ended(struct measurer *m)
{
	bool ended;

	pthread_mutex_lock(&m->lock);
	ended = m->ended;
	pthread_mutex_unlock(&m->lock);
	return ended;
}

/* Make the thread take a last sample and end; the reason is used unless the thread has a fault. */
static void
end(struct measurer *m, const char *reason)
{
	pthread_mutex_lock(&m->lock);
	m->reason = reason;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	rte_thread_join(m->thread, NULL);
}

static int
begin(struct measurer *m, const struct octo_measure_args *args, char *why)
{
	const struct octo_measured port = {.port_id = m->port_id};
	int ret = octo_measurement_begin(&m->measurement, &port, args, why);

	if (ret != 0)
		return ret;
	ret = rte_thread_create_internal_control(&m->thread, "octo-measure", run, m);
	if (ret != 0) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "no thread: %s", rte_strerror(-ret));
		octo_measurement_undo(m->measurement);
	}
	return ret;
}

static int
start_locked(uint16_t port_id, const struct octo_measure_args *args, char *why)
{
	struct measurer *m = measurers[port_id];
	int ret;

	if (m != NULL && !has_ended(m)) {
		snprintf(why, OCTO_MEASURE_WHY_MAX,
			 "it is being measured already: octo measure stop %u", port_id);
		return -EEXIST;
	}
	if (m != NULL) {
		measurers[port_id] = NULL;
		end(m, "no");
		free_measurer(m);
	}
	m = new_measurer(port_id);
	if (m == NULL) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "there is no memory left");
		return -ENOMEM;
	}
	ret = begin(m, args, why);
	if (ret != 0)
		free_measurer(m);
	else
		measurers[port_id] = m;
	return ret;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_measure_start, 26.11)
int
octo_measure_start(uint16_t port_id, const struct octo_measure_args *args, char *why)
{
	int ret;

	if (port_id >= RTE_MAX_ETHPORTS) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "this is not an octo port");
		return -ENODEV;
	}
	pthread_mutex_lock(&measurers_lock);
	ret = start_locked(port_id, args, why);
	pthread_mutex_unlock(&measurers_lock);
	return ret;
}

static struct octo_measure_view *
new_view(struct measurer *m, char *why)
{
	struct octo_measure_view *view = octo_measurement_view(m->measurement);

	if (view == NULL)
		snprintf(why, OCTO_MEASURE_WHY_MAX, "there is no memory left");
	return view;
}

/* Say why there is no measurement. */
static void
tell_none(uint16_t port_id, struct measurer *m, char *why)
{
	if (!octo_measure_is_octo(port_id))
		snprintf(why, OCTO_MEASURE_WHY_MAX, "this is not an octo port");
	else if (m == NULL)
		snprintf(why, OCTO_MEASURE_WHY_MAX, "it is not being measured");
	else
		snprintf(why, OCTO_MEASURE_WHY_MAX, "it is not being measured any more: %.400s",
			 m->measurement->fault);
}

static struct measurer *
take_out(uint16_t port_id)
{
	struct measurer *m;

	if (port_id >= RTE_MAX_ETHPORTS)
		return NULL;
	pthread_mutex_lock(&measurers_lock);
	m = measurers[port_id];
	measurers[port_id] = NULL;
	pthread_mutex_unlock(&measurers_lock);
	return m;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_measure_stop, 26.11)
struct octo_measure_view *
octo_measure_stop(uint16_t port_id, char *why)
{
	struct measurer *m = take_out(port_id);
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
	free_measurer(m);
	return view;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_measure_view, 26.11)
struct octo_measure_view *
octo_measure_view(uint16_t port_id, char *why)
{
	struct octo_measure_view *view = NULL;
	struct measurer *m;

	pthread_mutex_lock(&measurers_lock);
	m = port_id < RTE_MAX_ETHPORTS ? measurers[port_id] : NULL;
	if (m == NULL || has_ended(m))
		tell_none(port_id, m, why);
	else
		view = new_view(m, why);
	pthread_mutex_unlock(&measurers_lock);
	return view;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_measure_forget, 26.11)
void
octo_measure_forget(uint16_t port_id)
{
	struct measurer *m = take_out(port_id);

	octo_measure_forget_asked(port_id);
	if (m == NULL)
		return;
	end(m, "the port was closed");
	if (!has_ended(m))
		RTE_LOG_LINE(NOTICE, OCTO_MEASURE,
			     "port %u: the measurement ended: the port was closed", port_id);
	free_measurer(m);
}
