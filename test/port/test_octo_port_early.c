/* SPDX-License-Identifier: BSD-3-Clause */

/* What happens to a PF between its being made and its joining, or when it ends before. */

#include <dlfcn.h>

#include <ethdev_driver.h>

#include "octo_port.h"

static const struct octo_port_conf two_pfs = {.replug = true};
static const struct octo_port_conf four_pfs = {.nb_pfs = 4, .replug = true};

static struct {
	RTE_ATOMIC(uint32_t) made;
	const enum rte_eth_event_type *events; /**< up to NEW */
} early;

static int
raise_early(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port];

	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (rte_atomic_fetch_add_explicit(&early.made, 1, rte_memory_order_relaxed) != 0)
		return 0;
	for (const enum rte_eth_event_type *e = early.events; *e != RTE_ETH_EVENT_NEW; e++)
		rte_eth_dev_callback_process(dev, *e, NULL);
	return 0;
}

static void
begin_to_raise(const enum rte_eth_event_type *events)
{
	early.made = 0;
	early.events = events;
	assert_int_equal(
		rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, raise_early, NULL),
		0);
}

/* Not while it is called, of another PF that is there again. */
static void
end_raising(void)
{
	octo_port_await(rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, raise_early,
							NULL) == 0);
}

/* @return how many ports it took until it had joined. */
static uint32_t
join_after(const enum rte_eth_event_type *events)
{
	uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_remove_pf(1);
	begin_to_raise(events);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	end_raising();
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	return early.made;
}

static void
test_a_pf_recovers_before_it_joins(void **state)
{
	static const enum rte_eth_event_type events[] = {
		RTE_ETH_EVENT_ERR_RECOVERING, RTE_ETH_EVENT_RECOVERY_SUCCESS, RTE_ETH_EVENT_NEW};

	(void)state;
	assert_int_equal(join_after(events), 1);
}

/* It would join dead: it is removed, and probed again. */
static void
test_a_pf_gives_up_before_it_joins(void **state)
{
	static const enum rte_eth_event_type events[] = {
		RTE_ETH_EVENT_ERR_RECOVERING, RTE_ETH_EVENT_RECOVERY_FAILED, RTE_ETH_EVENT_NEW};

	(void)state;
	assert_int_equal(join_after(events), 2);
}

/* Its queues are freed next, and must not be polled. */
static void
test_a_pf_that_is_about_to_go_does_not_join(void **state)
{
	static const enum rte_eth_event_type events[] = {RTE_ETH_EVENT_INTR_RMV, RTE_ETH_EVENT_NEW};

	(void)state;
	assert_int_equal(join_after(events), 2);
}

/* One that could not join at first may be tried again, but not while it goes. */
static void
test_a_pf_that_goes_when_it_may_join_does_not(void **state)
{
	static const enum rte_eth_event_type events[] = {RTE_ETH_EVENT_ERR_RECOVERING,
							 RTE_ETH_EVENT_RECOVERY_SUCCESS,
							 RTE_ETH_EVENT_INTR_RMV, RTE_ETH_EVENT_NEW};

	(void)state;
	assert_int_equal(join_after(events), 2);
}

static struct {
	uint16_t port;
	bool joined;
} ending;

/* Its name is there yet. Who looks for PFs now finds it before the other one. */
static int
bring_another(uint16_t pf, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (pf != octo_port_pf(1))
		return 0;
	octo_port_add_pf(&four_pfs, 2);
	octo_port_await(octo_port_pf_is_started(ending.port, 2) ||
			octo_port_pf_is_started(ending.port, 1));
	ending.joined = octo_port_pf_is_started(ending.port, 1);
	return 0;
}

static void
test_a_pf_that_ends_unused_does_not_join(void **state)
{
	static const enum rte_eth_event_type events[] = {RTE_ETH_EVENT_ERR_RECOVERING,
							 RTE_ETH_EVENT_NEW};

	(void)state;
	ending.port = octo_port_create(&four_pfs);
	octo_port_up(ending.port, 2);
	octo_port_remove_pf(1);
	octo_port_remove_pf(2);
	begin_to_raise(events);
	octo_port_add_pf(&four_pfs, 1);
	end_raising();
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, bring_another, NULL);
	octo_port_remove_pf(1);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, bring_another, NULL);
	assert_false(ending.joined);
	octo_port_await(octo_port_pf_is_started(ending.port, 1));
}

/* A PF that is still inside its probe. */
static struct {
	const char *name;
	struct rte_eth_dev *dev;
	void (*meanwhile)(void);
	uint16_t octo;
	unsigned int uses;
	bool started;
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
} inside;

static int
count_flow_ops(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	inside.uses++;
	return inside.real->flow_ops_get(dev, ops);
}

static int
count_info(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	inside.uses++;
	return inside.real->dev_infos_get(dev, info);
}

static void
stay(struct rte_eth_dev *dev)
{
	inside.name = NULL;
	inside.dev = dev;
	inside.real = dev->dev_ops;
	inside.ops = *dev->dev_ops;
	inside.ops.flow_ops_get = count_flow_ops;
	inside.ops.dev_infos_get = count_info;
	dev->dev_ops = &inside.ops;
	inside.meanwhile();
	dev->dev_ops = inside.real;
}

static int
stay_when_announced(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port_id];

	(void)event;
	(void)arg;
	(void)ret;
	if (inside.name != NULL && strcmp(dev->data->name, inside.name) == 0)
		stay(dev);
	return 0;
}

/*
 * The simulator calls this instead of ethdev's, inside of its probe. The port is announced
 * before that has returned. From DPDK 26.07 on EAL says of a device that it is probed as
 * soon as it begins to probe it: nothing tells when the probe of a port that is announced
 * has returned, so it is stayed inside of the announcement.
 */
void
rte_eth_dev_probing_finish(struct rte_eth_dev *dev)
{
	void (*real)(struct rte_eth_dev *) = (void (*)(struct rte_eth_dev *))(uintptr_t)dlsym(
		RTLD_NEXT, __func__);
	const bool can_be_told = !rte_dev_is_probed(dev->device);

	if (!can_be_told)
		rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, stay_when_announced,
					      NULL);
	real(dev);
	if (!can_be_told)
		rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, stay_when_announced,
						NULL);
	else
		stay_when_announced(dev->data->port_id, RTE_ETH_EVENT_NEW, NULL, NULL);
}

static void
stay_inside(unsigned int pf, void (*meanwhile)(void))
{
	inside.meanwhile = meanwhile;
	inside.uses = 0;
	inside.name = octo_port_pf_name(pf);
}

/* A later PF joins, so the control thread has looked at the one that is inside its probe. */
static void
join_another(void)
{
	octo_port_add_pf(&four_pfs, 2);
	octo_port_await(octo_port_pf_is_started(inside.octo, 2));
	inside.started = octo_port_pf_is_started(inside.octo, 1);
}

static void
test_a_pf_inside_its_probe_does_not_join(void **state)
{
	(void)state;
	inside.octo = octo_port_create(&four_pfs);
	octo_port_up(inside.octo, 2);
	octo_port_remove_pf(1);
	octo_port_remove_pf(2);
	stay_inside(1, join_another);
	octo_port_add_pf(&four_pfs, 1);
	octo_port_await(octo_port_pf_is_started(inside.octo, 1));
	assert_false(inside.started);
	assert_int_equal(inside.uses, 0);
}

/* Its port is one of octo's before it has joined. */
static void
recover_and_join_another(void)
{
	rte_eth_dev_callback_process(inside.dev, RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	rte_eth_dev_callback_process(inside.dev, RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	join_another();
}

static void
test_a_pf_that_recovers_inside_its_probe_does_not_join(void **state)
{
	(void)state;
	inside.octo = octo_port_create(&four_pfs);
	octo_port_up(inside.octo, 2);
	octo_port_remove_pf(1);
	octo_port_remove_pf(2);
	stay_inside(1, recover_and_join_another);
	octo_port_add_pf(&four_pfs, 1);
	octo_port_await(octo_port_pf_is_started(inside.octo, 1));
	assert_false(inside.started);
	assert_int_equal(inside.uses, 0);
}

static void
start_port(void)
{
	assert_int_equal(rte_eth_dev_start(inside.octo), 0);
	inside.started = octo_port_pf_is_started(inside.octo, 1);
}

static void
test_a_port_starts_without_a_pf_inside_its_probe(void **state)
{
	(void)state;
	inside.octo = octo_port_create(&two_pfs);
	octo_port_up(inside.octo, 2);
	assert_int_equal(rte_eth_dev_stop(inside.octo), 0);
	octo_port_remove_pf(1);
	stay_inside(1, start_port);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(inside.octo, 1));
	assert_false(inside.started);
	assert_int_equal(inside.uses, 0);
}

static void
add_port(void)
{
	inside.octo = octo_port_add(&two_pfs);
	inside.started = true;
}

/* Whoever is told of a new port may make an octo port over it at once. */
static void
test_a_port_is_made_without_a_pf_inside_its_probe(void **state)
{
	(void)state;
	inside.started = false;
	octo_port_add_pf(&two_pfs, 0);
	stay_inside(1, add_port);
	octo_port_add_pf(&two_pfs, 1);
	assert_true(inside.started);
	assert_int_equal(inside.uses, 0);
	octo_port_up(inside.octo, 2);
	octo_port_await(octo_port_pf_is_started(inside.octo, 1));
}

static void
refuse_port(void)
{
	char args[128];

	snprintf(args, sizeof(args), "replug=off,pf=%s,pf=%s", octo_port_pf_name(0),
		 octo_port_pf_name(1));
	assert_int_not_equal(rte_eal_hotplug_add("vdev", OCTO_PORT_NAME, args), 0);
}

static void
test_a_port_is_refused_over_a_pf_inside_its_probe(void **state)
{
	(void)state;
	octo_port_add_pf(&two_pfs, 0);
	stay_inside(1, refuse_port);
	octo_port_add_pf(&two_pfs, 1);
	assert_null(inside.name);
	assert_int_equal(inside.uses, 0);
}

/* A PF whose driver finds out when it is started that the device is not there any more. */
static struct {
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	RTE_ATOMIC(uint32_t) made;
	bool armed;
} dying;

static int
die_at_start(struct rte_eth_dev *dev)
{
	if (dying.armed) {
		dying.armed = false;
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
	}
	return dying.real->dev_start(dev);
}

static int
make_dying(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port];

	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (rte_atomic_fetch_add_explicit(&dying.made, 1, rte_memory_order_relaxed) != 0)
		return 0;
	dying.real = dev->dev_ops;
	dying.ops = *dev->dev_ops;
	dying.ops.dev_start = die_at_start;
	dying.armed = true;
	dev->dev_ops = &dying.ops;
	return 0;
}

/* What died is removed, and probed again: it is not tried again as it is. */
static void
test_a_pf_that_dies_when_it_joins_is_replaced(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_remove_pf(1);
	dying.made = 0;
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, make_dying, NULL);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(!dying.armed);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, make_dying,
							NULL) == 0);
	assert_int_equal(dying.made, 2);
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
}

/* PFs that are lost while the port over them is built: both are its own by then. */
static struct {
	struct eth_dev_ops ops[2];
	const struct eth_dev_ops *real;
	void (*lose)(void);
	bool asked; /* PF 1, by its owner */
} building;

static bool
is_owned(unsigned int pf)
{
	struct rte_eth_dev_owner owner = {.id = RTE_ETH_DEV_NO_OWNER};

	return rte_eth_dev_owner_get(octo_port_pf(pf), &owner) == 0 &&
	       owner.id != RTE_ETH_DEV_NO_OWNER;
}

static void
lose_once(void)
{
	void (*lose)(void) = building.lose;

	building.lose = NULL;
	if (lose != NULL)
		lose();
}

/* The port has asked PF 1 before, so it asks both again. */
static int
ask_pf0(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	if (building.asked)
		lose_once();
	return building.real->dev_infos_get(dev, info);
}

static int
ask_pf1(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	building.asked |= is_owned(1);
	return building.real->dev_infos_get(dev, info);
}

static void
raise_removal(void)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)], RTE_ETH_EVENT_INTR_RMV,
				     NULL);
}

static void
remove_pf1(void)
{
	octo_port_remove_pf(1);
}

static uint16_t
build_while(void (*lose)(void))
{
	static const eth_dev_infos_get_t ask[] = {ask_pf0, ask_pf1};
	uint16_t port;

	octo_port_add_pfs(&two_pfs);
	building.asked = false;
	building.lose = lose;
	for (unsigned int pf = 0; pf < RTE_DIM(ask); pf++) {
		struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(pf)];

		building.real = dev->dev_ops;
		building.ops[pf] = *dev->dev_ops;
		building.ops[pf].dev_infos_get = ask[pf];
		dev->dev_ops = &building.ops[pf];
	}
	port = octo_port_add(&two_pfs);
	rte_eth_devices[octo_port_pf(0)].dev_ops = building.real;
	assert_null(building.lose);
	return port;
}

/* It is not polled: its queues are freed next. It comes back as any other. */
static void
test_a_pf_that_goes_while_the_port_is_built_does_not_join(void **state)
{
	uint16_t port = build_while(raise_removal);

	(void)state;
	octo_port_up(port, 2);
	assert_false(octo_port_pf_is_started(port, 1));
	assert_non_null(octo_port_steer(port, 8, 0, NULL));
	octo_port_assert_arrives(port, 8, 0, 10);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
}

/* It is probed again when the port is started. */
static void
test_a_pf_that_is_gone_when_the_port_is_built_comes_back(void **state)
{
	uint16_t port = build_while(remove_pf1);

	(void)state;
	assert_false(octo_port_pf_is_there(1));
	octo_port_up(port, 2);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
}

/* PF 2 is asked before it is owned, when PF 1 is. */
static int
ask_pf2(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	if (is_owned(1))
		lose_once();
	return building.real->dev_infos_get(dev, info);
}

static void
test_a_pf_goes_before_the_others_are_found(void **state)
{
	struct rte_eth_dev *dev;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&four_pfs);
	dev = &rte_eth_devices[octo_port_pf(2)];
	building.lose = raise_removal;
	building.real = dev->dev_ops;
	building.ops[0] = *dev->dev_ops;
	building.ops[0].dev_infos_get = ask_pf2;
	dev->dev_ops = &building.ops[0];
	port = octo_port_add(&four_pfs);
	dev->dev_ops = building.real;
	assert_null(building.lose);
	octo_port_up(port, 4);
	assert_false(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_recovers_before_it_joins),
		octo_port_test(test_a_pf_gives_up_before_it_joins),
		octo_port_test(test_a_pf_that_is_about_to_go_does_not_join),
		octo_port_test(test_a_pf_that_goes_when_it_may_join_does_not),
		octo_port_test(test_a_pf_that_dies_when_it_joins_is_replaced),
		octo_port_test(test_a_pf_that_ends_unused_does_not_join),
		octo_port_test(test_a_pf_inside_its_probe_does_not_join),
		octo_port_test(test_a_pf_that_recovers_inside_its_probe_does_not_join),
		octo_port_test(test_a_port_starts_without_a_pf_inside_its_probe),
		octo_port_test(test_a_port_is_made_without_a_pf_inside_its_probe),
		octo_port_test(test_a_port_is_refused_over_a_pf_inside_its_probe),
		octo_port_test(test_a_pf_that_goes_while_the_port_is_built_does_not_join),
		octo_port_test(test_a_pf_that_is_gone_when_the_port_is_built_comes_back),
		octo_port_test(test_a_pf_goes_before_the_others_are_found),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
