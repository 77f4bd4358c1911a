/* SPDX-License-Identifier: BSD-3-Clause */

#include <ethdev_driver.h>

#include "mpsim_control.h"
#include "octo_port_random.h"

static struct random_port *const r = &random_port;

static void
see_whether_it_runs(void)
{
	r->stopped = rte_eth_devices[r->port].data->dev_started == 0;
}

void
random_start(void)
{
	int ret;

	random_agent_hide(true);
	ret = rte_eth_dev_start(r->port);
	random_agent_hide(false);
	random_say("start: %d", ret);
	see_whether_it_runs();
}

void
random_stop(void)
{
	int ret = rte_eth_dev_stop(r->port);

	random_say("stop: %d", ret);
	see_whether_it_runs();
}

int
random_set_up_queue(uint16_t queue, bool deferred)
{
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(r->port, &info);

	if (ret != 0)
		return ret;
	info.default_rxconf.rx_deferred_start = deferred;
	ret = rte_eth_rx_queue_setup(r->port, queue, OCTO_PORT_NB_DESC, SOCKET_ID_ANY,
				     &info.default_rxconf, octo_port_pool);
	random_say("rx queue %u set up, deferred %d: %d", queue, deferred, ret);
	return ret;
}

void
random_op_stop_or_start(void)
{
	if (!r->stopped && random_one_in(12))
		random_stop();
	if (!r->stopped)
		return;
	octo_port_pass_us(random_below(20000));
	if (random_one_in(4))
		random_set_up_queue(random_below(RANDOM_QUEUES), random_one_in(3));
	if (r->unconfigured || random_one_in(6))
		random_bring_up();
	else if (random_one_in(2))
		random_start();
}

/* Rules may need more. */
void
random_op_nb_queues(void)
{
	const uint16_t before = r->nb_queues;

	if (!random_one_in(12))
		return;
	random_stop();
	if (!r->stopped)
		return;
	r->nb_queues = 1 + random_below(RANDOM_QUEUES);
	if (rte_eth_devices[r->port].data->nb_rx_queues != r->nb_queues && random_bring_up() != 0)
		r->nb_queues = before;
}

void
random_op_rx_queue(void)
{
	const uint16_t queue = 1 + random_below(RANDOM_QUEUES - 1);
	int ret;

	if (r->stopped || !random_one_in(3))
		return;
	if (random_rx_runs(queue)) {
		ret = rte_eth_dev_rx_queue_stop(r->port, queue);
		random_say("rx queue %u stop: %d", queue, ret);
		if (ret == 0 && random_one_in(2))
			random_set_up_queue(queue, random_one_in(2));
		return;
	}
	ret = rte_eth_dev_rx_queue_start(r->port, queue);
	random_say("rx queue %u start: %d", queue, ret);
	/* a set-up that a PF refused has released the queue */
	if (ret != 0)
		random_set_up_queue(queue, random_one_in(2));
}

static void
set_up_tx_queue(uint16_t queue)
{
	int ret = rte_eth_tx_queue_setup(r->port, queue, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL);

	random_say("tx queue %u set up: %d", queue, ret);
}

void
random_op_tx_queue(void)
{
	const uint16_t queue = 1 + random_below(RANDOM_QUEUES - 1);
	int ret;

	if (r->stopped || !random_one_in(3))
		return;
	if (random_tx_runs(queue)) {
		ret = rte_eth_dev_tx_queue_stop(r->port, queue);
		random_say("tx queue %u stop: %d", queue, ret);
		if (ret == 0 && random_one_in(2))
			set_up_tx_queue(queue);
		return;
	}
	ret = rte_eth_dev_tx_queue_start(r->port, queue);
	random_say("tx queue %u start: %d", queue, ret);
	if (ret != 0)
		set_up_tx_queue(queue);
}

void
random_op_reset(void)
{
	int ret;

	if (!random_one_in(20))
		return;
	ret = rte_eth_dev_reset(r->port);
	random_say("reset: %d", ret);
	see_whether_it_runs();
	if (ret == -ENOTSUP || ret == -EPERM)
		return;
	random_forget_objects();
	r->unconfigured = true;
	random_bring_up();
}

/* A port that is closed leaves no rule, and another one begins anew. */
void
random_op_close(void)
{
	struct mpsim_account account;

	if (!random_one_in(20) || !random_is_whole())
		return;
	random_say("close");
	octo_port_close_and_remove(r->port);
	random_forget_objects();
	if (rte_pmd_mpsim_account_get("T", &account) == 0)
		assert_true(account.rules == 0 || r->may_keep);
	octo_port_await_interrupts();
	r->port = octo_port_create(r->conf);
	r->unconfigured = true;
	r->stopped = true;
	random_reset_counters();
	random_forget_xstats();
	r->nb_groups = 0;
	random_bring_up();
}
