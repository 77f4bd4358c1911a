/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_stdatomic.h>

#include "bench_nic.h"
#include "bench_rule.h"
#include "mpsim_control.h"

#define OCTO "net_octo0"
#define PEER "net_mpsim9"
#define NAME_LEN 32
#define ARGS_LEN 256
/* Of a simulated port. */
#define MAX_QUEUES 64

/* Until a device must have gone, or come: octo looks for it each minute at least. */
#define LOOK_US 200
#define MAX_LOOKS 2000000

const char *const bench_nic_latencies[BENCH_MAX_PFS] = {
	",latency_us=20,tx_delay_us=30",
	",latency_us=5,tx_delay_us=5",
	",latency_us=35,tx_delay_us=60",
	",latency_us=10,tx_delay_us=10",
};

const char *
bench_nic_name(unsigned int index)
{
	static const char *const names[BENCH_MAX_PFS] = {
		"net_mpsim0",
		"net_mpsim1",
		"net_mpsim2",
		"net_mpsim3",
	};

	return names[index];
}

int
bench_nic_add_device(const char *name, const char *args)
{
	const int ret = rte_eal_hotplug_add("vdev", name, args);

	if (ret != 0)
		fprintf(stderr, "%s: %s cannot be made with %s: %s\n", app_name, name, args,
			rte_strerror(-ret));
	return ret;
}

static int
add_pf(const struct bench_nic_conf *conf, unsigned int i)
{
	char args[ARGS_LEN];

	snprintf(args, sizeof(args),
		 "nic=A,socket=%u,queues=%u,wire_ring=%u,arfs_entries=%u,mpfs_entries=%u%s%s",
		 i % APP_NB_WORKERS, MAX_QUEUES, BENCH_RING, conf->arfs_entries, conf->mpfs_entries,
		 conf->pf_args != NULL ? conf->pf_args[i] : "",
		 conf->nic_args != NULL ? conf->nic_args : "");
	return bench_nic_add_device(bench_nic_name(i), args);
}

static unsigned int
nb_ports(const struct bench_nic_conf *conf)
{
	return conf->sliced ? 1 : conf->nb_pfs;
}

static int
add_pfs(const struct bench_nic_conf *conf)
{
	int ret = 0;

	for (unsigned int i = 0; i < nb_ports(conf) && ret == 0; i++)
		ret = add_pf(conf, i);
	return ret;
}

static int
add_octo(const struct bench_nic_conf *conf, const struct app_machine *machine)
{
	char args[ARGS_LEN];
	int len = snprintf(args, sizeof(args), "socket_map=%u:0/%u:1%s", machine->cpu[0],
			   machine->cpu[1], conf->octo_args);

	for (unsigned int i = 0; i < conf->nb_pfs; i++)
		len += conf->sliced ?
			       snprintf(args + len, sizeof(args) - len, ",pf=%s[%u::%u]@%u",
					bench_nic_name(0), i, conf->nb_pfs, i % APP_NB_WORKERS) :
			       snprintf(args + len, sizeof(args) - len, ",pf=%s",
					bench_nic_name(i));
	return bench_nic_add_device(OCTO, args);
}

static int
add_devices(const struct bench *bench, const struct bench_nic_conf *conf)
{
	int ret = bench_nic_add_device(PEER, "nic=B,wire=nic:A,wire_ring=" RTE_STR(BENCH_RING));

	if (ret == 0)
		ret = add_pfs(conf);
	if (ret == 0 && !conf->bare)
		ret = add_octo(conf, &bench->machine);
	return ret;
}

static int
start_pfs(struct bench_nic *nic, const struct bench *bench)
{
	int ret = 0;

	for (unsigned int i = 0; i < nb_ports(&nic->conf) && ret == 0; i++)
		ret = nic->conf.bare ? app_port_start(bench_nic_name(i), nic->conf.nb_queues,
						      BENCH_RING, bench->pool, &nic->pf[i]) :
				       rte_eth_dev_get_port_by_name(bench_nic_name(i), &nic->pf[i]);
	return ret;
}

static int
find_xstats(struct bench_nic *nic)
{
	int ret = rte_eth_xstats_get_id_by_name(nic->octo, "rx_home_packets", &nic->xstat[0]);

	if (ret == 0)
		ret = rte_eth_xstats_get_id_by_name(nic->octo, "rx_stray_packets", &nic->xstat[1]);
	if (ret != 0)
		fprintf(stderr, "%s: port %u does not count strays\n", app_name, nic->octo);
	return ret;
}

static int
start_ports(struct bench_nic *nic, const struct bench *bench)
{
	int ret = app_port_start(PEER, APP_NB_WORKERS, BENCH_RING, bench->peer_pool, &nic->peer);

	if (ret == 0)
		ret = start_pfs(nic, bench);
	if (ret != 0 || nic->conf.bare)
		return ret;
	ret = app_port_start(OCTO, nic->conf.nb_queues, BENCH_RING, bench->pool, &nic->octo);
	if (ret == 0)
		ret = find_xstats(nic);
	if (ret == 0)
		ret = app_port_await_link(nic->octo, OCTO);
	if (ret == 0)
		ret = app_port_await_link(nic->peer, PEER);
	return ret;
}

int
bench_nic_received(const struct bench_nic *nic, struct bench_received *received)
{
	uint64_t values[RTE_DIM(nic->xstat)] = {0};
	const int ret = app_xstats_by_id(nic->octo, nic->xstat, values, RTE_DIM(values));

	*received = (struct bench_received){.home = values[0], .stray = values[1]};
	return ret;
}

void
bench_nic_leg(const struct bench_nic *nic, unsigned int pf, uint16_t queue, uint16_t *leg_port,
	      uint16_t *leg_queue)
{
	const struct bench_nic_conf *conf = &nic->conf;

	*leg_port = nic->pf[conf->sliced ? 0 : pf];
	*leg_queue = conf->sliced ? queue * conf->nb_pfs + pf : queue;
}

int
bench_nic_steer(const struct bench_nic *nic, uint32_t flow, uint16_t queue)
{
	return bench_rule_steer(nic->octo, flow, queue);
}

uint64_t
bench_nic_xstat(const struct bench_nic *nic, const char *name)
{
	uint64_t value;

	return app_xstat(nic->octo, name, &value) == 0 ? value : 0;
}

uint64_t
bench_nic_fence_timeouts(const struct bench_nic *nic)
{
	return bench_nic_xstat(nic, "fence_timeouts");
}

double
bench_nic_wait_us(const struct bench_nic *nic)
{
	const uint64_t waits = bench_nic_xstat(nic, "fence_waits");

	return waits == 0 ? 0 : bench_nic_xstat(nic, "fence_waited_ns") / 1e3 / (double)waits;
}

/* What is to be done to a device; EAL's list of them is for one thread at a time. */
struct hotplug {
	int (*fn)(const struct bench_nic *nic, unsigned int pf);
	const struct bench_nic *nic;
	unsigned int pf;
	int ret;
	RTE_ATOMIC(bool) done;
};

static void
do_hotplug(void *arg)
{
	struct hotplug *h = arg;

	h->ret = h->fn(h->nic, h->pf);
	rte_atomic_store_explicit(&h->done, true, rte_memory_order_release);
}

/* In the thread where the port brings back PFs by itself. */
static int
hotplug(int (*fn)(const struct bench_nic *nic, unsigned int pf), const struct bench_nic *nic,
	unsigned int pf)
{
	struct hotplug h = {.fn = fn, .nic = nic, .pf = pf};
	const int ret = rte_eal_alarm_set(1, do_hotplug, &h);

	if (ret != 0)
		return ret;
	while (!rte_atomic_load_explicit(&h.done, rte_memory_order_acquire))
		rte_delay_us_sleep(LOOK_US);
	return h.ret;
}

static int
remove_pf(const struct bench_nic *nic, unsigned int pf)
{
	RTE_SET_USED(nic);
	return rte_eal_hotplug_remove("vdev", bench_nic_name(pf));
}

int
bench_nic_unplug(struct bench_nic *nic, unsigned int pf)
{
	const int ret = hotplug(remove_pf, nic, pf);

	if (ret != 0)
		fprintf(stderr, "%s: %s cannot be unplugged: %s\n", app_name, bench_nic_name(pf),
			rte_strerror(-ret));
	return ret;
}

static int
plug_pf(const struct bench_nic *nic, unsigned int pf)
{
	return add_pf(&nic->conf, pf);
}

int
bench_nic_plug(struct bench_nic *nic, unsigned int pf)
{
	int ret = hotplug(plug_pf, nic, pf);

	if (ret == 0)
		ret = rte_eth_dev_get_port_by_name(bench_nic_name(pf), &nic->pf[pf]);
	return ret;
}

int
bench_nic_await(unsigned int pf, bool present)
{
	uint16_t port;

	for (int i = 0; i < MAX_LOOKS; i++) {
		if ((rte_eth_dev_get_port_by_name(bench_nic_name(pf), &port) == 0) == present)
			return 0;
		rte_delay_us_sleep(LOOK_US);
	}
	fprintf(stderr, "%s: %s does not %s\n", app_name, bench_nic_name(pf),
		present ? "come" : "go");
	return -ETIMEDOUT;
}

int
bench_nic_remove(struct bench_nic *nic, unsigned int pf, bool announced)
{
	char text[NAME_LEN];
	int ret;

	RTE_SET_USED(nic);
	snprintf(text, sizeof(text), "%s,%s", bench_nic_name(pf), announced ? "eject" : "surprise");
	ret = rte_pmd_mpsim_fault(text);
	return ret == 0 ? bench_nic_await(pf, false) : ret;
}

int
bench_nic_restore(struct bench_nic *nic, unsigned int pf)
{
	char text[NAME_LEN];
	int ret;

	snprintf(text, sizeof(text), "%s,plug", bench_nic_name(pf));
	ret = rte_pmd_mpsim_fault(text);
	if (ret == 0)
		ret = bench_nic_await(pf, true);
	if (ret == 0)
		ret = rte_eth_dev_get_port_by_name(bench_nic_name(pf), &nic->pf[pf]);
	return ret;
}

int
bench_nic_open(struct bench_nic *nic, const struct bench *bench, const struct bench_nic_conf *conf)
{
	int ret;

	*nic = (struct bench_nic){.conf = *conf};
	ret = add_devices(bench, conf);
	return ret == 0 ? start_ports(nic, bench) : ret;
}

static void
remove_device(const char *name)
{
	uint16_t port;

	if (rte_eth_dev_get_port_by_name(name, &port) != 0)
		return;
	rte_eth_dev_stop(port);
	rte_eal_hotplug_remove("vdev", name);
}

void
bench_nic_close(struct bench_nic *nic)
{
	remove_device(PEER);
	if (!nic->conf.bare)
		remove_device(OCTO);
	for (unsigned int i = 0; i < nic->conf.nb_pfs; i++)
		remove_device(bench_nic_name(i));
}
