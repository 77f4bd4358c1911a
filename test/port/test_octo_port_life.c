/* SPDX-License-Identifier: BSD-3-Clause */

/* Objects of a PF end with it, also those that were not complete, and later ones are others. */

#include <pthread.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "mpsim.h"

#include "octo_private.h"

static const struct octo_port_conf two_pfs = {.replug = true};
static const struct octo_port_conf three_pfs = {.nb_pfs = 3, .replug = true};

static unsigned int recovering;

static void
recovery(enum rte_eth_event_type event)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(recovering)], event, NULL);
}

static struct octo_port_faults *faults;
static unsigned int rules_before;

/* As a PMD does that finds, in this very call, that its device has failed. */
static void
begin_recovery(void)
{
	if (rules_before-- > 0)
		faults->on_create = begin_recovery;
	else
		recovery(RTE_ETH_EVENT_ERR_RECOVERING);
}

/* The PF is lost while it creates a rule, after so many others. */
static void
lose_after(unsigned int before, unsigned int pf)
{
	recovering = pf;
	rules_before = before;
	faults = octo_port_faults_on(pf);
	faults->on_create = begin_recovery;
}

/* A rule is created on a PF that is lost before the PMD returns the rule. */
static void
lose_while_steering(unsigned int pf, unsigned int before)
{
	uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, 2);
	lose_after(before, pf);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_false(octo_port_pf_is_started(port, pf));
	recovery(RTE_ETH_EVENT_RECOVERY_SUCCESS);
	octo_port_await(octo_port_pf_is_started(port, pf));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	octo_port_destroy();
}

static void
test_a_pf_is_lost_while_a_rule_is_created(void **state)
{
	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++)
		lose_while_steering(pf, 0);
	/* the switch's */
	lose_while_steering(0, 1);
}

/* The device fails, and the rule with it: the error is that of the PF, which is lost by then. */
static void
test_a_pf_is_lost_and_refuses_the_rule(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 2);
	lose_after(1, 0);
	faults->create_transfer = EINVAL;
	assert_null(octo_port_steer(port, 7, 1, &error));
	assert_non_null(strstr(error.message, octo_port_pf_name(0)));
}

/* The switch rule that leads past a PF without link goes with the PF that was to have it. */
static void
test_a_proxy_is_lost_while_it_gets_the_default_pf_rule(void **state)
{
	uint16_t port = octo_port_create(&three_pfs);
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);

	(void)state;
	octo_port_up(port, 3);
	lose_after(0, 0);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(2)), 0);
	octo_port_await(!octo_port_pf_is_started(port, 0));
	assert_in_range(octo->default_pf.rule.proxy, 0, 2);
	recovery(RTE_ETH_EVENT_RECOVERY_SUCCESS);
	octo_port_await(octo_port_pf_is_started(port, 0));
	octo_port_await(octo_default_pf_target(octo) != OCTO_NO_PF);
}

/* The NIC has another transfer proxy PF, and keeps the rules of the one before. */
static void
make_proxy(unsigned int index)
{
	struct mpsim_pf *pf = rte_eth_devices[octo_port_pf(index)].data->dev_private;

	mpsim_nic_lock(pf->nic);
	pf->nic->manager = pf;
	mpsim_nic_unlock(pf->nic);
}

/*
 * Rules that the switch got from a PF go with it, also if another one manages it by now. Queue 5
 * is at home on PF 2 whichever other PF is gone, so that only the loss itself concerns its rules.
 */
static void
test_an_earlier_proxy_is_lost(void **state)
{
	uint16_t port = octo_port_create(&three_pfs);
	uint64_t strays;

	(void)state;
	octo_port_up(port, 6);
	assert_non_null(octo_port_steer(port, 7, 5, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 5, 2));
	octo_port_remove_pf(1);
	octo_port_add_pf(&three_pfs, 1);
	make_proxy(1);
	octo_port_await(octo_port_is_proxy(port, 1));
	octo_port_remove_pf(0);
	octo_port_await(octo_port_leads_to(port, 7, 5, 2));
	strays = octo_port_xstat(port, "rx_stray_packets");
	octo_port_assert_arrives(port, 7, 5, 10);
	assert_int_equal(octo_port_xstat(port, "rx_stray_packets"), strays);
}

/* Nobody asks the rings of a port, which is flushed, for more while its device is removed. */
static void
test_a_device_is_removed_while_its_port_is_flushed(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct octo_port *p = &octo->port[1];

	(void)state;
	octo_port_up(port, 2);
	recovering = 1;
	octo_lock(octo);
	octo_loss_by_event(octo, p->port_id, RTE_ETH_EVENT_INTR_RMV);
	octo->role[1].state = OCTO_PF_FLUSHING;
	octo->role[1].until = UINT64_MAX / 2;
	p->draining.drained = octo_now();
	octo_unlock(octo);
	recovery(RTE_ETH_EVENT_INTR_RMV);
	assert_int_equal(octo->role[1].state, OCTO_PF_OFF);
	octo_port_await(octo_port_pf_is_started(port, 1));
}

/*
 * The PF leaves its role as its link falls, and is lost and comes back before the control thread
 * has done what is due then: the new life has nothing to do with it.
 */
static void
lose_with_work_due(enum octo_pf_event why, enum octo_pf_state state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	uint32_t life;

	octo_port_up(port, 2);
	octo_lock(octo);
	life = octo->port[1].fsm.life;
	if (why == OCTO_PF_EV_REFUSED)
		octo->role[1].state = OCTO_PF_RESYNC;
	octo_port_role_hear_locked(octo, 1, why);
	assert_int_equal(octo->role[1].state, state);
	octo_port_role_hear_locked(octo, 1, OCTO_PF_EV_DOWN);
	assert_int_not_equal(octo->port[1].draining.todo, 0);
	recovering = 1;
	recovery(RTE_ETH_EVENT_ERR_RECOVERING);
	recovery(RTE_ETH_EVENT_RECOVERY_SUCCESS);
	octo_loss_hear_locked(octo, 1, NULL);
	octo->port[1].fsm.deadline = octo_now();
	octo_unlock(octo);
	octo_port_await(octo->role[1].state == OCTO_PF_ACTIVE);
	assert_true(octo_port_pf_is_started(port, 1));
	assert_int_equal(octo->port[1].fsm.life, life + 1);
	octo_port_destroy();
}

static void
test_a_pf_comes_back_with_work_due(void **state)
{
	(void)state;
	lose_with_work_due(OCTO_PF_EV_REFUSED, OCTO_PF_DRAIN_BACK);
	lose_with_work_due(OCTO_PF_EV_EJECT, OCTO_PF_DRAIN_EJECT);
}

static void
test_a_pf_refuses_to_start(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_faults_on(1)->start = EIO;
	assert_int_equal(rte_eth_dev_start(port), -EIO);
	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_false(octo_port_pf_is_started(port, pf));
		assert_int_equal(octo->role[pf].state, OCTO_PF_OFF);
	}
	octo_port_faults_off();
	assert_int_equal(rte_eth_dev_start(port), 0);
	for (unsigned int pf = 0; pf < 2; pf++)
		assert_int_equal(octo->role[pf].state, OCTO_PF_ACTIVE);
}

static RTE_ATOMIC(bool) is_raised;

static void *
raise_recovery_event(void *event)
{
	recovery(*(const enum rte_eth_event_type *)event);
	rte_atomic_store_explicit(&is_raised, true, rte_memory_order_release);
	return NULL;
}

static struct {
	uint16_t port;
	RTE_ATOMIC(bool) ends;
	RTE_ATOMIC(bool) may_end;
} dying;

static int
hold_end(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (port != dying.port)
		return 0;
	rte_atomic_store_explicit(&dying.ends, true, rte_memory_order_release);
	while (!rte_atomic_load_explicit(&dying.may_end, rte_memory_order_acquire))
		octo_wait_us(10);
	return 0;
}

static void *
announce_and_remove(void *arg)
{
	RTE_SET_USED(arg);
	rte_eth_dev_callback_process(&rte_eth_devices[dying.port], RTE_ETH_EVENT_INTR_RMV, NULL);
	octo_port_remove_pf(1);
	return NULL;
}

/* Nobody gets the mutex: the removal and the end of PF 1 are posted, and it does not end so far. */
static void
begin_end(struct octo_dev *octo, pthread_t *thread)
{
	dying.port = octo_port_pf(1);
	rte_atomic_store_explicit(&dying.ends, false, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&dying.may_end, false, rte_memory_order_relaxed);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, hold_end, NULL);
	octo_lock(octo);
	assert_int_equal(pthread_create(thread, NULL, announce_and_remove, NULL), 0);
	while (!rte_atomic_load_explicit(&dying.ends, rte_memory_order_acquire))
		octo_wait_us(10);
}

static void
finish_end(pthread_t thread)
{
	rte_atomic_store_explicit(&dying.may_end, true, rte_memory_order_release);
	pthread_join(thread, NULL);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, hold_end, NULL);
}

/* The handler of an event waits for the mutex while the end of the PF is posted, and heard. */
static void
test_an_event_is_heard_after_the_end(void **state)
{
	static enum rte_eth_event_type events[] = {
		RTE_ETH_EVENT_RECOVERY_FAILED,
		RTE_ETH_EVENT_ERR_RECOVERING,
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(events); i++) {
		uint16_t port = octo_port_create(&two_pfs);
		struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
		pthread_t remover, late;

		octo_port_up(port, 2);
		begin_end(octo, &remover);
		recovering = 1;
		rte_atomic_store_explicit(&is_raised, false, rte_memory_order_relaxed);
		assert_int_equal(pthread_create(&late, NULL, raise_recovery_event, &events[i]), 0);
		/* it waits for a second, which a thread without a CPU may miss */
		while (rte_atomic_load_explicit(&octo->waiting.nb, rte_memory_order_acquire) == 0 &&
		       !rte_atomic_load_explicit(&is_raised, rte_memory_order_acquire))
			octo_wait_us(10);
		octo_unlock(octo);
		pthread_join(late, NULL);
		finish_end(remover);
		octo_port_await(octo_port_pf_is_started(port, 1));
		octo_port_destroy();
	}
}

/* The end is heard while the port has its name, and another PF's port gets the id. */
static void
test_the_id_of_a_port_that_ended_is_used_again(void **state)
{
	uint16_t port = octo_port_create(&three_pfs);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	pthread_t thread;

	(void)state;
	octo_port_up(port, 3);
	begin_end(octo, &thread);
	octo_unlock(octo);
	finish_end(thread);
	octo_port_remove_pf(2);
	octo_port_add_pf(&three_pfs, 2);
	assert_int_equal(octo_port_pf(2), dying.port);
	octo_port_await(octo_port_pf_is_started(port, 2));
	octo_port_remove_pf(2);
	assert_false(octo_port_pf_is_started(port, 2));
	for (unsigned int pf = 1; pf < 3; pf++)
		octo_port_await(octo_port_pf_is_started(port, pf));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_is_lost_while_a_rule_is_created),
		octo_port_test(test_a_pf_is_lost_and_refuses_the_rule),
		octo_port_test(test_a_proxy_is_lost_while_it_gets_the_default_pf_rule),
		octo_port_test(test_a_device_is_removed_while_its_port_is_flushed),
		octo_port_test(test_a_pf_comes_back_with_work_due),
		octo_port_test(test_a_pf_refuses_to_start),
		octo_port_test(test_an_event_is_heard_after_the_end),
		octo_port_test(test_the_id_of_a_port_that_ended_is_used_again),
		octo_port_test(test_an_earlier_proxy_is_lost),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
