/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * octo calls its PFs through the public rte_flow functions, in which nobody can
 * take the time but at their far end: the operations of the PF. So this is the
 * one file of the programs that includes a header for drivers.
 */

#include <ethdev_driver.h>
#include <rte_cycles.h>
#include <rte_flow_driver.h>

#include "bench.h"
#include "bench_tap.h"

#define ROUNDS 10001
#define CALLS 3

struct tap {
	const struct eth_dev_ops *real_ops; /* NULL: off */
	const struct rte_flow_ops *real;
	struct eth_dev_ops ops;
	struct rte_flow_ops flow_ops;
};

static struct tap taps[RTE_MAX_ETHPORTS];
static struct bench_tap_time inside;
static bool counts[2];
static int64_t cost_outside, cost_per_call;

/* Constant time, so that it can be subtracted. */
static inline void
note(uint64_t start)
{
	inside.cycles += rte_rdtsc() - start;
	inside.calls++;
}

static struct rte_flow *
tap_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	   const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	   struct rte_flow_error *error)
{
	const uint64_t start = rte_rdtsc();
	struct rte_flow *flow = taps[dev->data->port_id].real->create(dev, attr, pattern, actions,
								      error);

	counts[attr->transfer] |= actions[0].type == RTE_FLOW_ACTION_TYPE_COUNT;
	note(start);
	return flow;
}

static int
tap_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	*ops = &taps[dev->data->port_id].flow_ops;
	return 0;
}

void
bench_tap_on(uint16_t port)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port];
	struct tap *tap = &taps[port];

	if (tap->real_ops != NULL || dev->dev_ops->flow_ops_get(dev, &tap->real) != 0)
		return;
	tap->flow_ops = *tap->real;
	tap->flow_ops.create = tap_create;
	tap->ops = *dev->dev_ops;
	tap->ops.flow_ops_get = tap_ops_get;
	tap->real_ops = dev->dev_ops;
	dev->dev_ops = &tap->ops;
}

void
bench_tap_off(uint16_t port)
{
	struct tap *tap = &taps[port];

	if (tap->real_ops == NULL)
		return;
	rte_eth_devices[port].dev_ops = tap->real_ops;
	tap->real_ops = NULL;
}

void
bench_tap_reset(void)
{
	inside = (struct bench_tap_time){0};
}

int64_t
bench_tap_rest(uint64_t cycles)
{
	return (int64_t)(cycles - inside.cycles) - cost_outside - inside.calls * cost_per_call;
}

bool
bench_tap_counts(bool transfer)
{
	return counts[transfer];
}

static struct rte_flow *
create_nothing(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	       struct rte_flow_error *error)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(attr);
	RTE_SET_USED(pattern);
	RTE_SET_USED(actions);
	RTE_SET_USED(error);
	return NULL;
}

/* The median of what remains of so many calls that do nothing. */
static int64_t
cost_of(unsigned int calls)
{
	static double rest[ROUNDS];
	static const struct rte_flow_ops nothing = {.create = create_nothing};
	static const struct rte_flow_action end = {.type = RTE_FLOW_ACTION_TYPE_END};
	static const struct rte_flow_attr attr;
	struct rte_eth_dev_data data = {.port_id = 0};
	struct rte_eth_dev dev = {.data = &data};

	taps[0].real = &nothing;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const uint64_t start = rte_rdtsc();
		uint64_t cycles;

		for (unsigned int k = 0; k < calls; k++)
			tap_create(&dev, &attr, NULL, &end, NULL);
		cycles = rte_rdtsc() - start;
		rest[i] = (double)(int64_t)(cycles - inside.cycles);
		bench_tap_reset();
	}
	return (int64_t)bench_median(rest, ROUNDS);
}

void
bench_tap_calibrate(void)
{
	cost_of(CALLS); /* warms up */
	cost_outside = cost_of(0);
	cost_per_call = (cost_of(CALLS) - cost_outside) / CALLS;
}
