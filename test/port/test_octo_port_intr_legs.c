/* SPDX-License-Identifier: BSD-3-Clause */

/* Rx interrupts: how a leg is armed, and one that cannot count: a burst per wake-up misses none. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_eal.h>
#include <rte_epoll.h>
#include <rte_interrupts.h>
#include <rte_log.h>

#include "octo_port.h"
#include "octo_port_async.h"

#include "octo_legs.h"
#include "octo_peers.h"
#include "octo_rx_intr.h"

#define FLOW 200
#define NB_PFS 4
#define LOOK_US 2000
#define LONG_US 10000
/* Looks that do not find the poller asleep, at most. */
#define TRIES 100
/* After so many empty bursts a stray leg is polled in turn only. */
#define IDLE_BURSTS 500

static struct octo_port_tally tally;

static uint32_t
cannot_count(void *queue)
{
	RTE_SET_USED(queue);
	return (uint32_t)-ENOTSUP;
}

static int
cannot_tell(void *queue, uint16_t offset)
{
	RTE_SET_USED(queue);
	RTE_SET_USED(offset);
	return -ENOTSUP;
}

static void
make_blind(unsigned int pf)
{
	rte_eth_fp_ops[octo_port_pf(pf)].rx_queue_count = (void *)cannot_count;
	rte_eth_fp_ops[octo_port_pf(pf)].rx_descriptor_status = cannot_tell;
}

/* Queue 0 is at home on PF 0 and is listened to. */
static uint16_t
start_port_that_counts(const struct octo_port_conf *conf)
{
	const struct rte_eth_conf with_interrupts = {.intr_conf = {.lsc = 1, .rxq = 1}};
	const uint16_t port = octo_port_create(conf);

	octo_port_up_as(port, 2, &with_interrupts);
	assert_int_equal(
		rte_eth_dev_rx_intr_ctl_q(port, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL),
		0);
	tally = (struct octo_port_tally){0};
	return port;
}

static uint16_t
start_port(const struct octo_port_conf *conf)
{
	const uint16_t port = start_port_that_counts(conf);

	for (unsigned int pf = 0; pf < conf->nb_pfs; pf++)
		make_blind(pf);
	return port;
}

static bool
is_woken(uint64_t us)
{
	struct rte_epoll_event event;

	octo_port_pass_us(us);
	return rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, 0) == 1;
}

/* One burst, then arm. Does the poller sleep? */
static bool
poll_and_arm(uint16_t port, uint64_t us)
{
	octo_port_poll(port, 0, 32, &tally);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	return !is_woken(us);
}

static void
fall_asleep(uint16_t port)
{
	for (int i = 0; i < TRIES; i++)
		if (poll_and_arm(port, LOOK_US))
			return;
	fail_msg("the poller of queue 0 does not fall asleep");
}

static void
test_a_packet_by_any_of_three_strays(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = NB_PFS};
	const uint16_t port = start_port(&conf);

	(void)state;
	for (unsigned int pf = 1; pf < NB_PFS; pf++)
		assert_non_null(octo_port_overrule(FLOW + pf, pf));
	/* whichever leg is next in turn when the packet comes */
	for (unsigned int i = 0; i < NB_PFS * NB_PFS; i++) {
		const uint64_t before = tally.packets;

		for (unsigned int n = 0; n < IDLE_BURSTS + i / NB_PFS; n++)
			octo_port_poll(port, 0, 32, &tally);
		fall_asleep(port);
		octo_port_send(port, 1, FLOW + 1 + i % (NB_PFS - 1), 1);
		assert_true(is_woken(LONG_US));
		fall_asleep(port);
		assert_int_equal(tally.packets, before + 1);
	}
}

/* Without another PF there is no fence, which would have woken the poller, too. */
static void
test_a_packet_before_a_leg_that_joined_is_armed(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 1, .replug = true};
	const uint16_t port = start_port(&conf);

	(void)state;
	assert_non_null(octo_port_steer(port, FLOW, 0, NULL));
	fall_asleep(port);
	octo_port_remove_pf(0);
	fall_asleep(port);
	octo_port_await(octo_port_xstat(port, "replugs") == 1);
	make_blind(0);
	assert_true(is_woken(0));
	octo_port_poll(port, 0, 32, &tally);
	octo_port_send(port, 1, FLOW, 1);
	octo_port_pump(1);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	assert_true(is_woken(LOOK_US));
	fall_asleep(port);
	assert_int_equal(tally.packets, 1);
}

static unsigned int nb_disabled;

static int
count_disable(struct rte_eth_dev *dev, uint16_t queue)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	nb_disabled++;
	return 0;
}

/* Some drivers keep an event until the interrupt is disabled, and signal no other one. */
static void
test_the_event_of_a_leg_that_counts_is_taken(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 2};
	const uint16_t port = start_port_that_counts(&conf);
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(1)];
	const struct eth_dev_ops *real = pf->dev_ops;
	struct eth_dev_ops ops = *real;

	(void)state;
	assert_non_null(octo_port_overrule(FLOW, 1));
	fall_asleep(port);
	octo_port_send(port, 1, FLOW, 1);
	assert_true(is_woken(LONG_US));
	octo_port_receive(port, 0, 1, &tally);
	ops.rx_queue_intr_disable = count_disable;
	pf->dev_ops = &ops;
	nb_disabled = 0;
	/* the second time it is armed already */
	for (int i = 0; i < 2; i++)
		rte_eth_dev_rx_intr_enable(port, 0);
	pf->dev_ops = real;
	assert_int_equal(nb_disabled, 1);
}

/* What the port says of a PF that has no interrupts, however often that is tried again. */
static void
test_a_pf_that_stays_out_is_named_once(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 2, .replug = true};
	const struct octo_port_conf without = {
		.nb_pfs = 2,
		.replug = true,
		.pf = {NULL, "caps=-rxintr"},
	};
	const uint16_t port = start_port_that_counts(&conf);
	const char *line = "has no Rx interrupt for Rx queue 0";
	char *text, *at;
	size_t size;
	FILE *log = open_memstream(&text, &size);

	(void)state;
	assert_non_null(log);
	octo_port_remove_pf(1);
	rte_openlog_stream(log);
	octo_port_add_pf(&without, 1);
	octo_port_pass_us(3000000);
	rte_openlog_stream(NULL);
	fclose(log);
	assert_false(octo_port_pf_is_started(port, 1));
	at = strstr(text, line);
	assert_non_null(at);
	assert_null(strstr(at + 1, line));
	free(text);
}

/* A secondary polls queue 0, which lacks PF 1. Its first arming looks for what was signalled. */
static void
arm_without(uint16_t port, uint32_t lacking)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(octo_rx_intr_switch(rte_eth_devices[port].data->dev_private, 0,
						     true, lacking),
				 0);
}

/* Packets that the poller cannot get do not keep it awake, those by the leg that it has wake it. */
static void
check_lacking(uint16_t port)
{
	assert_non_null(octo_port_overrule(FLOW, 0));
	assert_non_null(octo_port_overrule(FLOW + 1, 1));
	octo_port_send(port, 1, FLOW + 1, 1);
	arm_without(port, RTE_BIT32(1));
	is_woken(LOOK_US);
	arm_without(port, RTE_BIT32(1));
	assert_false(is_woken(LONG_US));
	octo_port_send(port, 1, FLOW + 1, 1);
	assert_false(is_woken(LONG_US));
	octo_port_send(port, 1, FLOW, 1);
	assert_true(is_woken(LONG_US));
}

static void
test_a_leg_that_the_poller_lacks(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 2};
	const uint16_t port = start_port_that_counts(&conf);

	(void)state;
	check_lacking(port);
	/* it is there again */
	arm_without(port, 0);
	assert_true(is_woken(LOOK_US));
}

static void
test_a_blind_leg_that_the_poller_lacks(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 2};

	(void)state;
	check_lacking(start_port(&conf));
}

/* A question of octo_rx_intr_peer.c, and its answer. */
struct question {
	uint64_t nr;
	uint64_t owner_id;
	uint16_t port_id;
	uint16_t queue_id;
	uint16_t what;
	uint16_t lacking;
};

struct answer {
	uint64_t nr;
	int32_t ret;
};

#define ARM 1

static unsigned int nb_armed;
static uint32_t last_lacking;

static void
raise_in_secondary(uint16_t pf, enum rte_eth_event_type event)
{
	if (event == RTE_ETH_EVENT_DESTROY)
		octo_peers_lose_pf(octo_port_pf(pf));
	else
		rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(pf)], event, NULL);
}

/* The driver's questions come here. Before the first answer the process gets PF 1. */
int
rte_mp_request_sync(struct rte_mp_msg *req, struct rte_mp_reply *reply, const struct timespec *ts)
{
	struct rte_mp_msg *msg = calloc(1, sizeof(*msg));
	struct question question;
	struct answer answer;

	RTE_SET_USED(ts);
	assert_non_null(msg);
	memcpy(&question, req->param, sizeof(question));
	answer = (struct answer){.nr = question.nr};
	msg->len_param = sizeof(answer);
	memcpy(msg->param, &answer, sizeof(answer));
	*reply = (struct rte_mp_reply){.nb_sent = 1, .nb_received = 1, .msgs = msg};
	if (question.what != ARM)
		return 0;
	last_lacking = question.lacking;
	if (nb_armed++ == 0)
		raise_in_secondary(1, RTE_ETH_EVENT_NEW);
	return 0;
}

/* What wakes the pollers then came before the answer. */
static void
test_a_leg_comes_while_the_primary_arms(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 2};
	const uint16_t port = start_port_that_counts(&conf);

	(void)state;
	octo_legs_borrowed = true;
	raise_in_secondary(1, RTE_ETH_EVENT_DESTROY);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	octo_legs_borrowed = false;
	assert_int_equal(nb_armed, 2);
	assert_int_equal(last_lacking, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_packet_by_any_of_three_strays),
		octo_port_test(test_a_packet_before_a_leg_that_joined_is_armed),
		octo_port_test(test_the_event_of_a_leg_that_counts_is_taken),
		octo_port_test(test_a_pf_that_stays_out_is_named_once),
		octo_port_test(test_a_leg_that_the_poller_lacks),
		octo_port_test(test_a_blind_leg_that_the_poller_lacks),
		octo_port_test(test_a_leg_comes_while_the_primary_arms),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
