/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A flow that moves between the queues of two consumers stays in order. One PF's
 * pipeline is longer than the other's, and the consumers are slow: what a burst
 * returned is looked at after the next burst of the other one.
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"
#include "octo_private.h"
#include "rte_pmd_octo.h"

#define FLOW 7
#define BURST 32
#define TIMES 6

/* Queue 0 is at home on PF 0, which is slow, queue 1 on PF 1; queue 2 on PF 0 again. */
static const struct octo_port_conf slow_and_fast = {
	.pf = {"latency_us=3000"},
	.octo = "grace_us=4000,fence_timeout_ms=1000,linger_ms=5000",
};

/* The same, and all packets are of queue 0, but come in by PF 1: strays. */
static const struct octo_port_conf strays = {
	.learn = true,
	.nic = "default_pf=1",
	.pf = {"latency_us=3000"},
	.octo = "grace_us=4000,fence_timeout_ms=1000",
};

/* What is not steered is of queue 0 and comes in by PF 1, faster than by the rule. */
static const struct octo_port_conf fast_without = {
	.nic = "default_pf=1",
	.pf = {"latency_us=3000"},
	.octo = "grace_us=4000,fence_timeout_ms=1000,linger_ms=5",
};

/* Both PFs are slices of one port: what differs is how fast the consumers are. */
static const struct octo_port_conf slices = {
	.sliced = true,
	.all = "latency_us=300",
	.octo = "grace_us=400,fence_timeout_ms=1000,linger_ms=5000",
};

static const struct octo_port_conf impatient = {.octo = "fence_timeout_ms=5"};

struct burst {
	struct rte_mbuf *pkts[BURST];
	uint16_t nb;
};

struct trip {
	uint16_t port;
	uint16_t nb_queues;
	uint32_t silent; /* queues that nobody polls */
	struct rte_flow_action_handle *handle;
	struct rte_flow *rule;
	uint32_t sent;
	uint32_t received;
	uint32_t overtaken;
	uint32_t by_queue[3];
	struct burst burst[3];
};

static void
send_some(struct trip *t)
{
	t->sent += octo_port_send_numbered(t->port, 0, FLOW, t->sent, 4);
}

/* The application looks at what its last burst returned. */
static void
deliver(struct trip *t, uint16_t queue)
{
	struct burst *b = &t->burst[queue];

	for (uint16_t i = 0; i < b->nb; i++)
		t->overtaken += octo_port_number(b->pkts[i]) != t->received++;
	rte_pktmbuf_free_bulk(b->pkts, b->nb);
	t->by_queue[queue] += b->nb;
	b->nb = 0;
}

/* The last of the queues is the fastest to look at what it got. */
static void
receive_some(struct trip *t)
{
	for (uint16_t q = 0; q < t->nb_queues; q++)
		if (!(t->silent & RTE_BIT32(q)))
			t->burst[q].nb = rte_eth_rx_burst(t->port, q, t->burst[q].pkts, BURST);
	for (int q = t->nb_queues - 1; q >= 0; q--)
		deliver(t, (uint16_t)q);
}

/* Polled more often than packets come: an empty ring is not an empty pipeline. */
static void
travel(struct trip *t)
{
	send_some(t);
	for (int i = 0; i < 3; i++) {
		receive_some(t);
		octo_port_pass_us(80);
	}
}

#define travel_until(t, condition)                                                                 \
	do {                                                                                       \
		for (int travels_ = 0; travels_ < 20000 && !(condition); travels_++)               \
			travel(t);                                                                 \
		assert_true(condition);                                                            \
	} while (0)

/* Nothing more is sent, and all of it arrives. */
static void
arrive(struct trip *t)
{
	for (int i = 0; i < 2000 && t->received < t->sent; i++) {
		receive_some(t);
		octo_port_pass_us(100);
	}
	assert_int_equal(t->received, t->sent);
}

static struct rte_pmd_octo_tuple
flow_tuple(void)
{
	struct rte_pmd_octo_tuple tuple;
	const char *culprit;

	assert_int_equal(
		rte_pmd_octo_tuple_read(&tuple, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, &culprit),
		0);
	return tuple;
}

static int
move_by_handle(struct trip *t, uint16_t queue, struct rte_flow_error *error)
{
	struct rte_flow_action_queue index;
	struct rte_flow_action action;

	octo_port_queue_action(&action, &index, queue);
	return rte_flow_action_handle_update(t->port, t->handle, &action, error);
}

static int
move_by_hand(struct trip *t, uint16_t queue, struct rte_flow_error *error)
{
	const struct rte_pmd_octo_tuple tuple = flow_tuple();

	return rte_pmd_octo_steer_move(t->port, &tuple, queue, error);
}

static int
begin_by_handle(struct trip *t, uint16_t queue, struct rte_flow_error *error)
{
	t->handle = octo_port_indirect_queue(t->port, queue);
	return octo_port_steer_by(t->port, FLOW, t->handle, error) == NULL ? -rte_errno : 0;
}

static int
begin_by_rule(struct trip *t, uint16_t queue, struct rte_flow_error *error)
{
	t->rule = octo_port_steer(t->port, FLOW, queue, error);
	return t->rule == NULL ? -rte_errno : 0;
}

static int
begin_by_hand(struct trip *t, uint16_t queue, struct rte_flow_error *error)
{
	const struct rte_pmd_octo_tuple tuple = flow_tuple();

	return rte_pmd_octo_steer_add(t->port, &tuple, queue, error);
}

static int
replace_rule(struct trip *t, uint16_t queue, struct rte_flow_error *error)
{
	int ret = rte_flow_destroy(t->port, t->rule, error);

	return ret == 0 ? begin_by_rule(t, queue, error) : ret;
}

static int
replace_by_hand(struct trip *t, uint16_t queue, struct rte_flow_error *error)
{
	const struct rte_pmd_octo_tuple tuple = flow_tuple();
	int ret = rte_pmd_octo_steer_remove(t->port, &tuple, error);

	return ret == 0 ? begin_by_hand(t, queue, error) : ret;
}

typedef int (*change_t)(struct trip *t, uint16_t queue, struct rte_flow_error *error);

static void
depart(struct trip *t, const struct octo_port_conf *conf, uint16_t nb_queues, change_t begin)
{
	*t = (struct trip){.port = octo_port_create(conf), .nb_queues = nb_queues};
	octo_port_up(t->port, nb_queues);
	assert_int_equal(begin(t, 0, NULL), 0);
	travel_until(t, t->by_queue[0] > 40);
}

/* Round all queues, and on from each when packets come by it. */
static void
go_round(struct trip *t, change_t move)
{
	for (int i = 1; i <= TIMES; i++) {
		const uint16_t queue = i % t->nb_queues;
		const uint32_t before = t->by_queue[queue];

		assert_int_equal(move(t, queue, NULL), 0);
		assert_int_equal(octo_port_rule_pf(t->port, FLOW), queue % 2);
		travel_until(t, t->by_queue[queue] > before + 8);
	}
	arrive(t);
	assert_int_equal(t->overtaken, 0);
	assert_true(octo_port_xstat(t->port, "fence_opened") >= TIMES);
	assert_int_equal(octo_port_xstat(t->port, "fence_timeouts"), 0);
}

static void
test_an_indirect_action_keeps_the_order(void **state)
{
	struct trip t;

	(void)state;
	depart(&t, &slow_and_fast, 2, begin_by_handle);
	go_round(&t, move_by_handle);
}

static void
test_a_move_by_hand_keeps_the_order(void **state)
{
	struct trip t;

	(void)state;
	depart(&t, &slow_and_fast, 2, begin_by_rule);
	go_round(&t, move_by_hand);
}

/* Destroyed, and made again for another queue. */
static void
test_a_rule_made_again_keeps_the_order(void **state)
{
	struct trip t;

	(void)state;
	depart(&t, &slow_and_fast, 2, begin_by_rule);
	go_round(&t, replace_rule);
}

struct way {
	change_t begin;
	change_t move;
};

static const struct way ways[] = {
	{begin_by_rule, move_by_hand},
	{begin_by_rule, replace_rule},
	{begin_by_hand, replace_by_hand},
};

static void
test_slices_keep_the_order(void **state)
{
	struct trip t;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(ways); i++) {
		depart(&t, &slices, 2 + (uint16_t)i % 2, ways[i].begin);
		go_round(&t, ways[i].move);
		assert_int_equal(octo_port_xstat(t.port, "rx_stray_packets"), 0);
		octo_port_destroy();
	}
}

/* One rule chooses PF and queue; of three queues two are at home on the same PF. */
static void
test_rules_with_actions_of_other_pfs_keep_the_order(void **state)
{
	static const struct octo_port_conf conf = {
		.nic = "dialect=indirect",
		.octo = "dialect=indirect",
		.pf = {"latency_us=300", "latency_us=10"},
	};
	struct trip t;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(ways); i++) {
		for (uint16_t nb_queues = 2; nb_queues <= 3; nb_queues++) {
			depart(&t, &conf, nb_queues, ways[i].begin);
			go_round(&t, ways[i].move);
			assert_int_equal(octo_port_xstat(t.port, "rx_stray_packets"), 0);
			octo_port_destroy();
		}
	}
}

/* The flow has a rule to this queue for a while, then RSS chooses its queue and slice again. */
static void
steer_for_a_while(struct trip *t, uint16_t queue)
{
	const uint32_t before = t->by_queue[queue];
	uint32_t sent;

	arrive(t);
	assert_int_equal(begin_by_rule(t, queue, NULL), 0);
	travel_until(t, t->by_queue[queue] > before + 40);
	assert_int_equal(rte_flow_destroy(t->port, t->rule, NULL), 0);
	sent = t->sent;
	travel_until(t, t->sent > sent + 400);
	arrive(t);
	assert_int_equal(t->overtaken, 0);
}

static void
test_a_rule_of_slices_ends_in_order(void **state)
{
	static const struct octo_port_conf ends_soon = {
		.sliced = true,
		.all = "latency_us=300",
		.octo = "grace_us=400,fence_timeout_ms=1000,linger_ms=5",
	};
	const struct rte_eth_conf rss = {
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
	};
	struct trip t = {.port = octo_port_create(&ends_soon), .nb_queues = 2};
	uint16_t other;

	(void)state;
	octo_port_up_as(t.port, 2, &rss);
	travel_until(&t, t.by_queue[0] + t.by_queue[1] > 40);
	other = t.by_queue[0] > 0;
	for (int i = 0; i < TIMES; i++)
		steer_for_a_while(&t, other);
	/* by RSS it is of the other queue now */
	octo_port_lead_all_to(t.port, other);
	for (int i = 0; i < TIMES; i++)
		steer_for_a_while(&t, other);
	assert_int_equal(octo_port_xstat(t.port, "rx_stray_packets"), 0);
	assert_int_equal(octo_port_xstat(t.port, "fence_timeouts"), 0);
}

static void
test_steering_again_keeps_the_order(void **state)
{
	struct trip t;

	(void)state;
	depart(&t, &slow_and_fast, 3, begin_by_hand);
	go_round(&t, replace_by_hand);
}

/* What was learned gives way to the first rule of the application's. */
static void
test_a_learned_flow_keeps_the_order(void **state)
{
	struct trip t = {.nb_queues = 2};

	(void)state;
	t.port = octo_port_create(&strays);
	octo_port_up(t.port, 2);
	travel_until(&t, octo_port_xstat(t.port, "learned_flows") == 1);
	travel_until(&t, t.sent > 400);
	assert_int_equal(octo_port_rule_pf(t.port, FLOW), 0);
	assert_int_equal(begin_by_rule(&t, 1, NULL), 0);
	assert_int_equal(octo_port_rule_pf(t.port, FLOW), 1);
	assert_int_equal(octo_port_xstat(t.port, "learned_flows"), 0);
	travel_until(&t, t.by_queue[1] > 40);
	arrive(&t);
	assert_int_equal(t.overtaken, 0);
	assert_int_equal(octo_port_xstat(t.port, "fence_timeouts"), 0);
}

/* A rule is destroyed, and none follows. */
static void
check_end(uint16_t queue)
{
	struct trip t;

	depart(&t, &fast_without, 3, begin_by_rule);
	for (int i = 0; i < TIMES; i++) {
		const uint64_t before = octo_port_xstat(t.port, "rx_stray_packets");
		uint32_t sent = t.sent;

		assert_int_equal(rte_flow_destroy(t.port, t.rule, NULL), 0);
		travel_until(&t, octo_port_xstat(t.port, "rx_stray_packets") > before + 8);
		assert_true(t.sent > sent);
		assert_int_equal(begin_by_rule(&t, queue, NULL), 0);
		/* until the last of the strays has come */
		sent = t.sent;
		travel_until(&t, octo_port_rule_pf(t.port, FLOW) == 0 && t.sent > sent + 200);
	}
	arrive(&t);
	assert_int_equal(t.overtaken, 0);
	assert_true(octo_port_xstat(t.port, "fence_opened") >= TIMES);
	assert_int_equal(octo_port_xstat(t.port, "fence_timeouts"), 0);
}

static void
test_a_flow_goes_to_another_queue_in_order(void **state)
{
	(void)state;
	check_end(2);
}

static void
test_a_flow_goes_by_another_pf_in_order(void **state)
{
	(void)state;
	check_end(0);
}

/* Between queues 2 and 0, which are at home on the same PF, the PF's rule is all that changes. */
static void
test_queues_of_one_pf_keep_the_order(void **state)
{
	struct trip t;

	(void)state;
	depart(&t, &slow_and_fast, 3, begin_by_handle);
	go_round(&t, move_by_handle);
}

/*
 * A PF refuses after the flow went: it goes back. Nothing is lost; in order it
 * would be only if the consumers could go on meanwhile.
 */
static void
test_what_is_refused_goes_back(void **state)
{
	struct octo_port_faults *faults;
	struct rte_flow_error error;
	struct trip t;

	(void)state;
	depart(&t, &impatient, 2, begin_by_handle);
	/* the home of queue 0, which it leaves, is asked last */
	faults = octo_port_faults_on(0);
	faults->handle_update = EBUSY;
	for (int i = 0; i < TIMES; i++) {
		const uint32_t before = t.by_queue[0];

		assert_int_equal(move_by_handle(&t, 1, &error), -EBUSY);
		assert_int_equal(octo_port_rule_pf(t.port, FLOW), 0);
		travel_until(&t, t.by_queue[0] > before + 8);
	}
	arrive(&t);
}

/* What nobody asks for is not lost, and nobody waits for it for ever. */
static void
test_a_consumer_falls_silent(void **state)
{
	struct trip t;
	uint32_t before;

	(void)state;
	depart(&t, &impatient, 2, begin_by_handle);
	t.silent = RTE_BIT32(0);
	send_some(&t);
	octo_port_pump(1);
	assert_int_equal(move_by_handle(&t, 1, NULL), 0);
	before = t.by_queue[1];
	travel_until(&t, t.by_queue[1] > before + 8);
	assert_int_equal(octo_port_xstat(t.port, "fence_timeouts"), 1);
	t.silent = 0;
	arrive(&t);
}

static void
test_what_cannot_be_moved(void **state)
{
	const struct rte_pmd_octo_tuple tuple = flow_tuple();
	struct rte_flow_error error;
	struct trip t;

	(void)state;
	depart(&t, &impatient, 2, begin_by_handle);
	assert_int_equal(rte_pmd_octo_steer_move(t.port, &tuple, 1, &error), -ENOTSUP);
	assert_string_equal(error.message,
			    "this rule says more than its queue: change it through rte_flow");
	assert_int_equal(rte_pmd_octo_steer_move(t.port, &tuple, 2, &error), -EINVAL);
	assert_int_equal(rte_flow_flush(t.port, NULL), 0);
	assert_int_equal(rte_pmd_octo_steer_move(t.port, &tuple, 1, &error), -ENOENT);
	assert_string_equal(error.message, "this 5-tuple is not steered: steer it");
	assert_int_equal(rte_pmd_octo_steer_move(octo_port_pf(0), &tuple, 1, &error), -ENODEV);
	assert_non_null(octo_port_steer(t.port, FLOW, 0, NULL));
	assert_int_equal(rte_eth_dev_stop(t.port), 0);
	assert_int_equal(rte_pmd_octo_steer_move(t.port, &tuple, 1, &error), -ENOTSUP);
	assert_string_equal(error.message, "the port is stopped: start it first");
}

/* A bridge of the next priority, which there is not, would go before all other rules. */
static void
test_a_rule_of_the_last_priority(void **state)
{
	const struct octo_port_conf conf = {.all = "caps=-update"};
	struct rte_flow_error error = {.message = NULL};
	uint16_t port = octo_port_create(&conf);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct octo_rule_spec spec;
	struct octo_flow_rule r;
	struct rte_flow *flow;
	int ret;

	(void)state;
	octo_port_lack_update();
	octo_port_up(port, 2);
	octo_port_build(&r, FLOW, 0);
	r.attr.priority = UINT32_MAX;
	flow = rte_flow_create(port, &r.attr, r.pattern, r.actions, NULL);
	assert_non_null(flow);
	octo_lock(octo);
	spec = octo_fanout_spec_of(octo, flow);
	spec.queue = 1;
	ret = octo_move_to_spec_locked(octo, flow, &spec, &error);
	octo_unlock(octo);
	assert_int_equal(ret, -EEXIST);
	assert_non_null(strstr(error.message, "none of the next priority"));
	octo_port_assert_arrives(port, FLOW, 0, 20);
	octo_port_faults_off();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_an_indirect_action_keeps_the_order),
		octo_port_test(test_a_move_by_hand_keeps_the_order),
		octo_port_test(test_a_rule_made_again_keeps_the_order),
		octo_port_test(test_steering_again_keeps_the_order),
		octo_port_test(test_slices_keep_the_order),
		octo_port_test(test_rules_with_actions_of_other_pfs_keep_the_order),
		octo_port_test(test_a_rule_of_slices_ends_in_order),
		octo_port_test(test_a_learned_flow_keeps_the_order),
		octo_port_test(test_a_flow_goes_to_another_queue_in_order),
		octo_port_test(test_a_flow_goes_by_another_pf_in_order),
		octo_port_test(test_queues_of_one_pf_keep_the_order),
		octo_port_test(test_what_is_refused_goes_back),
		octo_port_test(test_a_consumer_falls_silent),
		octo_port_test(test_what_cannot_be_moved),
		octo_port_test(test_a_rule_of_the_last_priority),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
