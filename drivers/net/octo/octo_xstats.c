/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Extended statistics: the port's own (home and stray packets, PFs by which packets were
 * sent), then those of every PF with the prefix pf<index>_.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "octo_elapsed.h"
#include "octo_private.h"

/* Writes names, values or both; always counts. */
struct writer {
	struct rte_eth_xstat_name *names; /* may be NULL */
	struct rte_eth_xstat *values;     /* may be NULL */
	unsigned int room;
	unsigned int nb;
};

__rte_format_printf(3, 4) static void put(struct writer *w, uint64_t value, const char *format, ...)
{
	va_list ap;

	if (w->nb < w->room) {
		if (w->names != NULL) {
			va_start(ap, format);
			vsnprintf(w->names[w->nb].name, RTE_ETH_XSTATS_NAME_SIZE, format, ap);
			va_end(ap);
		}
		if (w->values != NULL) {
			w->values[w->nb].id = w->nb;
			w->values[w->nb].value = value;
		}
	}
	w->nb++;
}

static void
put_rx_queues(struct writer *w, const struct octo_dev *octo)
{
	const struct octo_rxq_counts all = octo_queue_counts_rx(octo);
	const struct rte_eth_dev_data *data = octo_data(octo);

	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		const struct octo_rxq_counts c = octo_queue_counts_of_rx(octo, i);

		put(w, c.home.packets, "rx_q%u_home_packets", i);
		put(w, c.home.bytes, "rx_q%u_home_bytes", i);
		put(w, c.stray.packets, "rx_q%u_stray_packets", i);
		put(w, c.stray.bytes, "rx_q%u_stray_bytes", i);
	}
	put(w, all.home.packets, "rx_home_packets");
	put(w, all.stray.packets, "rx_stray_packets");
	put(w, all.sampled, "rx_stray_sampled");
	put(w, all.copies.foreign, "rx_mac_copies");
	put(w, all.copies.groups, "rx_mac_group_copies");
}

static void
put_tx_queues(struct writer *w, const struct octo_dev *octo, const struct octo_txq_counts *all)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	for (uint16_t i = 0; i < data->nb_tx_queues; i++) {
		const struct octo_txq_counts c = octo_queue_counts_of_tx(octo, i);

		for (uint16_t pf = 0; pf < octo->nb_pfs; pf++)
			put(w, c.sent[pf], "tx_q%u_pf%u_packets", i, pf);
	}
	for (uint16_t pf = 0; pf < octo->nb_pfs; pf++)
		put(w, all->sent[pf], "tx_pf%u_packets", pf);
}

static void
put_tx(struct writer *w, const struct octo_dev *octo, const struct octo_tx_counts *all)
{
	put(w, all->switches, "tx_switches");
	put(w, all->timeouts, "tx_switch_timeouts");
	put(w, all->stashed, "tx_switch_stashed");
	put(w, octo_tx_waiting(octo), "tx_switch_waiting");
	put(w, all->refused, "tx_switch_refused");
	put(w, all->drops, "tx_switch_drops");
	put(w, all->hinted, "tx_sg_hinted_packets");
	put(w, all->crossing, "tx_sg_crossing_bytes");
	put(w, all->rewritten, "tx_mac_rewritten");
	put(w, all->shared, "tx_mac_shared");
}

/*
 * Read names and values of any port into one block, freed by freeing *names. Returns their
 * number, or a negative errno: -EAGAIN if they changed between the calls.
 */
int
octo_xstats_read(uint16_t port_id, struct rte_eth_xstat_name **names, struct rte_eth_xstat **values)
{
	const int nb = rte_eth_xstats_get_names(port_id, NULL, 0);

	*names = NULL;
	if (nb <= 0)
		return nb;
	*names = calloc((size_t)nb, sizeof(**names) + sizeof(**values));
	if (*names == NULL)
		return -ENOMEM;
	*values = (struct rte_eth_xstat *)(*names + nb);
	if (rte_eth_xstats_get_names(port_id, *names, (unsigned int)nb) == nb &&
	    rte_eth_xstats_get(port_id, *values, (unsigned int)nb) == nb)
		return nb;
	free(*names);
	*names = NULL;
	return -EAGAIN;
}

static int
put_pf(struct writer *w, uint16_t pf, uint16_t port_id)
{
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;
	int nb = octo_xstats_read(port_id, &names, &values);

	/* its event comes later */
	if (nb < 0 && rte_eth_dev_is_removed(port_id))
		nb = 0;
	for (int i = 0; i < nb; i++)
		put(w, values[i].value, "pf%u_%.*s", pf, RTE_ETH_XSTATS_NAME_SIZE - 8,
		    names[i].name);
	free(names);
	return RTE_MIN(nb, 0);
}

/*
 * Last published counts: the control mutex may be held by a thread that waits for a PF or
 * an agent.
 */
static void
put_rules(struct writer *w, const struct octo_dev *octo)
{
	const struct octo_rule_counts *counts = &octo->rule_counts;
	struct octo_learn_stats learned;

	octo_learn_counts(octo, &learned);
	put(w, octo->audit.steered_strays - octo->audit.steered_base, "rx_stray_steered");
	put(w, counts->steered, "steered_flows");
	put(w, counts->ineffective, "steered_flows_ineffective");
	put(w, learned.rules, "learned_flows");
	put(w, octo->learning.samples - octo->learning.samples_base, "learn_samples");
	put(w, learned.installed, "learn_installed");
	put(w, learned.evicted, "learn_evicted");
	put(w, learned.aged, "learn_aged");
	put(w, learned.refused, "learn_refused");
	put(w, counts->bytes, "steered_flows_bytes");
}

static void
put_failover(struct writer *w, const struct octo_dev *octo)
{
	const struct octo_failover *f = &octo->failover;

	put(w, octo->replug.replugs, "replugs");
	put(w,
	    (unsigned int)__builtin_popcount(octo->plan.usable &
					     octo_pf_mask(octo, OCTO_PORT_RUNNING)),
	    "usable_pfs");
	put(w, f->failovers, "failovers");
	put(w, f->failbacks, "failbacks");
	put(w, f->last_cpu_ns, "failover_cpu_ns");
	put(w, f->last_ns, "failover_ns");
	put(w, octo->macs.announced, "mac_announcements");
	put(w, octo->default_pf.installed, "default_pf_rules");
	put(w, octo->default_pf.refused, "default_pf_rules_refused");
}

static uint64_t
to_ns(uint64_t cycles)
{
	return octo_cycles_to_ns(cycles, rte_get_timer_hz());
}

static void
put_fences(struct writer *w, struct octo_dev *octo)
{
	const struct octo_fence_counts counts = octo_fence_counts(octo);

	put(w, counts.rehomes, "rehomes");
	put(w, counts.opened, "fence_opened");
	put(w, octo->fences.nb_open, "fences_open");
	put(w, counts.gates.timeouts, "fence_timeouts");
	put(w, to_ns(counts.gates.held_cycles), "fence_held_ns");
	put(w, counts.gates.waits, "fence_waits");
	put(w, to_ns(counts.gates.waited_cycles), "fence_waited_ns");
}

/*
 * Under the counts mutex: no queue is freed, and no PF is queried by two threads. The
 * xstats of a joining PF may change between two calls.
 */
static int
put_all(struct rte_eth_dev *dev, struct writer *w)
{
	struct octo_dev *octo = octo_of(dev);
	const struct octo_txq_counts tx = octo_queue_counts_tx(octo);
	int ret = 0;
	int i;

	put_rx_queues(w, octo);
	put_tx_queues(w, octo, &tx);
	put_tx(w, octo, &tx.tx);
	put_rules(w, octo);
	put_failover(w, octo);
	put_fences(w, octo);
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE) {
		struct octo_use use;

		if (!octo_users_enter(&octo->port[i], &use))
			continue;
		ret = put_pf(w, (uint16_t)i, use.port_id);
		octo_users_leave(&use);
		if (ret != 0)
			return ret;
	}
	return (int)w->nb;
}

static int
write_all(struct rte_eth_dev *dev, struct writer *w)
{
	struct octo_dev *octo = octo_of(dev);
	int ret;

	octo_lock_counts(octo);
	ret = put_all(dev, w);
	octo_unlock_counts(octo);
	return ret;
}

int
octo_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	struct writer w = {.names = names, .room = names == NULL ? 0 : n};

	return write_all(dev, &w);
}

int
octo_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *stats, unsigned int n)
{
	struct writer w = {.values = stats, .room = stats == NULL ? 0 : n};

	return write_all(dev, &w);
}

int
octo_xstats_reset(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	int ret = octo_stats_reset(dev);
	int i;

	octo_lock_counts(octo);
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE) {
		struct octo_use use;
		int pf;

		if (!octo_users_enter(&octo->port[i], &use))
			continue;
		pf = rte_eth_xstats_reset(use.port_id);
		octo_users_leave(&use);
		if (ret == 0)
			ret = pf;
	}
	octo_unlock_counts(octo);
	return ret;
}
