/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * /octo/measure: rates in any application that has telemetry, all numbers and no lists, as
 * exporters want them. While nobody measures the port, rates are of the time since the
 * last question.
 */

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "octo_measure.h"
#include "octo_meter.h"
#include "octo_private.h"
#include "octo_tel.h"
#include "octo_view.h"

/* Who asks sooner after somebody else gets the same answer. */
#define MIN_NS (100 * UINT64_C(1000000))

struct asked {
	struct octo_counts *before, *now, *span;
};

static pthread_mutex_t asked_lock = PTHREAD_MUTEX_INITIALIZER;
static struct asked all_asked[RTE_MAX_ETHPORTS];

static void
forget_locked(struct asked *a)
{
	free(a->before);
	free(a->now);
	free(a->span);
	*a = (struct asked){0};
}

void
octo_measure_forget_asked(uint16_t port_id)
{
	pthread_mutex_lock(&asked_lock);
	forget_locked(&all_asked[port_id]);
	pthread_mutex_unlock(&asked_lock);
}

/* Somebody asks for the first time: counters, but no rates yet. */
static int
begin_locked(struct asked *a, uint16_t port_id)
{
	int ret;

	a->before = octo_meter_new(port_id);
	a->now = octo_meter_new(port_id);
	a->span = octo_meter_new(port_id);
	if (a->before == NULL || a->now == NULL || a->span == NULL)
		ret = -rte_errno;
	else
		ret = octo_meter_read(port_id, NULL, a->now);
	if (ret == 0)
		octo_counts_span(a->now, a->now, a->span);
	return ret;
}

static int
look_locked(struct asked *a, uint16_t port_id)
{
	struct octo_counts *latest = a->before;
	int ret;

	if (a->span == NULL)
		return begin_locked(a, port_id);
	if (octo_meter_clock() - a->now->ns < MIN_NS)
		return 0;
	ret = octo_meter_read(port_id, a->now, latest);
	if (ret == -ERANGE) {
		forget_locked(a);
		return begin_locked(a, port_id);
	}
	if (ret != 0)
		return ret;
	octo_counts_span(a->now, latest, a->span);
	a->before = a->now;
	a->now = latest;
	return 0;
}

static void
add_field(void *to, const char *name, double value)
{
	if (!isnan(value))
		rte_tel_data_add_dict_uint(to, name, (uint64_t)(value + 0.5));
}

/* Of a queue, if there are two numbers. */
static int
tell_counts(const uint32_t *numbers, int n, const struct octo_counts *span,
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
tell_asked(const uint32_t *numbers, int n, struct rte_tel_data *d)
{
	struct asked *a = &all_asked[numbers[0]];
	int ret;

	pthread_mutex_lock(&asked_lock);
	ret = look_locked(a, (uint16_t)numbers[0]);
	if (ret != 0)
		forget_locked(a);
	else
		ret = tell_counts(numbers, n, a->span, a->now, d);
	pthread_mutex_unlock(&asked_lock);
	return ret;
}

static int
tell_measure(const char *cmd, const char *params, struct rte_tel_data *d)
{
	char why[OCTO_MEASURE_WHY_MAX];
	struct octo_measure_view *view;
	uint32_t numbers[2];
	const int n = octo_tel_read_params(params, UINT16_MAX, numbers, RTE_DIM(numbers));
	int ret;

	RTE_SET_USED(cmd);
	if (n < 1 || !octo_view_is_octo((uint16_t)numbers[0]))
		return -EINVAL;
	view = rte_pmd_octo_measure_view((uint16_t)numbers[0], why);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "port", numbers[0]);
	rte_tel_data_add_dict_uint(d, "measured", view != NULL);
	if (view == NULL)
		return tell_asked(numbers, n, d);
	rte_tel_data_add_dict_uint(d, "samples", view->samples);
	ret = tell_counts(numbers, n, view->last, view->sum, d);
	free(view);
	return ret;
}

RTE_INIT(octo_measure_telemetry_init)
{
	rte_telemetry_register_cmd("/octo/measure", tell_measure,
				   "Returns rates and counters. "
				   "Parameters: int port_id [, int queue]");
}
