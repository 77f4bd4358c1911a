/* SPDX-License-Identifier: BSD-3-Clause */

/* RSS, what is learned, rings, and idle queues, where the PFs are slices of one port's queues. */

#include <errno.h>
#include <string.h>

#include <rte_dev.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#define FLOWS 64
#define BURST 32

static const struct octo_port_conf interleaved = {.sliced = true, .replug = true};
static const struct octo_port_conf no_reta = {.sliced = true, .learn = true, .all = "caps=-reta"};

static const struct rte_eth_conf rss = {
	.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
	.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
};

/* Frames of many flows, and as many that come, by any queue. */
static void
send_flows(uint16_t port, uint16_t nb_queues)
{
	struct octo_port_tally tally = {0};

	for (uint16_t flow = 0; flow < FLOWS; flow++)
		octo_port_send(port, 0, flow, 1);
	for (int i = 0; i < 1000 && tally.packets < FLOWS; i++) {
		for (uint16_t q = 0; q < nb_queues; q++)
			octo_port_poll(port, q, BURST, &tally);
		octo_port_pass_us(100);
	}
	assert_int_equal(tally.packets, FLOWS);
}

/* Without a rule, and nothing strays: the RETA names legs of homes only. */
static void
test_rss_comes_home(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up_as(port, 2, &rss);
	send_flows(port, 2);
	for (uint16_t q = 0; q < 2; q++)
		assert_true(octo_port_xstat(port, "rx_q%u_home_packets", q) > FLOWS / 8);
	assert_int_equal(octo_port_strays(port), 0);
	assert_int_equal(octo_port_reta_of(0), RTE_BIT32(0) | RTE_BIT32(3));
}

/* Half of what a NIC without a RETA sends by itself. */
static void
test_rss_without_a_reta_strays(void **state)
{
	static const struct octo_port_conf conf = {.sliced = true, .all = "caps=-reta"};
	uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up_as(port, 2, &rss);
	send_flows(port, 2);
	for (uint16_t q = 0; q < 2; q++) {
		assert_true(octo_port_xstat(port, "rx_q%u_home_packets", q) > FLOWS / 16);
		assert_true(octo_port_xstat(port, "rx_q%u_stray_packets", q) > FLOWS / 16);
	}
}

static void
learn_some(uint16_t port)
{
	for (int i = 0; i < 4000 && octo_port_xstat(port, "learned_flows") < FLOWS / 4; i++)
		send_flows(port, 2);
	assert_true(octo_port_xstat(port, "learned_flows") >= FLOWS / 4);
}

/* A learned rule is the flow's only one, too; it leads to the queue that RSS had chosen. */
static void
test_strays_teach(void **state)
{
	uint16_t port = octo_port_create(&no_reta);
	uint64_t before;

	(void)state;
	octo_port_up_as(port, 2, &rss);
	learn_some(port);
	for (int i = 0; i < 200; i++)
		send_flows(port, 2);
	before = octo_port_strays(port);
	send_flows(port, 2);
	assert_int_equal(octo_port_strays(port), before);
}

/* What was learned must not keep flows on a queue that the application has taken out. */
static void
test_learned_rules_go_with_the_reta(void **state)
{
	static const struct octo_port_conf conf = {
		.sliced = true, .two_nodes = true, .learn = true};
	struct octo_port_faults *faults;
	uint64_t before;
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	port = octo_port_create(&conf);
	faults = octo_port_faults_on(0);
	octo_port_run_on(0);
	octo_port_up_as(port, 2, &rss);
	/* the RETA does not follow the queues to the other node */
	faults->reta_update = EIO;
	octo_port_run_on(1);
	learn_some(port);
	faults->reta_update = 0;
	octo_port_lead_all_to(port, 0);
	before = octo_port_xstat(port, "rx_q1_packets");
	for (int i = 0; i < 200; i++)
		send_flows(port, 2);
	assert_int_equal(octo_port_xstat(port, "rx_q1_packets"), before);
	assert_true(octo_port_xstat(port, "learned_flows") > 0);
}

static struct rte_flow *
drop_all(uint16_t port, enum rte_flow_item_type type, uint32_t priority)
{
	const struct rte_flow_attr attr = {.ingress = 1, .priority = priority};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH}, {.type = type}, {.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_DROP},
						  {.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_error error;

	return rte_flow_create(port, &attr, pattern, actions, &error);
}

static void
check_the_application_goes_first(uint32_t priority, uint32_t nb_priorities)
{
	uint16_t port = octo_port_create(&no_reta);
	struct octo_port_tally tally = {0};

	octo_port_faults_on(0)->priorities = nb_priorities;
	octo_port_up_as(port, 2, &rss);
	learn_some(port);
	assert_non_null(drop_all(port, RTE_FLOW_ITEM_TYPE_IPV4, priority));
	for (uint16_t flow = 0; flow < FLOWS; flow++)
		octo_port_send(port, 0, flow, 1);
	for (int i = 0; i < 200; i++) {
		for (uint16_t q = 0; q < 2; q++)
			octo_port_poll(port, q, BURST, &tally);
		octo_port_pass_us(100);
	}
	assert_int_equal(tally.packets, 0);
	octo_port_destroy();
}

/* A learned rule gives way to what the application says of its flow, whatever the priority. */
static void
test_rules_of_the_application_go_first(void **state)
{
	(void)state;
	check_the_application_goes_first(0, 0);
	check_the_application_goes_first(2, 0);
	check_the_application_goes_first(3, 0);
	check_the_application_goes_first(0, 1);
}

/* Nothing is learned while there is a rule that would give way to what was learned. */
static void
test_learning_waits_for_rules_of_the_application(void **state)
{
	uint16_t port = octo_port_create(&no_reta);
	struct rte_flow *rule;

	(void)state;
	octo_port_up_as(port, 2, &rss);
	/* no frame is of this kind */
	rule = drop_all(port, RTE_FLOW_ITEM_TYPE_IPV6, 1);
	assert_non_null(rule);
	learn_some(port);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	assert_true(octo_port_xstat(port, "learned_flows") >= FLOWS / 4);
	rule = drop_all(port, RTE_FLOW_ITEM_TYPE_IPV6, 2);
	assert_non_null(rule);
	for (int i = 0; i < 200; i++)
		send_flows(port, 2);
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 0);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	learn_some(port);
}

/* Nothing polls the queues of the port that are no leg. */
static void
test_rss_that_cannot_be_kept_from_idle_queues(void **state)
{
	static const struct octo_port_conf gaps = {.contiguous = true, .all = "caps=-reta"};
	uint16_t port = octo_port_create(&gaps);

	(void)state;
	assert_int_equal(rte_eth_dev_configure(port, 2, 2, &rss), -ENOTSUP);
	/* all of them are legs */
	octo_port_up_as(port, 8, &rss);
	send_flows(port, 8);
	octo_port_destroy();
	port = octo_port_create(&no_reta);
	octo_port_up_as(port, 2, &rss);
	send_flows(port, 2);
}

static void
test_without_rss_queue_0_is_needed(void **state)
{
	const struct rte_eth_conf none = {0};
	uint16_t port;

	(void)state;
	octo_port_add_pf(&interleaved, 0);
	assert_int_equal(
		rte_eal_hotplug_add("vdev", OCTO_PORT_NAME, "pf=net_mpsim0[1::2],learn=off"), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &port), 0);
	assert_int_equal(rte_eth_dev_configure(port, 2, 2, &none), -EINVAL);
	octo_port_up_as(port, 2, &rss);
	send_flows(port, 2);
}

static void
reta_of(uint16_t port, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	for (uint16_t i = 0; i < size / RTE_ETH_RETA_GROUP_SIZE; i++)
		reta[i].mask = UINT64_MAX;
	assert_int_equal(rte_eth_dev_rss_reta_query(port, reta, size), 0);
}

static uint16_t
entry(const struct rte_eth_rss_reta_entry64 *reta, uint16_t i)
{
	return reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
}

/* The application's has the octo port's queues, the NIC's has the home leg of each. */
static void
test_the_reta_is_of_octo_queues(void **state)
{
	struct rte_eth_rss_reta_entry64 ours[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_rss_reta_entry64 nics[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	uint16_t port = octo_port_create(&interleaved);
	struct rte_eth_dev_info info;

	(void)state;
	octo_port_up_as(port, 4, &rss);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_true(info.reta_size >= 64 && info.reta_size <= RTE_ETH_RSS_RETA_SIZE_512);
	reta_of(port, ours, info.reta_size);
	for (uint16_t i = 0; i < info.reta_size; i++)
		assert_int_equal(entry(ours, i), i % 4);
	memset(ours, 0, sizeof(ours));
	ours[0].mask = RTE_BIT64(5);
	ours[0].reta[5] = 3;
	assert_int_equal(rte_eth_dev_rss_reta_update(port, ours, info.reta_size), 0);
	reta_of(port, ours, info.reta_size);
	reta_of(octo_port_pf(0), nics, info.reta_size);
	for (uint16_t i = 0; i < info.reta_size; i++) {
		assert_int_equal(entry(ours, i), i == 5 ? 3 : i % 4);
		assert_int_equal(entry(nics, i) / 2, entry(ours, i));
		/* queue Q is at home on PF Q % 2 */
		assert_int_equal(entry(nics, i) % 2, entry(ours, i) % 2);
	}
}

static uint32_t
reta_after_use(uint16_t nb_queues, uint16_t queue)
{
	uint16_t port, pf;

	octo_port_add_pfs(&interleaved);
	pf = octo_port_pf(0);
	if (nb_queues > 0) {
		assert_int_equal(rte_eth_dev_configure(pf, nb_queues, nb_queues, &rss), 0);
		octo_port_lead_all_to(pf, queue);
	}
	port = octo_port_add(&interleaved);
	octo_port_up_as(port, 2, &rss);
	assert_int_equal(octo_port_reta_of(0), RTE_BIT32(0) | RTE_BIT32(3));
	octo_port_close_and_remove(port);
	return octo_port_reta_of(0);
}

/* It had one, or has one of all queues, also those that are nobody's home. */
static void
test_a_port_that_was_there_gets_its_reta_back(void **state)
{
	(void)state;
	assert_int_equal(reta_after_use(4, 2), RTE_BIT32(2));
	octo_port_destroy();
	/* the port has 4 queues now */
	assert_int_equal(reta_after_use(8, 5), 0xf);
	octo_port_destroy();
	assert_int_equal(reta_after_use(0, 0), 0xf);
}

/* There is no Tx queue that idle ones could be like. */
static void
check_a_port_that_only_receives(const struct octo_port_conf *slices)
{
	const struct rte_eth_conf conf = {0};
	uint16_t port = octo_port_create(slices);
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_configure(port, 2, 0, &conf), 0);
	for (uint16_t q = 0; q < 2; q++)
		assert_int_equal(
			rte_eth_rx_queue_setup(port, q, 128, SOCKET_ID_ANY, NULL, octo_port_pool),
			0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_remove_pf(0);
	octo_port_pass_us(20000);
	octo_port_add_pf(slices, 0);
	octo_port_await(octo_port_pf_is_started(port, 0));
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &info), 0);
	assert_int_equal(info.nb_tx_queues, 0);
	octo_port_destroy();
}

static void
test_a_port_that_only_receives_is_plugged_again(void **state)
{
	static const struct octo_port_conf contiguous = {.contiguous = true, .replug = true};

	(void)state;
	check_a_port_that_only_receives(&interleaved);
	check_a_port_that_only_receives(&contiguous);
}

/* Descriptors of each Rx ring of a queue. */
static uint16_t
ring_of(uint16_t port, uint16_t queue)
{
	struct rte_eth_rxq_info info;

	assert_int_equal(rte_eth_rx_queue_info_get(port, queue, &info), 0);
	return info.nb_desc;
}

/* A port of slices with six idle queues, which fill rings of the pool, too, and another port. */
static void
test_rings_leave_room_for_idle_queues_of_another_port(void **state)
{
	static const struct octo_port_conf slices = {.contiguous = true};
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"shared", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	const uint16_t first = octo_port_create(&slices);
	const struct rte_eth_conf none = {0};
	uint16_t port;

	(void)state;
	assert_non_null(pool);
	assert_int_equal(rte_eth_dev_configure(first, 2, 2, &none), 0);
	for (uint16_t q = 0; q < 2; q++)
		assert_int_equal(rte_eth_rx_queue_setup(first, q, 64, 0, NULL, pool), 0);
	assert_int_equal(ring_of(first, 0), 64);
	for (unsigned int pf = 2; pf < 4; pf++)
		assert_int_equal(rte_eal_hotplug_add("vdev", octo_port_pf_name(pf), "nic=U"), 0);
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_octo1", "pf=net_mpsim2,pf=net_mpsim3"),
			 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_octo1", &port), 0);
	assert_int_equal(rte_eth_dev_configure(port, 1, 1, &none), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port, 0, 256, 0, NULL, pool), 0);
	assert_int_equal(ring_of(port, 0), 128);
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_octo1"), 0);
	octo_port_destroy();
	rte_mempool_free(pool);
}

/* Whatever the application says, and its thread's node is. */
static void
check_rings(const struct octo_port_conf *conf)
{
	const uint16_t port = octo_port_create(conf);
	struct octo_port_faults *faults = octo_port_faults_on(0);

	memset(faults->rx_socket, UINT8_MAX, sizeof(faults->rx_socket));
	memset(faults->tx_socket, UINT8_MAX, sizeof(faults->tx_socket));
	octo_port_up(port, 2);
	for (uint16_t leg = 0; leg < 4; leg++) {
		const uint16_t pf = leg % 2;
		const uint16_t queue = conf->contiguous ? 8 * pf + leg / 2 : leg;

		assert_int_equal(faults->rx_socket[queue], pf);
		assert_int_equal(faults->tx_socket[queue], pf);
	}
	octo_port_destroy();
}

static void
test_each_slice_has_rings_of_its_node(void **state)
{
	(void)state;
	octo_port_fake_node_1();
	check_rings(&(const struct octo_port_conf){.sliced = true, .two_nodes = true});
	check_rings(&(const struct octo_port_conf){.contiguous = true, .two_nodes = true});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_rss_comes_home),
		octo_port_test(test_rss_without_a_reta_strays),
		octo_port_test(test_strays_teach),
		octo_port_test(test_learned_rules_go_with_the_reta),
		octo_port_test(test_rules_of_the_application_go_first),
		octo_port_test(test_learning_waits_for_rules_of_the_application),
		octo_port_test(test_rss_that_cannot_be_kept_from_idle_queues),
		octo_port_test(test_without_rss_queue_0_is_needed),
		octo_port_test(test_the_reta_is_of_octo_queues),
		octo_port_test(test_a_port_that_was_there_gets_its_reta_back),
		octo_port_test(test_a_port_that_only_receives_is_plugged_again),
		octo_port_test(test_rings_leave_room_for_idle_queues_of_another_port),
		octo_port_test(test_each_slice_has_rings_of_its_node),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
