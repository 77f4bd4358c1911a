/* SPDX-License-Identifier: BSD-3-Clause */

/* Tx queues that are set up again while the port runs. */

#include <errno.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "mpsim_control.h"

#define FLOW 7
#define DESC 64

static const struct octo_port_conf two_pfs = {.replug = true};

static bool
is_offered(uint16_t port)
{
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	return (info.dev_capa & RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP) != 0;
}

static int
set_up(uint16_t port, uint16_t queue, uint16_t nb_desc, bool deferred)
{
	const struct rte_eth_txconf conf = {.tx_deferred_start = deferred};

	return rte_eth_tx_queue_setup(port, queue, nb_desc, SOCKET_ID_ANY, &conf);
}

static void
assert_leg(uint16_t pf, uint16_t queue, uint16_t nb_desc, uint8_t state)
{
	struct rte_eth_txq_info info;

	assert_int_equal(rte_eth_tx_queue_info_get(pf, queue, &info), 0);
	assert_int_equal(info.nb_desc, nb_desc);
	assert_int_equal(info.queue_state, state);
}

static void
assert_legs(uint16_t queue, uint16_t nb_desc, uint8_t state)
{
	for (unsigned int pf = 0; pf < 2; pf++)
		assert_leg(octo_port_pf(pf), queue, nb_desc, state);
}

static void
assert_slices(const struct octo_port_conf *conf, uint16_t queue, uint16_t nb_desc, uint8_t state)
{
	for (uint16_t pf = 0; pf < 2; pf++)
		assert_leg(octo_port_pf(0), conf->contiguous ? 8 * pf + queue : 2 * queue + pf,
			   nb_desc, state);
}

static uint64_t
sent_by(uint16_t port, uint16_t queue)
{
	return octo_port_xstat(port, "tx_q%u_pf0_packets", queue) +
	       octo_port_xstat(port, "tx_q%u_pf1_packets", queue);
}

static void
assert_sends(uint16_t port, uint16_t queue, unsigned int packets)
{
	const uint64_t before = sent_by(port, queue);
	struct octo_port_tally tally = {0};

	octo_port_send(port, queue, FLOW, packets);
	octo_port_receive(port, 0, packets, &tally);
	assert_int_equal(tally.packets, packets);
	assert_int_equal(tally.wrong_flow, 0);
	assert_int_equal(sent_by(port, queue), before + packets);
}

static uint16_t
up(const struct octo_port_conf *conf)
{
	const uint16_t port = octo_port_create(conf);

	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 0, NULL));
	return port;
}

/* The control thread does its rounds while the queue is there, stopped, gone and new. */
static void
check_setup(const struct octo_port_conf *conf)
{
	const uint16_t port = up(conf);
	struct rte_eth_stats stats;

	assert_true(is_offered(port));
	for (unsigned int i = 1; i <= 6; i++) {
		const uint16_t queue = i % 2;
		const uint16_t nb_desc = DESC << i % 3;

		for (uint16_t q = 0; q < 2; q++)
			assert_sends(port, q, 10);
		assert_int_equal(set_up(port, queue, nb_desc, false), -EBUSY);
		assert_int_equal(rte_eth_dev_tx_queue_stop(port, queue), 0);
		octo_port_pass_us(5000);
		assert_int_equal(set_up(port, queue, nb_desc, false), 0);
		octo_port_pass_us(5000);
		assert_int_equal(rte_eth_dev_tx_queue_start(port, queue), 0);
		if (conf->sliced)
			assert_slices(conf, queue, nb_desc, RTE_ETH_QUEUE_STATE_STARTED);
		else
			assert_legs(queue, nb_desc, RTE_ETH_QUEUE_STATE_STARTED);
		/* it is between the slices, and has what the start gave it */
		if (conf->contiguous)
			assert_leg(octo_port_pf(0), 3, OCTO_PORT_NB_DESC,
				   RTE_ETH_QUEUE_STATE_STARTED);
		for (uint16_t q = 0; q < 2; q++)
			assert_sends(port, q, 10);
		assert_int_equal(sent_by(port, 0), 20 * i);
		assert_int_equal(sent_by(port, 1), 20 * i);
	}
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.opackets, 2 * 20 * 6);
	assert_int_equal(stats.oerrors, 0);
}

static void
test_a_queue_gets_other_settings(void **state)
{
	(void)state;
	check_setup(&two_pfs);
}

static void
test_slices(void **state)
{
	(void)state;
	check_setup(&(const struct octo_port_conf){.sliced = true});
}

static void
test_idle_queues_of_slices(void **state)
{
	(void)state;
	check_setup(&(const struct octo_port_conf){.sliced = true, .contiguous = true});
}

static void
test_a_queue_that_sends_by_the_buffer(void **state)
{
	(void)state;
	check_setup(&(const struct octo_port_conf){.octo = "tx_pf=mbuf"});
}

static void
test_hidden_if_a_pf_lacks_it(void **state)
{
	const uint16_t port = up(&(const struct octo_port_conf){.pf = {NULL, "caps=-runtime"}});

	(void)state;
	assert_false(is_offered(port));
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 1), 0);
	assert_int_equal(set_up(port, 1, DESC, false), -EBUSY);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 1), 0);
	assert_sends(port, 1, 10);
}

static void
assert_pf_1_returns(uint16_t port)
{
	octo_port_remove_pf(1);
	octo_port_await(octo_port_pf_is_started(port, 1));
}

/* Neither that nor a stop of the port takes the new settings back. */
static void
test_a_pf_that_returns_has_the_new_settings(void **state)
{
	const uint16_t port = up(&two_pfs);

	(void)state;
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 1), 0);
	assert_int_equal(set_up(port, 1, DESC, false), 0);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 1), 0);
	assert_sends(port, 1, 10);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_legs(1, DESC, RTE_ETH_QUEUE_STATE_STARTED);
	assert_sends(port, 1, 10);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_legs(1, DESC, RTE_ETH_QUEUE_STATE_STARTED);
	assert_sends(port, 1, 10);
}

/* A PF comes while the queue is stopped; later it is started on both. */
static void
test_a_queue_that_is_deferred(void **state)
{
	const uint16_t port = up(&two_pfs);

	(void)state;
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 1), 0);
	assert_int_equal(set_up(port, 1, DESC, true), 0);
	assert_pf_1_returns(port);
	assert_legs(1, DESC, RTE_ETH_QUEUE_STATE_STOPPED);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 1), 0);
	assert_legs(1, DESC, RTE_ETH_QUEUE_STATE_STARTED);
	assert_sends(port, 1, 10);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_legs(1, DESC, RTE_ETH_QUEUE_STATE_STOPPED);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 1), 0);
	assert_sends(port, 1, 10);
}

/* At every start; what is between the slices is started, also where it is like that queue. */
static void
check_deferred_slices(const struct octo_port_conf *conf, uint16_t queue)
{
	const uint16_t port = octo_port_create(conf);

	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(set_up(port, queue, DESC, true), 0);
	assert_non_null(octo_port_steer(port, FLOW, 0, NULL));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rte_eth_dev_start(port), 0);
		assert_slices(conf, queue, DESC, RTE_ETH_QUEUE_STATE_STOPPED);
		assert_slices(conf, !queue, OCTO_PORT_NB_DESC, RTE_ETH_QUEUE_STATE_STARTED);
		if (conf->contiguous)
			assert_leg(octo_port_pf(0), 3, queue == 0 ? DESC : OCTO_PORT_NB_DESC,
				   RTE_ETH_QUEUE_STATE_STARTED);
		assert_int_equal(rte_eth_dev_tx_queue_start(port, queue), 0);
		assert_slices(conf, queue, DESC, RTE_ETH_QUEUE_STATE_STARTED);
		assert_sends(port, queue, 10);
		assert_int_equal(rte_eth_dev_stop(port), 0);
	}
	octo_port_destroy();
}

static void
test_queues_of_slices_that_are_deferred(void **state)
{
	(void)state;
	for (uint16_t i = 0; i < 4; i++)
		check_deferred_slices(
			&(const struct octo_port_conf){.sliced = true, .contiguous = i > 1}, i % 2);
}

/* What a PF has on its ring is lost with the stop, and counted. */
static void
test_packets_on_a_ring(void **state)
{
	const uint16_t port = up(&(const struct octo_port_conf){.all = "tx_delay_us=60000000"});

	(void)state;
	octo_port_send(port, 1, FLOW, 9);
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 1), 0);
	assert_int_equal(set_up(port, 1, DESC, false), 0);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 1), 0);
	assert_int_equal(sent_by(port, 1), 9);
	assert_int_equal(octo_port_xstat(octo_port_pf(0), "nic_dead_tx_ring_drops"), 9);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 1, DESC - 1), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 1, DESC), -EINVAL);
}

/* ethdev has released the queue before it sees that the offloads are wrong. */
static void
fail_to_set_up(uint16_t port, uint16_t queue)
{
	const struct rte_eth_txconf wrong = {.offloads = RTE_BIT64(63)};

	assert_sends(port, queue, 10);
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, queue), 0);
	assert_true(rte_eth_tx_queue_setup(port, queue, DESC, SOCKET_ID_ANY, &wrong) < 0);
	octo_port_pass_us(5000);
	assert_sends(port, 1 - queue, 10);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, queue), -EINVAL);
}

static void
set_up_at_last(uint16_t port, uint16_t queue)
{
	assert_int_equal(set_up(port, queue, DESC, false), 0);
	assert_legs(queue, DESC, RTE_ETH_QUEUE_STATE_STOPPED);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, queue), 0);
	assert_legs(queue, DESC, RTE_ETH_QUEUE_STATE_STARTED);
	assert_int_equal(sent_by(port, queue), 10);
	assert_sends(port, queue, 10);
}

static void
test_a_setup_that_fails(void **state)
{
	const uint16_t port = up(&two_pfs);

	(void)state;
	for (uint16_t queue = 0; queue < 2; queue++) {
		assert_int_equal(rte_eth_stats_reset(port), 0);
		fail_to_set_up(port, queue);
		set_up_at_last(port, queue);
	}
}

/* The other PF has its leg already. */
static void
test_a_pf_refuses_the_setup(void **state)
{
	const uint16_t port = up(&two_pfs);
	struct octo_port_faults *faults = octo_port_faults_on(1);

	(void)state;
	assert_sends(port, 1, 10);
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 1), 0);
	faults->tx_setup = ENOMEM;
	assert_int_equal(set_up(port, 1, DESC, false), -ENOMEM);
	faults->tx_setup = 0;
	octo_port_pass_us(5000);
	assert_sends(port, 0, 10);
	set_up_at_last(port, 1);
}

/* Idle Tx queues are set up like Tx queue 0, which is the one that is missing. */
static void
test_slices_return_after_a_setup_that_failed(void **state)
{
	const uint16_t port = up(
		&(const struct octo_port_conf){.sliced = true, .contiguous = true, .replug = true});

	(void)state;
	fail_to_set_up(port, 0);
	octo_port_remove_pf(0);
	octo_port_await(octo_port_pf_is_started(port, 0));
	assert_sends(port, 1, 10);
	assert_int_equal(set_up(port, 0, DESC, false), 0);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 0), 0);
	assert_sends(port, 0, 10);
}

/* It is not kept out by a queue that the application has failed to set up. */
static void
test_a_pf_returns_after_a_setup_that_failed(void **state)
{
	const uint16_t port = up(&two_pfs);

	(void)state;
	fail_to_set_up(port, 1);
	assert_pf_1_returns(port);
	assert_sends(port, 0, 10);
	set_up_at_last(port, 1);
}

static void
test_a_pf_is_drained_after_a_setup_that_failed(void **state)
{
	const uint16_t port = up(&two_pfs);

	(void)state;
	fail_to_set_up(port, 1);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,60000000"), 0);
	octo_port_await(!octo_port_pf_is_there(1));
	assert_sends(port, 0, 10);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,plug"), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
	set_up_at_last(port, 1);
}

/* The port stops, and starts when the queue is there. */
static void
test_the_port_stops_after_a_setup_that_failed(void **state)
{
	const uint16_t port = up(&two_pfs);

	(void)state;
	fail_to_set_up(port, 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), -EINVAL);
	assert_int_equal(set_up(port, 1, DESC, false), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_sends(port, 1, 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_queue_gets_other_settings),
		octo_port_test(test_slices),
		octo_port_test(test_idle_queues_of_slices),
		octo_port_test(test_a_queue_that_sends_by_the_buffer),
		octo_port_test(test_hidden_if_a_pf_lacks_it),
		octo_port_test(test_a_pf_that_returns_has_the_new_settings),
		octo_port_test(test_a_queue_that_is_deferred),
		octo_port_test(test_queues_of_slices_that_are_deferred),
		octo_port_test(test_packets_on_a_ring),
		octo_port_test(test_a_setup_that_fails),
		octo_port_test(test_a_pf_refuses_the_setup),
		octo_port_test(test_slices_return_after_a_setup_that_failed),
		octo_port_test(test_a_pf_returns_after_a_setup_that_failed),
		octo_port_test(test_a_pf_is_drained_after_a_setup_that_failed),
		octo_port_test(test_the_port_stops_after_a_setup_that_failed),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
