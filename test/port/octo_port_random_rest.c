/* SPDX-License-Identifier: BSD-3-Clause */

#include <ethdev_driver.h>

#include "mpsim.h"
#include "mpsim_control.h"
#include "octo_port_random.h"
#include "octo_private.h"
#include "rte_pmd_octo.h"

/* After the last fault: a PF that could not join is tried again a minute later. */
#define ROUND_US 5000
#define MAX_ROUNDS 20000
#define PENDING_ROUNDS 100
#define REST_ROUNDS 1200

static struct random_port *const r = &random_port;

bool
random_is_whole(void)
{
	for (unsigned int pf = 0; pf < r->nb_ports; pf++)
		if (!octo_port_pf_is_there(pf) || !octo_port_pf_is_started(r->port, pf))
			return false;
	return !r->stopped && rte_eth_devices[r->port].data->nb_rx_queues == r->nb_queues &&
	       octo_port_xstat(r->port, "usable_pfs") == r->conf->nb_pfs;
}

void
random_rest(unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++) {
		random_poll_all();
		octo_port_pass_us(ROUND_US);
	}
	random_check_counters();
}

static void
start_queues(void)
{
	for (uint16_t q = 0; q < RANDOM_QUEUES; q++) {
		if (!random_rx_runs(q) && rte_eth_dev_rx_queue_start(r->port, q) != 0) {
			assert_int_equal(random_set_up_queue(q, false), 0);
			rte_eth_dev_rx_queue_start(r->port, q);
		}
		if (!random_tx_runs(q) && rte_eth_dev_tx_queue_start(r->port, q) != 0) {
			assert_int_equal(rte_eth_tx_queue_setup(r->port, q, OCTO_PORT_NB_DESC,
								SOCKET_ID_ANY, NULL),
					 0);
			rte_eth_dev_tx_queue_start(r->port, q);
		}
		assert_true(random_rx_runs(q));
		assert_true(random_tx_runs(q));
	}
}

void
random_settle(void)
{
	random_step(UINT32_MAX);
	random_say("settle");
	octo_port_run_on(0);
	random_agent_heal();
	random_relent();
	rte_eth_dev_set_link_up(r->port);
	random_fault("T,clear");
	for (unsigned int pf = 0; pf < r->nb_ports; pf++)
		random_fault("%s,clear", octo_port_pf_name(pf));
	r->nb_queues = RANDOM_QUEUES;
	/* a PF may be about to go */
	random_rest(PENDING_ROUNDS);
	for (unsigned int round = 0; round < MAX_ROUNDS && !random_is_whole(); round++) {
		if (rte_eth_devices[r->port].data->nb_rx_queues != r->nb_queues && !r->stopped)
			random_stop();
		if (r->unconfigured ||
		    (r->stopped && rte_eth_devices[r->port].data->nb_rx_queues != r->nb_queues))
			random_bring_up();
		else if (r->stopped)
			random_start();
		for (unsigned int pf = 0; pf < r->nb_ports && round % 100 == 0; pf++)
			random_heal(pf);
		random_rest(1);
	}
	assert_true(random_is_whole());
	/* the NIC keeps its own while none of its PFs is there */
	random_fault("T,clear");
	start_queues();
	assert_int_equal(rte_flow_isolate(r->port, 0, NULL), 0);
	rte_eth_timesync_disable(r->port);
	if (r->has_table)
		rte_flow_push(r->port, 0, NULL);
	random_rest(REST_ROUNDS);
	random_pull();
}

/* Rules of 5-tuples are on every PF, and on the switch; learned ones on the switch only. */
static void
check_tables(void)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[r->port]);
	unsigned int transfers = 0, rules = 0;
	const struct mpsim_nic *nic;

	/* what a PF refused to destroy in a flush is there until it is closed */
	if (r->conf->sliced || r->may_keep)
		return;
	for (unsigned int i = 0; i < RANDOM_FLOWS; i++)
		rules += r->flow[i].rule != NULL;
	rules += random_nb_steered();
	for (unsigned int i = 0; i < 2; i++)
		transfers += r->other[i] != NULL;
	mpsim_control_lock();
	nic = mpsim_nic_find("T");
	mpsim_control_unlock();
	assert_non_null(nic);
	if (r->by_agent)
		random_agent_check();
	else if (octo_tier_has_mpfs(octo->tier))
		transfers += octo_port_xstat(r->port, "steered_flows");
	for (unsigned int pf = 0; pf < r->nb_ports; pf++)
		if (nic->pf[pf]->arfs.count != rules)
			fail_msg("PF %u has %u rules, not %u", pf, nic->pf[pf]->arfs.count, rules);
	if (nic->mpfs.count != transfers)
		fail_msg("the switch has %u rules, not %u", nic->mpfs.count, transfers);
}

static void
check_flow(struct random_flow *f)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[r->port]);
	const uint16_t src_port = RANDOM_FIRST_PORT + (f - r->flow);
	/* after a fall to the tier below mac, each PF gets every packet */
	const uint64_t copies = r->by_mac && !random_mac_is_apart() ? r->nb_ports : 1;
	struct octo_port_tally tally = {0};
	uint64_t before;

	if (f->rule == NULL)
		return;
	random_say("check of %u", src_port);
	assert_false(f->pending);
	if (f->handle >= 0)
		f->queue = r->handle[f->handle].queue;
	/* of slices, a shared action names the leg, and a rule that ages is generic */
	if (((f->handle < 0 && !f->ages && !f->shared) || !r->conf->sliced) &&
	    octo_tier_has_mpfs(octo->tier) &&
	    octo_port_rule_pf(r->port, src_port) != octo_topo_home_of(octo, f->queue))
		fail_msg("flow %u is on PF %d, its queue %u on %u", src_port,
			 octo_port_rule_pf(r->port, src_port), f->queue,
			 octo_topo_home_of(octo, f->queue));
	random_query(f);
	before = f->hits;
	assert_int_equal(random_send(f - r->flow, 0, 10), 10);
	/* one more than may come */
	octo_port_receive(r->port, f->queue, 10 * copies + r->by_mac, &tally);
	if (tally.packets != 10 * copies)
		fail_msg("of 10 packets of flow %u %" PRIu64 " came by queue %u", src_port,
			 tally.packets, f->queue);
	assert_int_equal(tally.wrong_flow, 0);
	r->received += tally.packets;
	random_query(f);
	if (f->counts && f->hits != before + 10 * random_mac_hits(f - r->flow))
		fail_msg("flow %u: %" PRIu64 " hits, before %" PRIu64, src_port, f->hits, before);
}

static void
check_all_came(void)
{
	if (r->mode != RANDOM_GENTLE)
		return;
	for (unsigned int i = 0; i < RANDOM_ALL; i++)
		for (uint32_t n = 0; n < r->traffic[i].sent; n++)
			if ((r->traffic[i].came[n / 64] >> n % 64 & 1) == 0)
				fail_msg("packet %u of flow %u is lost", n, i);
	assert_int_equal(octo_port_xstat(r->port, "fence_timeouts"), 0);
}

void
random_check_rest(void)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[r->port]);

	assert_int_equal(octo->fences.nb_open, 0);
	assert_int_equal(octo->lingering.nb, 0);
	assert_false(octo->failover.pending);
	assert_false(octo->failover.seeking);
	assert_false(octo->sync.others);
	check_all_came();
	random_check_settings();
	check_tables();
	for (unsigned int i = 0; i < RANDOM_FLOWS; i++)
		check_flow(&r->flow[i]);
	random_check_counters();
	/* until now the handler of a removal may not have read the PF's last counters */
	if (r->stats.ipackets + r->received_before < r->received && r->mode != RANDOM_FORGETS)
		fail_msg("of %" PRIu64 " packets %" PRIu64 " were counted",
			 r->received - r->received_before, r->stats.ipackets);
	assert_true(r->stats.ipackets <= r->sent - r->sent_before || r->sent_before != 0 ||
		    r->by_mac);
}

static void
destroy_all(void)
{
	struct rte_flow_error error;

	for (unsigned int i = 0; i < RANDOM_FLOWS; i++)
		if (r->flow[i].rule != NULL &&
		    rte_flow_destroy(r->port, r->flow[i].rule, &error) != 0)
			fail_msg("destruction of flow %u: %s", i, error.message);
	for (unsigned int i = 0; i < RANDOM_OTHERS; i++)
		if (r->other[i] != NULL)
			assert_int_equal(rte_flow_destroy(r->port, r->other[i], NULL), 0);
	for (unsigned int i = 0; i < RANDOM_HANDLES; i++)
		if (r->handle[i].action != NULL)
			assert_int_equal(
				rte_flow_action_handle_destroy(r->port, r->handle[i].action, NULL),
				0);
	if (r->count != NULL)
		assert_int_equal(rte_flow_action_handle_destroy(r->port, r->count, NULL), 0);
	assert_true(rte_pmd_octo_steer_remove_all(r->port, &error) >= 0);
	if (r->has_table)
		octo_port_table_destroy(&r->table);
	random_forget_objects();
}

void
random_check_end(void)
{
	struct mpsim_account account;

	destroy_all();
	random_rest(200);
	random_stop();
	assert_true(r->stopped);
	assert_int_equal(rte_pmd_mpsim_account_get("T", &account), 0);
	assert_true(account.rules == 0 || r->may_keep);
	octo_port_destroy();
	random_watch_pfs(false);
	if (r->by_agent)
		random_agent_end();
	assert_int_equal(rte_mempool_in_use_count(octo_port_pool), 0);
}
