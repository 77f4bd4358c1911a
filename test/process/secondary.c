/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A secondary process that does what a line of its input says: "count PORT", "close PORT",
 * "die PORT PF", inside of the driver of that PF while it asks the port how full a queue is, or
 * "stay PORT PF", inside of the driver while it asks for the port's info, for as long as the PF
 * is there: the answer is whether it had gone by then. "intr PORT QUEUE" arms an Rx queue, "sleep
 * PORT QUEUE" does so and waits without a time limit until it gets packets: the answer is their
 * number. "attach NAME LENGTH" sends a message with so many zeros and a descriptor to the primary,
 * or from there to all others. "mix PORT QUEUE NAME LENGTH" does both, many times, and says what
 * "intr" failed with. "fd PORT QUEUE" says what descriptor the queue has. "txq PORT QUEUE" sets a
 * Tx queue up. "removed PORT" says whether the port is. "lack PF" makes of a PF's port what is left
 * when EAL has detached it, and "gain PF" undoes that. "nap PORT QUEUE" is "sleep" in a thread, and
 * "poll PORT QUEUE" a burst. "storm PORT SEED" makes calls of all kinds until the process is killed.
 * With OCTO_STAY in its environment the process stays inside of the probe of its first octo port
 * until there is a line.
 *
 * A primary process can "setup PORT QUEUES" with Rx interrupts, start it by "start PORT" and "stop
 * PORT" it, and "send PORT FLOW" a frame of that flow. "plug NAME ARGS" makes a vdev, and stays
 * inside of its probe, when the first port is announced there, until there is another line.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_epoll.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_interrupts.h>
#include <rte_ip.h>
#include <rte_stdatomic.h>
#include <rte_udp.h>

#define LINE_MAX_LEN 80
#define STAY_MS 1000
#define MIXES 1000
#define BURST 32
#define NB_DESC 128
#define FRAME_LEN 60

static int
die(void *rxq)
{
	RTE_SET_USED(rxq);
	raise(SIGKILL);
	return 0;
}

static struct {
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	unsigned int port, pf;
	RTE_ATOMIC(bool) is_out;
} slow;

static int
see_end(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (port == slow.pf)
		rte_atomic_store_explicit(&slow.is_out, true, rte_memory_order_release);
	return 0;
}

static int
slow_info(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const uint64_t end = rte_get_timer_cycles() + rte_get_timer_hz() * STAY_MS / 1000;
	bool is_out = false;

	dev->dev_ops = slow.real;
	printf("inside\n");
	/* on a busy CPU each sleep takes longer */
	while (!is_out && rte_get_timer_cycles() < end) {
		rte_delay_us_sleep(1000);
		is_out = rte_atomic_load_explicit(&slow.is_out, rte_memory_order_acquire);
	}
	printf("answer %d\n", is_out);
	return is_out ? -ENODEV : slow.real->dev_infos_get(dev, info);
}

static void *
ask_info(void *arg)
{
	struct rte_eth_dev_info info;
	const int ret = rte_eth_dev_info_get((uint16_t)slow.port, &info);

	/* newer releases want it looked at; slow_info() has told */
	RTE_SET_USED(ret);
	RTE_SET_USED(arg);
	return NULL;
}

static void
stay(void)
{
	struct rte_eth_dev *dev = &rte_eth_devices[slow.pf];
	pthread_t thread;

	slow.real = dev->dev_ops;
	slow.ops = *dev->dev_ops;
	slow.ops.dev_infos_get = slow_info;
	dev->dev_ops = &slow.ops;
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, see_end, NULL);
	if (pthread_create(&thread, NULL, ask_info, NULL) == 0)
		pthread_join(thread, NULL);
}

static bool stays;

static int
stay_inside(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	char line[LINE_MAX_LEN];

	RTE_SET_USED(port);
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (!stays)
		return 0;
	stays = false;
	printf("inside\n");
	return fgets(line, sizeof(line), stdin) == NULL ? -EIO : 0;
}

/* In the place of ethdev's, which drivers call at the end of their probe. */
void
rte_eth_dev_probing_finish(struct rte_eth_dev *dev)
{
	void (*real)(struct rte_eth_dev *) = (void (*)(struct rte_eth_dev *))(uintptr_t)dlsym(
		RTLD_NEXT, __func__);
	char line[LINE_MAX_LEN];

	if (getenv("OCTO_STAY") != NULL && strncmp(dev->data->name, "net_octo", 8) == 0) {
		printf("inside\n");
		if (fgets(line, sizeof(line), stdin) == NULL)
			exit(EXIT_FAILURE);
	}
	real(dev);
}

static int
plug(const char *name, const char *args)
{
	int ret = rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, stay_inside, NULL);

	stays = true;
	return ret == 0 ? rte_eal_hotplug_add("vdev", name, args) : ret;
}

static int
setup(uint16_t port, uint16_t nb_queues)
{
	const struct rte_eth_conf conf = {.intr_conf = {.rxq = 1}};
	struct rte_mempool *pool = rte_mempool_lookup("frames");
	int ret;

	if (pool == NULL)
		pool = rte_pktmbuf_pool_create("frames", 8191, 0, 0, 2048, 0);
	ret = pool == NULL ? -ENOMEM : rte_eth_dev_configure(port, nb_queues, 1, &conf);
	for (uint16_t i = 0; ret == 0 && i < nb_queues; i++)
		ret = rte_eth_rx_queue_setup(port, i, NB_DESC, 0, NULL, pool);
	return ret == 0 ? rte_eth_tx_queue_setup(port, 0, NB_DESC, 0, NULL) : ret;
}

static int
send_frame(uint16_t port, uint16_t flow)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(rte_mempool_lookup("frames"));
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)rte_pktmbuf_append(m, FRAME_LEN);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(eth + 1);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

	memset(eth, 0, FRAME_LEN);
	if (rte_eth_macaddr_get(port, &eth->dst_addr) != 0)
		return -ENODEV;
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = RTE_BE16(FRAME_LEN - RTE_ETHER_HDR_LEN);
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 1));
	ip->dst_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 2));
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->src_port = rte_cpu_to_be_16(flow);
	udp->dst_port = RTE_BE16(7);
	udp->dgram_len = RTE_BE16(FRAME_LEN - RTE_ETHER_HDR_LEN - sizeof(*ip));
	return rte_eth_tx_burst(port, 0, &m, 1);
}

static int
poll_queue(uint16_t port, uint16_t queue)
{
	struct rte_mbuf *m[BURST];
	const uint16_t n = rte_eth_rx_burst(port, queue, m, BURST);

	rte_pktmbuf_free_bulk(m, n);
	return n;
}

/* As an application does it: poll until there is nothing, arm, wait. */
static int
sleep_for_packets(uint16_t port, uint16_t queue)
{
	struct rte_epoll_event event;
	int n, ret;

	ret = rte_eth_dev_rx_intr_ctl_q(port, queue, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD,
					NULL);
	for (n = poll_queue(port, queue); ret == 0 && n == 0; n = poll_queue(port, queue)) {
		ret = rte_eth_dev_rx_intr_enable(port, queue);
		printf("asleep\n");
		if (ret == 0 && rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, -1) < 0)
			ret = -errno;
		if (ret == 0)
			ret = rte_eth_dev_rx_intr_disable(port, queue);
	}
	return ret == 0 ? n : ret;
}

static struct {
	unsigned int port, queue;
} bed;

static void *
nap(void *arg)
{
	RTE_SET_USED(arg);
	printf("got %d\n", sleep_for_packets((uint16_t)bed.port, (uint16_t)bed.queue));
	return NULL;
}

static int
take_nap(void)
{
	pthread_t thread;
	int ret = pthread_create(&thread, NULL, nap, NULL);

	return ret != 0 ? -ret : -pthread_detach(thread);
}

struct storm {
	uint16_t port;
	unsigned int seed;
};

/*
 * What an application's control threads ask, also while the port is stopped. Nothing that takes the
 * lock of the simulated NIC, which a process that is killed does not give back.
 */
static int
ask_anything(uint16_t port, int what)
{
	const struct rte_flow_item pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_attr attr = {.ingress = 1};
	struct rte_eth_xstat xstats[BURST];
	struct rte_flow_error error;
	struct rte_eth_dev_info info;
	struct rte_eth_stats stats;
	struct rte_eth_link link;

	switch (what) {
	case 0:
		return rte_eth_stats_get(port, &stats);
	case 1:
		return rte_eth_xstats_get(port, xstats, BURST);
	case 2:
		return rte_eth_dev_info_get(port, &info);
	case 3:
		return rte_eth_link_get_nowait(port, &link);
	case 4:
		return rte_eth_dev_is_removed(port);
	case 5:
		return rte_eth_rx_descriptor_status(port, 0, 1);
	case 6:
		return rte_eth_tx_descriptor_status(port, 0, 1);
	case 7:
		return rte_flow_create(port, &attr, pattern, actions, &error) != NULL;
	case 8:
		return rte_eth_promiscuous_enable(port);
	default:
		return rte_eth_rx_queue_count(port, 0);
	}
}

static void *
ask_on(void *arg)
{
	struct storm *s = arg;

	for (;;)
		ask_anything(s->port, rand_r(&s->seed) % 10);
	return NULL;
}

static void *
arm_on(void *arg)
{
	const struct storm *s = arg;

	for (;;) {
		poll_queue(s->port, 0);
		rte_eth_tx_burst(s->port, 0, NULL, 0);
		rte_eth_dev_rx_intr_enable(s->port, 0);
		rte_eth_dev_rx_intr_disable(s->port, 0);
	}
	return NULL;
}

static void *
poll_on(void *arg)
{
	const struct storm *s = arg;

	for (;;)
		poll_queue(s->port, 1);
	return NULL;
}

static int
storm(uint16_t port, unsigned int seed)
{
	void *(*const calls[])(void *) = {ask_on, ask_on, arm_on, poll_on};
	static struct storm storms[RTE_DIM(calls)];
	pthread_t thread;
	int ret = 0;

	/* of what is refused: nobody else would get to print anything */
	rte_log_set_level_pattern("pmd.net.octo", RTE_LOG_CRIT);
	for (unsigned int i = 0; ret == 0 && i < RTE_DIM(calls); i++) {
		storms[i] = (struct storm){port, seed + i};
		ret = pthread_create(&thread, NULL, calls[i], &storms[i]);
	}
	return -ret;
}

static int
attach_fd(struct rte_mp_msg *msg)
{
	msg->num_fds = 1;
	msg->fds[0] = STDIN_FILENO;
	return rte_mp_sendmsg(msg);
}

static int
mix(struct rte_mp_msg *msg, uint16_t port, uint16_t queue)
{
	int ret = 0;

	for (int i = 0; i < MIXES && ret == 0; i++) {
		ret = attach_fd(msg);
		if (ret == 0)
			ret = rte_eth_dev_rx_intr_enable(port, queue);
	}
	return ret;
}

static int
lack(struct rte_eth_dev *dev)
{
	dev->state = RTE_ETH_DEV_UNUSED;
	return 0;
}

static int
gain(struct rte_eth_dev *dev)
{
	dev->state = RTE_ETH_DEV_ATTACHED;
	return rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_NEW, NULL);
}

static int
obey_intr(const char *line)
{
	struct rte_mp_msg msg = {0};
	char name[LINE_MAX_LEN], args[LINE_MAX_LEN];
	unsigned int port, flow, queue;

	if (sscanf(line, "attach %63s %d", msg.name, &msg.len_param) == 2)
		return attach_fd(&msg);
	if (sscanf(line, "mix %u %u %63s %d", &port, &queue, msg.name, &msg.len_param) == 4)
		return mix(&msg, (uint16_t)port, (uint16_t)queue);
	if (sscanf(line, "intr %u %u", &port, &queue) == 2)
		return rte_eth_dev_rx_intr_enable((uint16_t)port, (uint16_t)queue);
	if (sscanf(line, "sleep %u %u", &port, &queue) == 2)
		return sleep_for_packets((uint16_t)port, (uint16_t)queue);
	if (sscanf(line, "fd %u %u", &port, &queue) == 2)
		return rte_eth_dev_rx_intr_ctl_q_get_fd((uint16_t)port, (uint16_t)queue);
	if (sscanf(line, "nap %u %u", &bed.port, &bed.queue) == 2)
		return take_nap();
	if (sscanf(line, "poll %u %u", &port, &queue) == 2)
		return poll_queue((uint16_t)port, (uint16_t)queue);
	if (sscanf(line, "storm %u %u", &port, &flow) == 2)
		return storm((uint16_t)port, flow);
	if (sscanf(line, "lack %u", &port) == 1)
		return lack(&rte_eth_devices[port]);
	if (sscanf(line, "gain %u", &port) == 1)
		return gain(&rte_eth_devices[port]);
	if (sscanf(line, "setup %u %u", &port, &queue) == 2)
		return setup((uint16_t)port, (uint16_t)queue);
	if (sscanf(line, "start %u", &port) == 1)
		return rte_eth_dev_start((uint16_t)port);
	if (sscanf(line, "stop %u", &port) == 1)
		return rte_eth_dev_stop((uint16_t)port);
	if (sscanf(line, "plug %79s %79s", name, args) == 2)
		return plug(name, args);
	if (sscanf(line, "send %u %u", &port, &flow) == 2)
		return send_frame((uint16_t)port, (uint16_t)flow);
	return -EINVAL;
}

static void
obey(const char *line)
{
	unsigned int port, pf, queue;
	int ret;

	if (sscanf(line, "stay %u %u", &slow.port, &slow.pf) == 2) {
		stay();
		return;
	}
	if (sscanf(line, "die %u %u", &port, &pf) == 2) {
		rte_eth_fp_ops[pf].rx_queue_count = (eth_rx_queue_count_t)die;
		ret = rte_eth_rx_queue_count((uint16_t)port, 0);
	} else if (sscanf(line, "count %u", &port) == 1) {
		ret = rte_eth_rx_queue_count((uint16_t)port, 0);
	} else if (sscanf(line, "txq %u %u", &port, &queue) == 2) {
		ret = rte_eth_tx_queue_setup((uint16_t)port, (uint16_t)queue, NB_DESC, 0, NULL);
	} else if (sscanf(line, "removed %u", &port) == 1) {
		ret = rte_eth_dev_is_removed((uint16_t)port);
	} else if (sscanf(line, "close %u", &port) == 1) {
		ret = rte_eth_dev_close((uint16_t)port);
	} else {
		ret = obey_intr(line);
	}
	printf("answer %d\n", ret);
}

int
main(int argc, char **argv)
{
	char line[LINE_MAX_LEN];

	if (rte_eal_init(argc, argv) < 0)
		return EXIT_FAILURE;
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin) != NULL && line[0] != 'q')
		obey(line);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
