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

#include "bench_chaos.h"

#define COUNT 1000
#define QUICK_COUNT 8
#define CYCLES_OF_PROCESS 50
#define QUICK_CYCLES 4

/* Cycles between two looks at everything. */
#define CYCLES_OF_LOOK 5

/* A process that takes so long for a cycle hangs; the time without a CPU does not count. */
#define CYCLE_S 30
#define LOOK_MS 20

/* What a seed chooses the port to be like. */
static const struct {
	const char *args;
	bool counts_rules; /**< there are rules of flows only */
} ports[] = {
	{",learn=off", true},
	{",learn=on", true},
	{",learn=off,tx_pf=mbuf", true},
	{",learn=off,tier=partition", false},
};

static int
open_stream(struct chaos *c)
{
	const struct bench_stream_conf conf = {
		.bench = c->bench,
		.nic = &c->nic,
		.flows = &c->flows,
		.turn = chaos_turn,
		.take = chaos_forward,
		.arg = c,
	};
	int ret = bench_flows_make(&c->flows, CHAOS_FLOWS, c->nic.peer, c->nic.octo,
				   bench_flow_write_plain);

	if (ret == 0)
		ret = bench_stream_open(&c->stream, &conf);
	if (ret == 0)
		ret = bench_order_open(&c->back, CHAOS_FLOWS, NULL, NULL);
	/* what is forwarded has the addresses that it came with */
	if (ret == 0)
		ret = rte_eth_promiscuous_enable(c->nic.peer);
	for (uint16_t q = 0; q < CHAOS_QUEUES && ret == 0; q++)
		bench_stream_add_lane(&c->stream, c->nic.octo, q, q % APP_NB_WORKERS);
	bench_stream_set_out(&c->stream, c->nic.peer, 0, BENCH_ANYBODY);
	return ret;
}

static unsigned int
pfs_of(const struct bench *bench, uint64_t seed)
{
	return bench->options.pfs != 0 ? bench->options.pfs : 2 + seed % (BENCH_MAX_PFS - 1);
}

static int
open_all(struct chaos *c, struct bench *bench)
{
	const uint64_t seed = bench->options.seed;
	const struct bench_nic_conf nic = {
		.nb_pfs = pfs_of(bench, seed),
		.nb_queues = CHAOS_QUEUES,
		.mpfs_entries = 2 * CHAOS_FLOWS,
		.arfs_entries = 2 * CHAOS_FLOWS,
		.octo_args = ports[seed / 3 % RTE_DIM(ports)].args,
		.pf_args = bench_nic_latencies,
		.nic_args = seed / 12 % 2 ? ",lost_pf=default" : ",lost_pf=drop",
	};

	memset(c, 0, sizeof(*c));
	c->bench = bench;
	c->nb_pfs = nic.nb_pfs;
	c->counts_rules = ports[seed / 3 % RTE_DIM(ports)].counts_rules;
	c->random = seed << 32;
	c->call_random = ~c->random;
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++)
		c->worker[i].random = c->random + (UINT64_C(1) << 31) * (i + 1);
	for (uint32_t flow = 0; flow < CHAOS_FLOWS; flow++)
		c->rule[flow].queue = flow / 2 % CHAOS_QUEUES;
	if (bench_nic_open(&c->nic, bench, &nic) != 0 || chaos_watch_pfs(c) != 0)
		return -EIO;
	return open_stream(c);
}

static void
close_all(struct chaos *c)
{
	bench_stream_close(&c->stream);
	bench_order_close(&c->back);
	bench_flows_free(&c->flows);
	chaos_unwatch_pfs(c);
	bench_nic_close(&c->nic);
}

/* Of states those of the last cycle: what could not be done is among them. */
static void
print_end(const struct chaos *c, uint64_t cycle, int ret)
{
	char states[BENCH_MAX_PFS + 1];

	fprintf(stderr, "%s: chaos: cycle %" PRIu64 " cannot be done (PFs %s): %s\n", app_name,
		cycle, chaos_states(c, states), rte_strerror(-ret));
}

static int
run_cycles(struct chaos *c, struct bench_chaos *r, uint64_t nb)
{
	int ret = 0;

	for (r->cycles = 0; r->cycles < nb && ret == 0 && !bench_is_stopped(); r->cycles++) {
		ret = chaos_cycle(c);
		bench_stream_give_up(&c->stream);
		if (ret != 0)
			print_end(c, r->cycles, ret);
		if (ret == 0 && ((r->cycles + 1) % CYCLES_OF_LOOK == 0 || r->cycles + 1 == nb))
			ret = chaos_check(c, r);
	}
	return ret;
}

/* Once all is well, the first time. */
static int
run_with_caller(struct chaos *c, struct bench_chaos *r, uint64_t nb)
{
	pthread_t caller;
	int ret;

	chaos_set(&c->pause, true);
	ret = -pthread_create(&caller, NULL, chaos_call_on_and_on, c);
	if (ret != 0)
		return ret;
	ret = chaos_check(c, r);
	if (ret == 0)
		ret = run_cycles(c, r, nb);
	chaos_set(&c->stop, true);
	pthread_join(caller, NULL);
	r->calls = c->calls;
	return ret;
}

static int
run_once(struct chaos *c, struct bench *bench, struct bench_chaos *r, uint64_t nb)
{
	int ret = open_all(c, bench);

	if (ret == 0)
		ret = bench_stream_start(&c->stream);
	if (ret == 0)
		ret = bench_stream_warm_up(&c->stream);
	if (ret == 0)
		ret = run_with_caller(c, r, nb);
	bench_stream_stop(&c->stream);
	close_all(c);
	return ret;
}

static void
print_left(const struct bench_chaos *r)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t port;

	if (r->leaked_bytes > 0)
		fprintf(stderr, "%s: chaos: %" PRIu64 " bytes are not freed\n", app_name,
			r->leaked_bytes);
	for (port = 0; port < RTE_MAX_ETHPORTS; port++)
		if (rte_eth_dev_is_valid_port(port) &&
		    rte_eth_dev_get_name_by_port(port, name) == 0)
			fprintf(stderr, "%s: chaos: %s is left over\n", app_name, name);
}

/* What the first port leaves behind is there once for all; what chaos leaves is lost. */
static int
run_here(struct bench *bench, struct bench_chaos *r, uint64_t nb)
{
	static struct chaos c;
	uint64_t before;
	int ret = run_once(&c, bench, r, 0);

	if (ret != 0)
		return ret;
	before = bench_heap_bytes();
	*r = (struct bench_chaos){.cycles = 0};
	ret = run_once(&c, bench, r, nb);
	r->leaked_buffers = rte_mempool_in_use_count(bench->pool) +
			    rte_mempool_in_use_count(bench->peer_pool);
	r->leaked_bytes = bench_heap_bytes() - RTE_MIN(before, bench_heap_bytes());
	print_left(r);
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
spawn(pid_t *pid, uint64_t seed, unsigned int pfs, uint64_t nb, int out)
{
	char options[4][48];
	static char words[][12] = {"octo-bench", "failover", "--quick", "--case", "chaos"};
	char *const argv[] = {words[0],   words[1],   words[2],   words[3],   words[4],
			      options[0], options[1], options[2], options[3], NULL};
	posix_spawn_file_actions_t actions;
	int ret;

	snprintf(options[0], sizeof(options[0]), "--seed=%" PRIu64, seed);
	snprintf(options[1], sizeof(options[1]), "--count=%" PRIu64, nb);
	snprintf(options[2], sizeof(options[2]), "--pfs=%u", pfs);
	snprintf(options[3], sizeof(options[3]), "--json=/proc/self/fd/%d", out);
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
	const uint64_t start = rte_rdtsc();
	const double most = (double)seconds * (double)rte_get_tsc_hz();
	int status = 0;
	pid_t ended;

	do {
		rte_delay_us_sleep(LOOK_MS * 1000);
		ended = waitpid(pid, &status, WNOHANG);
	} while (ended == 0 && (double)(rte_rdtsc() - start) * bench_threads_share(pid) < most);
	if (ended == 0) {
		/* not SIGKILL: its core file tells what it is at */
		kill(pid, SIGABRT);
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

/* Returns whether they are as they should be. */
static bool
add_figures(struct bench_chaos *r, const char *json)
{
	static const char *const bad[] = {"unaccounted",    "late",        "misplaced",
					  "open_fences",    "stale_rules", "unlike",
					  "leaked_buffers", "leaked_bytes"};
	bool good = true;

	r->cycles += figure(json, "cycles");
	r->unaccounted += figure(json, "unaccounted");
	r->misplaced += figure(json, "misplaced");
	r->open_fences += figure(json, "open_fences");
	r->stale_rules += figure(json, "stale_rules");
	r->unlike += figure(json, "unlike");
	r->leaked_buffers += figure(json, "leaked_buffers");
	r->leaked_bytes += figure(json, "leaked_bytes");
	r->packets += figure(json, "packets");
	r->lost += figure(json, "lost");
	r->dropped += figure(json, "dropped");
	r->calls += figure(json, "calls");
	r->late += figure(json, "late");
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		good &= figure(json, bad[i]) == 0;
	return good;
}

static int
run_process(const struct bench *bench, struct bench_chaos *r, uint64_t seed, uint64_t nb)
{
	const unsigned int pfs = pfs_of(bench, seed);
	char json[1024] = "";
	bool good = true;
	int fd[2];
	pid_t pid;
	int ret;

	if (pipe(fd) != 0)
		return -errno;
	ret = spawn(&pid, seed, pfs, nb, fd[1]);
	close(fd[1]);
	if (ret == 0 && !ended_well(pid, CYCLE_S * (nb + 2))) {
		/* in the same process group: ^C ends it as well, and that is no crash */
		good = bench_is_stopped();
		r->crashes += !good;
		r->cycles += good ? 0 : nb;
	} else if (ret == 0 && read(fd[0], json, sizeof(json) - 1) > 0) {
		good = add_figures(r, json);
	}
	close(fd[0]);
	if (!good)
		fprintf(stderr,
			"%s: chaos: it went wrong with --seed %" PRIu64 " --pfs %u --count %" PRIu64
			"\n",
			app_name, seed, pfs, nb);
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
	for (uint64_t done = 0; done < count && ret == 0 && !bench_is_stopped(); done += each) {
		run_on(&bench->machine, APP_NB_WORKERS);
		ret = run_process(bench, r, 1 + done / each, RTE_MIN(each, count - done));
		run_on(&bench->machine, 1);
		bench_progress_part(done, count);
	}
	bench_progress_end();
	return ret;
}
