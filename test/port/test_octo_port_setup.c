/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that are set up, or stopped and given back, while the octo port is asked. */

#include <ethdev_driver.h>

#include "octo_port.h"

#include "octo_private.h"

#define NB_QUEUES 2
#define RULES 12
#define ROOM "8"
#define STAY_MS 50

static const struct octo_port_conf two_pfs = {.replug = true};
static const struct octo_port_conf without_room = {.replug = true, .all = "arfs_entries=" ROOM};

/* A PF whose operations tell when they are called, and the octo port over it. */
static struct {
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	uint16_t octo;
	unsigned int setups;
	bool during;
	unsigned int asked; /* calls of the PF while it is set up */
	unsigned int stops;
	RTE_ATOMIC(bool) inside;
	RTE_ATOMIC(bool) stopped;
	RTE_ATOMIC(bool) late; /* it was stopped while a call was inside */
} pf;

static void
read_all(void)
{
	struct rte_eth_xstat_name names[512];
	struct rte_eth_xstat values[512];
	struct rte_eth_stats stats;
	struct rte_eth_link link;

	assert_int_equal(rte_eth_stats_get(pf.octo, &stats), 0);
	assert_true(rte_eth_xstats_get_names(pf.octo, names, RTE_DIM(names)) > 0);
	assert_true(rte_eth_xstats_get(pf.octo, values, RTE_DIM(values)) > 0);
	assert_int_equal(rte_eth_link_get_nowait(pf.octo, &link), 0);
}

/* As another thread may do at this moment; the caller has the control mutex. */
static int
ask_during(int ret)
{
	pf.setups++;
	pf.during = true;
	read_all();
	assert_int_equal(rte_eth_stats_reset(pf.octo), 0);
	assert_int_equal(rte_eth_xstats_reset(pf.octo), 0);
	pf.during = false;
	return ret;
}

static int
pf_configure(struct rte_eth_dev *dev)
{
	return ask_during(pf.real->dev_configure(dev));
}

static int
pf_rx_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
	    const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	return ask_during(pf.real->rx_queue_setup(dev, queue, nb_desc, socket, conf, pool));
}

static int
pf_start(struct rte_eth_dev *dev)
{
	return ask_during(pf.real->dev_start(dev));
}

static int
pf_stop_during(struct rte_eth_dev *dev)
{
	return ask_during(pf.real->dev_stop(dev));
}

static int
pf_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	pf.asked += pf.during;
	return pf.real->xstats_get_names(dev, names, n);
}

static int
pf_reset(struct rte_eth_dev *dev)
{
	pf.asked += pf.during;
	return pf.real->stats_reset(dev);
}

static int
pf_link(struct rte_eth_dev *dev, int wait)
{
	pf.asked += pf.during;
	return pf.real->link_update(dev, wait);
}

static void
hook(uint16_t port)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port];

	pf.real = dev->dev_ops;
	pf.ops = *pf.real;
	dev->dev_ops = &pf.ops;
	pf.setups = 0;
	pf.asked = 0;
	pf.stops = 0;
	rte_atomic_store_explicit(&pf.inside, false, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&pf.stopped, false, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&pf.late, false, rte_memory_order_relaxed);
}

static void
hook_setup(uint16_t port)
{
	hook(port);
	pf.ops.dev_configure = pf_configure;
	pf.ops.rx_queue_setup = pf_rx_setup;
	pf.ops.dev_start = pf_start;
	pf.ops.dev_stop = pf_stop_during;
	pf.ops.xstats_get_names = pf_names;
	pf.ops.stats_reset = pf_reset;
	pf.ops.link_update = pf_link;
}

static int
see_anew(uint16_t port, enum rte_eth_event_type event, void *fn, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(ret);
	((void (*)(uint16_t))(uintptr_t)fn)(port);
	return 0;
}

/* A PF comes back, and is hooked before the octo port has it. */
static void
add_hooked(const struct octo_port_conf *conf, unsigned int i, void (*fn)(uint16_t port))
{
	void *arg = (void *)(uintptr_t)fn;

	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, see_anew, arg);
	octo_port_add_pf(conf, i);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, see_anew, arg);
}

/*
 * ethdev and drivers count a port's queues twice in one call, and write beyond the end of the
 * caller's array where the port is configured in between.
 */
static void
test_a_pf_is_not_asked_while_it_is_set_up(void **state)
{
	pf.octo = octo_port_create(&two_pfs);
	(void)state;
	octo_port_up(pf.octo, NB_QUEUES);
	octo_port_remove_pf(0);
	add_hooked(&two_pfs, 0, hook_setup);
	octo_port_await(octo_port_pf_is_started(pf.octo, 0));
	assert_int_equal(pf.setups, 2 + NB_QUEUES);
	assert_int_equal(pf.asked, 0);
}

/* The same where it is the application that configures the port. */
static void
test_a_pf_is_not_asked_while_the_application_configures(void **state)
{
	const struct rte_eth_conf conf = {0};

	(void)state;
	pf.octo = octo_port_create(&two_pfs);
	octo_port_up(pf.octo, NB_QUEUES);
	assert_int_equal(rte_eth_dev_stop(pf.octo), 0);
	hook_setup(octo_port_pf(0));
	pf.ops.rx_queue_setup = pf.real->rx_queue_setup;
	pf.ops.dev_start = pf.real->dev_start;
	assert_int_equal(rte_eth_dev_configure(pf.octo, 1, 1, &conf), 0);
	assert_int_equal(pf.setups, 1);
	assert_int_equal(pf.asked, 0);
	pf.during = true;
	read_all();
	pf.during = false;
	assert_true(pf.asked > 0);
}

/* They are what was counted since, though the PF could not be told to forget the rest. */
static void
test_counters_are_reset_while_a_pf_is_set_up(void **state)
{
	struct rte_eth_stats stats;
	struct rte_eth_dev *dev;

	(void)state;
	pf.octo = octo_port_create(&two_pfs);
	octo_port_up(pf.octo, NB_QUEUES);
	assert_non_null(octo_port_steer(pf.octo, 1000, 0, NULL));
	octo_port_await(octo_port_leads_to(pf.octo, 1000, 0, 0));
	octo_port_assert_arrives(pf.octo, 1000, 0, 10);
	assert_int_equal(rte_eth_dev_stop(pf.octo), 0);
	dev = &rte_eth_devices[octo_port_pf(0)];
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	hook(dev->data->port_id);
	pf.ops.dev_configure = pf_configure;
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	assert_int_equal(rte_eth_dev_start(pf.octo), 0);
	assert_int_equal(octo_port_xstat(pf.octo, "replugs"), 1);
	assert_int_equal(pf.setups, 1);
	assert_int_equal(rte_eth_stats_get(dev->data->port_id, &stats), 0);
	assert_int_equal(stats.ipackets, 10);
	assert_int_equal(rte_eth_stats_get(pf.octo, &stats), 0);
	assert_int_equal(stats.ipackets, 0);
	octo_port_await(octo_port_leads_to(pf.octo, 1000, 0, 0));
	octo_port_assert_arrives(pf.octo, 1000, 0, 10);
	assert_int_equal(rte_eth_stats_get(pf.octo, &stats), 0);
	assert_int_equal(stats.ipackets, 10);
}

static bool
is_in_state(unsigned int i, const char *state)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(pf.octo, &view), 0);
	return strcmp(view.pf[i].state, state) == 0;
}

/* PF 1 came back without room for all rules; PF 0 has them, so this one is to be given back. */
static void
make_give_back(void (*fn)(uint16_t port))
{
	pf.octo = octo_port_create(&two_pfs);
	octo_port_up(pf.octo, NB_QUEUES);
	for (uint16_t i = 0; i < RULES; i++)
		assert_non_null(octo_port_steer(pf.octo, 1000 + i, 1, NULL));
	octo_port_remove_pf(1);
	add_hooked(&without_room, 1, fn);
	octo_port_await(is_in_state(1, "draining"));
}

/* Stays inside until the PF is about to be stopped, and a while longer. */
static int
pf_stay(struct rte_eth_dev *dev)
{
	const struct octo_port *port = &octo_of(&rte_eth_devices[pf.octo])->port[1];

	rte_atomic_store_explicit(&pf.inside, true, rte_memory_order_release);
	while (!rte_atomic_load_explicit(&port->barred, rte_memory_order_acquire))
		octo_wait_us(1000);
	for (int i = 0; i < STAY_MS; i++) {
		if (rte_atomic_load_explicit(&pf.stopped, rte_memory_order_acquire))
			rte_atomic_store_explicit(&pf.late, true, rte_memory_order_relaxed);
		octo_wait_us(1000);
	}
	return pf.real->stats_reset(dev);
}

static int
pf_stop(struct rte_eth_dev *dev)
{
	pf.stops++;
	rte_atomic_store_explicit(&pf.stopped, true, rte_memory_order_release);
	return pf.real->dev_stop(dev);
}

static void
hook_stop(uint16_t port)
{
	hook(port);
	pf.ops.dev_stop = pf_stop;
	pf.ops.stats_reset = pf_stay;
}

static void *
reset(void *arg)
{
	rte_eth_stats_reset(pf.octo);
	return arg;
}

static void
test_a_pf_is_given_back_when_its_user_has_left(void **state)
{
	(void)state;
	make_give_back(hook_stop);
	octo_port_thread_start(reset, NULL);
	octo_port_await_thread(rte_atomic_load_explicit(&pf.inside, rte_memory_order_acquire));
	octo_port_await(is_in_state(1, "gone"));
	octo_port_thread_stop();
	assert_int_equal(pf.stops, 1);
	assert_false(rte_atomic_load_explicit(&pf.late, rte_memory_order_relaxed));
}

/* It finds out that its device is gone. */
static int
pf_stop_dead(struct rte_eth_dev *dev)
{
	if (pf.stops++ == 0)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
	return pf.real->dev_stop(dev);
}

static void
hook_dead(uint16_t port)
{
	hook(port);
	pf.ops.dev_stop = pf_stop_dead;
}

static int
see_end(uint16_t port, enum rte_eth_event_type event, void *ended, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(event);
	RTE_SET_USED(ret);
	*(bool *)ended = true;
	return 0;
}

/* It is not taken for one that may be tried again: its port is removed, as of any that is lost. */
static void
test_a_pf_dies_while_it_is_given_back(void **state)
{
	static bool ended;

	(void)state;
	ended = false;
	make_give_back(hook_dead);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, see_end, &ended);
	octo_port_await(is_in_state(1, "gone"));
	octo_port_await(ended);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, see_end, &ended);
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(pf.octo, 1));
	octo_port_await(octo_port_leads_to(pf.octo, 1000, 1, 1));
	octo_port_assert_arrives(pf.octo, 1000, 1, 10);
}

/* PFs may drop packets though nobody asked for that. */
static void
test_what_pfs_do_is_told(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	const struct rte_eth_rxconf keep = {.rx_drop_en = 0};
	struct rte_eth_rxq_info told, done;

	(void)state;
	assert_int_equal(octo_port_configure(port, NB_QUEUES), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port, 0, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, &keep,
						octo_port_pool),
			 0);
	assert_int_equal(rte_eth_rx_queue_info_get(port, 0, &told), 0);
	assert_int_equal(rte_eth_rx_queue_info_get(octo_port_pf(0), 0, &done), 0);
	assert_int_equal(done.conf.rx_drop_en, 1);
	assert_int_equal(told.conf.rx_drop_en, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_is_not_asked_while_it_is_set_up),
		octo_port_test(test_what_pfs_do_is_told),
		octo_port_test(test_a_pf_is_not_asked_while_the_application_configures),
		octo_port_test(test_counters_are_reset_while_a_pf_is_set_up),
		octo_port_test(test_a_pf_is_given_back_when_its_user_has_left),
		octo_port_test(test_a_pf_dies_while_it_is_given_back),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
