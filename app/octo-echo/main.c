/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A port whose queues each have an lcore and a mempool on a node of choice, as an
 * application has that cares where its memory is; testpmd has one pool per port.
 * Whatever comes in by a queue leaves by the same, with its MACs exchanged, or, if there is
 * a PEER, by the peer's queue of that number, unchanged, and so back. The peer's queue has the
 * first of the nodes: on another of them, the lcore copies what comes from there into its pool.
 *
 *   octo-echo EAL... -- PORT[,PEER] QUEUE@LCORE:NODE[,NODE]...
 *
 * and then, line by line on standard input:
 *
 *   hand QUEUE LCORE                         the queue to another lcore, "handed"
 *   steer PROTO SRC SPORT DST DPORT QUEUE    "rule N", or "error: ..."
 *   destroy N                                "destroyed"
 *   learn on|off                             whether the port learns, "learns" or "forgot"
 *   counts                                   "queue Q: N" for each
 *   quit
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <rte_stdatomic.h>

#include "octo_flow_build.h"
#include "rte_pmd_octo.h"

#define MAX_QUEUES 8
#define MAX_NODES 2
#define MAX_RULES 256
#define BURST 32
#define NB_DESC 256
#define NB_MBUFS 4095

static struct queue {
	RTE_ATOMIC(unsigned int) lcore;  /* whose it is */
	RTE_ATOMIC(unsigned int) wanted; /* whom that one gives it to */
	int node[MAX_NODES];
	uint16_t nb_nodes;
	struct rte_mempool *pool[MAX_NODES];
	uint64_t packets;
} queues[MAX_QUEUES];

static uint16_t nb_queues;
static uint16_t port;
static uint16_t peer; /* the port itself: frames return to their sender */
static volatile bool stopping;
static struct rte_flow *rules[MAX_RULES];
static unsigned int nb_rules;

static void
die(const char *what, int ret)
{
	rte_exit(EXIT_FAILURE, "octo-echo: %s: %s\n", what, rte_strerror(-ret));
}

static void
exchange_macs(struct rte_mbuf *pkt)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt, struct rte_ether_hdr *);
	struct rte_ether_addr src = eth->src_addr;

	eth->src_addr = eth->dst_addr;
	eth->dst_addr = src;
}

/* The pool on the node that the thread runs on, wherever its lcore was to be. */
static struct rte_mempool *
pool_here(const struct queue *queue)
{
	unsigned int node;

	if (syscall(SYS_getcpu, NULL, &node, NULL) == 0)
		for (uint16_t i = 0; i < queue->nb_nodes; i++)
			if (queue->node[i] == (int)node)
				return queue->pool[i];
	return queue->pool[0];
}

/* A PF of this node is to fetch what the peer's queue has written to its only pool. */
static void
bring_home(struct rte_mbuf **pkts, uint16_t n, const struct queue *queue)
{
	struct rte_mempool *pool = pool_here(queue);
	struct rte_mbuf *copy;

	for (uint16_t i = 0; i < n && pool != queue->pool[0]; i++) {
		copy = rte_pktmbuf_copy(pkts[i], pool, 0, UINT32_MAX);
		if (copy == NULL)
			continue; /* it crosses, but is not lost */
		rte_pktmbuf_free(pkts[i]);
		pkts[i] = copy;
	}
}

static void
pass_burst(uint16_t from, uint16_t to, uint16_t q)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t n = rte_eth_rx_burst(from, q, pkts, BURST);
	uint16_t sent = 0;

	for (uint16_t i = 0; i < n && from == to; i++)
		exchange_macs(pkts[i]);
	if (n > 0 && from != port)
		bring_home(pkts, n, &queues[q]);
	/* nothing is to be lost here: what does not fit waits */
	while (sent < n && !stopping)
		sent += rte_eth_tx_burst(to, q, pkts + sent, n - sent);
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	queues[q].packets += sent;
}

/* A queue has one lcore at any time: whoever has it gives it away between two bursts. */
static void
serve(uint16_t q, unsigned int lcore)
{
	struct queue *queue = &queues[q];
	unsigned int wanted;

	/* pairs with the release below: all that its last lcore did is done */
	if (rte_atomic_load_explicit(&queue->lcore, rte_memory_order_acquire) != lcore)
		return;
	wanted = rte_atomic_load_explicit(&queue->wanted, rte_memory_order_relaxed);
	if (wanted != lcore) {
		rte_atomic_store_explicit(&queue->lcore, wanted, rte_memory_order_release);
		return;
	}
	pass_burst(port, peer, q);
	if (peer != port)
		pass_burst(peer, port, q);
}

static int
run_lcore(void *arg)
{
	const unsigned int lcore = rte_lcore_id();

	(void)arg;
	while (!stopping)
		for (uint16_t q = 0; q < nb_queues; q++)
			serve(q, lcore);
	return 0;
}

static void
read_queue(const char *text)
{
	struct queue *queue = &queues[nb_queues];
	unsigned int q, lcore;
	int n = 0;

	if (nb_queues < MAX_QUEUES)
		n = sscanf(text, "%u@%u:%d,%d", &q, &lcore, &queue->node[0], &queue->node[1]);
	if (n < 3 || q != nb_queues)
		rte_exit(EXIT_FAILURE, "octo-echo: '%s' is no QUEUE@LCORE:NODE[,NODE] in order\n",
			 text);
	queue->lcore = lcore;
	queue->wanted = lcore;
	queue->nb_nodes = (uint16_t)(n - 2);
	nb_queues++;
}

static void
make_pools(uint16_t q)
{
	struct queue *queue = &queues[q];
	char name[32];

	for (uint16_t i = 0; i < queue->nb_nodes; i++) {
		snprintf(name, sizeof(name), "echo%u_%d", q, queue->node[i]);
		queue->pool[i] = rte_pktmbuf_pool_create(name, NB_MBUFS, 0, 0,
							 RTE_MBUF_DEFAULT_BUF_SIZE, queue->node[i]);
		if (queue->pool[i] == NULL)
			die("no mempool", -rte_errno);
	}
}

static void
set_up_queue(uint16_t id, uint16_t q, uint16_t nb_nodes)
{
	const unsigned int node = rte_lcore_to_socket_id(queues[q].wanted);
	const struct rte_eth_rxconf many = {.rx_mempools = queues[q].pool, .rx_nmempool = nb_nodes};
	const bool one = nb_nodes == 1;
	int ret;

	ret = rte_eth_rx_queue_setup(id, q, NB_DESC, node, one ? NULL : &many,
				     one ? queues[q].pool[0] : NULL);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(id, q, NB_DESC, node, NULL);
	if (ret != 0)
		die("queue setup", ret);
}

static void
set_up_port(uint16_t id)
{
	struct rte_eth_conf conf = {.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE};
	int ret = rte_eth_dev_configure(id, nb_queues, nb_queues, &conf);

	if (ret != 0)
		die("configure", ret);
	for (uint16_t q = 0; q < nb_queues; q++)
		set_up_queue(id, q, id == port ? queues[q].nb_nodes : 1);
	ret = rte_eth_dev_start(id);
	if (ret != 0)
		die("start", ret);
	rte_eth_promiscuous_enable(id);
}

/* Of "PORT" or "PORT,PEER". */
static void
find_ports(char *names)
{
	char *second = strchr(names, ',');
	int ret;

	if (second != NULL)
		*second++ = '\0';
	ret = rte_eth_dev_get_port_by_name(names, &port);
	if (ret != 0)
		die(names, ret);
	peer = port;
	if (second == NULL)
		return;
	ret = rte_eth_dev_get_port_by_name(second, &peer);
	if (ret != 0)
		die(second, ret);
}

static void
close_port(uint16_t id)
{
	rte_eth_dev_stop(id);
	rte_eth_dev_close(id);
}

static void
steer(const char *line)
{
	char proto[8], src[64], dst[64];
	unsigned int src_port, dst_port, queue;
	struct rte_flow_error error = {.message = NULL};
	struct octo_flow_rule rule;
	struct octo_tuple tuple;

	if (sscanf(line, "steer %7s %63s %u %63s %u %u", proto, src, &src_port, dst, &dst_port,
		   &queue) != 6 ||
	    octo_tuple_read(&tuple, proto, src, src_port, dst, dst_port, NULL) != 0 ||
	    nb_rules == MAX_RULES) {
		printf("error: cannot read '%s'\n", line);
		return;
	}
	octo_flow_build_queue(&rule, &tuple, 0, queue, false);
	rules[nb_rules] = rte_flow_create(port, &rule.attr, rule.pattern, rule.actions, &error);
	if (rules[nb_rules] == NULL)
		printf("error: %s\n", error.message != NULL ? error.message : "no reason given");
	else
		printf("rule %u\n", nb_rules++);
}

static void
destroy(const char *line)
{
	struct rte_flow_error error = {.message = NULL};
	unsigned int n;

	if (sscanf(line, "destroy %u", &n) != 1 || n >= nb_rules || rules[n] == NULL) {
		printf("error: no such rule\n");
	} else if (rte_flow_destroy(port, rules[n], &error) != 0) {
		printf("error: %s\n", error.message != NULL ? error.message : "no reason given");
	} else {
		rules[n] = NULL;
		printf("destroyed\n");
	}
}

/* Done when the new lcore has it. */
static void
hand(const char *line)
{
	unsigned int q, lcore;

	if (sscanf(line, "hand %u %u", &q, &lcore) != 2 || q >= nb_queues ||
	    !rte_lcore_is_enabled(lcore) || lcore == rte_get_main_lcore()) {
		printf("error: no such queue, or no such lcore\n");
		return;
	}
	rte_atomic_store_explicit(&queues[q].wanted, lcore, rte_memory_order_relaxed);
	while (rte_atomic_load_explicit(&queues[q].lcore, rte_memory_order_acquire) != lcore)
		rte_pause();
	printf("handed\n");
}

static void
learn(const char *line)
{
	struct rte_pmd_octo_learning learning;
	const char *why = NULL;
	int ret = rte_pmd_octo_learning_get(port, &learning);

	learning.settings.on = strncmp(line, "learn on", 8) == 0;
	if (ret == 0)
		ret = rte_pmd_octo_learning_set(port, &learning.settings, &why);
	if (ret != 0)
		printf("error: %s\n", why != NULL ? why : rte_strerror(-ret));
	else
		printf(learning.settings.on ? "learns\n" : "forgot\n");
}

static void
counts(void)
{
	for (uint16_t q = 0; q < nb_queues; q++)
		printf("queue %u: %lu\n", q, (unsigned long)queues[q].packets);
}

static void
obey(void)
{
	char line[256];

	printf("ready\n");
	while (fgets(line, sizeof(line), stdin) != NULL && strncmp(line, "quit", 4) != 0) {
		if (strncmp(line, "steer ", 6) == 0)
			steer(line);
		else if (strncmp(line, "destroy ", 8) == 0)
			destroy(line);
		else if (strncmp(line, "hand ", 5) == 0)
			hand(line);
		else if (strncmp(line, "learn ", 6) == 0)
			learn(line);
		else if (strncmp(line, "counts", 6) == 0)
			counts();
		else
			printf("error: unknown\n");
		printf("done\n");
	}
}

int
main(int argc, char *argv[])
{
	int used;

	setvbuf(stdout, NULL, _IOLBF, 0);
	used = rte_eal_init(argc, argv);
	if (used < 0)
		die("EAL", -rte_errno);
	if (argc - used < 3)
		rte_exit(EXIT_FAILURE,
			 "usage: octo-echo EAL... -- PORT[,PEER] QUEUE@LCORE:NODE[,NODE]...\n");
	for (int i = used + 2; i < argc; i++)
		read_queue(argv[i]);
	find_ports(argv[used + 1]);
	for (uint16_t q = 0; q < nb_queues; q++)
		make_pools(q);
	set_up_port(port);
	if (peer != port)
		set_up_port(peer);
	rte_eal_mp_remote_launch(run_lcore, NULL, SKIP_MAIN);
	obey();
	stopping = true;
	rte_eal_mp_wait_lcore();
	if (peer != port)
		close_port(peer);
	close_port(port);
	return rte_eal_cleanup();
}
