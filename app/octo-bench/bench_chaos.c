/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * PFs come and go at random under load, while another thread makes control calls.
 * A process runs some cycles; one that crashes is counted by the one that started it.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "bench_pf_loss.h"
#include "octo_flow_build.h"

#define COUNT 1000
#define QUICK_COUNT 4
#define CYCLES_OF_PROCESS 50
#define QUICK_CYCLES 2

#define FLOWS 256
#define STEERED 128 /* by rules that stay; the others' come and go */

/* Between two calls, and between two events at most. */
#define CALL_PAUSE_US 100
#define EVENT_PAUSE_US 20000

/* A process that takes so long for a cycle hangs. */
#define CYCLE_S 30
#define LOOK_MS 20

/* Of what is lost on purpose, nothing comes however long one waits. */
#define MAX_PAUSES 4

/* For the port to have all PFs again. */
#define BACK_S 5

/* How a PF is gone. */
enum state {
	UP,
	WITHOUT_LINK,
	UNPLUGGED,
};

struct chaos {
	struct bench_pf_loss rig;
	unsigned int nb_pfs;
	uint64_t random;
	enum state state[BENCH_MAX_PFS];
	RTE_ATOMIC(bool) stop;
	/* of the thread that calls */
	uint64_t calls;
	uint64_t call_random;
	struct rte_flow *rule[FLOWS];
};

static uint64_t
pick(struct chaos *c, uint64_t nb)
{
	return bench_random_of(c->random++) % nb;
}

static void
toggle_rule(struct chaos *c, uint16_t port, uint64_t r)
{
	const uint32_t flow = STEERED + r % (FLOWS - STEERED);
	struct rte_flow_error error = {0};
	struct octo_flow_rule rule;
	struct octo_tuple tuple;

	if (c->rule[flow] != NULL) {
		if (rte_flow_destroy(port, c->rule[flow], &error) == 0)
			c->rule[flow] = NULL;
		return;
	}
	bench_flow_tuple(flow, &tuple);
	octo_flow_build_queue(&rule, &tuple, 0, (r >> 32) % BENCH_PF_LOSS_QUEUES, false);
	c->rule[flow] = rte_flow_create(port, &rule.attr, rule.pattern, rule.actions, &error);
}

/* What comes of it does not matter here: it may fail, but may not crash. */
static void
call(struct chaos *c, uint16_t port, uint64_t r)
{
	struct rte_ether_addr mac = {.addr_bytes = {2, 0, 0, 0, 0, r % 4}};
	struct rte_eth_stats stats;
	struct rte_eth_dev_info info;
	struct rte_eth_link link;

	switch (r >> 40 & 7) {
	case 0:
		rte_eth_stats_get(port, &stats);
		break;
	case 1:
		if (rte_eth_link_get_nowait(port, &link) != 0 ||
		    rte_eth_dev_info_get(port, &info) != 0)
			return;
		break;
	case 2:
		rte_eth_dev_set_mtu(port, 1400 + r % 100);
		break;
	case 3:
		if (r & 1)
			rte_eth_promiscuous_enable(port);
		else
			rte_eth_promiscuous_disable(port);
		break;
	case 4:
		if (r & 8)
			rte_eth_dev_mac_addr_add(port, &mac, 0);
		else
			rte_eth_dev_mac_addr_remove(port, &mac);
		break;
	default:
		toggle_rule(c, port, r);
	}
}

static void *
call_on_and_on(void *arg)
{
	struct chaos *c = arg;

	while (!rte_atomic_load_explicit(&c->stop, rte_memory_order_relaxed)) {
		call(c, c->rig.nic.octo, bench_random_of(c->call_random++));
		c->calls++;
		rte_delay_us_sleep(CALL_PAUSE_US);
	}
	return NULL;
}

static unsigned int
count_up(const struct chaos *c)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->nb_pfs; i++)
		n += c->state[i] == UP;
	return n;
}

/* One of those that are up, or of those that are not; there is one. */
static unsigned int
pick_pf(struct chaos *c, bool up)
{
	unsigned int i;

	do
		i = pick(c, c->nb_pfs);
	while ((c->state[i] == UP) != up);
	return i;
}

static int
kill_pf(struct chaos *c, unsigned int pf)
{
	if (pick(c, 3) == 0) {
		c->state[pf] = WITHOUT_LINK;
		return rte_eth_dev_set_link_down(c->rig.nic.pf[pf]);
	}
	c->state[pf] = UNPLUGGED;
	return bench_nic_unplug(&c->rig.nic, pf);
}

static int
revive_pf(struct chaos *c, unsigned int pf)
{
	const enum state was = c->state[pf];

	c->state[pf] = UP;
	return was == UNPLUGGED ? bench_nic_plug(&c->rig.nic, pf) :
				  rte_eth_dev_set_link_up(c->rig.nic.pf[pf]);
}

/* A PF is lost, and one comes back: at times another one, that was lost before. */
static int
cycle(struct chaos *c)
{
	int ret = 0;

	if (count_up(c) > 1)
		ret = kill_pf(c, pick_pf(c, true));
	rte_delay_us_sleep(pick(c, EVENT_PAUSE_US));
	if (count_up(c) > 1 && pick(c, 4) == 0)
		return ret;
	if (ret == 0)
		ret = revive_pf(c, pick_pf(c, false));
	rte_delay_us_sleep(pick(c, EVENT_PAUSE_US));
	return ret;
}

/* Each PF that was lost came back to the port. */
static bool
all_are_back(const struct chaos *c)
{
	const uint64_t end = rte_rdtsc() + BACK_S * rte_get_tsc_hz();
	bool all;

	do {
		rte_delay_us_sleep(LOOK_MS * 1000);
		all = bench_nic_xstat(&c->rig.nic, "failovers") ==
		      bench_nic_xstat(&c->rig.nic, "failbacks");
	} while (!all && rte_rdtsc() < end);
	return all;
}

/* All that are gone come back, and the port has them again. */
static int
revive_all(struct chaos *c, struct bench_chaos *r)
{
	int ret = 0;

	for (unsigned int i = 0; i < c->nb_pfs && ret == 0; i++)
		if (c->state[i] != UP)
			ret = revive_pf(c, i);
	r->late += !all_are_back(c);
	return ret;
}

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* All that was sent came, or is counted as lost by the NIC. */
static int
settle_accounts(struct chaos *c, struct bench_chaos *r)
{
	struct octosim_account a;
	uint64_t came;
	int ret;

	/* on a busy machine a worker may not run for long */
	for (int i = 0; i < MAX_PAUSES; i++)
		if (bench_stream_pause(&c->rig.stream) <= 0)
			break;
	ret = octosim_account_get("A", &a);
	came = bench_order_delivered(&c->rig.stream.order) + c->rig.stream.order.duplicated;
	r->packets = bench_stream_sent(&c->rig.stream) - c->rig.stream.nb_unsent;
	r->lost = a.lost + a.lost_on_wire;
	r->dropped = a.dropped;
	r->unaccounted = distance(r->packets, came + r->lost + r->dropped) +
			 distance(a.delivered, came) + (uint64_t)llabs(a.unaccounted) +
			 c->rig.stream.order.duplicated;
	return ret;
}

static int
run_cycles(struct chaos *c, struct bench_chaos *r, uint64_t nb)
{
	pthread_t caller;
	int ret = bench_stream_start(&c->rig.stream);

	if (ret == 0)
		ret = bench_stream_warm_up(&c->rig.stream);
	if (ret == 0)
		ret = -pthread_create(&caller, NULL, call_on_and_on, c);
	if (ret != 0)
		return ret;
	for (r->cycles = 0; r->cycles < nb && ret == 0; r->cycles++) {
		ret = cycle(c);
		bench_stream_give_up(&c->rig.stream);
	}
	rte_atomic_store_explicit(&c->stop, true, rte_memory_order_relaxed);
	pthread_join(caller, NULL);
	r->calls = c->calls;
	return ret == 0 ? revive_all(c, r) : ret;
}

static int
run_here(struct bench *bench, struct bench_chaos *r, uint64_t nb)
{
	static struct chaos c;
	int ret;

	c.random = bench->options.seed << 32;
	c.call_random = ~c.random;
	c.nb_pfs = bench->options.pfs != 0 ? bench->options.pfs : 2 + bench->options.seed % 3;
	ret = bench_pf_loss_open(&c.rig, bench, BENCH_LOSS_DROP, c.nb_pfs, FLOWS, STEERED);
	if (ret == 0)
		ret = run_cycles(&c, r, nb);
	if (ret == 0)
		ret = settle_accounts(&c, r);
	bench_stream_stop(&c.rig.stream);
	bench_pf_loss_close(&c.rig);
	return ret;
}

/* What is started from here may use the CPUs that EAL's lcores have. */
static void
run_on(const struct app_machine *machine, unsigned int nb)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (unsigned int i = 0; i < nb; i++)
		CPU_SET(machine->cpu[i], &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* The process that runs the cycles of a seed; its figures come by the pipe. */
static int
spawn(pid_t *pid, uint64_t seed, uint64_t nb, int out)
{
	char seed_text[24], nb_text[24], json[32];
	static char words[][12] = {"octo-bench", "failover", "--quick", "--case",
				   "chaos",      "--seed",   "--count", "--json"};
	char *const argv[] = {words[0],  words[1], words[2], words[3], words[4], words[5],
			      seed_text, words[6], nb_text,  words[7], json,     NULL};
	posix_spawn_file_actions_t actions;
	int ret;

	snprintf(seed_text, sizeof(seed_text), "%" PRIu64, seed);
	snprintf(nb_text, sizeof(nb_text), "%" PRIu64, nb);
	snprintf(json, sizeof(json), "/proc/self/fd/%d", out);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	ret = posix_spawn(pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

/* Returns whether it ended well, and in time. */
static bool
ended_well(pid_t pid, uint64_t seconds)
{
	const uint64_t end = rte_rdtsc() + seconds * rte_get_tsc_hz();
	int status = 0;
	pid_t ended;

	do {
		rte_delay_us_sleep(LOOK_MS * 1000);
		ended = waitpid(pid, &status, WNOHANG);
	} while (ended == 0 && rte_rdtsc() < end);
	if (ended == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return false;
	}
	return ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static uint64_t
figure(const char *json, const char *name)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\": ", name);
	at = strstr(json, key);
	return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}

static void
add_figures(struct bench_chaos *r, const char *json)
{
	r->cycles += figure(json, "cycles");
	r->unaccounted += figure(json, "unaccounted");
	r->packets += figure(json, "packets");
	r->lost += figure(json, "lost");
	r->dropped += figure(json, "dropped");
	r->calls += figure(json, "calls");
	r->late += figure(json, "late");
}

static int
run_process(struct bench_chaos *r, uint64_t seed, uint64_t nb)
{
	char json[1024] = "";
	int fd[2];
	pid_t pid;
	int ret;

	if (pipe(fd) != 0)
		return -errno;
	ret = spawn(&pid, seed, nb, fd[1]);
	close(fd[1]);
	if (ret == 0 && !ended_well(pid, CYCLE_S * (nb + 2))) {
		fprintf(stderr, "%s: chaos: the process of seed %" PRIu64 " did not end well\n",
			app_name, seed);
		r->crashes++;
		r->cycles += nb;
	} else if (ret == 0 && read(fd[0], json, sizeof(json) - 1) > 0) {
		add_figures(r, json);
	}
	close(fd[0]);
	return ret;
}

int
bench_chaos_run(struct bench *bench)
{
	struct bench_chaos *r = &bench->failover.chaos;
	const uint64_t count = bench_changes_wanted(bench, COUNT, QUICK_COUNT);
	const uint64_t each = bench_count(bench, CYCLES_OF_PROCESS, QUICK_CYCLES);
	int ret = 0;

	if (bench->options.seed != 0)
		return run_here(bench, r, count);
	fprintf(stderr, "==> chaos: %" PRIu64 " cycles\n", count);
	for (uint64_t done = 0; done < count && ret == 0; done += each) {
		run_on(&bench->machine, APP_NB_WORKERS);
		ret = run_process(r, 1 + done / each, RTE_MIN(each, count - done));
		run_on(&bench->machine, 1);
		bench_progress_part(done, count);
	}
	bench_progress_end();
	return ret;
}
