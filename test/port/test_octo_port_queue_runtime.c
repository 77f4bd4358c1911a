/* SPDX-License-Identifier: BSD-3-Clause */

/* Queues that are stopped, started, or set up again while the port runs. */

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include <ethdev_driver.h>

#include "mpsim_control.h"
#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_private.h"

#define FLOW 7
#define DESC 64

static const struct octo_port_conf two_pfs = {.replug = true};

static bool
is_offered(uint16_t port)
{
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	return (info.dev_capa & RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP) != 0;
}

static int
set_up(uint16_t port, uint16_t queue, uint16_t nb_desc, bool deferred, struct rte_mempool *pool)
{
	const struct rte_eth_rxconf conf = {.rx_deferred_start = deferred};

	return rte_eth_rx_queue_setup(port, queue, nb_desc, SOCKET_ID_ANY, &conf, pool);
}

static void
assert_leg(uint16_t pf, uint16_t queue, uint16_t nb_desc, const struct rte_mempool *pool,
	   uint8_t state)
{
	struct rte_eth_rxq_info info;

	assert_int_equal(rte_eth_rx_queue_info_get(pf, queue, &info), 0);
	assert_ptr_equal(info.mp, pool);
	assert_int_equal(info.nb_desc, nb_desc);
	assert_int_equal(info.queue_state, state);
}

static void
assert_legs(uint16_t queue, uint16_t nb_desc, const struct rte_mempool *pool, uint8_t state)
{
	for (unsigned int pf = 0; pf < 2; pf++)
		assert_leg(octo_port_pf(pf), queue, nb_desc, pool, state);
}

static uint64_t
hits_of(uint16_t port, struct rte_flow *rule)
{
	const struct rte_flow_action count[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
						{.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_query_count got = {0};

	assert_int_equal(rte_flow_query(port, rule, count, &got, NULL), 0);
	return got.hits;
}

static struct rte_flow *
steer_and_count(uint16_t port, uint16_t src_port, uint16_t queue)
{
	const struct rte_flow_action_queue index = {.index = queue};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = RTE_FLOW_ACTION_TYPE_COUNT},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_flow_rule r;

	octo_port_build(&r, src_port, queue);
	return rte_flow_create(port, &r.attr, r.pattern, actions, NULL);
}

/* The control thread does its rounds while the queue is there, stopped, gone and new. */
static void
check_setup(const struct octo_port_conf *conf)
{
	struct rte_mempool *other = rte_pktmbuf_pool_create(
		"other", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	const uint16_t port = octo_port_create(conf);
	struct rte_eth_stats stats;
	struct rte_flow *rule[2];
	uint64_t sent = 0;

	assert_non_null(other);
	octo_port_up(port, 2);
	assert_true(is_offered(port));
	for (uint16_t q = 0; q < 2; q++) {
		rule[q] = steer_and_count(port, FLOW + q, q);
		assert_non_null(rule[q]);
	}
	for (unsigned int i = 1; i <= 6; i++) {
		const uint16_t queue = i % 2;

		for (uint16_t q = 0; q < 2; q++)
			octo_port_assert_arrives(port, FLOW + q, q, 10);
		sent += 10;
		assert_int_equal(set_up(port, queue, DESC, false, other), -EBUSY);
		assert_int_equal(rte_eth_dev_rx_queue_stop(port, queue), 0);
		octo_port_pass_us(5000);
		assert_int_equal(
			set_up(port, queue, DESC << i % 3, false, i < 5 ? other : octo_port_pool),
			0);
		octo_port_pass_us(5000);
		assert_int_equal(rte_eth_dev_rx_queue_start(port, queue), 0);
		if (!conf->sliced)
			assert_legs(queue, DESC << i % 3, i < 5 ? other : octo_port_pool,
				    RTE_ETH_QUEUE_STATE_STARTED);
		/* it is between the slices */
		if (conf->contiguous && queue == 0)
			assert_leg(octo_port_pf(0), 3, DESC << i % 3,
				   i < 5 ? other : octo_port_pool, RTE_ETH_QUEUE_STATE_STARTED);
		for (uint16_t q = 0; q < 2; q++) {
			octo_port_assert_arrives(port, FLOW + q, q, 10);
			assert_int_equal(octo_port_xstat(port, "rx_q%u_packets", q), sent + 10);
			assert_int_equal(octo_port_xstat(port, "rx_q%u_home_packets", q),
					 sent + 10);
			assert_int_equal(hits_of(port, rule[q]), sent + 10);
		}
		sent += 10;
		assert_int_equal(rte_eth_stats_get(port, &stats), 0);
		assert_int_equal(stats.ipackets, 2 * sent);
	}
	octo_port_destroy();
	assert_int_equal(rte_mempool_in_use_count(other), 0);
	rte_mempool_free(other);
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

/* Idle queues are like queue 0, whose pool may be freed by who gave it another. */
static void
test_idle_queues_of_slices(void **state)
{
	(void)state;
	check_setup(&(const struct octo_port_conf){.sliced = true, .contiguous = true});
}

static void
test_hidden_if_a_pf_lacks_it(void **state)
{
	const struct octo_port_conf conf = {.pf = {NULL, "caps=-runtime"}};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 2);
	assert_false(is_offered(port));
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	assert_int_equal(set_up(port, 1, DESC, false, octo_port_pool), -EBUSY);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_assert_arrives(port, FLOW, 1, 10);
}

/* Neither that nor a stop of the port takes the new settings back. */
static void
test_a_pf_that_returns_has_the_new_settings(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	assert_int_equal(set_up(port, 1, DESC, false, octo_port_pool), 0);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
	octo_port_assert_arrives(port, FLOW, 1, 10);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, FLOW, 1, 1));
	assert_legs(1, DESC, octo_port_pool, RTE_ETH_QUEUE_STATE_STARTED);
	octo_port_assert_arrives(port, FLOW, 1, 10);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_legs(1, DESC, octo_port_pool, RTE_ETH_QUEUE_STATE_STARTED);
	octo_port_assert_arrives(port, FLOW, 1, 10);
}

/* A PF comes while the queue is stopped; later it is started on both. */
static void
test_a_queue_that_is_deferred(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	assert_int_equal(set_up(port, 1, DESC, true, octo_port_pool), 0);
	octo_port_remove_pf(1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_legs(1, DESC, octo_port_pool, RTE_ETH_QUEUE_STATE_STOPPED);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
	assert_legs(1, DESC, octo_port_pool, RTE_ETH_QUEUE_STATE_STARTED);
	octo_port_assert_arrives(port, FLOW, 1, 10);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_legs(1, DESC, octo_port_pool, RTE_ETH_QUEUE_STATE_STOPPED);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
	octo_port_assert_arrives(port, FLOW, 1, 10);
}

static void
assert_slices(const struct octo_port_conf *conf, uint16_t queue, uint16_t nb_desc, uint8_t state)
{
	for (uint16_t pf = 0; pf < 2; pf++)
		assert_leg(octo_port_pf(0), conf->contiguous ? 8 * pf + queue : 2 * queue + pf,
			   nb_desc, octo_port_pool, state);
}

/* At every start; what is between the slices is started, also where it is like that queue. */
static void
check_deferred_slices(const struct octo_port_conf *conf, uint16_t queue)
{
	const uint16_t port = octo_port_create(conf);

	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(set_up(port, queue, DESC, true, octo_port_pool), 0);
	assert_non_null(octo_port_steer(port, FLOW, queue, NULL));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rte_eth_dev_start(port), 0);
		assert_slices(conf, queue, DESC, RTE_ETH_QUEUE_STATE_STOPPED);
		assert_slices(conf, !queue, OCTO_PORT_NB_DESC, RTE_ETH_QUEUE_STATE_STARTED);
		if (conf->contiguous)
			assert_leg(octo_port_pf(0), 3, queue == 0 ? DESC : OCTO_PORT_NB_DESC,
				   octo_port_pool, RTE_ETH_QUEUE_STATE_STARTED);
		assert_int_equal(rte_eth_dev_rx_queue_start(port, queue), 0);
		assert_slices(conf, queue, DESC, RTE_ETH_QUEUE_STATE_STARTED);
		octo_port_assert_arrives(port, FLOW, queue, 10);
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

/* A flow that moved to the queue is home there at once. */
static void
test_rules_made_while_it_is_stopped(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	for (int i = 0; i < 3; i++) {
		struct rte_flow *rule;

		assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
		assert_int_equal(set_up(port, 1, DESC, false, octo_port_pool), 0);
		rule = octo_port_steer(port, FLOW, 1, NULL);
		assert_non_null(rule);
		assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
		octo_port_assert_arrives(port, FLOW, 1, 10);
		assert_int_equal(octo_port_rule_pf(port, FLOW), 1);
		assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	}
	assert_int_equal(octo_port_strays(port), 0);
}

/* The pool has too few mbufs for full rings of this queue; those of the other one stay. */
static void
test_its_rings_are_as_large_as_the_pool_allows(void **state)
{
	struct rte_mempool *small = rte_pktmbuf_pool_create(
		"small", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_rxq_info info;

	(void)state;
	assert_non_null(small);
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	assert_int_equal(set_up(port, 1, 2048, false, small), 0);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
	assert_int_equal(rte_eth_rx_queue_info_get(octo_port_pf(0), 1, &info), 0);
	assert_in_range(info.nb_desc, 1, 1024);
	assert_legs(1, info.nb_desc, small, RTE_ETH_QUEUE_STATE_STARTED);
	assert_legs(0, OCTO_PORT_NB_DESC, octo_port_pool, RTE_ETH_QUEUE_STATE_STARTED);
	octo_port_destroy();
	rte_mempool_free(small);
}

/* ethdev has released the queue before it sees that the offloads are wrong. */
static void
test_a_setup_that_fails(void **state)
{
	const struct rte_eth_rxconf wrong = {.offloads = RTE_BIT64(63)};
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_view_queue view;
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_assert_arrives(port, FLOW, 1, 10);
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	assert_true(rte_eth_rx_queue_setup(port, 1, DESC, SOCKET_ID_ANY, &wrong, octo_port_pool) <
		    0);
	octo_port_pass_us(5000);
	/* rules that lead to it go on existing */
	rule = octo_port_steer(port, FLOW + 1, 1, NULL);
	assert_non_null(rule);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	/* nor do its counters go back */
	assert_int_equal(octo_port_xstat(port, "rx_q1_packets"), 10);
	assert_int_equal(octo_port_xstat(port, "rx_q1_home_packets"), 10);
	assert_int_equal(octo_view_queue(port, 1, &view), 0);
	assert_int_equal(view.home_packets, 10);
	assert_int_equal(set_up(port, 1, DESC, false, octo_port_pool), 0);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
	octo_port_assert_arrives(port, FLOW, 1, 10);
	assert_int_equal(octo_port_xstat(port, "rx_q1_packets"), 20);
}

static struct {
	uint8_t rx;
	uint8_t tx;
} released;

static void
note_states(struct octo_dev *octo)
{
	released.rx = octo_data(octo)->rx_queue_state[0];
	released.tx = octo_data(octo)->tx_queue_state[0];
}

static void
start_and_stop(uint16_t port)
{
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 0), 0);
	assert_int_equal(released.rx, RTE_ETH_QUEUE_STATE_STOPPED);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 0), 0);
	assert_int_equal(released.rx, RTE_ETH_QUEUE_STATE_STARTED);
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 0), 0);
	assert_int_equal(released.tx, RTE_ETH_QUEUE_STATE_STOPPED);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 0), 0);
	assert_int_equal(released.tx, RTE_ETH_QUEUE_STATE_STARTED);
}

/* A PF may join as soon as the control mutex is released, and reads the states. */
static void
test_a_pf_that_joins_sees_the_state_of_a_queue(void **state)
{
	static const struct octo_hooks noting = {.settle_events_locked = note_states};
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	const struct octo_hooks *real = octo_hooks;

	(void)state;
	octo_port_up(port, 1);
	octo_hooks = &noting;
	rte_atomic_store_explicit(&octo->posted, true, rte_memory_order_relaxed);
	start_and_stop(port);
	rte_atomic_store_explicit(&octo->posted, false, rte_memory_order_relaxed);
	octo_hooks = real;
}

/* The queue that this thread polls, and its epoch when it woke the control thread. */
static __thread const struct octo_rxq *polled;
static uint32_t epoch_of_wake;
static unsigned int wakes;

ssize_t
write(int fd, const void *buf, size_t nb)
{
	static ssize_t (*real)(int, const void *, size_t);

	if (real == NULL)
		real = (ssize_t(*)(int, const void *, size_t))(uintptr_t)dlsym(RTLD_NEXT, __func__);
	if (polled != NULL && fd == polled->octo->ctrl.wake_fd) {
		epoch_of_wake = rte_atomic_load_explicit(&polled->epoch.value,
							 rte_memory_order_relaxed);
		wakes++;
	}
	return real(fd, buf, nb);
}

static void
poll_until_home_changes(uint16_t port)
{
	const struct octo_rxq *q = rte_eth_devices[port].data->rx_queues[0];
	struct octo_port_tally tally = {0};

	wakes = 0;
	for (int i = 0; i < 100000 && wakes == 0; i++) {
		polled = q;
		octo_port_poll(port, 0, 32, &tally);
		polled = NULL;
	}
	assert_int_equal(wakes, 1);
	assert_int_equal(rte_atomic_load_explicit(&q->epoch.value, rte_memory_order_relaxed),
			 epoch_of_wake);
}

/* Once it has left its epoch, a burst uses the queue no more, which may be freed then. */
static void
test_a_burst_wakes_the_control_thread_last(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .octo = "dwell_ms=0"};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_run_on(0);
	octo_port_up(port, 1);
	octo_port_run_on(1);
	poll_until_home_changes(port);
}

/* The PF that is drained may still receive by the other queues. */
static void
test_a_pf_is_drained_without_a_queue(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *faults;

	(void)state;
	octo_port_up(port, 2);
	faults = octo_port_faults_on(1);
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	faults->rx_setup = ENOMEM;
	assert_int_equal(set_up(port, 1, DESC, false, octo_port_pool), -ENOMEM);
	faults->rx_setup = 0;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,60000000"), 0);
	octo_port_await(!octo_port_pf_is_there(1));
	assert_int_equal(set_up(port, 1, DESC, false, octo_port_pool), 0);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,plug"), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
}

static int (*real_start)(struct rte_eth_dev *dev);
static unsigned int starts;

static int
count_start(struct rte_eth_dev *dev)
{
	starts++;
	return real_start(dev);
}

/* PMDs start a port whatever queues it has, and a queue that is not there crashes some of them. */
static void
test_a_pf_is_not_started_without_a_queue(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(1)];
	struct octo_port_faults *faults;
	const struct eth_dev_ops *real;
	struct eth_dev_ops ops;

	(void)state;
	octo_port_up(port, 2);
	faults = octo_port_faults_on(1);
	real = pf->dev_ops;
	ops = *real;
	real_start = ops.dev_start;
	ops.dev_start = count_start;
	pf->dev_ops = &ops;
	starts = 0;
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	faults->rx_setup = ENOMEM;
	assert_int_equal(set_up(port, 1, DESC, false, octo_port_pool), -ENOMEM);
	faults->rx_setup = 0;
	rte_eth_dev_callback_process(pf, RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	rte_eth_dev_callback_process(pf, RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_pass_us(20000000);
	assert_int_equal(starts, 0);
	assert_false(octo_port_pf_is_started(port, 1));
	assert_int_equal(set_up(port, 1, DESC, false, octo_port_pool), 0);
	/* it was not put off */
	octo_port_pass_us(500000);
	assert_true(octo_port_pf_is_started(port, 1));
	assert_int_equal(starts, 1);
	pf->dev_ops = real;
}

#define REFUSED 5

static int (*real_setup)(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc,
			 unsigned int socket, const struct rte_eth_rxconf *conf,
			 struct rte_mempool *pool);

static int
refuse_one(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
	   const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	return queue == REFUSED ? -ENOMEM : real_setup(dev, queue, nb_desc, socket, conf, pool);
}

static void
assert_is_missing(uint16_t port, uint16_t queue)
{
	assert_null(rte_eth_devices[port].data->rx_queues[queue]);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, queue), -EINVAL);
	octo_port_pass_us(5000);
}

static void
assert_works_once_it_is_set_up(uint16_t port, uint16_t queue)
{
	assert_int_equal(set_up(port, queue, DESC, false, octo_port_pool), 0);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, queue), 0);
	octo_port_assert_arrives(port, FLOW, queue, 10);
}

/* There is no half of a queue. */
static void
test_an_idle_queue_is_refused(void **state)
{
	const struct octo_port_conf contiguous = {.sliced = true, .contiguous = true};
	const uint16_t port = octo_port_create(&contiguous);
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(0)];
	const struct eth_dev_ops *real = pf->dev_ops;
	struct eth_dev_ops ops = *real;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 0, NULL));
	real_setup = ops.rx_queue_setup;
	ops.rx_queue_setup = refuse_one;
	pf->dev_ops = &ops;
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 0), 0);
	assert_int_equal(set_up(port, 0, DESC, false, octo_port_pool), -ENOMEM);
	pf->dev_ops = real;
	assert_is_missing(port, 0);
	assert_works_once_it_is_set_up(port, 0);
}

static void
test_a_descriptor_is_refused(void **state)
{
	const struct rte_eth_conf with_interrupts = {.intr_conf = {.rxq = 1}};
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(1)];
	struct rte_intr_handle *real;

	(void)state;
	octo_port_up_as(port, 2, &with_interrupts);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	real = pf->intr_handle;
	pf->intr_handle = NULL;
	assert_int_equal(set_up(port, 1, DESC, false, octo_port_pool), -ENOTSUP);
	pf->intr_handle = real;
	assert_is_missing(port, 1);
	assert_works_once_it_is_set_up(port, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_queue_gets_other_settings),
		octo_port_test(test_slices),
		octo_port_test(test_idle_queues_of_slices),
		octo_port_test(test_hidden_if_a_pf_lacks_it),
		octo_port_test(test_a_pf_that_returns_has_the_new_settings),
		octo_port_test(test_a_queue_that_is_deferred),
		octo_port_test(test_queues_of_slices_that_are_deferred),
		octo_port_test(test_its_rings_are_as_large_as_the_pool_allows),
		octo_port_test(test_a_setup_that_fails),
		octo_port_test(test_rules_made_while_it_is_stopped),
		octo_port_test(test_a_pf_that_joins_sees_the_state_of_a_queue),
		octo_port_test(test_a_burst_wakes_the_control_thread_last),
		octo_port_test(test_a_pf_is_drained_without_a_queue),
		octo_port_test(test_a_pf_is_not_started_without_a_queue),
		octo_port_test(test_an_idle_queue_is_refused),
		octo_port_test(test_a_descriptor_is_refused),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
