/* SPDX-License-Identifier: BSD-3-Clause */

/* The agent of a netdev, and clients that ask for what they must not have. */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent_netdev_rig.h"
#include "octo_ethtool.h"
#include "octo_ethtool_io.h"
#include "octo_ethtool_msg.h"

#define MAX_CLIENTS 32
#define CHANNELS 16

static struct octo_port_kernel *const kernel = &octo_port_kernel;
static struct octo_ethtool_msg msg;

static int
connect_to_agent(void)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/sock", netdev_rig.dir);
	assert_int_equal(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void
say(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
	netdev_rig_step();
}

/* The agent's answer, as long as the request; -EPIPE: it has closed the connection. */
static int
ask_bytes(int fd, size_t body)
{
	const size_t len = OCTO_ETHTOOL_MSG_HEADER + body;
	ssize_t n;

	say(fd, &msg, len);
	memset(&msg, 0xa5, len);
	n = recv(fd, &msg, sizeof(msg), 0);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return -EPIPE;
	assert_int_equal(n, len);
	return msg.ret;
}

static int
ask(int fd)
{
	msg.ret = 0;
	return ask_bytes(fd, octo_ethtool_msg_len(&msg.cmd, SIZE_MAX));
}

static int
say_hello(int fd)
{
	msg.hello = (struct octo_ethtool_hello){
		.cmd = OCTO_ETHTOOL_HELLO,
		.version = OCTO_ETHTOOL_MSG_VERSION,
		.netns = octo_ethtool_io_netns(),
		.ifindex = octo_port_kernel_ifindex(),
	};
	return ask(fd);
}

static int
begin(void)
{
	const int fd = connect_to_agent();

	assert_int_equal(say_hello(fd), 0);
	return fd;
}

static void
fill_rule(uint16_t src_port, uint32_t channel)
{
	const struct octo_tuple t = octo_port_kernel_tuple(src_port);

	assert_int_equal(octo_ethtool_fill_insert(&msg.nfc, &t, channel, RX_CLS_LOC_ANY), 0);
}

static int
put(int fd, uint16_t src_port, uint32_t channel)
{
	fill_rule(src_port, channel);
	return ask(fd);
}

static int
remove_at(int fd, uint32_t location)
{
	msg.nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_SRXCLSRLDEL, .fs.location = location};
	return ask(fd);
}

static bool
is_closed(int fd)
{
	char byte;
	ssize_t n;

	netdev_rig_step();
	n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

static void
check_it_serves(void)
{
	const int fd = begin();

	assert_int_equal(put(fd, 1, 2), 0);
	assert_int_equal(octo_port_kernel_channel_of(1), 2);
	close(fd);
	netdev_rig_step();
	assert_int_equal(octo_port_kernel_channel_of(1), -1);
}

static void
test_rules_end_with_the_connection(void **state)
{
	const int fd = begin();

	(void)state;
	for (uint16_t i = 0; i < 40; i++)
		assert_int_equal(put(fd, 100 + i, i % CHANNELS), 0);
	assert_int_equal(octo_port_kernel_count(), 40);
	assert_int_equal(put(fd, 100, 5), 0);
	assert_int_equal(octo_port_kernel_count(), 40);
	assert_int_equal(octo_port_kernel_channel_of(100), 5);
	assert_int_equal(remove_at(fd, msg.nfc.fs.location), 0);
	assert_int_equal(octo_port_kernel_count(), 39);
	close(fd);
	netdev_rig_step();
	assert_int_equal(octo_port_kernel_count(), 0);
}

/* It cannot be removed, changed or seen, and no rule takes its location. */
static void
test_rules_of_others_are_left_alone(void **state)
{
	const struct octo_tuple theirs = octo_port_kernel_tuple(5000);
	int fd;

	(void)state;
	octo_port_kernel_add(1023, &theirs, 1);
	fd = begin();
	assert_int_equal(remove_at(fd, 1023), -ENOENT);
	msg.nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXCLSRULE, .fs.location = 1023};
	assert_int_equal(ask(fd), -ENOENT);
	fill_rule(5000, 7);
	msg.nfc.fs.location = 1023;
	assert_int_equal(ask(fd), -EINVAL);
	for (uint16_t i = 0; i < OCTO_PORT_KERNEL_RULES - 1; i++)
		assert_int_equal(put(fd, 10000 + i, 1), 0);
	assert_int_equal(put(fd, 1, 1), -ENOSPC);
	assert_int_equal(octo_port_kernel_channel_of(5000), 1);
	close(fd);
	netdev_rig_step();
	assert_int_equal(octo_port_kernel_count(), 1);
}

/* Somebody has put another rule in the place of the port's. */
static void
test_a_place_that_was_taken_over(void **state)
{
	const struct octo_tuple theirs = octo_port_kernel_tuple(5000);
	const int fd = begin();
	uint32_t location;

	(void)state;
	assert_int_equal(put(fd, 1, 1), 0);
	location = msg.nfc.fs.location;
	octo_port_kernel_add(location, &theirs, 1);
	assert_int_equal(remove_at(fd, location), 0);
	assert_int_equal(octo_port_kernel_channel_of(5000), 1);
	assert_int_equal(put(fd, 2, 1), 0);
	location = msg.nfc.fs.location;
	octo_port_kernel_add(location, &theirs, 1);
	msg.nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXCLSRULE, .fs.location = location};
	assert_int_equal(ask(fd), -ENOENT);
	close(fd);
}

/* Somebody removes rules of the port, and the next ones have their location. */
static void
test_a_place_that_is_used_again(void **state)
{
	uint32_t location;
	int fd;

	(void)state;
	kernel->special = true;
	fd = begin();
	assert_int_equal(put(fd, 1, 1), 0);
	location = msg.nfc.fs.location;
	kernel->used[location] = false;
	assert_int_equal(put(fd, 2, 2), 0);
	assert_int_equal(msg.nfc.fs.location, location);
	assert_int_equal(remove_at(fd, location), 0);
	assert_int_equal(octo_port_kernel_channel_of(2), -1);
	close(fd);
}

/* The driver makes the new rule beside the old one, which the kernel keeps. */
static void
test_a_move_is_refused_with_the_removal(void **state)
{
	int fd;

	(void)state;
	kernel->special = true;
	kernel->doubles = true;
	fd = begin();
	assert_int_equal(put(fd, 1, 1), 0);
	kernel->stays = 1 + msg.nfc.fs.location;
	assert_int_equal(put(fd, 1, 2), -EBUSY);
	assert_int_equal(octo_port_kernel_channel_of(1), 1);
	kernel->stays = 0;
	assert_int_equal(put(fd, 1, 2), 0);
	assert_int_equal(octo_port_kernel_channel_of(1), 2);
	close(fd);
}

/* The port asks for a rule before it removes it, and does not if there is none. */
static void
test_rules_that_are_gone_take_no_room(void **state)
{
	int fd;

	(void)state;
	kernel->size = 4;
	fd = begin();
	for (uint16_t i = 0; i < 12; i++) {
		assert_int_equal(put(fd, i, 1), 0);
		kernel->used[msg.nfc.fs.location] = false;
		msg.nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXCLSRULE,
						 .fs.location = msg.nfc.fs.location};
		assert_int_equal(ask(fd), -ENOENT);
	}
	close(fd);
}

static void
test_only_channels_can_be_named(void **state)
{
	static const uint64_t cookies[] = {CHANNELS, RX_CLS_FLOW_DISC, RX_CLS_FLOW_WAKE,
					   1ull << ETHTOOL_RX_FLOW_SPEC_RING_VF_OFF, UINT32_MAX};
	const int fd = begin();

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cookies); i++) {
		fill_rule(1, 0);
		msg.nfc.fs.ring_cookie = cookies[i];
		assert_int_equal(ask(fd), -EINVAL);
	}
	assert_int_equal(kernel->inserted, 0);
	assert_int_equal(put(fd, 1, CHANNELS - 1), 0);
	close(fd);
}

static void
test_only_flows_can_be_steered(void **state)
{
	const int fd = begin();

	(void)state;
	fill_rule(1, 0);
	memset(&msg.nfc.fs.m_u, 0, sizeof(msg.nfc.fs.m_u));
	assert_int_equal(ask(fd), -EINVAL);
	fill_rule(1, 0);
	msg.nfc.fs.flow_type = ETHER_FLOW;
	assert_int_equal(ask(fd), -EINVAL);
	fill_rule(1, 0);
	msg.nfc.fs.flow_type |= FLOW_RSS;
	assert_int_equal(ask(fd), -EINVAL);
	fill_rule(1, 0);
	msg.nfc.fs.flow_type |= FLOW_EXT;
	assert_int_equal(ask(fd), -EINVAL);
	assert_int_equal(kernel->inserted, 0);
	msg.nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXFH, .flow_type = ETHER_FLOW};
	assert_int_equal(ask(fd), -EINVAL);
	close(fd);
}

/* The kernel has contexts, hash functions and keys, which are the administrator's. */
static void
test_only_the_reta_can_be_set(void **state)
{
	uint32_t reta[128];
	const int fd = begin();
	unsigned int before;

	(void)state;
	for (uint32_t i = 0; i < RTE_DIM(reta); i++)
		reta[i] = 3;
	before = kernel->reta_set;
	octo_ethtool_fill_reta(&msg.rxfh, 128, reta, 128, 0);
	msg.rxfh.rss_context = 1;
	assert_int_equal(ask(fd), -EINVAL);
	octo_ethtool_fill_reta(&msg.rxfh, 128, reta, 128, 0);
	msg.rxfh.hfunc = 2;
	assert_int_equal(ask(fd), -EINVAL);
	octo_ethtool_fill_reta(&msg.rxfh, 128, reta, 128, 0);
	msg.rxfh.key_size = 40;
	assert_int_equal(ask(fd), -EINVAL);
	octo_ethtool_fill_reta(&msg.rxfh, 128, reta, 128, 0);
	msg.rxfh.rss_config[127] = CHANNELS;
	assert_int_equal(ask(fd), -EINVAL);
	octo_ethtool_fill_reta(&msg.rxfh, 127, reta, 127, 0);
	assert_int_equal(ask(fd), -ERANGE);
	assert_int_equal(kernel->reta_set, before);
	octo_ethtool_fill_reta(&msg.rxfh, 128, reta, 128, 0);
	assert_int_equal(ask(fd), 0);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(3));
	octo_ethtool_fill_reta(&msg.rxfh, 127, reta, 127, 0);
	assert_int_equal(ask(fd), -ERANGE);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(3));
	close(fd);
	netdev_rig_step();
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
	assert_true(kernel->is_default);
}

/* The kernel refuses one of another size, which the one that was set does not repeat at. */
static void
test_a_refused_reta_is_not_given_back(void **state)
{
	uint32_t reta[128];
	const int fd = begin();

	(void)state;
	for (uint32_t i = 0; i < RTE_DIM(reta); i++)
		reta[i] = i < 100 ? 3 : 4;
	octo_ethtool_fill_reta(&msg.rxfh, 128, reta, 128, 0);
	assert_int_equal(ask(fd), 0);
	reta[0] = CHANNELS;
	octo_ethtool_fill_reta(&msg.rxfh, 64, reta, 64, 0);
	assert_int_equal(ask(fd), -EINVAL);
	assert_int_equal(octo_port_kernel_channels(), RTE_BIT64(3) | RTE_BIT64(4));
	close(fd);
	netdev_rig_step();
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
}

/* Whoever does not speak the protocol is not heard again. */
static void
test_what_is_no_request_ends_the_connection(void **state)
{
	static const uint32_t commands[] = {
		ETHTOOL_SCHANNELS, ETHTOOL_SRXFH,       ETHTOOL_SRXNTUPLE, ETHTOOL_FLASHDEV,
		ETHTOOL_RESET,     ETHTOOL_GRXCLSRLALL, UINT32_MAX,        OCTO_ETHTOOL_HELLO};
	int fd;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(commands); i++) {
		fd = begin();
		msg.cmd = commands[i];
		assert_int_equal(ask_bytes(fd, sizeof(struct ethtool_rxnfc)), -EPIPE);
		close(fd);
	}
	for (size_t len = 1; len < sizeof(struct ethtool_rxnfc) + 20; len++) {
		if (len == sizeof(struct ethtool_rxnfc))
			continue;
		fd = begin();
		fill_rule(1, 0);
		assert_int_equal(ask_bytes(fd, len), -EPIPE);
		close(fd);
	}
	assert_int_equal(kernel->inserted, 0);
	check_it_serves();
}

static void
test_long_packets(void **state)
{
	static uint8_t bytes[3 * sizeof(msg)];
	const int fd = begin();

	(void)state;
	msg.cmd = ETHTOOL_SRSSH;
	memcpy(bytes, &msg, OCTO_ETHTOOL_MSG_HEADER + sizeof(msg.cmd));
	say(fd, bytes, sizeof(bytes));
	assert_true(is_closed(fd));
	close(fd);
	check_it_serves();
}

static void
test_a_hello_is_checked(void **state)
{
	const struct octo_ethtool_hello right = {
		.cmd = OCTO_ETHTOOL_HELLO,
		.version = OCTO_ETHTOOL_MSG_VERSION,
		.netns = octo_ethtool_io_netns(),
		.ifindex = octo_port_kernel_ifindex(),
	};
	int fd = connect_to_agent();

	(void)state;
	msg.hello = right;
	msg.hello.version++;
	assert_int_equal(ask(fd), -EPROTONOSUPPORT);
	assert_true(is_closed(fd));
	close(fd);
	fd = connect_to_agent();
	msg.hello = right;
	msg.hello.ifindex++;
	assert_int_equal(ask(fd), -EXDEV);
	close(fd);
	fd = connect_to_agent();
	msg.hello = right;
	msg.hello.netns++;
	assert_int_equal(ask(fd), -EXDEV);
	close(fd);
	fd = begin();
	assert_int_equal(say_hello(fd), -EOPNOTSUPP);
	close(fd);
	/* whoever has not said it is not served */
	fd = connect_to_agent();
	fill_rule(1, 1);
	assert_int_equal(ask(fd), -EPIPE);
	assert_int_equal(kernel->inserted, 0);
	close(fd);
}

static void
test_a_second_port_is_refused(void **state)
{
	const int first = begin();
	int second = connect_to_agent();

	(void)state;
	assert_int_equal(put(first, 1, 2), 0);
	assert_int_equal(say_hello(second), -EALREADY);
	close(second);
	assert_int_equal(octo_port_kernel_channel_of(1), 2);
	assert_int_equal(put(first, 1, 3), 0);
	/* gone a moment before the next one says hello */
	second = connect_to_agent();
	close(first);
	assert_int_equal(say_hello(second), 0);
	assert_int_equal(octo_port_kernel_channel_of(1), -1);
	close(second);
}

/* Neither those that say nothing nor those that begin anew all the time. */
static void
test_guests_keep_no_port_out(void **state)
{
	int fd[MAX_CLIENTS];
	int port;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(fd); i++) {
		fd[i] = connect_to_agent();
		netdev_rig_step();
	}
	port = begin();
	assert_int_equal(put(port, 1, 2), 0);
	for (unsigned int i = 0; i < RTE_DIM(fd) - 8; i++)
		assert_true(is_closed(fd[i]));
	octo_port_pass_us(6 * US_PER_S);
	netdev_rig_step();
	for (unsigned int i = 0; i < RTE_DIM(fd); i++) {
		assert_true(is_closed(fd[i]));
		close(fd[i]);
	}
	assert_int_equal(put(port, 1, 3), 0);
	close(port);
}

/* A port that does not read its answers is one that floods. */
static void
test_answers_that_are_not_read(void **state)
{
	const int fd = begin();

	(void)state;
	octo_ethtool_ask_rss(&msg.rxfh, 128, OCTO_PORT_KERNEL_KEY);
	for (int i = 0; i < 100000 && !is_closed(fd); i++) {
		const size_t len = OCTO_ETHTOOL_MSG_HEADER +
				   octo_ethtool_rss_len(128, OCTO_PORT_KERNEL_KEY);

		if (send(fd, &msg, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
	}
	close(fd);
	netdev_rig_step();
	check_it_serves();
}

/* The netdev goes with its rules while a port is served, and another one comes. */
static void
test_the_netdev_goes(void **state)
{
	int fd = begin();

	(void)state;
	assert_int_equal(put(fd, 1, 2), 0);
	kernel->everything = ENODEV;
	assert_int_equal(put(fd, 2, 2), -ENODEV);
	close(fd);
	netdev_rig_step();
	fd = connect_to_agent();
	assert_int_equal(say_hello(fd), -EXDEV);
	close(fd);
	octo_port_kernel_on();
	check_it_serves();
}

static int
open_at(const char *address, const gid_t *group, char *why, size_t why_len)
{
	const struct agent_ethtool_config config = {
		.netdev = "eth0",
		.listen = address,
		.dir = netdev_rig.journal,
		.group = group,
	};

	return agent_ethtool_open(&config, &netdev_rig.agent, why, why_len);
}

static void
test_it_does_not_begin_in_vain(void **state)
{
	const gid_t group = getgid();
	struct stat st;
	char why[128];
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/sock", netdev_rig.dir);
	kernel->change = EPERM;
	assert_int_equal(open_at(netdev_rig.address, NULL, why, sizeof(why)), -EPERM);
	assert_non_null(strstr(why, "CAP_NET_ADMIN"));
	kernel->change = 0;
	kernel->everything = ENODEV;
	assert_int_equal(open_at(netdev_rig.address, NULL, why, sizeof(why)), -ENODEV);
	assert_non_null(strstr(why, "no such netdev"));
	kernel->everything = 0;
	assert_int_equal(open_at("unix:/nowhere/sock", NULL, why, sizeof(why)), -ENOENT);
	assert_int_not_equal(stat(path, &st), 0);
	netdev_rig_begin();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	netdev_rig_end();
	assert_int_equal(open_at(netdev_rig.address, &group, why, sizeof(why)), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	assert_int_equal(st.st_gid, group);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		netdev_rig_test(test_rules_end_with_the_connection),
		netdev_rig_test(test_rules_of_others_are_left_alone),
		netdev_rig_test(test_a_place_that_was_taken_over),
		netdev_rig_test(test_a_place_that_is_used_again),
		netdev_rig_test(test_a_move_is_refused_with_the_removal),
		netdev_rig_test(test_rules_that_are_gone_take_no_room),
		netdev_rig_test(test_only_channels_can_be_named),
		netdev_rig_test(test_only_flows_can_be_steered),
		netdev_rig_test(test_only_the_reta_can_be_set),
		netdev_rig_test(test_a_refused_reta_is_not_given_back),
		netdev_rig_test(test_what_is_no_request_ends_the_connection),
		netdev_rig_test(test_long_packets),
		netdev_rig_test(test_a_hello_is_checked),
		netdev_rig_test(test_a_second_port_is_refused),
		netdev_rig_test(test_guests_keep_no_port_out),
		netdev_rig_test(test_answers_that_are_not_read),
		netdev_rig_test(test_the_netdev_goes),
		netdev_rig_test_without(test_it_does_not_begin_in_vain),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
