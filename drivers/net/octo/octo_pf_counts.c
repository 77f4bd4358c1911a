/* SPDX-License-Identifier: BSD-3-Clause */

/* Counters of the PFs; those of PFs that are gone are kept. */

#include <stdio.h>
#include <stdlib.h>

#include "octo_private.h"

/* Legs of one port whose bytes are told by queue. */
#define MAX_TX_LEGS (OCTO_MAX_PFS * RTE_ETHDEV_QUEUE_STAT_CNTRS)

/*
 * Take what was read. A counter that is lower than before began again, as those of some PMDs do
 * at a start or with a queue: it goes on from where it was. What is read first after a join that
 * could not read is the base.
 */
static void
take(struct octo_pf_past *past, const struct octo_pf_counts *now)
{
	const uint64_t *from = (const uint64_t *)now;
	uint64_t *last = (uint64_t *)&past->last;
	uint64_t *base = (uint64_t *)&past->base;

	if (past->unbased) {
		past->base = *now;
		past->last = *now;
	}
	past->unbased = false;
	for (size_t i = 0; i < sizeof(*now) / sizeof(*from); i++) {
		if (from[i] < last[i])
			base[i] -= last[i] - from[i];
		last[i] = from[i];
	}
}

/*
 * The octo queue of a tx_qN_bytes xstat; RTE_ETHDEV_QUEUE_STAT_CNTRS if the xstat is another, or
 * the queue beyond it.
 */
static unsigned int
queue_of(const struct octo_dev *octo, const struct octo_port *port, const char *xstat)
{
	unsigned int queue;
	int end = 0;
	int found;

	if (sscanf(xstat, "tx_q%4u_bytes%n", &queue, &end) != 1 || end == 0 || xstat[end] != '\0')
		return RTE_ETHDEV_QUEUE_STAT_CNTRS;
	found = octo_slices_queue_of(octo, port, (uint16_t)queue);
	return RTE_MIN((unsigned int)found, (unsigned int)RTE_ETHDEV_QUEUE_STAT_CNTRS);
}

/*
 * Ids of xstats change with the number of queues, so they are looked up each time. The bytes of
 * queues that have none, and of all after an error, stay as they are.
 */
static void
read_queues_named(const struct octo_dev *octo, const struct octo_port *port,
		  struct rte_eth_xstat_name *names, int nb, uint64_t *bytes)
{
	uint64_t ids[MAX_TX_LEGS], values[MAX_TX_LEGS];
	unsigned int queues[MAX_TX_LEGS];
	unsigned int n = 0;

	if (rte_eth_xstats_get_names(port->port_id, names, nb) != nb)
		return;
	for (int i = 0; i < nb && n < RTE_DIM(ids); i++) {
		queues[n] = queue_of(octo, port, names[i].name);
		ids[n] = (uint64_t)i;
		n += queues[n] < RTE_ETHDEV_QUEUE_STAT_CNTRS;
	}
	if (n > 0 && rte_eth_xstats_get_by_id(port->port_id, ids, values, n) != (int)n)
		return;
	for (unsigned int i = 0; i < n; i++)
		bytes[queues[i]] = 0;
	for (unsigned int i = 0; i < n; i++)
		bytes[queues[i]] += values[i];
}

/* Bytes sent by queue, which rte_eth_stats_get() does not return. PFs may have no such xstats. */
static void
read_queues(const struct octo_dev *octo, const struct octo_port *port, uint64_t *bytes)
{
	const int nb = rte_eth_xstats_get_names(port->port_id, NULL, 0);
	struct rte_eth_xstat_name *names = nb <= 0 ? NULL : calloc(nb, sizeof(*names));

	if (names != NULL)
		read_queues_named(octo, port, names, nb, bytes);
	free(names);
}

/* Queues are read first, so that no queue has sent more than the PF. */
static int
read_pf(const struct octo_dev *octo, const struct octo_port *port, struct octo_pf_counts *counts)
{
	/* a secondary process may not have attached the port */
	if (!rte_eth_dev_is_valid_port(port->port_id))
		return -ENODEV;
	*counts = (struct octo_pf_counts){0};
	memcpy(counts->q_obytes, port->past.last.q_obytes, sizeof(counts->q_obytes));
	read_queues(octo, port, counts->q_obytes);
	return rte_eth_stats_get(port->port_id, &counts->all);
}

/* Counts of one PF since it became the port's; those read last if it cannot be read now. */
static int
read_since(struct octo_dev *octo, uint8_t port, struct octo_pf_counts *counts)
{
	struct octo_pf_past *past = &octo->port[port].past;
	struct octo_use use;
	int ret = 0;

	/* the last counters of a PF that is about to be removed are read by its removal handler */
	if (octo_users_enter(&octo->port[port], &use)) {
		ret = read_pf(octo, &octo->port[port], counts);
		if (ret == 0)
			take(past, counts);
		else if (rte_eth_dev_is_removed(use.port_id))
			ret = 0; /* its event comes later */
		octo_users_leave(&use);
	}
	*counts = past->last;
	octo_counts_subtract(counts, &past->base, sizeof(*counts));
	return ret;
}

/*
 * Sum over all PFs, including those that are gone. Totals never decrease, even if a PF
 * disappears without an event. May be called by any thread and process, without the control
 * mutex; takes as long as the PFs take.
 */
int
octo_pf_counts_sum(struct octo_dev *octo, struct octo_pf_counts *sum)
{
	struct octo_pf_counts now;
	int ret = 0;

	octo_lock_counts(octo);
	*sum = octo->gone;
	for (uint8_t i = 0; ret == 0 && i < octo->nb_ports; i++) {
		if (!octo->port[i].past.counted)
			continue;
		ret = read_since(octo, i, &now);
		octo_counts_add(sum, &now, sizeof(now));
	}
	octo_unlock_counts(octo);
	return ret;
}

/* Called by the handler of the PF's removal, for which the PF waits. */
void
octo_pf_counts_read_last_locked(struct octo_dev *octo, uint8_t port)
{
	struct octo_port *p = &octo->port[port];
	struct octo_pf_counts now;

	if (!octo_lock_counts_in_time(octo))
		return;
	/* values read from a device that is removed are not valid counts */
	if (rte_eth_dev_is_removed(p->port_id) == 0 && read_pf(octo, p, &now) == 0)
		take(&p->past, &now);
	octo_unlock_counts(octo);
}

/* Called at intervals, as a PF may disappear without an event. */
void
octo_pf_counts_refresh_locked(struct octo_dev *octo, uint8_t port)
{
	if (octo_port_is(&octo->port[port], OCTO_PORT_IDLE))
		octo_pf_counts_read_last_locked(octo, port);
}

/*
 * What the PF has counted so far is in the sum of those that are gone. It is there already if the
 * PF is lost again while it joins.
 */
static void
end_counts(struct octo_dev *octo, struct octo_pf_past *past)
{
	struct octo_pf_counts counted = past->last;

	if (!past->counted)
		return;
	octo_counts_subtract(&counted, &past->base, sizeof(counted));
	octo_counts_add(&octo->gone, &counted, sizeof(octo->gone));
	past->base = past->last;
	past->last = (struct octo_pf_counts){0};
	past->counted = false;
}

/*
 * A PF is gone: keep its counts, as the port's counters must not decrease. Called by the handler
 * of its loss: after a timeout those that were read last stay counted until the PF is back.
 */
void
octo_pf_counts_keep(struct octo_dev *octo, uint8_t port)
{
	struct octo_port *p = &octo->port[port];

	if (!octo_lock_counts_in_time(octo))
		return;
	end_counts(octo, &p->past);
	/* nobody may read what it has counted since it was read last */
	p->past.recovers = p->fsm.state == OCTO_PORT_RECOVERING;
	octo_unlock_counts(octo);
}

/*
 * A PF is back: counts from before are in the sum already, so what it kept becomes the base. What
 * one that has recovered counted before, and nobody has read, is the port's.
 */
void
octo_pf_counts_join_locked(struct octo_dev *octo, uint8_t port)
{
	struct octo_pf_past *past = &octo->port[port].past;
	struct octo_pf_counts now;

	octo_lock_counts(octo);
	end_counts(octo, past);
	past->unbased |= !past->recovers;
	past->last = past->base;
	if (read_pf(octo, &octo->port[port], &now) == 0)
		take(past, &now);
	past->recovers = false;
	past->counted = true;
	octo_unlock_counts(octo);
	rte_atomic_store_explicit(&octo->port[port].foreign.anew, true, rte_memory_order_relaxed);
}

/*
 * Reset the counters of one PF. Those of a PF that is being set up, or is about to go, cannot be:
 * its last values are subtracted from then on.
 */
static int
reset_pf(struct octo_port *port)
{
	struct octo_pf_past *past = &port->past;
	struct octo_use use;
	int ret = 0;

	if (octo_users_enter(port, &use)) {
		ret = rte_eth_stats_reset(use.port_id);
		octo_users_leave(&use);
		if (ret == 0) {
			past->last = (struct octo_pf_counts){0};
			past->unbased = false;
		}
	}
	past->base = past->last;
	rte_atomic_store_explicit(&port->foreign.anew, true, rte_memory_order_relaxed);
	return ret;
}

/* Resets the counters of all PFs; returns the first error. */
int
octo_pf_counts_reset(struct octo_dev *octo)
{
	int first_error = 0;

	octo_lock_counts(octo);
	octo->gone = (struct octo_pf_counts){0};
	for (uint8_t i = 0; i < octo->nb_ports; i++) {
		const int ret = octo->port[i].past.counted ? reset_pf(&octo->port[i]) : 0;

		if (first_error == 0)
			first_error = ret;
	}
	octo_unlock_counts(octo);
	return first_error;
}
