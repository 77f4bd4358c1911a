/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <eal_export.h>
#include <rte_ethdev.h>
#include <rte_telemetry.h>

#include "octo_measurement.h"
#include "octo_tel.h"

/* A request sooner than this after the last sample gets the same answer. */
#define MIN_NS (100 * UINT64_C(1000000))

static const struct octo_measure_source *source;
static pthread_mutex_t asked_lock = PTHREAD_MUTEX_INITIALIZER;
/* Measurements of ports that were requested; each request is a sample. */
static struct octo_measurement *all_asked[RTE_MAX_ETHPORTS];

static void
forget_locked(uint16_t port_id)
{
	octo_measurement_free(all_asked[port_id]);
	all_asked[port_id] = NULL;
}

void
octo_measure_forget_asked(uint16_t port_id)
{
	pthread_mutex_lock(&asked_lock);
	forget_locked(port_id);
	pthread_mutex_unlock(&asked_lock);
}

/* First request of a port: counters, but no rates yet. */
static int
begin_locked(uint16_t port_id)
{
	const struct octo_measure_args args = {
		.interval_ms = OCTO_MEASURE_DEFAULT_MS,
		.source = source,
		.without_uncore = true,
	};
	const struct octo_measured port = {.port_id = port_id};
	char why[OCTO_MEASURE_WHY_MAX];

	return octo_measurement_begin(&all_asked[port_id], &port, &args, why);
}

static int
look_locked(uint16_t port_id)
{
	struct octo_measurement *m = all_asked[port_id];
	int ret;

	if (m == NULL)
		return begin_locked(port_id);
	if (octo_measurement_clock() - m->counts[m->at].ns < MIN_NS)
		return 0;
	ret = octo_measurement_sample(m, false);
	if (ret != 0)
		forget_locked(port_id);
	return ret == -ERANGE ? begin_locked(port_id) : ret;
}

static void
add_field(void *to, const char *name, double value)
{
	if (!isnan(value))
		rte_tel_data_add_dict_uint(to, name, (uint64_t)(value + 0.5));
}

/* Add the figures of the port, or of a queue if there are two numbers. */
static int
add_counts(const uint32_t *numbers, int n, const struct octo_counts *span,
	   const struct octo_counts *sum, struct rte_tel_data *d)
{
	if (n == 1) {
		octo_counts_tell_port(span, add_field, d);
		octo_counts_tell_totals(sum, add_field, d);
		return 0;
	}
	if (numbers[1] >= sum->nb_queues)
		return -EINVAL;
	rte_tel_data_add_dict_uint(d, "queue", numbers[1]);
	octo_counts_tell_queue(span, (uint16_t)numbers[1], "", add_field, d);
	octo_counts_tell_queue_totals(sum, (uint16_t)numbers[1], "", add_field, d);
	return 0;
}

static int
add_asked(const uint32_t *numbers, int n, struct rte_tel_data *d)
{
	const struct octo_measurement *m;
	int ret;

	pthread_mutex_lock(&asked_lock);
	ret = look_locked((uint16_t)numbers[0]);
	m = all_asked[numbers[0]];
	if (ret == 0)
		ret = add_counts(numbers, n, &m->span, &m->counts[m->at], d);
	pthread_mutex_unlock(&asked_lock);
	return ret;
}

static int
handle_measure(const char *cmd, const char *params, struct rte_tel_data *d)
{
	char why[OCTO_MEASURE_WHY_MAX];
	struct octo_measure_view *view;
	uint32_t numbers[2];
	const int n = octo_tel_read_params(params, UINT16_MAX, numbers, RTE_DIM(numbers));
	int ret;

	RTE_SET_USED(cmd);
	if (n < 1 || numbers[0] >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	view = octo_measure_view((uint16_t)numbers[0], why);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", numbers[0]);
	rte_tel_data_add_dict_uint(d, "measured", view != NULL);
	if (view == NULL)
		return add_asked(numbers, n, d);
	rte_tel_data_add_dict_uint(d, "samples", view->samples);
	ret = add_counts(numbers, n, &view->last, &view->sum, d);
	free(view);
	return ret;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_measure_register_telemetry, 26.11)
void
octo_measure_register_telemetry(const struct octo_measure_source *from)
{
	source = from;
	rte_telemetry_register_cmd("/octo/measure", handle_measure,
				   "Returns rates and counters. "
				   "Parameters: int port_id [, int queue]");
}
