/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that are slices of a port of net_af_xdp: RSS is the kernel's, and its RETA follows homes. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ethdev_driver.h>

#include "octo_ethtool.h"
#include "octo_port.h"
#include "octo_port_flows.h"
#include "octo_port_kernel.h"
#include "octo_private.h"

static struct octo_port_kernel *const kernel = &octo_port_kernel;

static const struct octo_port_conf interleaved = {.sliced = true, .replug = true};

static const struct octo_port_conf contiguous = {.contiguous = true};

static const struct octo_port_conf two_nodes = {.sliced = true, .two_nodes = true};

static const struct rte_eth_conf rss = {
	.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
	.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
};

/* In one request of the kernel: no second rule of a flow is made. */
static void
test_a_rehome_flips_rules_and_reta(void **state)
{
	uint16_t port;
	unsigned int before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	port = octo_port_create(&two_nodes);
	octo_port_run_on(0);
	octo_port_up_as(port, 1, &rss);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(0));
	for (int i = 1; i < 6; i++) {
		before = kernel->inserted;
		octo_port_run_on(i % 2);
		octo_port_await(octo_port_leads_to(port, 7, 0, i % 2) &&
				octo_port_kernel_channels() == RTE_BIT64(i % 2));
		assert_int_equal(octo_port_kernel_channel_of(7), i % 2);
		assert_int_equal(kernel->inserted, before + 1);
		assert_int_equal(kernel->removed, 0);
	}
	octo_port_assert_arrives(port, 7, 0, 10);
	octo_port_assert_arrives(port, 8, 0, 10);
	assert_int_equal(octo_port_strays(port), 0);
}

/* The kernel has removed the rule when it refuses the new one. */
static void
test_a_refused_rehome_follows_later(void **state)
{
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	port = octo_port_create(&two_nodes);
	octo_port_run_on(0);
	octo_port_up_as(port, 1, &rss);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	kernel->insert = EBUSY;
	kernel->removes_first = true;
	kernel->set_reta = EBUSY;
	octo_port_run_on(1);
	for (int i = 0; i < 20; i++)
		octo_port_assert_arrives(port, 7, 0, 10);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(0));
	kernel->insert = 0;
	kernel->set_reta = 0;
	octo_port_await(octo_port_leads_to(port, 7, 0, 1) &&
			octo_port_kernel_channels() == RTE_BIT64(1));
	assert_int_equal(octo_port_kernel_channel_of(7), 1);
	octo_port_assert_arrives(port, 7, 0, 10);
}

/* The driver has no RSS at all: it is the kernel's, and the port offers it. */
static void
test_rss_is_the_kernels(void **state)
{
	struct rte_eth_rss_conf conf = {.rss_key_len = OCTO_PORT_KERNEL_KEY};
	uint8_t key[OCTO_PORT_KERNEL_KEY] = {0};
	uint16_t port = octo_port_create(&interleaved);
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.reta_size, 128);
	assert_int_equal(info.hash_key_size, OCTO_PORT_KERNEL_KEY);
	assert_int_equal(info.flow_type_rss_offloads & rss.rx_adv_conf.rss_conf.rss_hf,
			 rss.rx_adv_conf.rss_conf.rss_hf);
	octo_port_up_as(port, 2, &rss);
	octo_port_kernel_send_flows(port, 2);
	for (uint16_t q = 0; q < 2; q++)
		assert_true(octo_port_xstat(port, "rx_q%u_home_packets", q) >
			    OCTO_PORT_KERNEL_FLOWS / 8);
	assert_int_equal(octo_port_strays(port), 0);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(0) | RTE_BIT64(3));
	conf.rss_key = key;
	assert_int_equal(rte_eth_dev_rss_hash_conf_get(port, &conf), 0);
	assert_memory_equal(key, kernel->key, sizeof(key));
}

static void
test_the_driver_is_asked_for_no_rss(void **state)
{
	struct rte_eth_conf conf;
	uint16_t port;

	(void)state;
	kernel->follows = false;
	port = octo_port_create(&interleaved);
	octo_port_up_as(port, 2, &rss);
	assert_int_equal(rte_eth_dev_conf_get(octo_port_pf(0), &conf), 0);
	assert_int_equal(conf.rxmode.mq_mode, RTE_ETH_MQ_RX_NONE);
	assert_int_equal(conf.rx_adv_conf.rss_conf.rss_hf, 0);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(0) | RTE_BIT64(3));
}

/* The kernel hashes anyhow: its RETA has one entry's leg then. */
static void
test_without_rss_all_goes_to_queue_0(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(0));
	octo_port_kernel_send_flows(port, 2);
	assert_int_equal(octo_port_xstat(port, "rx_q0_home_packets"), OCTO_PORT_KERNEL_FLOWS);
}

static void
test_the_key_stays(void **state)
{
	uint8_t key[OCTO_PORT_KERNEL_KEY];
	struct rte_eth_conf conf = rss;
	struct rte_eth_rss_conf *hash = &conf.rx_adv_conf.rss_conf;
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	memset(key, 0xa5, sizeof(key));
	hash->rss_key = key;
	hash->rss_key_len = sizeof(key);
	assert_int_equal(rte_eth_dev_configure(port, 2, 2, &conf), -ENOTSUP);
	memcpy(key, kernel->key, sizeof(key));
	octo_port_up_as(port, 2, &conf);
	assert_int_equal(rte_eth_dev_rss_hash_update(port, hash), 0);
	key[3] ^= 1;
	assert_int_equal(rte_eth_dev_rss_hash_update(port, hash), -ENOTSUP);
	octo_port_kernel_send_flows(port, 2);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_the_application_sets_a_reta(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up_as(port, 4, &rss);
	octo_port_lead_all_to(port, 3);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(7));
	octo_port_kernel_send_flows(port, 4);
	assert_int_equal(octo_port_xstat(port, "rx_q3_home_packets"), OCTO_PORT_KERNEL_FLOWS);
}

static int
rss_queue(uint16_t port, uint16_t src_port)
{
	const struct octo_tuple tuple = octo_port_kernel_tuple(src_port);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);

	return OCTO_LOCKED(octo, octo_rss_queue_locked(octo, &tuple));
}

static unsigned int
nb_known(uint16_t port)
{
	unsigned int nb = 0;

	for (uint16_t flow = 0; flow < OCTO_PORT_KERNEL_FLOWS; flow++)
		nb += rss_queue(port, flow) >= 0;
	return nb;
}

/* The queue of a flow is another one than by the key alone; and the hash is the administrator's. */
static void
test_a_symmetric_hash_stays_and_is_not_computed(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up_as(port, 2, &rss);
	assert_int_equal(nb_known(port), OCTO_PORT_KERNEL_FLOWS);
	octo_port_destroy();
	for (uint8_t xfrm = 1; xfrm < 3; xfrm++) {
		kernel->xfrm = xfrm;
		port = octo_port_create(&interleaved);
		octo_port_up_as(port, 2, &rss);
		assert_int_equal(nb_known(port), 0);
		octo_port_lead_all_to(port, 1);
		assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(3));
		assert_int_equal(kernel->xfrm, xfrm);
		kernel->xfrm = 3 - xfrm;
		octo_port_lead_all_to(port, 0);
		assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(0));
		octo_port_destroy();
		assert_int_equal(kernel->xfrm, 3 - xfrm);
	}
}

static void
learn_some(uint16_t port, uint64_t nb)
{
	for (int i = 0; i < 4000 && octo_port_xstat(port, "learned_flows") < nb; i++)
		octo_port_kernel_send_flows(port, 2);
	assert_true(octo_port_xstat(port, "learned_flows") >= nb);
}

/* Without a RETA that could be set half of all strays. */
static void
test_strays_teach(void **state)
{
	static const struct octo_port_conf conf = {.sliced = true, .learn = true};
	uint16_t port;

	(void)state;
	kernel->no_reta = EOPNOTSUPP;
	port = octo_port_create(&conf);
	octo_port_up_as(port, 2, &rss);
	learn_some(port, OCTO_PORT_KERNEL_FLOWS / 4);
	assert_true(octo_port_kernel_count() >= OCTO_PORT_KERNEL_FLOWS / 4);
}

static void
test_learning_fills_the_table(void **state)
{
	static const struct octo_port_conf conf = {.sliced = true, .learn = true};
	const struct octo_tuple theirs = octo_port_kernel_tuple(5000);
	uint16_t port;

	(void)state;
	kernel->size = 8;
	kernel->no_reta = EOPNOTSUPP;
	octo_port_kernel_add(5, &theirs, 1);
	port = octo_port_create(&conf);
	octo_port_up_as(port, 2, &rss);
	learn_some(port, 7);
	for (int i = 0; i < 100; i++)
		octo_port_kernel_send_flows(port, 2);
	assert_int_equal(octo_port_kernel_count(), 8);
	assert_int_equal(octo_port_kernel_channel_of(5000), 1);
	/* room is made for what the application wants */
	assert_non_null(octo_port_steer(port, 7000, 1, NULL));
	octo_port_assert_arrives(port, 7000, 1, 10);
	octo_port_close_and_remove(port);
	assert_int_equal(octo_port_kernel_count(), 1);
}

/* Queues that nothing polls would get packets. */
static void
test_idle_queues_need_a_reta(void **state)
{
	uint16_t port;

	(void)state;
	port = octo_port_create(&contiguous);
	octo_port_up_as(port, 2, &rss);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(0) | RTE_BIT64(9));
	octo_port_kernel_send_flows(port, 2);
	assert_int_equal(octo_port_strays(port), 0);
	octo_port_close_and_remove(port);
	octo_port_destroy();
	kernel->change = EPERM;
	port = octo_port_create(&contiguous);
	assert_int_equal(rte_eth_dev_configure(port, 2, 2, &rss), -ENOTSUP);
}

static void
test_a_reta_refused_at_start_is_set_later(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	kernel->set_reta = EBUSY;
	octo_port_up_as(port, 2, &rss);
	octo_port_kernel_send_flows(port, 2);
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
	kernel->set_reta = 0;
	for (int i = 0; i < 5000 && octo_port_kernel_channels() != 0x9; i++)
		octo_port_kernel_send_flows(port, 2);
	assert_int_equal(octo_port_kernel_channels(), 0x9);
}

/* Also after the agent was away, of which another message tells. */
static void
test_a_reta_refused_later_is_logged(void **state)
{
	uint16_t port = octo_port_create(&interleaved);
	char *text = NULL;
	size_t len = 0;
	FILE *log = open_memstream(&text, &len);

	(void)state;
	assert_non_null(log);
	kernel->set_reta = ENOTCONN;
	rte_openlog_stream(log);
	octo_port_up_as(port, 2, &rss);
	octo_port_pass_us(US_PER_S);
	fflush(log);
	assert_null(strstr(text, "the RETA stays"));
	kernel->set_reta = EBUSY;
	for (int i = 0; i < 5; i++)
		octo_port_pass_us(US_PER_S);
	rte_openlog_stream(NULL);
	fclose(log);
	kernel->set_reta = 0;
	assert_non_null(strstr(text, "the RETA stays"));
	assert_null(strstr(strstr(text, "the RETA stays") + 1, "the RETA stays"));
	assert_null(strstr(text, "flows of queue"));
	free(text);
}

/* Somebody changes the channels of the netdev. */
static void
test_a_reta_of_another_size(void **state)
{
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	kernel->follows = false;
	port = octo_port_create(&two_nodes);
	octo_port_run_on(0);
	octo_port_up_as(port, 1, &rss);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	octo_port_kernel_resize(256);
	octo_port_run_on(1);
	octo_port_await(octo_port_leads_to(port, 7, 0, 1) &&
			octo_port_kernel_channels() == RTE_BIT64(1));
	octo_port_kernel_resize(64);
	octo_port_run_on(0);
	octo_port_await(octo_port_leads_to(port, 7, 0, 0));
	octo_port_pass_us(1000000);
	assert_true(kernel->is_default);
	octo_port_kernel_resize(128);
	octo_port_await(octo_port_leads_to(port, 7, 0, 0) &&
			octo_port_kernel_channels() == RTE_BIT64(0));
}

static struct {
	FILE *log;
	char *text;
	size_t len;
} heard;

static void
begin_to_hear(void)
{
	heard.text = NULL;
	heard.log = open_memstream(&heard.text, &heard.len);
	assert_non_null(heard.log);
	rte_openlog_stream(heard.log);
}

/* Since begin_to_hear() there was this line and no other, or none. */
static void
assert_heard(const char *sentence)
{
	char *end;

	rte_openlog_stream(NULL);
	fclose(heard.log);
	if (sentence == NULL) {
		assert_int_equal(heard.len, 0);
		free(heard.text);
		return;
	}
	assert_non_null(strstr(heard.text, "the RETA stays as it is: "));
	assert_non_null(strstr(heard.text, sentence));
	end = strchr(heard.text, '\n');
	assert_non_null(end);
	assert_string_equal(end, "\n");
	free(heard.text);
}

/* Under load: the RETA goes along. */
static void
rehome(struct octo_port_flows *t, unsigned int pf)
{
	octo_port_run_on((int)pf);
	for (int n = 0; n < 20000 && octo_port_kernel_channels() != RTE_BIT64(pf); n++)
		octo_port_flows_pass(t, true);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(pf));
	octo_port_flows_assert_all_arrive(t);
}

/* Under load: the RETA does not, though it is tried again and again, and all packets arrive. */
static void
fail_to_rehome(struct octo_port_flows *t, unsigned int pf)
{
	const uint64_t strays = octo_port_strays(t->port);

	octo_port_run_on((int)pf);
	octo_port_flows_pass_often(t, 2000);
	assert_true(octo_port_strays(t->port) > strays + 1000);
	octo_port_flows_assert_all_arrive(t);
}

/* The RETA is refused as it is written, or can no longer be asked for. */
static void
test_any_refusal_of_a_rehome_may_end(void **state)
{
	static const int refusals[] = {EPERM, EOPNOTSUPP, ENODEV, EINVAL, ERANGE, EBUSY};
	int *const requests[] = {&kernel->set_reta, &kernel->no_reta};
	struct octo_port_flows t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, &rss);
	for (size_t i = 0; i < RTE_DIM(refusals) * RTE_DIM(requests); i++) {
		int *request = requests[i % RTE_DIM(requests)];

		*request = refusals[i / RTE_DIM(requests)];
		begin_to_hear();
		fail_to_rehome(&t, 1);
		assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(0));
		assert_heard(octo_ethtool_reta_refusal(*request));
		*request = 0;
		begin_to_hear();
		rehome(&t, 1);
		rehome(&t, 0);
		assert_heard(NULL);
	}
}

/* The channel of the new home is gone, or the RETA is smaller. */
static void
test_fewer_channels_under_a_running_port(void **state)
{
	struct octo_port_flows t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, &rss);
	kernel->channels = 1;
	begin_to_hear();
	fail_to_rehome(&t, 1);
	assert_heard("see in ethtool -l whether the netdev has the channels");
	kernel->channels = 16;
	rehome(&t, 1);
	octo_port_kernel_resize(64);
	begin_to_hear();
	fail_to_rehome(&t, 0);
	assert_heard("somebody has changed the channels, see ethtool -l");
	octo_port_kernel_resize(128);
	begin_to_hear();
	rehome(&t, 0);
	rehome(&t, 1);
	assert_heard(NULL);
}

/* Nothing is to be said: the RETA is the port's as before. */
static void
test_more_channels_under_a_running_port(void **state)
{
	struct octo_port_flows t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, &rss);
	kernel->channels = 32;
	begin_to_hear();
	rehome(&t, 1);
	rehome(&t, 0);
	assert_heard(NULL);
}

/* The next port gives it back. */
static void
test_a_reta_that_stays_is_logged(void **state)
{
	uint16_t port = octo_port_create(&interleaved);
	char *text = NULL;
	size_t len = 0;
	FILE *log = open_memstream(&text, &len);

	(void)state;
	assert_non_null(log);
	octo_port_up_as(port, 2, &rss);
	kernel->set_reta = EBUSY;
	rte_openlog_stream(log);
	octo_port_close_and_remove(port);
	rte_openlog_stream(NULL);
	fclose(log);
	kernel->set_reta = 0;
	assert_non_null(strstr(text, "the RETA stay"));
	assert_non_null(strstr(text, strerror(EBUSY)));
	free(text);
	assert_int_equal(octo_port_kernel_channels(), 0x9);
	octo_port_destroy();
	port = octo_port_create(&interleaved);
	assert_true(kernel->is_default);
	octo_port_close_and_remove(port);
}

#define ethtool_test(f)                                                                            \
	cmocka_unit_test_setup_teardown(f, octo_port_kernel_setup, octo_port_kernel_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ethtool_test(test_a_rehome_flips_rules_and_reta),
		ethtool_test(test_a_refused_rehome_follows_later),
		ethtool_test(test_rss_is_the_kernels),
		ethtool_test(test_the_driver_is_asked_for_no_rss),
		ethtool_test(test_without_rss_all_goes_to_queue_0),
		ethtool_test(test_the_key_stays),
		ethtool_test(test_the_application_sets_a_reta),
		ethtool_test(test_strays_teach),
		ethtool_test(test_learning_fills_the_table),
		ethtool_test(test_a_symmetric_hash_stays_and_is_not_computed),
		ethtool_test(test_idle_queues_need_a_reta),
		ethtool_test(test_a_reta_refused_at_start_is_set_later),
		ethtool_test(test_a_reta_refused_later_is_logged),
		ethtool_test(test_a_reta_of_another_size),
		ethtool_test(test_any_refusal_of_a_rehome_may_end),
		ethtool_test(test_fewer_channels_under_a_running_port),
		ethtool_test(test_more_channels_under_a_running_port),
		ethtool_test(test_a_reta_that_stays_is_logged),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
