/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <eal_export.h>
#include <rte_string_fns.h>

#include "octo_clock.h"
#include "octo_private.h"
#include "octo_view.h"

static void (*closing_fn)(uint16_t port_id);

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_view_watch, 26.11)
void
rte_pmd_octo_view_watch(void (*fn)(uint16_t port_id))
{
	closing_fn = fn;
}

void
octo_view_notify_closing(uint16_t port_id)
{
	if (closing_fn != NULL)
		closing_fn(port_id);
}

static const char *
state_name(const struct octo_dev *octo, uint8_t pf)
{
	const struct octo_port *port = octo->pf[pf].port;
	static const char *const names[] = {
		[OCTO_PORT_IDLE] = "owned",
		[OCTO_PORT_READY] = "configured",
		[OCTO_PORT_RUNNING] = "started",
	};

	if (octo_port_is_joining(octo, octo_port_index(octo, pf)))
		return "joining";
	if (octo_pf_state_drains(octo->role[octo_port_index(octo, pf)].state))
		return "draining";
	return octo_port_is_owned(port) ? names[port->fsm.state] : "gone";
}

static void
view_pf(const struct octo_dev *octo, uint16_t i, struct octo_view_pf *view)
{
	const struct octo_port *port = octo->pf[i].port;

	octo_pf_format(octo, (uint8_t)i, view->name, sizeof(view->name));
	view->state = state_name(octo, (uint8_t)i);
	view->port_id = port->port_id;
	view->socket = octo->pf[i].node;
	view->link_up = port->link_up;
	view->transfer_proxy = octo->proxy == octo_port_index(octo, (uint8_t)i);
	view->mac = octo_mac_entry(octo, octo->macs.apart ? i : 0);
	view->mac_holder = octo->macs.apart ? octo->macs.plan.holder[i] : (uint8_t)i;
	view->designated = octo->macs.apart && octo->macs.plan.designated == i;
}

bool
octo_view_is_octo(uint16_t port_id)
{
	const bool is_octo = octo_registry_get_any(port_id) != NULL;

	if (is_octo)
		octo_registry_put();
	return is_octo;
}

/* By constant names: pointers of the primary are invalid in other processes. */
static const char *
mpfs_name(const struct octo_dev *octo)
{
	if (!octo->started || !octo_tier_has_mpfs(octo->tier))
		return "none";
	if (octo->agent != NULL)
		return octo_mpfs_agent_ops.name;
	return octo->sliced ? octo_mpfs_slices_ops.name : octo_mpfs_switch_ops.name;
}

static const char *
dialect_name(const struct octo_dev *octo)
{
	const bool has_one = octo->started && octo_tier_has_mpfs(octo->tier) &&
			     octo->agent == NULL && !octo->sliced;

	return has_one ? octo_mpfs_switch_dialect(octo)->name : "none";
}

static void
view_rule_counts(struct octo_dev *octo, struct octo_view_topology *view)
{
	const struct octo_rule_counts *counts = &octo->rule_counts;

	view->nb_rules = counts->steered;
	view->nb_ineffective = counts->ineffective;
	view->nb_others = octo->nb_others;
	view->nb_lingering = octo->lingering.nb;
	view->rule_bytes = counts->bytes;
}

static void
view_rx_ring(const struct rte_eth_dev_data *data, struct octo_view_topology *view)
{
	const struct octo_rxq *q = data->nb_rx_queues > 0 ? data->rx_queues[0] : NULL;

	view->rx_ring = q != NULL ? q->nb_desc : 0;
	view->rx_ring_wanted = q != NULL ? q->wanted_desc : 0;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_view_topology, 26.11)
int
rte_pmd_octo_view_topology(uint16_t port_id, struct octo_view_topology *view)
{
	struct octo_dev *octo = octo_registry_get_any(port_id);
	const struct rte_eth_dev_data *data;

	if (octo == NULL)
		return -ENODEV;
	data = octo_data(octo);
	octo_lock(octo);
	rte_strscpy(view->name, data->name, sizeof(view->name));
	view->tier = octo_tier_name(octo->started ? octo->tier : OCTO_TIER_NONE);
	view->mpfs = mpfs_name(octo);
	view->dialect = dialect_name(octo);
	view->ignored = octo_tier_ignored_name(octo->ignored);
	view_rule_counts(octo, view);
	view->socket = data->numa_node;
	view->link_up = data->dev_link.link_status == RTE_ETH_LINK_UP;
	view->nb_pfs = octo->nb_pfs;
	view->nb_rx_queues = data->nb_rx_queues;
	view_rx_ring(data, view);
	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		view_pf(octo, i, &view->pf[i]);
	octo_unlock(octo);
	octo_registry_put();
	return 0;
}

int
octo_view_hold(uint16_t port_id, struct octo_hold_view *view)
{
	struct octo_dev *octo = octo_registry_get_any(port_id);

	if (octo == NULL)
		return -ENODEV;
	octo_hold_read(&octo->hold, octo_now(), rte_get_timer_hz(), view);
	octo_registry_put();
	return 0;
}

/* The home, the poller or sender, and the sockets of a leg of this queue. */
static void
fill_leg(struct octo_view_leg *view, uint8_t home, int16_t cpu, int node,
	 const struct octo_locality *locality)
{
	view->home = view->pf == home;
	view->cpu = cpu;
	view->cpu_socket = node;
	view->pf_socket = locality->pf;
	view->ring_socket = locality->ring;
	view->pool_socket = RTE_MAX(locality->pool, -1);
	view->crosses = octo_plan_crossing_names(octo_plan_crossings(locality));
}

/* A leg of Rx queue `queue`, or of Tx queue `queue - nb_rx_queues`. */
static void
view_leg(const struct octo_dev *octo, uint32_t queue, uint16_t pf, struct octo_view_leg *view)
{
	struct octo_locality locality = {octo->pf[pf].node, -1, -1, -1};
	const struct rte_eth_dev_data *data = octo_data(octo);
	const bool tx = queue >= data->nb_rx_queues;
	const uint16_t index = (uint16_t)(tx ? queue - data->nb_rx_queues : queue);
	const struct octo_rxq *rxq = tx ? NULL : data->rx_queues[index];
	const struct octo_txq *txq = tx ? data->tx_queues[index] : NULL;

	*view = (struct octo_view_leg){.tx = tx, .queue = index, .pf = pf};
	/* the application may have failed to set it up */
	if (rxq == NULL && txq == NULL) {
		fill_leg(view, OCTO_NO_PF, -1, -1, &locality);
	} else if (tx) {
		locality = octo_locality_tx(octo, txq, (uint8_t)pf);
		fill_leg(view, rte_atomic_load_explicit(&txq->home, rte_memory_order_relaxed),
			 rte_atomic_load_explicit(&txq->cpu, rte_memory_order_relaxed),
			 txq->tracking.node, &locality);
	} else {
		locality = octo_locality_rx(octo, rxq, (uint8_t)pf);
		fill_leg(view, rte_atomic_load_explicit(&rxq->home, rte_memory_order_relaxed),
			 rte_atomic_load_explicit(&rxq->cpu, rte_memory_order_relaxed),
			 rxq->tracking.node, &locality);
	}
}

static int
view_legs_locked(const struct octo_dev *octo, uint32_t start, struct octo_view_leg *legs,
		 uint32_t nb, uint32_t *total)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	uint32_t n = 0;

	*total = (uint32_t)(data->nb_rx_queues + data->nb_tx_queues) * octo->nb_pfs;
	/* Rx queues first, the legs of a queue together */
	for (uint32_t i = start; n < nb && i < *total; i++)
		view_leg(octo, i / octo->nb_pfs, (uint16_t)(i % octo->nb_pfs), &legs[n++]);
	return (int)n;
}

int
octo_view_legs(uint16_t port_id, uint32_t start, struct octo_view_leg *legs, uint32_t nb,
	       uint32_t *total)
{
	struct octo_dev *octo = octo_registry_get_any(port_id);
	int ret;

	if (octo == NULL)
		return -ENODEV;
	ret = OCTO_LOCKED(octo, view_legs_locked(octo, start, legs, nb, total));
	octo_registry_put();
	return ret;
}

static int
view_queue_locked(struct octo_dev *octo, uint16_t queue_id, struct octo_view_queue *view)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const struct octo_rxq *q = queue_id < data->nb_rx_queues ? data->rx_queues[queue_id] : NULL;
	struct octo_rxq_counts counts;

	if (queue_id >= data->nb_rx_queues)
		return -EINVAL;
	view_leg(octo, queue_id,
		 q == NULL ? octo_topo_home_of(octo, queue_id) :
			     rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed),
		 &view->home);
	/* a reset of the statistics takes no other mutex */
	octo_lock_counts(octo);
	counts = octo_queue_counts_of_rx(octo, queue_id);
	octo_unlock_counts(octo);
	view->home_packets = counts.home.packets;
	view->stray_packets = counts.stray.packets;
	return 0;
}

int
octo_view_queue(uint16_t port_id, uint16_t queue_id, struct octo_view_queue *view)
{
	struct octo_dev *octo = octo_registry_get_any(port_id);
	int ret;

	if (octo == NULL)
		return -ENODEV;
	ret = OCTO_LOCKED(octo, view_queue_locked(octo, queue_id, view));
	octo_registry_put();
	return ret;
}

/* The PF is shown only while the tier includes MPFS rules. */
static void
view_rule(struct octo_dev *octo, struct rte_flow *rule, struct octo_view_rule *view)
{
	const uint8_t pf = octo_rule_pf(octo, rule);
	const bool has_pf = octo_tier_has_mpfs(octo->tier) && pf != OCTO_NO_PF;
	int64_t hits;
	const enum octo_rule_status status = octo_audit_status_locked(octo, rule, &hits);

	*view = (struct octo_view_rule){
		.tuple = rule->tuple,
		.hits = hits,
		.strays = rule->ext != NULL ? rule->ext->strays : 0,
		.queue = rule->queue,
		.pf = has_pf ? pf : -1,
		.status = octo_rule_status_name(status),
		.ineffective = octo_rule_status_is_ineffective(status),
		.learned = rule->origin == OCTO_BY_LEARNING,
	};
}

/* A sequential reader gets the rule after the last page, whichever rules have gone meanwhile. */
static struct rte_flow *
rule_at(const struct octo_dev *octo, uint32_t start)
{
	struct rte_flow *rule = octo->page.rule;

	if (rule != NULL && octo->page.start == start)
		return rule;
	if (start >= octo_table_count(octo->table))
		return NULL;
	rule = TAILQ_FIRST(&octo->rules);
	for (uint32_t at = 0; rule != NULL && at < start; at++)
		rule = TAILQ_NEXT(rule, next);
	return rule;
}

static uint32_t
copy_rules_locked(struct octo_dev *octo, uint32_t start, struct octo_view_rule *rules, uint32_t nb)
{
	struct rte_flow *rule = rule_at(octo, start);
	uint32_t copied = 0;

	if (rule == NULL)
		return 0;
	for (; rule != NULL && copied < nb; rule = TAILQ_NEXT(rule, next))
		view_rule(octo, rule, &rules[copied++]);
	octo->page.rule = rule;
	octo->page.start = start + copied;
	return copied;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_view_rules, 26.11)
int
rte_pmd_octo_view_rules(uint16_t port_id, uint32_t start, struct octo_view_rule *rules, uint32_t nb,
			uint32_t *total)
{
	struct octo_dev *octo = octo_registry_get_any(port_id);
	uint32_t copied;

	if (octo == NULL)
		return -ENODEV;
	octo_lock(octo);
	*total = octo_legs_borrowed ? octo->rule_counts.steered : octo_table_count(octo->table);
	copied = octo_legs_borrowed ? 0 : copy_rules_locked(octo, start, rules, nb);
	octo_unlock(octo);
	octo_registry_put();
	return (int)copied;
}
