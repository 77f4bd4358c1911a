/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tier partition: the MPFS spreads what has no rule of its own over the PFs, in
 * proportion to their queues, and the RETA of each PF covers only these. So a
 * packet cannot stray, whichever PF it comes by. What is not hashed goes to queue
 * 0, and therefore to its home.
 *
 * The tier says what should be; here it is made so. Nothing is fenced: while
 * queues change their homes, the packets of a flow may overtake each other.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "octo_private.h"

/* How often rules that have matched nothing are looked at. */
#define TRIAL_MS 1000

static void
read_homes(const struct octo_dev *octo, uint8_t *home)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++)
		home[i] = octo_rule_home(octo, i);
}

/* Only of PFs that are there: rules never lead to others. */
static int
set_retas(struct octo_dev *octo)
{
	const uint16_t nb_queues = octo_data(octo)->nb_rx_queues;
	uint16_t reta[OCTO_MAX_RETA];
	int pf;

	if (!octo_rss_is_on(octo))
		return 0;
	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED) {
		int ret;

		octo_partition_reta(octo->spreading.home, nb_queues, (uint8_t)pf, reta,
				    octo->reta_size);
		ret = octo_rss_set_pf_reta(octo, (uint8_t)pf, reta);
		if (ret != 0)
			return ret;
	}
	return 0;
}

/* What is not hashed is not spread: it would go to queue 0 of any PF. */
static int
set_rules(struct octo_dev *octo, struct rte_flow_error *error)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint64_t hf = octo_rss_is_on(octo) ? data->dev_conf.rx_adv_conf.rss_conf.rss_hf : 0;
	struct octo_partition_rule *rules = calloc(OCTO_PARTITION_MAX_RULES, sizeof(*rules));
	struct octo_spread spread = {
		.rules = rules,
		.ipv4 = (hf & RTE_ETH_RSS_IPV4) != 0,
		.ipv6 = (hf & RTE_ETH_RSS_IPV6) != 0,
		.default_pf = octo->spreading.home[0],
	};
	uint16_t queues[OCTO_MAX_PFS] = {0};
	int ret;

	if (rules == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < data->nb_rx_queues; i++)
		queues[octo->spreading.home[i]]++;
	spread.nb_rules = octo_partition_rules(queues, octo->nb_pfs, rules);
	ret = octo->mpfs_ops->spread(octo, &spread, error);
	free(rules);
	return ret;
}

/* First the rules: those that lead to a PF that is gone lead nowhere. */
static void
spread(struct octo_dev *octo)
{
	struct rte_flow_error error = {.message = NULL};
	int ret;

	octo->spreading.on = true;
	octo->spreading.stale = false;
	octo->spreading.trial.begun = false;
	octo->spreading.trial.next = octo_truth_now() + TRIAL_MS;
	ret = set_rules(octo, &error);
	if (ret == 0)
		ret = set_retas(octo);
	if (ret == 0)
		return;
	OCTO_LOG(WARNING, "port %u: traffic cannot be spread: steering tier is exact now: %s",
		 octo->port_id, error.message != NULL ? error.message : rte_strerror(-ret));
	octo->tier = OCTO_TIER_EXACT;
	octo_spread_stop_locked(octo);
}

/* The rules go with the manager PF if that is gone; the RETAs are all queues again. */
void
octo_spread_stop_locked(struct octo_dev *octo)
{
	if (!octo->spreading.on)
		return;
	octo->mpfs_ops->unspread(octo);
	octo->spreading.on = false;
	octo->spreading.trial.done = false;
	octo_rss_level(octo);
	octo_learn_adapt_locked(octo);
}

static uint64_t
received(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	uint64_t packets = 0;

	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		const struct octo_rxq *q = data->rx_queues[i];

		packets += q->home_count.packets + q->stray_count.packets;
	}
	return packets;
}

/* As many packets as may have come before the rules: what all rings can hold. */
static uint64_t
backlog(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	uint64_t packets = 0;

	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		const struct octo_rxq *q = data->rx_queues[i];

		packets += (uint64_t)q->nb_desc * octo->nb_pfs;
	}
	return packets;
}

/*
 * Some NICs accept rules and ignore them. Of these rules one matches whatever has
 * no rule of its own; so where nothing has one, and packets come, one must.
 */
static bool
are_ignored(struct octo_dev *octo)
{
	struct octo_spreading *s = &octo->spreading;
	const uint64_t now = octo_truth_now();
	const uint64_t packets = received(octo);
	uint64_t hits;

	if (s->trial.done || now < s->trial.next)
		return false;
	s->trial.next = now + TRIAL_MS;
	s->trial.done = !octo->mpfs_ops->spread_hits(octo, &hits) || hits > 0;
	if (s->trial.done)
		return false;
	if (!s->trial.begun || !TAILQ_EMPTY(&octo->rules) || octo->nb_others != 0) {
		s->trial.base = packets;
		s->trial.begun = true;
	}
	return packets - s->trial.base > backlog(octo);
}

static void
drop_if_ignored(struct octo_dev *octo)
{
	if (!are_ignored(octo))
		return;
	OCTO_LOG(WARNING,
		 "port %u: the NIC accepts masked rules and ignores them: "
		 "steering tier is exact now, not partition",
		 octo->port_id);
	octo->tier = OCTO_TIER_EXACT;
	octo->ignored = "masked";
	octo_spread_stop_locked(octo);
}

/* By the control thread, and whenever the tier changed: do as it says. */
void
octo_spread_follow_locked(struct octo_dev *octo)
{
	const uint16_t nb_queues = octo_data(octo)->nb_rx_queues;
	uint8_t home[RTE_MAX_QUEUES_PER_PORT];

	if (octo->tier != OCTO_TIER_PARTITION) {
		octo_spread_stop_locked(octo);
		return;
	}
	/* until there is a manager again, what there was is all that there can be */
	if (octo->failover.seeking)
		return;
	read_homes(octo, home);
	if (octo->spreading.on && !octo->spreading.stale &&
	    memcmp(home, octo->spreading.home, nb_queues) == 0) {
		drop_if_ignored(octo);
		return;
	}
	memcpy(octo->spreading.home, home, nb_queues);
	spread(octo);
}

/*
 * The application sets or asks for what is different on each PF now: it gets what
 * it knows, one RETA for all of them, until it configures the port again.
 */
int
octo_spread_leave_locked(struct octo_dev *octo, const char *what)
{
	if (octo->tier == OCTO_TIER_PARTITION && octo->started) {
		if (!octo_is_primary(octo, "leave tier partition"))
			return -ENOTSUP;
		octo->tier = OCTO_TIER_EXACT;
		octo_spread_stop_locked(octo);
		OCTO_LOG(NOTICE, "port %u: the application %s: steering tier is exact now",
			 octo->port_id, what);
	}
	octo->rss_by_app = true;
	return 0;
}
