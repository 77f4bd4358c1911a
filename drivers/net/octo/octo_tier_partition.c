/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tier partition: masked MPFS rules distribute unsteered traffic to the PFs in proportion to
 * their queues, and the RETA of each PF has only the queues whose home it is. So no packet
 * strays. Traffic that is not hashed goes to queue 0, and so to the home of queue 0.
 *
 * In tier mac there are no such rules: the MAC address that senders choose leads to a PF, and only
 * the RETAs are as above. Traffic that is not hashed then goes to queue 0 by any PF.
 *
 * The tier says whether to partition; this file makes it so. When homes change, flows go to
 * other queues in migration steps (octo_migration.h), each behind a fence (octo_fence.h).
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "octo_clock.h"
#include "octo_private.h"

/* Interval in ms of the check whether the masked rules match packets. */
#define TRIAL_MS 1000

static bool
has_masked_rules(const struct octo_dev *octo)
{
	return octo->tier == OCTO_TIER_PARTITION;
}

/* Do the PFs' RETAs differ? */
static bool
is_divided(const struct octo_dev *octo)
{
	return has_masked_rules(octo) || octo->tier == OCTO_TIER_MAC;
}

static void
read_homes(const struct octo_dev *octo, uint8_t *home)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++)
		home[i] = octo_topo_home_of(octo, i);
}

static struct octo_migration_port
migration_port(const struct octo_dev *octo)
{
	return (struct octo_migration_port){
		.nb_pfs = octo->nb_pfs,
		.nb_queues = octo_data(octo)->nb_rx_queues,
		.reta_size = octo_rss_is_on(octo) ? octo->reta_size : 0,
		.present = octo_pf_mask(octo, OCTO_PORT_RUNNING),
		.usable = octo->plan.usable,
	};
}

/* A PF that has refused: is it gone, although octo may not have noticed the loss? */
static bool
is_gone(const struct octo_dev *octo, uint8_t pf)
{
	const struct octo_port *port = &octo->port[pf];

	return !octo_port_is(port, OCTO_PORT_RUNNING) || rte_eth_dev_is_removed(port->port_id);
}

/* Set the RETAs of these PFs, which are present; rules never lead to others. */
static int
set_retas(struct octo_dev *octo, const struct octo_migration_map *map, uint32_t pfs)
{
	int ret = 0;

	for (uint8_t pf = 0; pf < octo->nb_pfs && ret == 0; pf++) {
		if (!(pfs & RTE_BIT32(pf)))
			continue;
		ret = octo_rss_set_pf_reta(octo, pf, map->reta[pf]);
		if (ret != 0 && is_gone(octo, pf))
			ret = 0;
	}
	return ret;
}

/* Write the map's masked rules into the plan. Returns their number, as octo_partition_rules(). */
static unsigned int
write_rules(struct octo_dev *octo, const struct octo_migration_map *map)
{
	return octo_partition_rules(map->bucket, map->rest, octo_data(octo)->nb_rx_queues,
				    octo->partition.plan->rules);
}

/*
 * Install the masked rules. Traffic that is not hashed must not be distributed: any PF would put
 * it into queue 0.
 */
static int
set_rules(struct octo_dev *octo, const struct octo_migration_map *map, struct rte_flow_error *error)
{
	const struct rte_eth_conf *conf = &octo_data(octo)->dev_conf;
	const uint64_t hf = octo_rss_is_on(octo) ? conf->rx_adv_conf.rss_conf.rss_hf : 0;
	const struct octo_masked_rules masked = {
		.rules = octo->partition.plan->rules,
		.nb_rules = write_rules(octo, map),
		.ipv4 = (hf & RTE_ETH_RSS_IPV4) != 0,
		.ipv6 = (hf & RTE_ETH_RSS_IPV6) != 0,
		.default_pf = map->rest,
	};
	const uint8_t proxy = octo->proxy;
	int ret = octo_mpfs_masked_set(octo, &masked, error);

	/* they are set by the next proxy, when the loss of this one is heard */
	if (ret != 0 && is_gone(octo, proxy)) {
		octo->partition.stale = true;
		ret = 0;
	}
	octo->partition.trial.begun = false;
	octo->partition.trial.next = octo_now_ms() + TRIAL_MS;
	return ret;
}

/* In tier mac any PF may get traffic at any time, and no rule can change that. */
static void
spread_evenly(uint8_t *bucket, uint16_t nb_pfs)
{
	for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
		bucket[i] = (uint8_t)(i % nb_pfs);
}

/* Compute the map for the current homes; with keep, change as little of it as possible. */
static void
make_map(const struct octo_dev *octo, struct octo_migration_map *map, bool keep)
{
	const struct octo_migration_port port = migration_port(octo);
	const uint8_t *home = octo->partition.home;
	uint16_t queues[OCTO_MAX_PFS] = {0};

	for (uint16_t i = 0; i < port.nb_queues; i++)
		queues[home[i]]++;
	map->rest = has_masked_rules(octo) ? home[0] : 0;
	if (has_masked_rules(octo))
		octo_partition_share(queues, port.nb_pfs, map->bucket, keep);
	else
		spread_evenly(map->bucket, port.nb_pfs);
	for (uint8_t pf = 0; pf < port.nb_pfs && port.reta_size > 0; pf++)
		octo_partition_reta(home, port.nb_queues, pf, map->reta[pf], port.reta_size, keep);
}

static bool
fits(struct octo_dev *octo, const struct octo_migration_map *map)
{
	return write_rules(octo, map) <= OCTO_PARTITION_MAX_RULES;
}

/*
 * After many changes the partition may be too fragmented for the room of rules: then start
 * over.
 */
static void
make_target(struct octo_dev *octo, struct octo_partition_plan *plan)
{
	plan->target = plan->map;
	make_map(octo, &plan->target, true);
	if (has_masked_rules(octo) && !fits(octo, &plan->target))
		make_map(octo, &plan->target, false);
}

/*
 * On the way to a partition that starts over there may be less room than at its end: then go there
 * at once, without order.
 */
static void
make_room(struct octo_dev *octo, struct octo_partition_plan *plan)
{
	if (!has_masked_rules(octo) || !plan->step.buckets || fits(octo, &plan->next))
		return;
	plan->next = plan->target;
	memset(plan->step.legs, 0, sizeof(plan->step.legs));
	if (octo_rss_is_on(octo))
		plan->step.retas = octo_pf_mask(octo, OCTO_PORT_RUNNING);
}

/* Use the best tier in which all PFs have the same RETA. */
static void
step_down(struct octo_dev *octo)
{
	const bool masked = has_masked_rules(octo);

	octo->tier = masked ? OCTO_TIER_EXACT : octo->tier_below;
	octo_tier_partition_stop_locked(octo);
	if (!masked)
		octo_mac_join_locked(octo);
}

static void
give_up(struct octo_dev *octo, int ret, const struct rte_flow_error *error)
{
	step_down(octo);
	OCTO_LOG(WARNING, "port %u: traffic cannot be partitioned: steering tier is %s now: %s",
		 octo->port_id, octo_tier_name(octo->tier),
		 error->message != NULL ? error->message : rte_strerror(-ret));
}

/*
 * Start partitioning. There is no order to preserve yet. The rules come first, as they
 * decide which PFs are used.
 */
static void
begin(struct octo_dev *octo)
{
	struct rte_flow_error error = {.message = NULL};
	struct octo_tier_partition *s = &octo->partition;
	int ret = -ENOMEM;

	s->on = true;
	s->stale = false;
	s->settled = true;
	s->stepping = false;
	s->lost = false;
	s->level = 0;
	s->plan = calloc(1, sizeof(*s->plan));
	if (s->plan != NULL) {
		make_map(octo, &s->plan->map, false);
		ret = has_masked_rules(octo) ? set_rules(octo, &s->plan->map, &error) : 0;
	}
	if (ret == 0 && octo_rss_is_on(octo))
		ret = set_retas(octo, &s->plan->map, octo_pf_mask(octo, OCTO_PORT_RUNNING));
	if (ret != 0)
		give_up(octo, ret, &error);
}

/* End partitioning: remove the rules, and give all PFs the same RETA. */
void
octo_tier_partition_stop_locked(struct octo_dev *octo)
{
	struct octo_tier_partition *s = &octo->partition;

	if (!s->on)
		return;
	octo_mpfs_masked_clear(octo);
	s->on = false;
	s->stepping = false;
	s->trial.done = false;
	free(s->plan);
	s->plan = NULL;
	octo_rss_level(octo);
	octo->learning.stale = true;
}

/* PFs that came back have the common RETA: note that in the map. */
static void
see_level_pfs(struct octo_dev *octo)
{
	struct octo_tier_partition *s = &octo->partition;
	int pf;

	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_RUNNING) {
		if (!(s->level & RTE_BIT32(pf)))
			continue;
		memcpy(s->plan->map.reta[pf], octo->reta, sizeof(octo->reta));
		s->level &= ~RTE_BIT32(pf);
	}
}

/*
 * The next step only leads traffic away from a PF that is gone: there is nothing to wait
 * for.
 */
static bool
is_urgent(const struct octo_dev *octo, const struct octo_migration_step *step)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++)
		if (step->legs[i].drained != 0)
			return false;
	return step->buckets;
}

static int
apply_step(struct octo_dev *octo, struct rte_flow_error *error)
{
	struct octo_partition_plan *plan = octo->partition.plan;
	const bool must_set = has_masked_rules(octo) &&
			      (plan->step.buckets || octo->partition.stale);
	int ret = 0;

	/* before the rules are set: a loss in between makes them stale again */
	octo->partition.stale = false;
	if (must_set)
		ret = set_rules(octo, &plan->next, error);
	if (ret == 0)
		ret = set_retas(octo, &plan->next, plan->step.retas);
	plan->map = plan->next;
	return ret;
}

/* Take the next migration step. Returns whether there is more to do soon. */
static bool
take_step(struct octo_dev *octo)
{
	struct rte_flow_error error = {.message = NULL};
	struct octo_tier_partition *s = &octo->partition;
	const struct octo_migration_step *step = &s->plan->step;
	const bool urgent = is_urgent(octo, step);
	int ret;

	if (!urgent && octo_fence_arm_step_locked(octo, step) != 0)
		return true;
	ret = apply_step(octo, &error);
	if (!urgent) {
		octo_fence_step_flipped_locked(octo);
		s->stepping = true;
	}
	if (ret != 0)
		give_up(octo, ret, &error);
	return ret == 0 && !s->stale;
}

/* Continue from the current map, whatever the previous target was. */
static bool
go_on(struct octo_dev *octo)
{
	const struct octo_migration_port port = migration_port(octo);
	struct octo_tier_partition *s = &octo->partition;
	struct octo_partition_plan *plan = s->plan;

	s->stepping = s->stepping && !octo_fence_step_is_over_locked(octo);
	if (s->stepping && !s->lost)
		return true;
	s->lost = false;
	see_level_pfs(octo);
	make_target(octo, plan);
	plan->next = plan->map;
	s->settled = !octo_migration_next(&port, &plan->next, &plan->target, &plan->step) &&
		     !s->stale;
	make_room(octo, plan);
	if (s->settled || (s->stepping && !is_urgent(octo, &plan->step)))
		return s->stepping;
	return take_step(octo);
}

static uint64_t
received(const struct octo_dev *octo)
{
	const struct octo_rxq *q;
	uint64_t packets = 0;

	OCTO_FOREACH_RXQ(octo, q)
		packets += q->home_count.packets + q->stray_count.packets;
	return packets;
}

/* An upper limit of packets that were received before the rules: all rings full. */
static uint64_t
backlog(const struct octo_dev *octo)
{
	const struct octo_rxq *q;
	uint64_t packets = 0;

	OCTO_FOREACH_RXQ(octo, q)
		packets += (uint64_t)q->nb_desc * octo->nb_pfs;
	return packets;
}

/*
 * Some NICs accept rules and ignore them. The masked rules match every packet that no other
 * rule matches. So if there are no other rules, packets arrive, and no masked rule has
 * hits, they are ignored.
 */
static bool
are_ignored(struct octo_dev *octo)
{
	struct octo_tier_partition *s = &octo->partition;
	const uint64_t now = octo_now_ms();
	const uint64_t packets = received(octo);
	uint64_t hits;

	if (s->trial.done || now < s->trial.next)
		return false;
	s->trial.next = now + TRIAL_MS;
	s->trial.done = !octo_mpfs_masked_hits(octo, &hits) || hits > 0;
	if (s->trial.done)
		return false;
	if (!s->trial.begun || !TAILQ_EMPTY(&octo->rules) || octo->nb_others != 0) {
		s->trial.base = packets;
		s->trial.begun = true;
	}
	/* a queue that was set up again counts from 0 */
	return packets > s->trial.base && packets - s->trial.base > backlog(octo);
}

static void
drop_if_ignored(struct octo_dev *octo)
{
	if (!has_masked_rules(octo) || !are_ignored(octo))
		return;
	OCTO_LOG(WARNING,
		 "port %u: the NIC accepts masked rules and ignores them: "
		 "steering tier is exact now, not partition",
		 octo->port_id);
	octo->tier = OCTO_TIER_EXACT;
	octo->ignored = OCTO_IGNORED_MASKED;
	octo_tier_partition_stop_locked(octo);
}

/* Called by the control thread, and when the tier has changed: apply it. */
bool
octo_tier_partition_follow_locked(struct octo_dev *octo)
{
	const uint16_t nb_queues = octo_data(octo)->nb_rx_queues;
	struct octo_tier_partition *s = &octo->partition;
	uint8_t home[RTE_MAX_QUEUES_PER_PORT];

	octo_assert_locked(octo);
	/* without Rx queues there is no traffic to share */
	if (!is_divided(octo) || nb_queues == 0) {
		octo_tier_partition_stop_locked(octo);
		return false;
	}
	/* without a transfer proxy PF rules cannot change: keep the partition */
	if (octo->failover.seeking)
		return false;
	read_homes(octo, home);
	if (s->on && s->settled && !s->stepping && !s->stale &&
	    memcmp(home, s->home, nb_queues) == 0) {
		drop_if_ignored(octo);
		return false;
	}
	memcpy(s->home, home, nb_queues);
	if (s->on)
		return go_on(octo);
	begin(octo);
	return false;
}

bool
octo_tier_partition_leads_to_locked(const struct octo_dev *octo, uint8_t pf)
{
	const struct octo_tier_partition *s = &octo->partition;

	if (!s->on)
		return false;
	if (!has_masked_rules(octo))
		return s->stepping || octo->macs.plan.holder[pf] == pf;
	return s->stepping || s->plan->map.rest == pf ||
	       memchr(s->plan->map.bucket, pf, sizeof(s->plan->map.bucket)) != NULL;
}

/*
 * The application sets or reads an RSS setting that differs by PF: leave tier partition or mac,
 * and use one RETA for all, until the port is configured again.
 */
int
octo_tier_partition_leave_locked(struct octo_dev *octo, const char *what)
{
	if (is_divided(octo) && octo->started) {
		if (!octo_is_primary(octo, has_masked_rules(octo) ? "leave tier partition" :
								    "leave tier mac"))
			return -ENOTSUP;
		step_down(octo);
		OCTO_LOG(NOTICE, "port %u: the application %s: steering tier is %s now",
			 octo->port_id, what, octo_tier_name(octo->tier));
	}
	octo->rss_by_app = true;
	return 0;
}
