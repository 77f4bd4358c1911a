/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/syscall.h>

#include <rte_alarm.h>
#include <rte_bus_vdev.h>
#include <rte_debug.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_interrupts.h>
#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#include "octo_private.h"

/* However little CPU a test is given, it hangs after so long. */
#define HANG_S 300
#define WIRE_RING 4096

struct rte_mempool *octo_port_pool;

static struct {
	pthread_t id;
	void *(*fn)(void *);
	void *arg;
	int cpu;
	bool running;
	RTE_ATOMIC(bool) stop;
	RTE_ATOMIC(bool) ended;
	RTE_ATOMIC(uint64_t) rounds; /* 0: it does not go around */
} thread;

static cpu_set_t allowed;
static int cpu_of_node[2] = {-1, -1};

static void
find_cpus(void)
{
	unsigned int found = 0;

	CPU_ZERO(&allowed);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE && found < RTE_DIM(cpu_of_node); cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpu_of_node[found++] = cpu;
}

static int
init_eal(void)
{
	static char lcores[32], prefix[48];
	char *argv[] = {
		(char *)(uintptr_t) "test",
		(char *)(uintptr_t) "--no-huge",
		(char *)(uintptr_t) "--no-pci",
		(char *)(uintptr_t) "--no-telemetry",
		(char *)(uintptr_t) "--no-shconf",
		(char *)(uintptr_t) "--log-level=warning",
		(char *)(uintptr_t) "-m",
		(char *)(uintptr_t) "512",
		lcores,
		prefix,
	};

	snprintf(lcores, sizeof(lcores), "--lcores=0@%d", cpu_of_node[0]);
	snprintf(prefix, sizeof(prefix), "--file-prefix=octo_port_%d", getpid());
	return rte_eal_init(RTE_DIM(argv), argv);
}

static bool in_test;

/* cmocka ends the program without a word where another thread than the test's crashes. */
static void
tell_where(void)
{
	if (in_test)
		rte_dump_stack();
}

int
octo_port_group_setup(void **state)
{
	RTE_SET_USED(state);
	atexit(tell_where);
	find_cpus();
	if (cpu_of_node[0] < 0 || init_eal() < 0)
		return -1;
	octo_port_time_start();
	/* EAL binds this thread; those that the tests start shall run beside it */
	sched_setaffinity(0, sizeof(allowed), &allowed);
	octo_port_pool = rte_pktmbuf_pool_create("octo_port", OCTO_PORT_MBUFS, 0, 0,
						 RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	return octo_port_pool == NULL ? -1 : 0;
}

int
octo_port_group_teardown(void **state)
{
	int ret;

	RTE_SET_USED(state);
	rte_mempool_free(octo_port_pool);
	ret = rte_eal_cleanup();
	/* EAL leaves it; the prefix, and so the directory, is this process's own */
	rmdir(rte_eal_get_runtime_dir());
	return ret;
}

int
octo_port_setup(void **state)
{
	RTE_SET_USED(state);
	/* a deadlock ends the program instead of the patience of who waits for it */
	alarm(HANG_S);
	in_test = true;
	return 0;
}

/*
 * The CPU that the drivers believe this thread to run on: taking it to another one
 * thousands of times would take long on a busy machine.
 */
static __thread int believed_cpu = -1;

int
sched_getcpu(void)
{
	unsigned int real = 0;

	if (believed_cpu >= 0)
		return believed_cpu;
	return syscall(SYS_getcpu, &real, NULL, NULL) == 0 ? (int)real : -1;
}

void
octo_port_run_on(int node)
{
	assert_true(cpu_of_node[node] >= 0);
	believed_cpu = cpu_of_node[node];
}

static void *
run_thread(void *arg)
{
	void *ret;

	RTE_SET_USED(arg);
	believed_cpu = thread.cpu;
	octo_port_time_is_beside();
	ret = thread.fn(thread.arg);
	rte_atomic_store_explicit(&thread.ended, true, rte_memory_order_release);
	return ret;
}

void
octo_port_thread_start(void *(*fn)(void *), void *arg)
{
	rte_atomic_store_explicit(&thread.stop, false, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&thread.ended, false, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&thread.rounds, 0, rte_memory_order_relaxed);
	thread.fn = fn;
	thread.arg = arg;
	thread.cpu = believed_cpu;
	assert_int_equal(pthread_create(&thread.id, NULL, run_thread, NULL), 0);
	thread.running = true;
}

bool
octo_port_thread_is_to_stop(void)
{
	return rte_atomic_load_explicit(&thread.stop, rte_memory_order_relaxed);
}

bool
octo_port_thread_must_stop(void)
{
	rte_atomic_fetch_add_explicit(&thread.rounds, 1, rte_memory_order_release);
	return octo_port_thread_is_to_stop();
}

bool
octo_port_thread_runs(void)
{
	return thread.running && !rte_atomic_load_explicit(&thread.ended, rte_memory_order_acquire);
}

/* A round that began after this was called has ended, unless the thread waits for the test. */
void
octo_port_thread_go_around(void)
{
	const uint64_t begin = rte_atomic_load_explicit(&thread.rounds, rte_memory_order_acquire);

	while (octo_port_thread_runs() && !octo_port_time_beside_sleeps() &&
	       (begin == 0 ||
		rte_atomic_load_explicit(&thread.rounds, rte_memory_order_acquire) < begin + 2)) {
		octo_wait_us(begin == 0 ? 500 : 10);
		if (begin == 0)
			return;
	}
}

void
octo_port_thread_stop(void)
{
	if (!thread.running)
		return;
	rte_atomic_store_explicit(&thread.stop, true, rte_memory_order_relaxed);
	pthread_join(thread.id, NULL);
	thread.running = false;
}

/* Nothing may stay behind: no device, no packet. */
int
octo_port_teardown(void **state)
{
	RTE_SET_USED(state);
	in_test = false;
	octo_port_thread_stop();
	octo_port_faults_off();
	believed_cpu = -1;
	octo_port_destroy();
	octo_port_time_end_test();
	alarm(0);
	if (rte_eth_dev_count_total() != 0) {
		print_error("%u ports are left\n", rte_eth_dev_count_total());
		return -1;
	}
	if (rte_mempool_in_use_count(octo_port_pool) != 0) {
		print_error("%u mbufs are lost\n", rte_mempool_in_use_count(octo_port_pool));
		return -1;
	}
	return 0;
}

bool
octo_port_has_two_nodes(void)
{
	return cpu_of_node[1] >= 0;
}

const char *
octo_port_pf_name(unsigned int pf)
{
	static const char *const names[OCTO_PORT_MAX_PFS] = {
		"net_mpsim0", "net_mpsim1", "net_mpsim2", "net_mpsim3",
		"net_mpsim4", "net_mpsim5", "net_mpsim6", "net_mpsim7",
	};

	assert_true(pf < RTE_DIM(names));
	return names[pf];
}

uint16_t
octo_port_pf(unsigned int pf)
{
	uint16_t port;

	assert_int_equal(rte_eth_dev_get_port_by_name(octo_port_pf_name(pf), &port), 0);
	return port;
}

static const char *
comma(const char *text)
{
	return text == NULL ? "" : ",";
}

static const char *
or_nothing(const char *text)
{
	return text == NULL ? "" : text;
}

static const char *
nic_args(const struct octo_port_conf *conf, char *text, size_t len)
{
	snprintf(text, len, "wire=loop,wire_ring=%u%s%s",
		 conf->wire_ring == 0 ? WIRE_RING : conf->wire_ring, comma(conf->nic),
		 or_nothing(conf->nic));
	return text;
}

/* Done where the port probes PFs: EAL has no lock for its list of devices. */
struct plugging {
	int (*fn)(const char *name, const char *args);
	const char *name;
	const char *args;
	int ret;
};

static void
plug(void *arg)
{
	struct plugging *p = arg;

	p->ret = p->fn(p->name, p->args);
}

static int
in_interrupt_thread(int (*fn)(const char *name, const char *args), const char *name,
		    const char *args)
{
	struct plugging p = {.fn = fn, .name = name, .args = args};

	if (rte_thread_is_intr())
		return fn(name, args);
	assert_int_equal(rte_eal_alarm_set(1, plug, &p), 0);
	octo_port_await_interrupts();
	return p.ret;
}

static int
add_device(const char *name, const char *args)
{
	return rte_eal_hotplug_add("vdev", name, args);
}

static int
remove_device(const char *name, const char *args)
{
	RTE_SET_USED(args);
	return rte_eal_hotplug_remove("vdev", name);
}

static int
forget_device(const char *name, const char *args)
{
	RTE_SET_USED(args);
	return rte_vdev_uninit(name);
}

void
octo_port_add_pf(const struct octo_port_conf *conf, unsigned int pf)
{
	char of_nic[128];
	const char *nic = pf == 0 ? nic_args(conf, of_nic, sizeof(of_nic)) : NULL;
	char args[256];
	int ret;

	snprintf(args, sizeof(args), "nic=T,socket=%u%s%s%s%s%s%s", conf->two_nodes ? pf % 2 : 0,
		 comma(nic), or_nothing(nic), comma(conf->all), or_nothing(conf->all),
		 comma(conf->pf[pf]), or_nothing(conf->pf[pf]));
	ret = in_interrupt_thread(add_device, octo_port_pf_name(pf), args);
	/* the octo port may have been faster */
	assert_true(ret == 0 || (ret == -EEXIST && conf->replug));
}

void
octo_port_remove_pf(unsigned int pf)
{
	assert_int_equal(in_interrupt_thread(remove_device, octo_port_pf_name(pf), NULL), 0);
}

void
octo_port_forget_pf(unsigned int pf)
{
	assert_int_equal(in_interrupt_thread(forget_device, octo_port_pf_name(pf), NULL), 0);
}

static unsigned int
nb_pfs(const struct octo_port_conf *conf)
{
	return conf->nb_pfs == 0 ? 2 : conf->nb_pfs;
}

static bool
is_sliced(const struct octo_port_conf *conf)
{
	return conf->sliced || conf->contiguous;
}

void
octo_port_add_pfs(const struct octo_port_conf *conf)
{
	for (unsigned int pf = 0; pf < (is_sliced(conf) ? 1 : nb_pfs(conf)); pf++)
		octo_port_add_pf(conf, pf);
}

static int
put_pf(const struct octo_port_conf *conf, unsigned int pf, char *text, size_t size)
{
	const unsigned int node = conf->two_nodes ? pf % 2 : 0;

	if (conf->contiguous)
		return snprintf(text, size, ",pf=%s[%u-%u]@%u", octo_port_pf_name(0), 8 * pf,
				8 * pf + 7, node);
	if (is_sliced(conf))
		return snprintf(text, size, ",pf=%s[%u::%u]@%u", octo_port_pf_name(0), pf,
				nb_pfs(conf), node);
	return snprintf(text, size, ",pf=%s", octo_port_pf_name(pf));
}

uint16_t
octo_port_add(const struct octo_port_conf *conf)
{
	uint16_t port = RTE_MAX_ETHPORTS;
	char args[512];
	int len = snprintf(args, sizeof(args), "learn=%s,replug=%s,socket_map=%d:0",
			   conf->learn ? "on" : "off", conf->replug ? "on" : "off", cpu_of_node[0]);

	if (octo_port_has_two_nodes())
		len += snprintf(args + len, sizeof(args) - len, "/%d:1", cpu_of_node[1]);
	for (unsigned int pf = 0; pf < nb_pfs(conf); pf++)
		len += put_pf(conf, pf, args + len, sizeof(args) - len);
	if (conf->octo != NULL)
		snprintf(args + len, sizeof(args) - len, ",%s", conf->octo);
	assert_int_equal(rte_eal_hotplug_add("vdev", OCTO_PORT_NAME, args), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &port), 0);
	return port;
}

void
octo_port_close_and_remove(uint16_t port)
{
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_close(port), 0);
	assert_int_equal(rte_eal_hotplug_remove("vdev", OCTO_PORT_NAME), 0);
}

uint16_t
octo_port_create(const struct octo_port_conf *conf)
{
	octo_port_add_pfs(conf);
	return octo_port_add(conf);
}

bool
octo_port_pf_is_there(unsigned int pf)
{
	uint16_t port;

	return rte_eth_dev_get_port_by_name(octo_port_pf_name(pf), &port) == 0;
}

bool
octo_port_pf_is(uint16_t port, unsigned int pf, const char *state)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return strcmp(view.pf[pf].state, state) == 0;
}

bool
octo_port_pf_is_started(uint16_t port, unsigned int pf)
{
	return octo_port_pf_is(port, pf, "started");
}

bool
octo_port_is_proxy(uint16_t port, unsigned int pf)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view.pf[pf].transfer_proxy;
}

/* Asked first, because EAL logs an error when there is no such device. */
static bool
is_there(const char *name)
{
	struct rte_dev_iterator it;
	struct rte_device *dev;
	char filter[64];
	bool found = false;

	snprintf(filter, sizeof(filter), "bus=vdev,name=%s", name);
	RTE_DEV_FOREACH(dev, filter, &it)
	found = true;
	return found;
}

static void
remove_if_there(const char *name)
{
	if (is_there(name))
		rte_eal_hotplug_remove("vdev", name);
}

/* The state machine of no PF's port got an event that its state does not expect. */
static void
assert_nothing_unexpected(void)
{
	const struct octo_dev *octo;
	uint16_t port;

	if (rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &port) != 0)
		return;
	octo = octo_of(&rte_eth_devices[port]);
	for (uint16_t i = 0; i < octo->nb_ports; i++) {
		assert_int_equal(octo->port[i].fsm.unexpected, 0);
		assert_int_equal(octo->role[i].unexpected, 0);
	}
}

void
octo_port_destroy(void)
{
	assert_nothing_unexpected();
	remove_if_there(OCTO_PORT_NAME);
	/* a PF that was being probed for the port goes by itself */
	octo_port_await_interrupts();
	for (unsigned int pf = 0; pf < OCTO_PORT_MAX_PFS; pf++)
		remove_if_there(octo_port_pf_name(pf));
}

int
octo_port_setup_queues(uint16_t port, uint16_t nb_queues)
{
	int ret = 0;

	for (uint16_t q = 0; ret == 0 && q < nb_queues; q++) {
		ret = rte_eth_rx_queue_setup(port, q, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL,
					     octo_port_pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port, q, OCTO_PORT_NB_DESC, SOCKET_ID_ANY,
						     NULL);
	}
	return ret;
}

int
octo_port_configure(uint16_t port, uint16_t nb_queues)
{
	const struct rte_eth_conf conf = {.intr_conf = {.lsc = 1}};
	int ret = rte_eth_dev_configure(port, nb_queues, nb_queues, &conf);

	return ret == 0 ? octo_port_setup_queues(port, nb_queues) : ret;
}

/* Its control thread has gone around once. */
#define FIRST_ROUND_US 6000

static void
start(uint16_t port)
{
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_pass_us(FIRST_ROUND_US);
}

void
octo_port_up_as(uint16_t port, uint16_t nb_queues, const struct rte_eth_conf *conf)
{
	assert_int_equal(rte_eth_dev_configure(port, nb_queues, nb_queues, conf), 0);
	assert_int_equal(octo_port_setup_queues(port, nb_queues), 0);
	start(port);
}

void
octo_port_assert_full_speed(uint16_t port)
{
	struct rte_eth_dev_info info;
	struct rte_eth_link link;

	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	assert_int_equal(link.link_status, RTE_ETH_LINK_UP);
	assert_int_not_equal(link.link_speed, RTE_ETH_SPEED_NUM_NONE);
	assert_int_equal(info.speed_capa,
			 rte_eth_speed_bitflag(link.link_speed, RTE_ETH_LINK_FULL_DUPLEX));
}

void
octo_port_up(uint16_t port, uint16_t nb_queues)
{
	assert_int_equal(octo_port_configure(port, nb_queues), 0);
	start(port);
}

void
octo_port_lead_all_to(uint16_t port, uint16_t queue)
{
	struct rte_eth_rss_reta_entry64 reta[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	for (uint16_t i = 0; i < info.reta_size; i++) {
		reta[i / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_MAX;
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = queue;
	}
	assert_int_equal(rte_eth_dev_rss_reta_update(port, reta, info.reta_size), 0);
}
