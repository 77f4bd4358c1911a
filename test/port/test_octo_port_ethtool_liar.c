/* SPDX-License-Identifier: BSD-3-Clause */

/* What is wrong about the address of octo-agent: devargs, and something else that listens there. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_bus_vdev.h>
#include <rte_log.h>

#include "agent_netdev_rig.h"
#include "octo_ethtool_client.h"
#include "octo_ethtool_table.h"
#include "octo_private.h"

static const struct rte_eth_conf rss = {
	.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
	.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
};

static uint16_t
create_and_start(void)
{
	const struct octo_port_conf conf = {.sliced = true, .octo = netdev_rig.arg};
	const uint16_t port = octo_port_create(&conf);

	octo_port_up_as(port, 2, &rss);
	return port;
}

static const char *
tier(uint16_t port)
{
	return octo_tier_name(octo_of(&rte_eth_devices[port])->tier);
}

/* It listens at the address. */
static struct {
	int ear;
	int fd;
	uint32_t seed;
	bool is_wild;           /* answers have the length of their requests, and random bytes */
	unsigned int nb_truths; /* answers before those that have another length */
	bool is_mute;           /* but for the answer to hello */
} liar;

static uint32_t
any(void)
{
	liar.seed = liar.seed * 1103515245 + 12345;
	return liar.seed >> 8;
}

static void
make_up(struct octo_ethtool_msg *msg, size_t len)
{
	const struct ethtool_rxfh asked = msg->rxfh;
	/* the default RETA has no size either */
	const bool is_for_sizes = asked.cmd == ETHTOOL_GRSSH && asked.indir_size == 0;
	uint8_t *bytes = (uint8_t *)msg;

	for (size_t i = OCTO_ETHTOOL_MSG_HEADER + sizeof(msg->cmd); i < len; i++)
		bytes[i] = (uint8_t)any();
	if (asked.cmd != ETHTOOL_GRSSH && asked.cmd != ETHTOOL_SRSSH)
		return;
	msg->rxfh.indir_size = is_for_sizes ? any() % 5000 : asked.indir_size;
	msg->rxfh.key_size = is_for_sizes ? any() % 300 : asked.key_size;
	msg->rxfh.hfunc = 1;
}

static void
lie(void)
{
	struct octo_ethtool_msg msg = {.ret = 0};
	ssize_t n;

	if (liar.fd < 0)
		liar.fd = accept4(liar.ear, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	n = recv(liar.fd, &msg, sizeof(msg), MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		close(liar.fd);
		liar.fd = -1;
	}
	if (n <= 0 || (msg.cmd != OCTO_ETHTOOL_HELLO && liar.is_mute))
		return;
	if (msg.cmd != OCTO_ETHTOOL_HELLO && liar.is_wild)
		make_up(&msg, (size_t)n);
	else if (msg.cmd == ETHTOOL_GRXCLSRLCNT && liar.nb_truths > 0)
		msg.nfc.data = 1024 | RX_CLS_LOC_SPECIAL;
	else if (msg.cmd != OCTO_ETHTOOL_HELLO)
		n -= 4;
	send(liar.fd, &msg, (size_t)n, MSG_NOSIGNAL);
}

static void
begin_to_lie(bool is_wild, unsigned int nb_truths)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	memset(&liar, 0, sizeof(liar));
	liar.fd = -1;
	liar.is_wild = is_wild;
	liar.nb_truths = nb_truths;
	liar.ear = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/sock", netdev_rig.dir);
	assert_int_equal(bind(liar.ear, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(liar.ear, 8), 0);
	octo_port_kernel_waits = lie;
}

static void
end_to_lie(void)
{
	char path[64];

	close(liar.ear);
	if (liar.fd >= 0)
		close(liar.fd);
	snprintf(path, sizeof(path), "%s/sock", netdev_rig.dir);
	unlink(path);
}

static void
check_port(unsigned int nb_truths)
{
	struct rte_flow_error error;
	uint16_t port;

	begin_to_lie(false, nb_truths);
	port = create_and_start();
	assert_string_equal(tier(port), "none");
	assert_null(octo_port_steer(port, 7, 0, &error));
	assert_non_null(strstr(error.message, "away"));
	octo_port_kernel_send_flows(port, 2);
	octo_port_pass_us(5 * US_PER_S);
	octo_port_kernel_send_flows(port, 2);
	octo_port_close_and_remove(port);
	octo_port_destroy();
	end_to_lie();
}

/* From the first answer on, or from one in the middle of its beginning. */
static void
test_an_agent_that_lies(void **state)
{
	(void)state;
	check_port(0);
	check_port(1);
}

static void
be_honest(void)
{
	netdev_rig_step();
}

static void
pass_seconds(unsigned int nb)
{
	for (unsigned int i = 0; i < 10 * nb; i++) {
		octo_port_kernel_waits();
		octo_port_pass_us(US_PER_S / 10);
	}
}

/* The port holds its mutex while it waits: its credit is not new in each session. */
static void
test_an_agent_that_says_hello_only(void **state)
{
	uint16_t port;

	(void)state;
	begin_to_lie(false, 0);
	liar.is_mute = true;
	port = create_and_start();
	octo_port_kernel.waited_us = 0;
	pass_seconds(20);
	assert_in_range(octo_port_kernel.waited_us, 100000, 2 * US_PER_S);
	octo_port_close_and_remove(port);
	end_to_lie();
}

static unsigned int
count(const char *text, const char *words)
{
	unsigned int n = 0;

	for (text = strstr(text, words); text != NULL; text = strstr(text + 1, words))
		n++;
	return n;
}

/* What the log says meanwhile. */
static void
check_log(unsigned int seconds, unsigned int nb_there, unsigned int nb_away)
{
	char *text;
	size_t len;
	FILE *log = open_memstream(&text, &len);

	assert_non_null(log);
	rte_openlog_stream(log);
	rte_log_set_global_level(RTE_LOG_NOTICE);
	pass_seconds(seconds);
	rte_log_set_global_level(RTE_LOG_WARNING);
	rte_openlog_stream(NULL);
	fclose(log);
	assert_int_equal(count(text, "is there"), nb_there);
	assert_int_equal(count(text, "is away"), nb_away);
	free(text);
}

/* It is there with its first answer: there are not two lines in each of its sessions. */
static void
test_a_session_without_an_answer_is_not_logged(void **state)
{
	uint16_t port;

	(void)state;
	begin_to_lie(false, 1);
	liar.is_mute = true;
	port = create_and_start();
	check_log(20, 0, 0);
	liar.is_mute = false;
	check_log(20, 0, 0);
	end_to_lie();
	netdev_rig_begin();
	octo_port_kernel_waits = be_honest;
	check_log(3, 1, 0);
	netdev_rig_end();
	check_log(3, 0, 1);
	octo_port_close_and_remove(port);
}

/* With the sanitizer: whatever it says, no memory is read or written that is not there. */
static void
test_an_agent_that_says_anything(void **state)
{
	uint32_t reta[OCTO_ETHTOOL_MAX_RETA] = {0};
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et;
	struct octo_tuple t;
	unsigned int nb_begun = 0;

	(void)state;
	begin_to_lie(true, 0);
	for (uint32_t i = 0; i < 300; i++) {
		liar.seed = i;
		et = octo_ethtool_open_by_agent(netdev_rig.address, octo_port_kernel_ifindex());
		assert_non_null(et);
		nb_begun += et->rules_refused == 0;
		for (uint16_t flow = 0; flow < 20; flow++) {
			t = octo_port_kernel_tuple(flow);
			if (octo_ethtool_insert(et, &t, 1, &rule) != 0)
				continue;
			octo_ethtool_update(et, rule, 2);
			if (flow % 2 == 0)
				octo_ethtool_remove(et, rule);
		}
		octo_ethtool_get_reta(et, reta);
		octo_ethtool_set_reta(et, reta, 1 + i % 64);
		octo_ethtool_close(et);
	}
	assert_true(nb_begun > 0);
	end_to_lie();
}

static void
check_devargs(const char *devargs, int ret)
{
	char text[160];

	snprintf(text, sizeof(text), "pf=net_mpsim0%s", devargs);
	/* EAL may know the name of a device that was removed */
	assert_int_equal(rte_vdev_init("net_octo9", text), ret);
}

/* Each with one line of log. */
static void
test_devargs(void **state)
{
	static const struct octo_port_conf conf = {.sliced = true};

	(void)state;
	octo_port_add_pfs(&conf);
	check_devargs(",ethtool=unix:/tmp/x", -EINVAL);
	check_devargs("[0::2]@0,pf=net_mpsim0[1::2]@1,ethtool=tcp:127.0.0.1:9", -EINVAL);
	check_devargs("[0::2]@0,pf=net_mpsim0[1::2]@1,ethtool=", -EINVAL);
	octo_port_kernel_off();
	check_devargs("[0::2]@0,pf=net_mpsim0[1::2]@1,ethtool=unix:/tmp/x", -EINVAL);
	octo_port_kernel_on();
	check_devargs("[0::2]@0,pf=net_mpsim0[1::2]@1,ethtool=unix:/tmp/x", 0);
	assert_int_equal(rte_vdev_uninit("net_octo9"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		netdev_rig_test_without(test_an_agent_that_lies),
		netdev_rig_test_without(test_an_agent_that_says_hello_only),
		netdev_rig_test_without(test_a_session_without_an_answer_is_not_logged),
		netdev_rig_test_without(test_an_agent_that_says_anything),
		netdev_rig_test_without(test_devargs),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
