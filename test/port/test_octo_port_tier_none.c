/* SPDX-License-Identifier: BSD-3-Clause */

/* A port with tier=none refuses every kind of rule, in the same words, and asks no PF. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"

#include "rte_pmd_octo.h"

#define NB_PFS 2
#define FLOW 7
#define WORDS "the port was made with tier=none: it takes no rules"

/* Zero, or a negative errno, as that of a function that returns what it made. */
typedef int (*attempt_fn)(uint16_t port, struct rte_flow_error *error);

static int
made(const void *object)
{
	return object != NULL ? 0 : -rte_errno;
}

static int
validate(uint16_t port, struct rte_flow_error *error)
{
	struct octo_flow_rule r;

	octo_port_build(&r, FLOW, 0);
	return rte_flow_validate(port, &r.attr, r.pattern, r.actions, error);
}

static int
steer(uint16_t port, struct rte_flow_error *error)
{
	return made(octo_port_steer(port, FLOW, 0, error));
}

/* What octo passes to the PFs as it is. */
static int
mark_as(uint16_t port, struct rte_flow_attr attr, struct rte_flow_error *error)
{
	static const struct rte_flow_action_mark mark = {.id = 9};
	static const struct rte_flow_item eth[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
						   {.type = RTE_FLOW_ITEM_TYPE_END}};
	static const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &mark},
		{.type = RTE_FLOW_ACTION_TYPE_PASSTHRU},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	return made(rte_flow_create(port, &attr, eth, actions, error));
}

static int
mark(uint16_t port, struct rte_flow_error *error)
{
	return mark_as(port, (struct rte_flow_attr){.ingress = 1}, error);
}

static int
mark_in_a_group(uint16_t port, struct rte_flow_error *error)
{
	return mark_as(port, (struct rte_flow_attr){.ingress = 1, .group = 3}, error);
}

static int
mark_what_leaves(uint16_t port, struct rte_flow_error *error)
{
	return mark_as(port, (struct rte_flow_attr){.egress = 1}, error);
}

static int
mark_in_the_switch(uint16_t port, struct rte_flow_error *error)
{
	return mark_as(port, (struct rte_flow_attr){.transfer = 1}, error);
}

static int
lead_to_a_pf(uint16_t port, struct rte_flow_error *error)
{
	struct octo_flow_rule r;

	octo_port_build_mpfs(&r, FLOW, 1);
	return made(rte_flow_create(port, &r.attr, r.pattern, r.actions, error));
}

static int
share(uint16_t port, enum rte_flow_action_type type, const void *conf, struct rte_flow_error *error)
{
	static const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
	const struct rte_flow_action action = {.type = type, .conf = conf};

	return made(rte_flow_action_handle_create(port, &ingress, &action, error));
}

static int
share_a_queue(uint16_t port, struct rte_flow_error *error)
{
	static const struct rte_flow_action_queue queue;

	return share(port, RTE_FLOW_ACTION_TYPE_QUEUE, &queue, error);
}

static int
share_rss(uint16_t port, struct rte_flow_error *error)
{
	static const uint16_t queues[] = {0, 1};
	static const struct rte_flow_action_rss rss = {.queue_num = 2, .queue = queues};

	return share(port, RTE_FLOW_ACTION_TYPE_RSS, &rss, error);
}

static int
share_a_count(uint16_t port, struct rte_flow_error *error)
{
	static const struct rte_flow_action_count count;

	return share(port, RTE_FLOW_ACTION_TYPE_COUNT, &count, error);
}

static int
share_an_age(uint16_t port, struct rte_flow_error *error)
{
	static const struct rte_flow_action_age age = {.timeout = 10};

	return share(port, RTE_FLOW_ACTION_TYPE_AGE, &age, error);
}

/* Before the start. Templates, tables and what is made through flow queues need them. */
static int
have_flow_queues(uint16_t port, struct rte_flow_error *error)
{
	return octo_port_flow_queues(port, 2, 64, error);
}

static int
isolate(uint16_t port, struct rte_flow_error *error)
{
	return rte_flow_isolate(port, 1, error);
}

static struct rte_pmd_octo_tuple
tuple(void)
{
	struct rte_pmd_octo_tuple t;

	assert_int_equal(rte_pmd_octo_tuple_read(&t, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, NULL),
			 0);
	return t;
}

/* As "octo steer" of testpmd does. */
static int
steer_by_command(uint16_t port, struct rte_flow_error *error)
{
	const struct rte_pmd_octo_tuple t = tuple();

	return rte_pmd_octo_steer_add(port, &t, 0, error);
}

static int
move_by_command(uint16_t port, struct rte_flow_error *error)
{
	const struct rte_pmd_octo_tuple t = tuple();

	return rte_pmd_octo_steer_move(port, &t, 0, error);
}

#define ATTEMPT(fn)                                                                                \
	{                                                                                          \
#fn, fn                                                                            \
	}
static const struct {
	const char *name;
	attempt_fn fn;
} attempts[] = {
	ATTEMPT(validate),
	ATTEMPT(steer),
	ATTEMPT(mark),
	ATTEMPT(mark_in_a_group),
	ATTEMPT(mark_what_leaves),
	ATTEMPT(mark_in_the_switch),
	ATTEMPT(lead_to_a_pf),
	ATTEMPT(share_a_queue),
	ATTEMPT(share_rss),
	ATTEMPT(share_a_count),
	ATTEMPT(share_an_age),
	ATTEMPT(isolate),
	ATTEMPT(steer_by_command),
	ATTEMPT(move_by_command),
};

static void
check_attempt(uint16_t port, const char *name, attempt_fn fn)
{
	struct rte_flow_error error = {.message = NULL};
	const int ret = fn(port, &error);

	if (ret != -ENOTSUP || error.message == NULL || strcmp(error.message, WORDS) != 0)
		fail_msg("%s: %d, %s", name, ret,
			 error.message == NULL ? "without a word" : error.message);
}

static void
check_attempts(uint16_t port)
{
	for (unsigned int i = 0; i < RTE_DIM(attempts); i++)
		check_attempt(port, attempts[i].name, attempts[i].fn);
}

static void
assert_no_rule(uint16_t port)
{
	struct octo_view_rule rule;
	uint32_t total = 1;

	assert_int_equal(rte_pmd_octo_view_rules(port, 0, &rule, 1, &total), 0);
	assert_int_equal(total, 0);
}

static void
test_every_kind_of_rule_is_refused(void **state)
{
	const struct octo_port_conf conf = {.octo = "tier=none"};
	const uint16_t port = octo_port_create(&conf);
	struct octo_port_faults *faults[NB_PFS];

	(void)state;
	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		faults[pf] = octo_port_faults_on(pf);
	/* some can be made before the port is started */
	assert_int_equal(octo_port_configure(port, 2), 0);
	check_attempts(port);
	check_attempt(port, "have_flow_queues", have_flow_queues);
	assert_int_equal(rte_eth_dev_start(port), 0);
	check_attempts(port);
	assert_no_rule(port);
	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
		assert_int_equal(faults[pf]->ingresses, 0);
		assert_int_equal(faults[pf]->transfers, 0);
		assert_int_equal(faults[pf]->handles, 0);
		assert_int_equal(faults[pf]->isolated, 0);
	}
	assert_int_equal(rte_flow_isolate(port, 0, NULL), 0);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	octo_port_assert_arrives(port, FLOW, 0, 20);
}

/* All of them stray, and that teaches nothing. */
static void
test_no_rule_is_learned(void **state)
{
	const struct octo_port_conf conf = {
		.learn = true, .nic = "default_pf=1", .octo = "tier=none"};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 1);
	for (unsigned int i = 0; i < 200; i++) {
		octo_port_assert_arrives(port, FLOW, 0, 20);
		octo_port_pass_us(1000);
	}
	assert_int_equal(octo_port_strays(port), 4000);
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 0);
	assert_no_rule(port);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_every_kind_of_rule_is_refused),
		octo_port_test(test_no_rule_is_learned),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
