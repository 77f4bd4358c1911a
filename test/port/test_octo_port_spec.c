/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rules and indirect actions are the port's own in every byte: PFs that read all of
 * them find it unchanged when what the application gave is gone.
 */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "octo_port.h"
#include "octo_port_taker.h"
#include "rule_maker.h"
#include "rule_reader.h"

#define NB_PFS 2

static const struct octo_port_conf two_pfs = {.replug = true};
static const struct rte_flow_attr attr = {.ingress = 1, .priority = OCTO_PORT_TAKEN};

/* Before octo hears of new ports. */
static int
group_setup(void **state)
{
	int ret = octo_port_group_setup(state);

	octo_port_takers_stay();
	return ret;
}

static uint16_t
make_port(void)
{
	uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, 2);
	return port;
}

static void
restart(uint16_t port)
{
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static void
replug(uint16_t port, unsigned int pf)
{
	octo_port_remove_pf(pf);
	octo_port_await(octo_port_pf_is_started(port, pf));
}

/* Rules of all kinds, of which the application has nothing any more but their sums. */
static struct {
	struct rte_flow *flow;
	uint64_t sum;
} rules[RULE_MAKER_ROOM];
static unsigned int nb_rules;

static void
make_rules(uint16_t port)
{
	struct rte_flow_error error = {.message = NULL};
	struct rule_maker m;

	nb_rules = 0;
	for (unsigned int kind = 0; kind < rule_maker_kinds(); kind++) {
		if (rule_maker_name(kind) == NULL)
			continue;
		rule_maker_make(&m, kind);
		rules[nb_rules].sum = rule_reader_sum(m.pattern, m.actions);
		rules[nb_rules].flow = rte_flow_create(port, &attr, m.pattern, m.actions, &error);
		if (rules[nb_rules++].flow == NULL)
			fail_msg("%s: %s", rule_maker_name(kind), error.message);
		rule_maker_free(&m);
	}
}

static bool
has_all(unsigned int pf)
{
	const struct octo_port_taker *t = octo_port_taker_of(pf);

	for (unsigned int i = 0; i < nb_rules; i++)
		if (!t->rule[i].used || t->rule[i].sum != rules[i].sum)
			return false;
	return t->nb == nb_rules;
}

static void
test_rules_outlive_what_they_were_made_of(void **state)
{
	uint16_t port = make_port();

	(void)state;
	make_rules(port);
	assert_true(has_all(0) && has_all(1));
	restart(port);
	assert_true(has_all(0) && has_all(1));
	replug(port, 1);
	octo_port_await(has_all(1));
	for (unsigned int i = 0; i < nb_rules; i++)
		assert_int_equal(rte_flow_destroy(port, rules[i].flow, NULL), 0);
	assert_int_equal(octo_port_taker_of(1)->nb, 0);
}

static void
test_rules_made_while_the_port_is_stopped(void **state)
{
	uint16_t port = make_port();

	(void)state;
	assert_int_equal(rte_eth_dev_stop(port), 0);
	make_rules(port);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_true(has_all(0) && has_all(1));
}

/* Of each kind of action one; PFs have them in the order in which they were made. */
static void
make_handles(uint16_t port, uint64_t *sums, struct rte_flow_action_handle **handles,
	     unsigned int *nb)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	struct rte_flow_error error = {.message = NULL};
	struct rule_maker m;

	*nb = 0;
	for (unsigned int kind = 0; kind < rule_maker_kinds(); kind++) {
		if (rule_maker_name(kind) == NULL)
			continue;
		rule_maker_make(&m, kind);
		sums[*nb] = rule_reader_sum(NULL, m.actions);
		handles[*nb] = rte_flow_action_handle_create(port, &conf, m.actions, &error);
		if (handles[(*nb)++] == NULL)
			fail_msg("%s: %s", rule_maker_name(kind), error.message);
		rule_maker_free(&m);
	}
}

static void
assert_handles(unsigned int pf, const uint64_t *sums, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		assert_true(octo_port_taker_of(pf)->handle[i].used);
		assert_true(octo_port_taker_of(pf)->handle[i].sum == sums[i]);
	}
}

static void
test_indirect_actions_outlive_what_they_were_made_of(void **state)
{
	struct rte_flow_action_handle *handles[RULE_MAKER_ROOM];
	uint64_t sums[RULE_MAKER_ROOM];
	uint16_t port = make_port();
	unsigned int nb;

	(void)state;
	make_handles(port, sums, handles, &nb);
	restart(port);
	assert_handles(0, sums, nb);
	assert_handles(1, sums, nb);
	replug(port, 1);
	assert_handles(1, sums, nb);
	for (unsigned int i = 0; i < nb; i++)
		assert_int_equal(rte_flow_action_handle_destroy(port, handles[i], NULL), 0);
}

static void
test_updates_outlive_what_they_were_made_of(void **state)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	struct rte_flow_action_rss rss = {.queue_num = 1};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss};
	struct rte_flow_action_handle *handle;
	uint16_t port = make_port();
	struct rule_maker m = {0};
	uint16_t queues[] = {1};
	uint64_t sum;

	(void)state;
	rss.queue = queues;
	handle = rte_flow_action_handle_create(port, &conf, &action, NULL);
	assert_non_null(handle);
	for (unsigned int kind = 0; kind < rule_maker_kinds(); kind++) {
		if (rule_maker_name(kind) == NULL || strcmp(rule_maker_name(kind), "rss") != 0)
			continue;
		rule_maker_make(&m, kind);
		sum = rule_reader_sum(NULL, m.actions);
		assert_int_equal(rte_flow_action_handle_update(port, handle, m.actions, NULL), 0);
		rule_maker_free(&m);
		assert_handles(1, &sum, 1);
		restart(port);
		assert_handles(1, &sum, 1);
	}
	assert_int_equal(rte_flow_action_handle_destroy(port, handle, NULL), 0);
}

/* A sample's COUNT is each PF's own; who has it is told when it is to be destroyed. */
static void
test_an_indirect_action_in_a_sample(void **state)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	struct rte_flow_action indirect = {.type = RTE_FLOW_ACTION_TYPE_INDIRECT};
	struct rte_flow_action_handle *handle;
	uint16_t port = make_port();
	struct rule_maker m = {0};
	struct rte_flow *flow;

	(void)state;
	handle = rte_flow_action_handle_create(port, &conf, &count, NULL);
	assert_non_null(handle);
	indirect.conf = handle;
	rule_maker_sample(&m, &indirect);
	assert_int_equal(rte_flow_validate(port, &attr, m.pattern, m.actions, NULL), 0);
	flow = rte_flow_create(port, &attr, m.pattern, m.actions, NULL);
	assert_non_null(flow);
	assert_null(rte_flow_action_handle_create(port, &conf, m.actions, NULL));
	assert_int_equal(rte_errno, EINVAL);
	rule_maker_free(&m);
	assert_int_equal(rte_flow_action_handle_destroy(port, handle, NULL), -EBUSY);
	restart(port);
	replug(port, 1);
	octo_port_await(octo_port_taker_of(1)->nb == 1);
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
	assert_int_equal(rte_flow_action_handle_destroy(port, handle, NULL), 0);
}

/* Some PMDs look into it at each start. */
static void
test_the_key_of_rss_outlives_the_applications(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rule_maker m = {0};
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf = {.rss_key_len = 40, .rss_hf = RTE_ETH_RSS_IP},
	};
	uint8_t key[40];

	(void)state;
	conf.rx_adv_conf.rss_conf.rss_key = rule_maker_piece(&m, sizeof(key));
	memcpy(key, conf.rx_adv_conf.rss_conf.rss_key, sizeof(key));
	octo_port_up_as(port, 2, &conf);
	rule_maker_free(&m);
	restart(port);
	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
		assert_int_equal(rte_eth_dev_conf_get(octo_port_pf(pf), &conf), 0);
		assert_memory_equal(conf.rx_adv_conf.rss_conf.rss_key, key, sizeof(key));
	}
	/* once more with what it has */
	assert_int_equal(rte_eth_dev_conf_get(port, &conf), 0);
	assert_memory_equal(conf.rx_adv_conf.rss_conf.rss_key, key, sizeof(key));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up_as(port, 2, &conf);
	assert_int_equal(rte_eth_dev_conf_get(octo_port_pf(1), &conf), 0);
	assert_memory_equal(conf.rx_adv_conf.rss_conf.rss_key, key, sizeof(key));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_rules_outlive_what_they_were_made_of),
		octo_port_test(test_rules_made_while_the_port_is_stopped),
		octo_port_test(test_indirect_actions_outlive_what_they_were_made_of),
		octo_port_test(test_updates_outlive_what_they_were_made_of),
		octo_port_test(test_an_indirect_action_in_a_sample),
		octo_port_test(test_the_key_of_rss_outlives_the_applications),
	};

	return cmocka_run_group_tests(tests, group_setup, octo_port_group_teardown);
}
