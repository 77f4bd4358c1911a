/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules that age: on every PF, or not at all. */

#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_errno.h>

#include "octo_port.h"
#include "octo_port_taker.h"
#include "rule_maker.h"

#define NB_PFS 2

static const struct octo_port_conf two_pfs;
static struct octo_port_taker *taker[NB_PFS];

static uint16_t
make_port(void)
{
	uint16_t port = octo_port_create(&two_pfs);

	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		taker[pf] = octo_port_taker_on(pf);
	octo_port_up(port, 2);
	return port;
}

static int
teardown(void **state)
{
	int ret = octo_port_teardown(state);

	octo_port_takers_off();
	return ret;
}

static struct rte_flow *
create_aging_in(uint16_t port, uint32_t seconds, void *context)
{
	const struct rte_flow_attr attr = {.ingress = 1, .priority = OCTO_PORT_TAKEN};
	const struct rte_flow_item eth[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
					    {.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action_age age = {.timeout = seconds, .context = context};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_AGE, .conf = &age},
		{.type = RTE_FLOW_ACTION_TYPE_PASSTHRU},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct rte_flow *rule = rte_flow_create(port, &attr, eth, actions, NULL);

	assert_non_null(rule);
	return rule;
}

static struct rte_flow *
create_aging(uint16_t port, void *context)
{
	return create_aging_in(port, 10, context);
}

/* The context by which the PFs know it; the application gave it, or none. */
static void
test_a_flow_is_aged_on_every_pf_or_not(void **state)
{
	uint16_t port = make_port();
	struct rte_flow *nameless = create_aging(port, NULL);
	void *contexts[4];
	int given;

	(void)state;
	create_aging(port, &given);
	assert_int_equal(rte_flow_get_aged_flows(port, NULL, 0, NULL), 0);
	taker[0]->rule[0].aged = true;
	taker[0]->rule[1].aged = true;
	assert_int_equal(rte_flow_get_aged_flows(port, NULL, 0, NULL), 0);
	assert_int_equal(rte_flow_get_aged_flows(port, contexts, 4, NULL), 0);
	taker[1]->rule[1].aged = true;
	assert_int_equal(rte_flow_get_aged_flows(port, NULL, 0, NULL), 1);
	assert_int_equal(rte_flow_get_aged_flows(port, contexts, 4, NULL), 1);
	assert_ptr_equal(contexts[0], &given);
	taker[1]->rule[0].aged = true;
	assert_int_equal(rte_flow_get_aged_flows(port, contexts, 4, NULL), 2);
	assert_true(contexts[0] == nameless || contexts[1] == nameless);
	assert_int_equal(rte_flow_get_aged_flows(port, contexts, 1, NULL), 1);
}

static void
test_flows_of_one_context_age_one_by_one(void **state)
{
	uint16_t port = make_port();
	void *contexts[4];
	int given;

	(void)state;
	for (int i = 0; i < 3; i++) {
		create_aging(port, &given);
		taker[0]->rule[i].aged = true;
	}
	taker[1]->rule[1].aged = true;
	assert_int_equal(rte_flow_get_aged_flows(port, contexts, 4, NULL), 1);
	taker[1]->rule[2].aged = true;
	assert_int_equal(rte_flow_get_aged_flows(port, contexts, 4, NULL), 2);
}

static uint32_t
nb_aged(uint16_t port)
{
	void *contexts[4];
	int nb = rte_flow_get_aged_flows(port, NULL, 0, NULL);

	assert_int_equal(rte_flow_get_aged_flows(port, contexts, RTE_DIM(contexts), NULL), nb);
	return (uint32_t)nb;
}

static void
lose_first_pf(void)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(0)],
				     RTE_ETH_EVENT_ERR_RECOVERING, NULL);
}

/* Another port may have its id by now. */
static void
test_a_pf_that_is_lost_is_not_asked_again(void **state)
{
	uint16_t port = make_port();
	void *contexts[4];

	(void)state;
	create_aging(port, NULL);
	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		taker[pf]->rule[0].aged = true;
	taker[0]->on_aged = lose_first_pf;
	taker[0]->nb_asked = 0;
	assert_int_equal(rte_flow_get_aged_flows(port, contexts, RTE_DIM(contexts), NULL), 0);
	octo_port_pass_us(11 * 1000 * 1000);
	assert_int_equal(rte_flow_get_aged_flows(port, contexts, RTE_DIM(contexts), NULL), 1);
	assert_int_equal(taker[0]->nb_asked, 1);
}

/* PFs that name a rule once do so at different times. */
static void
check_told_once(bool tells_no_age)
{
	uint16_t port = make_port();

	create_aging(port, NULL);
	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
		taker[pf]->tells_once = true;
		taker[pf]->tells_no_age = tells_no_age;
	}
	taker[1]->rule[0].aged = true;
	assert_int_equal(nb_aged(port), 0);
	taker[0]->rule[0].aged = true;
	assert_int_equal(nb_aged(port), 1);
	assert_int_equal(nb_aged(port), 0);
	/* it was hit on one PF, and is old there again; on the other it has been all the time */
	taker[0]->rule[0].told = false;
	assert_int_equal(nb_aged(port), 1);
	assert_int_equal(nb_aged(port), 0);
}

static void
test_pfs_that_tell_once(void **state)
{
	(void)state;
	check_told_once(false);
}

static void
test_pfs_that_tell_once_and_no_age(void **state)
{
	(void)state;
	check_told_once(true);
}

static void
test_a_flow_that_was_hit_meanwhile_is_young(void **state)
{
	uint16_t port = make_port();

	(void)state;
	create_aging(port, NULL);
	taker[0]->tells_once = true;
	taker[0]->rule[0].aged = true;
	assert_int_equal(nb_aged(port), 0);
	taker[0]->rule[0].aged = false;
	taker[0]->rule[0].told = false;
	taker[1]->rule[0].aged = true;
	assert_int_equal(nb_aged(port), 0);
	taker[0]->rule[0].aged = true;
	assert_int_equal(nb_aged(port), 1);
}

static void
test_age_is_that_of_the_busiest_pf(void **state)
{
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_AGE};
	uint16_t port = make_port();
	struct rte_flow *rule = create_aging(port, NULL);
	struct rte_flow_query_age age;

	(void)state;
	taker[0]->idle = 30;
	taker[1]->idle = 20;
	taker[0]->rule[0].aged = true;
	assert_int_equal(rte_flow_query(port, rule, &action, &age, NULL), 0);
	assert_int_equal(age.aged, 0);
	assert_int_equal(age.sec_since_last_hit_valid, 1);
	assert_int_equal(age.sec_since_last_hit, 20);
	taker[1]->rule[0].aged = true;
	assert_int_equal(rte_flow_query(port, rule, &action, &age, NULL), 0);
	assert_int_equal(age.aged, 1);
}

/* Nobody knows when it was hit last. An application that took it for aged would destroy it. */
static void
test_a_rule_that_no_pf_has_is_not_aged(void **state)
{
	const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
	const struct rte_flow_action_age conf = {.timeout = 10};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_AGE, .conf = &conf};
	struct rte_flow_error error = {.message = NULL};
	struct rte_flow_action_handle *handle;
	uint16_t port = make_port();
	struct rte_flow_query_age age;
	struct rte_flow *rule;

	(void)state;
	rule = create_aging(port, NULL);
	handle = rte_flow_action_handle_create(port, &ingress, &action, NULL);
	assert_non_null(handle);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_flow_query(port, rule, &action, &age, &error), -ENODEV);
	assert_string_equal(error.message, "no PF has this rule now");
	assert_int_equal(rte_flow_action_handle_query(port, handle, &age, &error), -ENODEV);
	assert_string_equal(error.message, "no PF has this indirect action now");
}

static void
test_contexts_have_a_place(void **state)
{
	struct rte_flow_error error = {.message = NULL};
	uint16_t port = make_port();

	(void)state;
	create_aging(port, NULL);
	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		taker[pf]->rule[0].aged = true;
	assert_int_equal(rte_flow_get_aged_flows(port, NULL, 4, &error), -EINVAL);
	assert_string_equal(error.message, "there is no room for the contexts");
	assert_int_equal(nb_aged(port), 1);
}

/* A lower port may take it as it is; octo reads the timeout when it is updated. */
static void
test_an_indirect_age_has_a_configuration(void **state)
{
	const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_AGE};
	struct rte_flow_error error = {.message = NULL};
	uint16_t port = make_port();

	(void)state;
	assert_null(rte_flow_action_handle_create(port, &ingress, &action, &error));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(error.message, "the action has no configuration");
}

static RTE_ATOMIC(unsigned int) nb_events;

static int
on_aged(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	rte_atomic_fetch_add_explicit(&nb_events, 1, rte_memory_order_relaxed);
	return 0;
}

static void
test_the_pfs_event_is_passed_on(void **state)
{
	uint16_t port = make_port();

	(void)state;
	assert_int_equal(
		rte_eth_dev_callback_register(port, RTE_ETH_EVENT_FLOW_AGED, on_aged, NULL), 0);
	octo_port_taker_tell_aged(1);
	octo_port_await(rte_atomic_load_explicit(&nb_events, rte_memory_order_relaxed) == 1);
	/* refused while the callback runs */
	octo_port_await(
		rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_FLOW_AGED, on_aged, NULL) == 0);
}

/* It came by the PF that is lost, and may come by the other at once. */
static void
test_a_flow_is_young_after_a_pf_is_lost(void **state)
{
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_AGE};
	uint16_t port = make_port();
	struct rte_flow_query_age age;
	struct rte_flow *rule;

	(void)state;
	rule = create_aging(port, NULL);
	taker[1]->idle = 20;
	taker[1]->rule[0].aged = true;
	assert_int_equal(nb_aged(port), 0);
	lose_first_pf();
	assert_int_equal(nb_aged(port), 0);
	octo_port_pass_us(5 * 1000 * 1000);
	assert_int_equal(nb_aged(port), 0);
	assert_int_equal(rte_flow_query(port, rule, &action, &age, NULL), 0);
	assert_int_equal(age.aged, 0);
	assert_in_range(age.sec_since_last_hit, 5, 9);
	octo_port_pass_us(6 * 1000 * 1000);
	assert_int_equal(nb_aged(port), 1);
	assert_int_equal(rte_flow_query(port, rule, &action, &age, NULL), 0);
	assert_int_equal(age.aged, 1);
	assert_int_equal(age.sec_since_last_hit, 20);
}

static void
assert_one_is_announced(uint16_t port)
{
	octo_port_await(rte_atomic_load_explicit(&nb_events, rte_memory_order_relaxed) == 1);
	assert_int_equal(nb_aged(port), 1);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_FLOW_AGED, on_aged, NULL);
}

/* The PF's event comes while the loss holds the flow back, and does not come again. */
static void
test_a_flow_that_is_held_back_is_announced_later(void **state)
{
	uint16_t port = make_port();

	(void)state;
	create_aging(port, NULL);
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_FLOW_AGED, on_aged, NULL);
	lose_first_pf();
	rte_atomic_store_explicit(&nb_events, 0, rte_memory_order_relaxed);
	octo_port_pass_us(5 * 1000 * 1000);
	taker[1]->rule[0].aged = true;
	assert_int_equal(nb_aged(port), 0);
	octo_port_pass_us(4 * 1000 * 1000);
	assert_int_equal(rte_atomic_load_explicit(&nb_events, rte_memory_order_relaxed), 0);
	octo_port_pass_us(2 * 1000 * 1000);
	assert_one_is_announced(port);
}

/* The first PF has told its part of it, and does not tell it again. */
static void
test_a_flow_of_which_a_pf_has_told_is_announced_later(void **state)
{
	uint16_t port = make_port();

	(void)state;
	create_aging(port, NULL);
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_FLOW_AGED, on_aged, NULL);
	taker[1]->tells_once = true;
	taker[1]->rule[0].aged = true;
	assert_int_equal(nb_aged(port), 0);
	rte_atomic_store_explicit(&nb_events, 0, rte_memory_order_relaxed);
	lose_first_pf();
	octo_port_pass_us(9 * 1000 * 1000);
	assert_int_equal(rte_atomic_load_explicit(&nb_events, rte_memory_order_relaxed), 0);
	octo_port_pass_us(2 * 1000 * 1000);
	assert_one_is_announced(port);
}

/* One that ages in an hour had been told of before, and is gone. */
static void
test_a_flow_is_announced_in_its_own_time(void **state)
{
	uint16_t port = make_port();
	struct rte_flow *slow;

	(void)state;
	create_aging(port, NULL);
	slow = create_aging_in(port, 3600, NULL);
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_FLOW_AGED, on_aged, NULL);
	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		taker[pf]->rule[1].aged = true;
	assert_int_equal(nb_aged(port), 1);
	assert_int_equal(rte_flow_destroy(port, slow, NULL), 0);
	lose_first_pf();
	octo_port_pass_us(5 * 1000 * 1000);
	taker[1]->rule[0].aged = true;
	assert_int_equal(nb_aged(port), 0);
	rte_atomic_store_explicit(&nb_events, 0, rte_memory_order_relaxed);
	octo_port_pass_us(6 * 1000 * 1000);
	assert_one_is_announced(port);
}

/* PFs would report it by the context of that AGE, of which octo and the rule know nothing. */
static void
test_an_age_in_a_sample_is_refused(void **state)
{
	const struct rte_flow_attr attr = {.ingress = 1, .priority = OCTO_PORT_TAKEN};
	const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
	const struct rte_flow_action_age age = {.timeout = 10};
	const struct rte_flow_action sampled = {.type = RTE_FLOW_ACTION_TYPE_AGE, .conf = &age};
	struct rte_flow_error error = {.message = NULL};
	uint16_t port = make_port();
	struct rule_maker m = {0};

	(void)state;
	rule_maker_sample(&m, &sampled);
	assert_null(rte_flow_create(port, &attr, m.pattern, m.actions, &error));
	assert_int_equal(rte_errno, ENOTSUP);
	assert_non_null(strstr(error.message, "age in a sample"));
	assert_int_equal(rte_flow_validate(port, &attr, m.pattern, m.actions, &error), -ENOTSUP);
	assert_null(rte_flow_action_handle_create(port, &ingress, m.actions, &error));
	assert_int_equal(rte_errno, ENOTSUP);
	rule_maker_free(&m);
}

#define aged_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		aged_test(test_a_flow_is_aged_on_every_pf_or_not),
		aged_test(test_flows_of_one_context_age_one_by_one),
		aged_test(test_a_pf_that_is_lost_is_not_asked_again),
		aged_test(test_pfs_that_tell_once),
		aged_test(test_pfs_that_tell_once_and_no_age),
		aged_test(test_a_flow_that_was_hit_meanwhile_is_young),
		aged_test(test_age_is_that_of_the_busiest_pf),
		aged_test(test_an_indirect_age_has_a_configuration),
		aged_test(test_a_rule_that_no_pf_has_is_not_aged),
		aged_test(test_contexts_have_a_place),
		aged_test(test_the_pfs_event_is_passed_on),
		aged_test(test_a_flow_is_young_after_a_pf_is_lost),
		aged_test(test_a_flow_that_is_held_back_is_announced_later),
		aged_test(test_a_flow_of_which_a_pf_has_told_is_announced_later),
		aged_test(test_a_flow_is_announced_in_its_own_time),
		aged_test(test_an_age_in_a_sample_is_refused),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
