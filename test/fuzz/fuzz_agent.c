/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The agent's protocol: what a port reads from its agent, and what octo-agent reads from
 * those who connect. Nothing that a peer says may do more than end its own connection.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sanitizer/lsan_interface.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "fuzz_agent.h"

#define QUEUES 2
#define MAX_PATHS 4

const struct octo_agent_secret fuzz_agent_secret = {.len = 16, .bytes = "0123456789abcdef"};

const char *
fuzz_agent_path(const char *name)
{
	static char paths[MAX_PATHS][100];
	static unsigned int nb;
	const char *directory = getenv("RUNTIME_DIRECTORY");
	char *path = paths[nb++ % MAX_PATHS];

	/* libFuzzer runs several processes when it merges corpora */
	snprintf(path, sizeof(paths[0]), "%s/%s.%d", directory == NULL ? "/tmp" : directory, name,
		 getpid());
	return path;
}

static struct rte_mempool *
get_pool(void)
{
	static struct rte_mempool *pool;

	if (pool == NULL)
		pool = rte_pktmbuf_pool_create("fuzz", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
					       SOCKET_ID_ANY);
	FUZZ_CHECK(pool != NULL, "no mbufs");
	return pool;
}

/* What a port holds is found by what is in EAL's memory, where LSan does not look. */
uint16_t
fuzz_agent_port(const char *name, const char *args)
{
	const struct rte_eth_conf conf = {.rxmode = {.mq_mode = RTE_ETH_MQ_RX_NONE}};
	uint16_t port = 0;
	int ret;

	__lsan_disable();
	FUZZ_CHECK(rte_eal_hotplug_add("vdev", name, args) == 0, "no %s,%s", name, args);
	FUZZ_CHECK(rte_eth_dev_get_port_by_name(name, &port) == 0, "no %s", name);
	if (strncmp(name, "net_octo0", strlen("net_octo0")) != 0 && strstr(args, "nic=B") == NULL) {
		__lsan_enable();
		return port;
	}
	ret = rte_eth_dev_configure(port, QUEUES, QUEUES, &conf);
	for (uint16_t q = 0; ret == 0 && q < QUEUES; q++) {
		ret = rte_eth_rx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL, get_pool());
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL);
	}
	if (ret == 0)
		ret = rte_eth_dev_start(port);
	__lsan_enable();
	FUZZ_CHECK(ret == 0, "port %u does not start: %d", port, ret);
	return port;
}

/* One of few, so that the same is meant again. */
static struct octo_tuple
make_tuple(uint8_t which)
{
	struct octo_tuple tuple = octo_tuple_example;

	tuple.src_port = which & 31;
	return tuple;
}

static void
make_body(struct fuzz_input *in, struct octo_agent_msg *msg)
{
	const uint8_t what = fuzz_u8(in);

	switch (msg->type) {
	case OCTO_AGENT_HELLO:
		msg->hello = (struct octo_agent_hello){
			.min_version = OCTO_AGENT_VERSION + (what >> 7),
			.max_version = OCTO_AGENT_VERSION,
			.nb_pfs = FUZZ_AGENT_PFS + (what >> 6 & 1),
			.secret = fuzz_agent_secret,
		};
		msg->hello.secret.bytes[what & 15] ^= what >> 5 & 1;
		break;
	case OCTO_AGENT_WELCOME:
		msg->welcome = (struct octo_agent_welcome){
			.version = OCTO_AGENT_VERSION, .nb_pfs = FUZZ_AGENT_PFS, .flags = what};
		break;
	case OCTO_AGENT_RESULT:
		msg->result.error = (int8_t)what;
		snprintf(msg->result.text, sizeof(msg->result.text), "%*s", what, "because");
		break;
	case OCTO_AGENT_COUNT:
		msg->count.hits = what;
		msg->count.bytes = fuzz_u32(in);
		break;
	case OCTO_AGENT_DEFAULT:
		msg->default_pf = what & 3;
		break;
	default:
		msg->rule = (struct octo_agent_rule){
			.tuple = make_tuple(what), .pf = what >> 5, .queue = what >> 6};
	}
}

size_t
fuzz_agent_message(struct fuzz_input *in, uint32_t session, uint32_t seq, uint8_t *bytes)
{
	struct octo_agent_msg msg = {.session = session, .seq = seq};
	const uint8_t what = fuzz_u8(in);
	size_t len;

	msg.type = what % OCTO_AGENT_DEFAULT + 1;
	if (what >= 240)
		msg.session = fuzz_u8(in);
	else if (what >= 220)
		msg.seq = fuzz_u8(in);
	make_body(in, &msg);
	len = octo_agent_msg_write(bytes, &msg);
	/* a byte of it is another one, or its end is missing */
	if (what >= 200)
		bytes[fuzz_u8(in) % len] = fuzz_u8(in);
	return what >= 190 && what < 200 ? fuzz_u8(in) % len : len;
}

void
fuzz_agent_send(int fd, const uint8_t *bytes, size_t len)
{
	if (send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		FUZZ_CHECK(errno == EPIPE || errno == EWOULDBLOCK || errno == ECONNRESET,
			   "send: %s", strerror(errno));
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	fuzz_eal_init();
	fuzz_agent_port_init();
	fuzz_agent_server_init();
	return 0;
}

/* The first byte tells which side it is for. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {.at = data, .left = size};

	fuzz_log_forget();
	if ((fuzz_u8(&in) & 1) == 0)
		fuzz_agent_port_run(&in);
	else
		fuzz_agent_server_run(&in);
	return 0;
}
