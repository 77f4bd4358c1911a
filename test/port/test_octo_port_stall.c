/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread gets no CPU for longer than a burst, or a question, takes: the kernel may have others
 * run for seconds. What the thread uses must not be freed meanwhile.
 */

#include <unistd.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#include "octo_peers.h"
#include "octo_private.h"

#define QUEUES 2

/* Beside the test: it takes something away from the thread that is stalled. */
static struct {
	int (*fn)(uint16_t port);
	uint16_t port;
	RTE_ATOMIC(bool) begun;
	RTE_ATOMIC(bool) done;
	int ret;
} taker;

static void *
take(void *arg)
{
	RTE_SET_USED(arg);
	rte_atomic_store_explicit(&taker.begun, true, rte_memory_order_release);
	taker.ret = taker.fn(taker.port);
	rte_atomic_store_explicit(&taker.done, true, rte_memory_order_release);
	return NULL;
}

static bool
is(RTE_ATOMIC(bool) * flag)
{
	return rte_atomic_load_explicit(flag, rte_memory_order_acquire);
}

/* Longer than a process is waited for that may have died. */
static void
stall(void)
{
	uint64_t end;

	while (!is(&taker.begun))
		octo_wait_us(100);
	end = octo_now() + 3 * (OCTO_EPOCH_TIMEOUT_US * rte_get_timer_hz() / US_PER_S) / 2;
	while (octo_now() < end)
		octo_wait_us(1000);
}

static struct octo_rxq *
up(int (*fn)(uint16_t port))
{
	const struct octo_port_conf conf = {0};
	uint16_t port;

	octo_port_time_is_real();
	port = octo_port_create(&conf);
	octo_port_up(port, QUEUES);
	taker.fn = fn;
	taker.port = port;
	taker.begun = false;
	taker.done = false;
	return rte_eth_devices[port].data->rx_queues[1];
}

static void
test_inside(struct octo_epoch *epoch, struct octo_askers *askers)
{
	pthread_t thread;
	bool too_soon;

	if (askers != NULL)
		octo_askers_enter(askers);
	else
		octo_epoch_enter(epoch);
	assert_int_equal(pthread_create(&thread, NULL, take, NULL), 0);
	stall();
	too_soon = is(&taker.done);
	if (askers != NULL)
		octo_askers_leave(askers);
	else
		octo_epoch_leave(epoch);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(too_soon);
	assert_int_equal(taker.ret, 0);
}

static void
test_of(int (*fn)(uint16_t port), bool asks)
{
	struct octo_rxq *q = up(fn);

	test_inside(&q->epoch, asks ? &q->askers[0] : NULL);
}

static int
recover_a_pf(uint16_t port)
{
	RTE_SET_USED(port);
	return rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
					    RTE_ETH_EVENT_ERR_RECOVERING, NULL);
}

/* The primary has been told that the PF is gone, and has not handled it yet. */
static int
detach_a_pf_in_a_secondary(uint16_t port)
{
	struct octo_dev *octo = rte_eth_devices[port].data->dev_private;

	octo_users_shut(&octo->port[1]);
	octo_legs_borrowed = true;
	octo_peers_lose_pf(octo_port_pf(1));
	octo_legs_borrowed = false;
	octo_legs_set_lost(octo_port_pf(1), false);
	octo_lock(octo);
	octo_users_open(&octo->port[1]);
	octo_unlock(octo);
	return 0;
}

static void
test_a_secondary_detaches_a_pf_after_a_stalled_burst(void **state)
{
	(void)state;
	test_of(detach_a_pf_in_a_secondary, false);
}

static void
test_a_port_stops_after_a_stalled_burst(void **state)
{
	(void)state;
	test_of(rte_eth_dev_stop, false);
}

static void
test_a_port_stops_after_a_stalled_question(void **state)
{
	(void)state;
	test_of(rte_eth_dev_stop, true);
}

static void
test_a_pf_recovers_after_a_stalled_burst(void **state)
{
	(void)state;
	test_of(recover_a_pf, false);
}

static void
test_a_pf_recovers_after_a_stalled_question(void **state)
{
	(void)state;
	test_of(recover_a_pf, true);
}

static int
set_up_again(uint16_t port, uint16_t queue)
{
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, queue), 0);
	return rte_eth_rx_queue_setup(port, queue, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL,
				      octo_port_pool);
}

static int
set_up_rx_again(uint16_t port)
{
	return set_up_again(port, 1);
}

static void
test_a_queue_is_set_up_again_after_a_stalled_burst(void **state)
{
	(void)state;
	test_of(set_up_rx_again, false);
}

static void
test_a_queue_is_set_up_again_after_a_stalled_question(void **state)
{
	(void)state;
	test_of(set_up_rx_again, true);
}

static int
set_up_source_again(uint16_t port)
{
	return set_up_again(port, 0);
}

static int
move(uint16_t from, uint16_t to)
{
	struct octo_dev *octo = rte_eth_devices[taker.port].data->dev_private;

	octo_lock(octo);
	octo_fence_arm_move_locked(octo, from, to);
	octo_unlock(octo);
	return octo->fences.nb_open;
}

/* Flows are led back, for which the fence of queue 1 is given up. */
static int
give_up_and_set_up_source_again(uint16_t port)
{
	assert_int_equal(move(1, 0), 1);
	return set_up_source_again(port);
}

/* A burst of queue 1 reads of queue 0 how far it is drained. */
static void
test_source_of(int (*fn)(uint16_t port))
{
	struct octo_rxq *q = up(fn);
	struct rte_mbuf *pkts[4];

	for (uint16_t i = 0; i < QUEUES; i++)
		assert_int_equal(rte_eth_rx_burst(taker.port, i, pkts, RTE_DIM(pkts)), 0);
	assert_int_equal(move(0, 1), 1);
	test_inside(&q->epoch, NULL);
}

static void
test_a_source_is_set_up_again_after_a_stalled_burst(void **state)
{
	(void)state;
	test_source_of(set_up_source_again);
}

static void
test_a_source_is_set_up_again_after_a_fence_was_given_up(void **state)
{
	(void)state;
	test_source_of(give_up_and_set_up_source_again);
}

static int
set_up_tx_again(uint16_t port)
{
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 1), 0);
	return rte_eth_tx_queue_setup(port, 1, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL);
}

static void
test_a_queue_is_set_up_again_after_a_stalled_sender(void **state)
{
	struct octo_txq *q;

	(void)state;
	up(set_up_tx_again);
	q = rte_eth_devices[taker.port].data->tx_queues[1];
	test_inside(&q->epoch, NULL);
}

static void
test_a_queue_is_set_up_again_after_a_stalled_question_of_tx(void **state)
{
	struct octo_txq *q;

	(void)state;
	up(set_up_tx_again);
	q = rte_eth_devices[taker.port].data->tx_queues[1];
	test_inside(&q->epoch, &q->askers[0]);
}

static bool too_soon_for_arming;
static pthread_t while_arming;

static int
arm_slowly(struct rte_eth_dev *dev, uint16_t queue)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	assert_int_equal(pthread_create(&while_arming, NULL, take, NULL), 0);
	stall();
	too_soon_for_arming = is(&taker.done);
	return 0;
}

static void
test_a_queue_is_set_up_again_after_it_was_armed(void **state)
{
	const struct rte_eth_conf conf = {.intr_conf = {.rxq = 1}};
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;

	(void)state;
	up(set_up_rx_again);
	assert_int_equal(rte_eth_dev_stop(taker.port), 0);
	octo_port_up_as(taker.port, QUEUES, &conf);
	real = rte_eth_devices[octo_port_pf(0)].dev_ops;
	ops = *real;
	ops.rx_queue_intr_enable = arm_slowly;
	rte_eth_devices[octo_port_pf(0)].dev_ops = &ops;
	assert_int_equal(rte_eth_dev_rx_intr_enable(taker.port, 1), 0);
	rte_eth_devices[octo_port_pf(0)].dev_ops = real;
	assert_int_equal(pthread_join(while_arming, NULL), 0);
	assert_false(too_soon_for_arming);
	assert_int_equal(taker.ret, 0);
}

/* A clock that goes on by 10 ms whenever it is read. */
static RTE_ATOMIC(uint64_t) creeping;

static uint64_t
creep(void)
{
	return rte_atomic_fetch_add_explicit(&creeping, rte_get_timer_hz() / 100,
					     rte_memory_order_relaxed);
}

/* @return the time that the call took, in us. */
static uint64_t
call_by_a_creeping_clock(int (*call)(uint16_t port), uint16_t port)
{
	const struct octo_clock *real = octo_clock;
	const uint64_t began = octo_now();
	static struct octo_clock clock;

	clock = *real;
	clock.now = creep;
	creeping = began;
	octo_clock = &clock;
	assert_int_equal(call(port), 0);
	octo_clock = real;
	return (creeping - began) / (rte_get_timer_hz() / US_PER_S);
}

/* The burst never ends, and nobody waits for it as long as for a thread. */
static uint16_t
call_after_a_killed_process(int (*call)(uint16_t port))
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = octo_port_create(&conf);
	struct octo_rxq *q;
	uint64_t took;

	octo_port_up(port, QUEUES);
	q = rte_eth_devices[port].data->rx_queues[1];
	q->process = octo_port_dead_process();
	octo_epoch_enter(&q->epoch);
	took = call_by_a_creeping_clock(call, port);
	assert_true(took >= OCTO_EPOCH_TIMEOUT_US);
	assert_true(took < OCTO_STALL_TIMEOUT_US);
	return port;
}

static void
test_a_port_stops_after_a_killed_process(void **state)
{
	const uint16_t port = call_after_a_killed_process(rte_eth_dev_stop);
	struct octo_rxq *q = rte_eth_devices[port].data->rx_queues[1];

	(void)state;
	octo_epoch_leave(&q->epoch);
	assert_false(rte_eth_devices[port].data->dev_started);
}

/* The new queue has an epoch of its own. */
static void
test_a_queue_is_set_up_again_after_a_killed_process(void **state)
{
	const uint16_t port = call_after_a_killed_process(set_up_rx_again);

	(void)state;
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
}

static void
test_only_a_process_that_is_gone_may_be_dead(void **state)
{
	const RTE_ATOMIC(int32_t) none = 0, own = getpid(), other = getppid();
	const RTE_ATOMIC(int32_t) dead = octo_port_dead_process();

	(void)state;
	octo_legs_process = getpid();
	assert_false(octo_legs_may_be_dead(&none));
	assert_false(octo_legs_may_be_dead(&own));
	assert_false(octo_legs_may_be_dead(&other));
	assert_true(octo_legs_may_be_dead(&dead));
}

static void
borrow_as(struct octo_dev *octo, int32_t process)
{
	octo_legs_process = process;
	assert_ptr_equal(octo_legs_borrow(octo->port_id), octo);
	octo_legs_process = getpid();
}

static void
return_as(struct octo_dev *octo, int32_t process)
{
	octo_legs_process = process;
	assert_ptr_equal(octo_legs_return(octo->port_id, octo->owner_id), octo);
	octo_legs_process = getpid();
}

static struct octo_dev *
lend(void)
{
	static struct octo_dev octo;

	octo = (struct octo_dev){.port_id = RTE_MAX_ETHPORTS - 1, .owner_id = 1};
	octo_legs_process = getpid();
	assert_int_equal(octo_lending_init(), 0);
	octo_lending_set_open(&octo, true);
	assert_false(octo_legs_is_lent(&octo));
	return &octo;
}

static void
test_a_port_is_lent_to_living_processes(void **state)
{
	struct octo_dev *octo = lend();

	(void)state;
	borrow_as(octo, octo_port_dead_process());
	assert_false(octo_legs_is_lent(octo));
	borrow_as(octo, getppid());
	assert_true(octo_legs_is_lent(octo));
	return_as(octo, getppid());
	assert_false(octo_legs_is_lent(octo));
	octo_legs_borrowed = false;
}

static void
test_a_process_of_another_pid_namespace_counts_as_alive(void **state)
{
	struct octo_dev *octo = lend();

	(void)state;
	borrow_as(octo, octo_port_dead_process());
	octo->legs.borrowers.process[0] ^= RTE_BIT64(32);
	assert_true(octo_legs_is_lent(octo));
	octo_registry_remove(octo->port_id, octo->owner_id);
	octo_legs_borrowed = false;
}

/* As long as it is built, and from when it is closed on: nobody is told of its end then. */
static void
test_a_port_that_is_not_open_is_lent_to_nobody(void **state)
{
	struct octo_dev *octo = lend();

	(void)state;
	octo_lending_set_open(octo, false);
	assert_null(octo_legs_borrow(octo->port_id));
	assert_false(octo_legs_is_lent(octo));
	assert_false(octo_legs_borrowed);
	assert_null(octo_legs_return(octo->port_id, octo->owner_id));
}

/* A real one, where its removal is announced, is open, and closed before it is freed. */
static struct {
	bool when_made, when_freed;
} ends;

static int
see_whether_open(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);

	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (strcmp(rte_eth_devices[port].data->name, OCTO_PORT_NAME) != 0)
		return 0;
	if (event == RTE_ETH_EVENT_NEW)
		ends.when_made = octo_lending_is_open(octo);
	else
		ends.when_freed = octo_lending_is_open(octo);
	return 0;
}

static void
test_a_port_is_open_until_it_is_closed(void **state)
{
	const struct octo_port_conf conf = {0};
	uint16_t port;

	(void)state;
	ends.when_made = false;
	ends.when_freed = true;
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, see_whether_open, NULL);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, see_whether_open, NULL);
	port = octo_port_create(&conf);
	octo_port_up(port, QUEUES);
	octo_port_close_and_remove(port);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, see_whether_open, NULL);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, see_whether_open, NULL);
	assert_true(ends.when_made);
	assert_false(ends.when_freed);
}

/* More processes than there is room for, and then one in the place of the dead. */
static void
test_a_port_is_lent_to_many_processes(void **state)
{
	struct octo_dev *octo = lend();

	(void)state;
	for (int i = 0; i <= OCTO_LENDING_BORROWERS; i++)
		borrow_as(octo, getppid());
	assert_int_equal(octo->legs.borrowers.nb_more, 1);
	for (int i = 0; i <= OCTO_LENDING_BORROWERS; i++) {
		assert_true(octo_legs_is_lent(octo));
		octo_registry_add(octo);
		return_as(octo, getppid());
	}
	assert_false(octo_legs_is_lent(octo));
	for (int i = 0; i <= OCTO_LENDING_BORROWERS; i++)
		borrow_as(octo, octo_port_dead_process());
	borrow_as(octo, getppid());
	return_as(octo, getppid());
	assert_false(octo_legs_is_lent(octo));
	octo_legs_borrowed = false;
}

/* As the data path has it, Rx and Tx. */
static void
test_a_queue_knows_the_process_that_uses_it(void **state)
{
	struct octo_rxq *rxq = up(rte_eth_dev_stop);
	const struct rte_eth_dev_data *data = rte_eth_devices[taker.port].data;
	struct octo_port_tally tally = {0};

	(void)state;
	assert_int_equal(rxq->process, 0);
	octo_port_send(taker.port, 0, 1000, 1);
	octo_port_poll(taker.port, 1, 32, &tally);
	assert_int_equal(rxq->process, getpid());
	assert_int_equal(((const struct octo_txq *)data->tx_queues[0])->process, getpid());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_port_stops_after_a_stalled_burst),
		octo_port_test(test_a_port_stops_after_a_stalled_question),
		octo_port_test(test_a_pf_recovers_after_a_stalled_burst),
		octo_port_test(test_a_pf_recovers_after_a_stalled_question),
		octo_port_test(test_a_secondary_detaches_a_pf_after_a_stalled_burst),
		octo_port_test(test_a_queue_is_set_up_again_after_a_stalled_burst),
		octo_port_test(test_a_source_is_set_up_again_after_a_stalled_burst),
		octo_port_test(test_a_source_is_set_up_again_after_a_fence_was_given_up),
		octo_port_test(test_a_queue_is_set_up_again_after_a_stalled_sender),
		octo_port_test(test_a_queue_is_set_up_again_after_a_stalled_question),
		octo_port_test(test_a_queue_is_set_up_again_after_a_stalled_question_of_tx),
		octo_port_test(test_a_queue_is_set_up_again_after_it_was_armed),
		octo_port_test(test_a_port_stops_after_a_killed_process),
		octo_port_test(test_a_queue_is_set_up_again_after_a_killed_process),
		octo_port_test(test_only_a_process_that_is_gone_may_be_dead),
		octo_port_test(test_a_port_is_lent_to_living_processes),
		octo_port_test(test_a_process_of_another_pid_namespace_counts_as_alive),
		octo_port_test(test_a_port_that_is_not_open_is_lent_to_nobody),
		octo_port_test(test_a_port_is_open_until_it_is_closed),
		octo_port_test(test_a_port_is_lent_to_many_processes),
		octo_port_test(test_a_queue_knows_the_process_that_uses_it),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
