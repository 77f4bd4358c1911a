/* SPDX-License-Identifier: BSD-3-Clause */

/* Rx interrupts of an octo port: a poller that sleeps is woken, whatever becomes of the PFs. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_epoll.h>
#include <rte_interrupts.h>
#include <rte_log.h>

#include "octo_port.h"
#include "octo_private.h"
#include "octo_port_async.h"
#include "mpsim_control.h"

#define HOME_FLOW 100
#define STRAY_FLOW 200
#define MOVED_FLOW 300
#define TAG ((void *)(uintptr_t)77)
#define LOOK_US 2000
#define LONG_US 10000
/* Looks that do not find the poller asleep, at most: a fence is closed meanwhile. */
#define TRIES 100

static const struct rte_eth_conf with_interrupts = {.intr_conf = {.lsc = 1, .rxq = 1}};

static struct octo_port_tally tally;

static void
listen_to(uint16_t port, uint16_t queue)
{
	assert_int_equal(rte_eth_dev_rx_intr_ctl_q(port, queue, RTE_EPOLL_PER_THREAD,
						   RTE_INTR_EVENT_ADD, TAG),
			 0);
}

/* Queue 1 of a simulated port of slices is the other leg of queue 0. */
static struct rte_flow *
lead_astray(uint16_t port)
{
	struct octo_flow_rule r;

	if (!octo_of(&rte_eth_devices[port])->sliced)
		return octo_port_overrule(STRAY_FLOW, 1);
	octo_port_build(&r, STRAY_FLOW, 1);
	return rte_flow_create(octo_port_pf(0), &r.attr, r.pattern, r.actions, NULL);
}

/*
 * A port with two queues, of which queue 0, at home on PF 0, is listened to. Another flow comes to
 * it by PF 1.
 */
static uint16_t
start_port(const struct octo_port_conf *conf)
{
	const uint16_t port = octo_port_create(conf);

	octo_port_up_as(port, 2, &with_interrupts);
	assert_non_null(octo_port_steer(port, HOME_FLOW, 0, NULL));
	assert_non_null(lead_astray(port));
	listen_to(port, 0);
	tally = (struct octo_port_tally){0};
	return port;
}

/* By queue 1, which is idle. Of slices queue 2 of the simulated port is its first leg. */
static void
pump(uint16_t port)
{
	octo_port_pump(octo_of(&rte_eth_devices[port])->sliced ? 2 : 1);
}

/* Is the poller woken within some time? */
static bool
is_woken(uint64_t us)
{
	struct rte_epoll_event event[2];
	int n;

	octo_port_pass_us(us);
	n = rte_epoll_wait(RTE_EPOLL_PER_THREAD, event, RTE_DIM(event), 0);
	assert_in_range(n, 0, 1);
	assert_true(n == 0 || event[0].epdata.data == TAG);
	return n == 1;
}

/* As an application does it: poll until there is nothing, arm, wait. */
static void
fall_asleep(uint16_t port)
{
	for (int i = 0; i < TRIES; i++) {
		while (octo_port_poll(port, 0, 32, &tally) > 0)
			continue;
		assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
		if (!is_woken(LOOK_US))
			return;
	}
	fail_msg("the poller of queue 0 does not fall asleep");
}

/* A packet of the flow wakes the poller, which gets it. */
static void
assert_wakes(uint16_t port, uint16_t flow)
{
	const uint64_t before = tally.packets;

	fall_asleep(port);
	octo_port_send(port, 1, flow, 1);
	assert_true(is_woken(LONG_US));
	octo_port_receive(port, 0, before + 1, &tally);
	assert_int_equal(tally.packets, before + 1);
}

static void
assert_any_leg_wakes(uint16_t port)
{
	const uint64_t strays = octo_port_strays(port);

	assert_wakes(port, HOME_FLOW);
	assert_int_equal(octo_port_strays(port), strays);
	assert_wakes(port, STRAY_FLOW);
	assert_int_equal(octo_port_strays(port), strays + 1);
	assert_wakes(port, HOME_FLOW);
}

static void
test_a_packet_by_any_leg_wakes(void **state)
{
	const struct octo_port_conf conf = {0};

	(void)state;
	assert_any_leg_wakes(start_port(&conf));
}

static void
test_a_packet_by_any_slice_wakes(void **state)
{
	const struct octo_port_conf conf = {.sliced = true};

	(void)state;
	assert_any_leg_wakes(start_port(&conf));
}

static void
test_a_poller_sleeps_while_nothing_comes(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = start_port(&conf);

	(void)state;
	fall_asleep(port);
	assert_false(is_woken(3000000));
	/* of another queue */
	octo_port_assert_arrives(port, 300, 0, 1);
	fall_asleep(port);
	assert_non_null(octo_port_steer(port, 301, 1, NULL));
	octo_port_send(port, 1, 301, 1);
	assert_false(is_woken(LONG_US));
}

/* A PF signals what comes after it was armed, so that a poller would not hear of this. */
static void
test_a_packet_before_arming_wakes(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = start_port(&conf);
	const uint16_t flows[] = {HOME_FLOW, STRAY_FLOW};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(flows); i++) {
		fall_asleep(port);
		assert_int_equal(rte_eth_dev_rx_intr_disable(port, 0), 0);
		octo_port_send(port, 1, flows[i], 1);
		pump(port);
		assert_false(is_woken(LONG_US));
		assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
		assert_true(is_woken(0));
		octo_port_receive(port, 0, i + 1, &tally);
	}
}

/* Its descriptor is a plain one, too. */
static void
test_a_descriptor_is_readable_until_it_is_armed_again(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = start_port(&conf);
	struct pollfd fd = {.fd = rte_eth_dev_rx_intr_ctl_q_get_fd(port, 0), .events = POLLIN};

	(void)state;
	assert_true(fd.fd >= 0);
	fall_asleep(port);
	assert_int_equal(poll(&fd, 1, 0), 0);
	octo_port_send(port, 1, HOME_FLOW, 1);
	octo_port_pass_us(LOOK_US);
	assert_int_equal(poll(&fd, 1, 0), 1);
	octo_port_receive(port, 0, 1, &tally);
	assert_int_equal(poll(&fd, 1, 0), 1);
	fall_asleep(port);
	assert_int_equal(poll(&fd, 1, 0), 0);
}

/* Their drivers can neither count packets nor tell the state of a descriptor. */
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

static uint16_t
start_port_that_cannot_count(void)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = start_port(&conf);

	for (unsigned int pf = 0; pf < 2; pf++) {
		rte_eth_fp_ops[octo_port_pf(pf)].rx_queue_count = (void *)cannot_count;
		rte_eth_fp_ops[octo_port_pf(pf)].rx_descriptor_status = cannot_tell;
	}
	return port;
}

static void
test_pfs_that_cannot_count(void **state)
{
	const uint16_t port = start_port_that_cannot_count();

	(void)state;
	assert_any_leg_wakes(port);
	fall_asleep(port);
	assert_false(is_woken(LONG_US));
	/* as the poller is awake it gets a packet, and does not see the next one */
	octo_port_send(port, 1, STRAY_FLOW, 1);
	assert_true(is_woken(LONG_US));
	assert_int_equal(rte_eth_dev_rx_intr_disable(port, 0), 0);
	octo_port_receive(port, 0, tally.packets + 1, &tally);
	octo_port_send(port, 1, STRAY_FLOW, 1);
	pump(port);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	assert_true(is_woken(LOOK_US));
	octo_port_receive(port, 0, tally.packets + 1, &tally);
	/* a packet between the last poll and arming, of which only a signal can tell */
	fall_asleep(port);
	assert_int_equal(rte_eth_dev_rx_intr_disable(port, 0), 0);
	octo_port_send(port, 1, STRAY_FLOW, 1);
	octo_port_pass_us(LONG_US);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	assert_true(is_woken(LOOK_US));
}

static int
arm_nothing(struct rte_eth_dev *dev, uint16_t queue)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	return 0;
}

/* As net_virtio: a queue with packets that were not polled yet signals none that follow. */
static void
test_pfs_that_arm_only_empty_queues(void **state)
{
	const uint16_t port = start_port_that_cannot_count();
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(0)];
	const struct eth_dev_ops *real = pf->dev_ops;
	struct eth_dev_ops ops = *real;

	(void)state;
	fall_asleep(port);
	octo_port_send(port, 1, HOME_FLOW, 1);
	assert_true(is_woken(LONG_US));
	octo_port_receive(port, 0, 1, &tally);
	ops.rx_queue_intr_enable = arm_nothing;
	pf->dev_ops = &ops;
	octo_port_send(port, 1, HOME_FLOW, 1);
	pump(port);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	assert_true(is_woken(0));
	octo_port_receive(port, 0, 2, &tally);
	octo_port_send(port, 1, HOME_FLOW, 1);
	pump(port);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	pf->dev_ops = real;
	assert_true(is_woken(0));
	octo_port_receive(port, 0, 3, &tally);
}

static void
test_a_pf_dies_while_a_poller_sleeps(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = start_port(&conf);

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++)
		assert_wakes(port, HOME_FLOW);
	fall_asleep(port);
	octo_port_remove_pf(0);
	octo_port_await(octo_port_rule_pf(port, HOME_FLOW) == 1);
	assert_wakes(port, HOME_FLOW);
	assert_false((fall_asleep(port), is_woken(LONG_US)));
}

static void
test_a_pf_returns_while_a_poller_sleeps(void **state)
{
	const struct octo_port_conf conf = {.replug = true};
	const uint16_t port = start_port(&conf);

	(void)state;
	fall_asleep(port);
	octo_port_remove_pf(1);
	octo_port_await(octo_port_xstat(port, "replugs") == 1);
	/* no leg of the new port is armed: the poller is woken to do that */
	assert_true(is_woken(0));
	assert_non_null(octo_port_overrule(STRAY_FLOW + 1, 1));
	fall_asleep(port);
	octo_port_send(port, 1, STRAY_FLOW + 1, 1);
	assert_true(is_woken(LONG_US));
	octo_port_receive(port, 0, tally.packets + 1, &tally);
	assert_wakes(port, HOME_FLOW);
}

/* Without another PF there is no fence, which would have woken the poller, too. */
static void
test_the_only_pf_returns_while_a_poller_sleeps(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 1, .replug = true};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up_as(port, 2, &with_interrupts);
	listen_to(port, 0);
	tally = (struct octo_port_tally){0};
	octo_port_remove_pf(0);
	fall_asleep(port);
	octo_port_await(octo_port_xstat(port, "replugs") == 1);
	assert_true(is_woken(0));
	assert_wakes(port, HOME_FLOW);
}

/* Entries of the epoll instance that is the descriptor of queue 0. */
static int
count_entries(uint16_t port)
{
	char path[64], line[256];
	FILE *file;
	int nb = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d",
		 rte_eth_dev_rx_intr_ctl_q_get_fd(port, 0));
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL)
		nb += strncmp(line, "tfd:", 4) == 0;
	fclose(file);
	return nb;
}

/* Its descriptors are there all the time. */
static void
test_a_pf_recovers_while_a_poller_sleeps(void **state)
{
	const struct octo_port_conf conf = {.replug = true};
	const uint16_t port = start_port(&conf);
	const int all = count_entries(port);

	(void)state;
	fall_asleep(port);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,recovery,start"), 0);
	octo_port_await(!octo_port_pf_is_started(port, 1));
	assert_int_equal(count_entries(port), all - 1);
	assert_wakes(port, HOME_FLOW);
	fall_asleep(port);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,recovery,success"), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(count_entries(port), all);
	assert_true(is_woken(0));
	assert_wakes(port, HOME_FLOW);
}

/* The poller is woken on another node, and its flows follow. */
static void
test_a_queue_gets_another_home(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true};
	uint64_t strays;
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_run_on(0);
	port = start_port(&conf);
	octo_port_await(octo_port_leads_to(port, HOME_FLOW, 0, 0));
	assert_wakes(port, HOME_FLOW);
	fall_asleep(port);
	octo_port_run_on(1);
	assert_wakes(port, HOME_FLOW);
	octo_port_await(octo_port_leads_to(port, HOME_FLOW, 0, 1));
	strays = octo_port_strays(port);
	for (int i = 0; i < 3; i++)
		assert_wakes(port, HOME_FLOW);
	assert_int_equal(octo_port_strays(port), strays);
}

/* Nobody polls the queue that the flow leaves, but the one that it goes to need not time out. */
static void
test_a_flow_leaves_a_queue_that_sleeps(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = start_port(&conf);
	const uint64_t timeouts = octo_port_xstat(port, "fence_timeouts");
	struct rte_flow_action to = {.type = RTE_FLOW_ACTION_TYPE_QUEUE,
				     .conf = &(const struct rte_flow_action_queue){.index = 1}};
	struct rte_flow_action_handle *handle = octo_port_indirect_queue(port, 0);
	struct octo_port_tally moved = {0};

	(void)state;
	assert_non_null(octo_port_steer_by(port, MOVED_FLOW, handle, NULL));
	assert_wakes(port, MOVED_FLOW);
	fall_asleep(port);
	assert_int_equal(rte_flow_action_handle_update(port, handle, &to, NULL), 0);
	assert_true(is_woken(0));
	octo_port_send(port, 1, MOVED_FLOW, 1);
	/* the one that it goes to is polled all the time */
	for (int i = 0; i < TRIES && moved.packets == 0; i++) {
		octo_port_poll(port, 0, 32, &tally);
		assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
		assert_true(is_woken(0));
		octo_port_pass_us(10);
		octo_port_poll(port, 1, 32, &moved);
	}
	assert_int_equal(moved.packets, 1);
	assert_int_equal(octo_port_xstat(port, "fence_timeouts"), timeouts);
}

static void
test_a_restart_begins_anew(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = start_port(&conf);

	(void)state;
	fall_asleep(port);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), -ENOTSUP);
	assert_int_equal(rte_eth_dev_rx_intr_disable(port, 0), -ENOTSUP);
	assert_true(rte_eth_dev_rx_intr_ctl_q_get_fd(port, 0) < 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	listen_to(port, 0);
	assert_any_leg_wakes(port);
}

/* Each descriptor of this process is closed with its port. */
static int
count_descriptors(void)
{
	int nb = 0;

	for (int fd = 0; fd < 1024; fd++)
		nb += fcntl(fd, F_GETFD) >= 0;
	return nb;
}

static void
test_no_descriptor_is_left(void **state)
{
	const struct octo_port_conf conf = {0};
	const int before = count_descriptors();
	uint16_t port;

	(void)state;
	port = start_port(&conf);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rte_eth_dev_stop(port), 0);
		assert_int_equal(rte_eth_dev_start(port), 0);
	}
	octo_port_destroy();
	assert_int_equal(count_descriptors(), before);
}

static void
assert_has_none(uint16_t port)
{
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), -ENOTSUP);
	assert_int_equal(rte_eth_dev_rx_intr_disable(port, 0), -ENOTSUP);
	assert_true(rte_eth_dev_rx_intr_ctl_q_get_fd(port, 0) < 0);
	octo_port_assert_arrives(port, HOME_FLOW, 0, 10);
}

static void
test_interrupts_that_nobody_asked_for(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = octo_port_create(&conf);
	struct rte_eth_conf of_pf;

	(void)state;
	octo_port_up(port, 2);
	assert_has_none(port);
	assert_int_equal(rte_eth_dev_conf_get(octo_port_pf(0), &of_pf), 0);
	assert_int_equal(of_pf.intr_conf.rxq, 0);
}

/* What the port says is in the text, which the caller frees. */
static uint16_t
start_and_hear(const struct octo_port_conf *conf, char **text)
{
	const uint16_t port = octo_port_create(conf);
	size_t size;
	FILE *log = open_memstream(text, &size);

	assert_non_null(log);
	rte_openlog_stream(log);
	octo_port_up_as(port, 2, &with_interrupts);
	rte_openlog_stream(NULL);
	fclose(log);
	return port;
}

static void
test_a_pf_without_interrupts_is_named(void **state)
{
	const struct octo_port_conf conf = {.pf = {NULL, "caps=-rxintr"}};
	uint16_t port;
	char *text;

	(void)state;
	port = start_and_hear(&conf, &text);
	assert_non_null(strstr(text, "PF net_mpsim1 has none for Rx queue 0"));
	assert_null(strstr(text, "net_mpsim0"));
	free(text);
	assert_has_none(port);
}

/* An application that sleeps relies on them. */
static void
test_a_pf_without_interrupts_does_not_join(void **state)
{
	const struct octo_port_conf conf = {.replug = true};
	const struct octo_port_conf without = {.replug = true, .pf = {NULL, "caps=-rxintr"}};
	const uint16_t port = start_port(&conf);

	(void)state;
	octo_port_remove_pf(1);
	octo_port_add_pf(&without, 1);
	octo_port_pass_us(3000000);
	assert_true(octo_port_pf_is_there(1));
	assert_false(octo_port_pf_is_started(port, 1));
	assert_wakes(port, HOME_FLOW);
	octo_port_remove_pf(1);
	octo_port_add_pf(&conf, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_wakes(port, HOME_FLOW);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_packet_by_any_leg_wakes),
		octo_port_test(test_a_packet_by_any_slice_wakes),
		octo_port_test(test_a_poller_sleeps_while_nothing_comes),
		octo_port_test(test_a_packet_before_arming_wakes),
		octo_port_test(test_a_descriptor_is_readable_until_it_is_armed_again),
		octo_port_test(test_pfs_that_cannot_count),
		octo_port_test(test_pfs_that_arm_only_empty_queues),
		octo_port_test(test_a_pf_dies_while_a_poller_sleeps),
		octo_port_test(test_a_pf_returns_while_a_poller_sleeps),
		octo_port_test(test_the_only_pf_returns_while_a_poller_sleeps),
		octo_port_test(test_a_pf_recovers_while_a_poller_sleeps),
		octo_port_test(test_a_queue_gets_another_home),
		octo_port_test(test_a_flow_leaves_a_queue_that_sleeps),
		octo_port_test(test_a_restart_begins_anew),
		octo_port_test(test_no_descriptor_is_left),
		octo_port_test(test_interrupts_that_nobody_asked_for),
		octo_port_test(test_a_pf_without_interrupts_is_named),
		octo_port_test(test_a_pf_without_interrupts_does_not_join),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
