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

static int
view_queue_locked(struct octo_dev *octo, uint16_t queue_id, struct octo_view_queue *view)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	struct octo_locality locality = {-1, -1, -1, -1};
	struct octo_rxq_counts counts;
	const struct octo_rxq *q;

	if (queue_id >= data->nb_rx_queues)
		return -EINVAL;
	q = data->rx_queues[queue_id];
	view->cpu = -1;
	view->socket = -1;
	view->home_pf = octo_topo_home_of(octo, queue_id);
	/* NULL if the application failed to set it up */
	if (q != NULL) {
		view->cpu = rte_atomic_load_explicit(&q->cpu, rte_memory_order_relaxed);
		view->socket = q->tracking.node;
		view->home_pf = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
		locality = octo_locality_rx(octo, q, (uint8_t)view->home_pf);
	}
	view->ring_socket = locality.ring;
	view->pool_socket = RTE_MAX(locality.pool, -1);
	view->crosses = octo_plan_crossing_names(octo_plan_crossings(&locality));
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

/* Find rule number `start`, from the end of the last page if that helps a sequential reader. */
static struct rte_flow *
rule_at(const struct octo_dev *octo, uint32_t start)
{
	const bool known = octo->page.rule != NULL && octo->page.start <= start;
	struct rte_flow *rule = known ? octo->page.rule : TAILQ_FIRST(&octo->rules);

	for (uint32_t at = known ? octo->page.start : 0; rule != NULL && at < start; at++)
		rule = TAILQ_NEXT(rule, next);
	return rule;
}

static uint32_t
copy_rules_locked(struct octo_dev *octo, uint32_t start, struct octo_view_rule *rules, uint32_t nb)
{
	struct rte_flow *rule = rule_at(octo, start);
	uint32_t copied = 0;

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
