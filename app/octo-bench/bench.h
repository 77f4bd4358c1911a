/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_H
#define BENCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "app.h"

/**
 * @file
 * The benchmark: what steering costs and what it achieves. Each case makes its
 * simulated NIC anew, so that nothing is left of the case or the run before.
 */

#define BENCH_MAX_RUNS 101
#define BENCH_MAX_QUEUES 16

/** Configurations of PFs and queues that the partition tier is measured with. */
#define BENCH_NB_PARTITIONS 4

struct bench;

/** One thing that is measured. */
struct bench_case {
	const char *name; /**< on the command line and in the JSON file */

	/** @return 0, or a negative errno after a message. */
	int (*run)(struct bench *bench);
	void (*report)(const struct bench *bench);         /**< lines of the table */
	void (*write)(FILE *f, const struct bench *bench); /**< its JSON value */
};

/** What is measured together: ./octo bench NAME. */
struct bench_subject {
	const char *name;
	const char *title;
	const char *usage;
	const char *case_names; /**< for messages */
	const char *letters;    /**< of the options that it has */
	unsigned int runs;      /**< of which figures are medians; 1: it has no --runs */
	unsigned int quick_runs;
	unsigned int memory; /**< MiB, but in a quick run */
	bool has_processes;  /**< EAL looks for others, and has no hugepages */
	unsigned int nb_cases;
	const struct bench_case *cases;
	int (*plot)(struct bench *bench); /**< records what is drawn, after the cases; or NULL */

	/* of a subject whose cases are not run one by one, or NULL */
	void (*begin)(const struct bench *bench); /**< before there are threads */
	int (*run)(struct bench *bench);
	void (*intro)(const struct bench *bench);
	void (*report)(const struct bench *bench);
	void (*write)(FILE *f, const struct bench *bench);
};

extern const struct bench_subject bench_steering;
extern const struct bench_subject bench_move;
extern const struct bench_subject bench_failover;
extern const struct bench_subject bench_calls;
extern const struct bench_subject bench_overhead;
extern const struct bench_subject bench_nudma;

struct bench_options {
	const struct bench_subject *subject;
	const char *json;    /**< file to write, or NULL */
	const char *plot;    /**< picture to be made, or NULL */
	const char *machine; /**< profile, or NULL: those that figures are of */
	uint64_t runs;       /**< of which the figures are medians */
	uint64_t count;      /**< of changes, 0: as many as each case makes by itself */
	uint64_t pfs;        /**< 0: two, then four */
	uint64_t seed;       /**< of chaos in this process, 0: in others */
	uint32_t cases;      /**< bit mask of the subject's */
	bool quick;          /**< small counts: shows that it runs, measures nothing */
	bool verbose;        /**< show what EAL and the drivers log */
};

struct bench_insert {
	uint32_t flows;
	uint64_t misdirected;  /**< packets to another queue or by another PF, the worst run */
	uint64_t lost;         /**< flows whose packet did not arrive, the worst run */
	double bytes_per_flow; /**< heap that octo adds, its port included */
	double octo_ns_per_insert;
	double rate_octo;          /**< insertions/s through octo */
	double rate_direct;        /**< the same rules straight on the PFs */
	double own_bytes_per_flow; /**< what octo says that its rules take */
};

struct bench_converge {
	uint32_t flows;
	double seconds;        /**< until the stray fraction stays small; negative: it does not */
	double stray_fraction; /**< after that */
	double strays_per_flow;
};

struct bench_zipf {
	uint32_t flows;
	uint32_t entries; /**< of the MPFS */
	double stray_fraction;
	double ratio_to_best; /**< to what the best static choice of so many flows leaves */
};

struct bench_partition {
	uint32_t pfs;
	uint32_t queues;
	uint64_t strays;  /**< the worst run */
	double imbalance; /**< of the queue that is farthest from an equal share */
};

struct bench_learning {
	double throughput_ratio; /**< on to off */
};

struct bench_results {
	struct bench_insert insert;
	struct bench_converge converge;
	struct bench_zipf zipf;
	struct bench_partition partition[BENCH_NB_PARTITIONS];
	struct bench_partition reta[BENCH_NB_PARTITIONS];
	struct bench_learning learning;
};

/** What came of changes under load. */
struct bench_changes {
	const char *how; /**< or NULL: there is one way */
	unsigned int pfs;
	uint64_t count;
	uint64_t lost;
	uint64_t duplicated;
	uint64_t reordered;
	uint64_t foreign;        /**< packets that were damaged or nobody's */
	uint64_t late;           /**< changes that nothing came of for long */
	uint64_t fence_timeouts; /**< as octo counts them */
	uint64_t rehomes;        /**< of all queues, as octo counts them */
	uint64_t strays;         /**< packets that came by another PF than they should, ... */
	uint64_t packets;        /**< ... of so many */
	double p50_us;           /**< from the change to the first packet by the new way */
	double p99_us;
	double blocked_ms; /**< for each change */
	double wait_us;    /**< of packets that a fence kept waiting, in the mean */
	double rate;       /**< packets per second */
	double seconds;    /**< from a change to the last stray, the worst */
};

/** Numbers of PFs that changes are measured with, times ways to make them. */
#define BENCH_NB_SHAPES 4

/** How PFs are lost. */
enum bench_loss {
	BENCH_LOSS_AROUND, /**< without warning; the NIC leads packets around a dead PF */
	BENCH_LOSS_DROP,   /**< without warning; the NIC drops what rules send there */
	BENCH_LOSS_EJECT,  /**< announced: it works until the port has let go of it */
};

/** What came of PFs that were unplugged and plugged again under load. */
struct bench_failovers {
	enum bench_loss loss;
	unsigned int pfs;
	uint32_t flows;
	uint64_t count;
	uint64_t late; /**< times that the port did not notice, or did not go back */
	/* a PF is lost */
	int64_t lost;
	int64_t lost_in_time;        /**< of them, by announced removals that were not cut short */
	uint64_t lost_in_dead_rings; /**< as the NIC counts them, pipelines included */
	uint64_t dropped;            /**< by the NIC's switch, or otherwise */
	uint64_t reordered;
	double control_p50_ms; /**< CPU time until the last rule is flipped */
	double control_p99_ms;
	double wall_p50_ms;
	double wall_p99_ms;
	/* and comes back */
	int64_t failback_lost;
	uint64_t failback_duplicated;
	uint64_t failback_reordered;
	double failback_p50_ms; /**< from being plugged to no more strays */
	double failback_p99_ms;
	uint64_t fence_timeouts;
};

struct bench_chaos {
	uint64_t cycles;
	uint64_t crashes; /**< of the processes that cycles were run in */
	uint64_t lost;
	uint64_t dropped; /**< counted ones */
	uint64_t unaccounted;
	uint64_t calls;
	uint64_t late; /**< times that a PF did not come back */
	uint64_t packets;
	/* at rest */
	uint64_t misplaced;   /**< times that flows had no rule, or did not go home */
	uint64_t open_fences; /**< times that one stayed open */
	uint64_t stale_rules; /**< in the tables of the switch and the PFs */
	uint64_t unlike;      /**< PFs that were not set to what the port was */
	/* at the end */
	uint64_t leaked_buffers;
	uint64_t leaked_bytes; /**< of DPDK's heap */
};

/** 64, 1,000 and 10,000 flows, or the first and the last, on two PFs and on four. */
#define BENCH_NB_FAILOVERS 14

enum bench_failover_case {
	BENCH_PF_LOSS,
	BENCH_PF_LOSS_DROP,
	BENCH_PF_EJECT,
	BENCH_FAILBACK,
	BENCH_CHAOS,
	BENCH_NB_FAILOVER_CASES,
};

struct bench_failover_results {
	unsigned int nb;
	struct bench_failovers of[BENCH_NB_FAILOVERS];
	struct bench_chaos chaos;
};

enum bench_move_case {
	BENCH_REHOME,
	BENCH_MOVE,
	BENCH_TX_SWITCH,
	BENCH_REHOME_10K,
	BENCH_UNPOLLED,
	BENCH_REPARTITION,
	BENCH_REHOME_RETA,
	BENCH_NB_MOVE_CASES,
};

struct bench_move_results {
	unsigned int nb[BENCH_NB_MOVE_CASES];
	struct bench_changes of[BENCH_NB_MOVE_CASES][BENCH_NB_SHAPES];
};

/** What each case is given. */
struct bench {
	struct bench_options options;
	struct app_machine machine;
	struct rte_mempool *pool;      /**< of the NIC under test */
	struct rte_mempool *peer_pool; /**< of the NIC that generates */
	uint32_t measured;             /**< cases */
	struct bench_results results;
	struct bench_move_results move;
	struct bench_failover_results failover;
};

/* bench_options.c */

/** @return 0 to go on, 1 if all is done (help), or -EINVAL after a message. */
int bench_options_read(struct bench_options *options, int argc, char *argv[]);

/* bench_nudma.c */

/** Can this profile be read? 0, or a negative errno after a message. */
int bench_nudma_check(const char *machine);

/** The first in a full run, the second in a quick one. */
static inline uint32_t
bench_count(const struct bench *bench, uint32_t full, uint32_t quick)
{
	return bench->options.quick ? quick : full;
}

/** The same of changes, of which the command line may say how many. */
static inline uint64_t
bench_changes_wanted(const struct bench *bench, uint32_t full, uint32_t quick)
{
	return bench->options.count != 0 ? bench->options.count : bench_count(bench, full, quick);
}

/* The cases of steering */
int bench_insert_run(struct bench *bench);
int bench_converge_run(struct bench *bench);
int bench_zipf_run(struct bench *bench);
int bench_partition_run(struct bench *bench);
int bench_reta_run(struct bench *bench);
int bench_learning_run(struct bench *bench);

/* The cases of move */
int bench_rehome_run(struct bench *bench);
int bench_requeue_run(struct bench *bench);

/** A migration in steps of 50 ms, written next to where the picture is to be. */
int bench_timeline_run(struct bench *bench);
int bench_unpolled_run(struct bench *bench);
int bench_repartition_run(struct bench *bench);
int bench_rehome_reta_run(struct bench *bench);
int bench_rehome_10k_run(struct bench *bench);
int bench_tx_switch_run(struct bench *bench);

/* The cases of failover */
int bench_pf_loss_run(struct bench *bench);
int bench_pf_loss_drop_run(struct bench *bench);
int bench_pf_eject_run(struct bench *bench);
int bench_failback_run(struct bench *bench);
int bench_chaos_run(struct bench *bench);

/* bench_median.c: one figure in many runs */
struct bench_series {
	unsigned int nb;
	double value[BENCH_MAX_RUNS];
};

void bench_series_add(struct bench_series *series, double value);
double bench_series_median(struct bench_series *series);

/** Sorts. */
double bench_median(double values[], unsigned int nb);
double bench_percentile(double values[], uint64_t nb, unsigned int percent);

/** Packets and the time that they took. */
struct bench_span {
	uint64_t packets;
	uint64_t cycles;
};

/** What goes on, until it is known which span it belongs to. */
struct bench_snapshot {
	uint64_t since; /**< TSC, or 0: nothing does yet */
	uint64_t packets;
};

/** Add it to a span, and begin anew. */
void bench_snapshot_end(struct bench_snapshot *snapshot, struct bench_span *span, uint64_t tsc);

/** Packets per second. */
double bench_span_rate(const struct bench_span *span);

/**
 * Effective blocked time of each change: the packets by which fewer came while
 * things changed than do otherwise in as much time, over the rate of the latter.
 */
double bench_blocked_ms(const struct bench_span *changing, const struct bench_span *settled,
			uint64_t nb_changes);

/* bench_heap.c */

/** What is allocated of DPDK's heap, on all sockets. */
uint64_t bench_heap_bytes(void);

/* bench_threads.c: on stderr, how much CPU time each thread gets at the moment */
void bench_threads_print(void);
/** Of the time for which the threads of a process were ready to run, that for which they ran. */
double bench_threads_share(pid_t pid);

/* bench_progress.c: what goes on is told on stderr */
void bench_progress_run(const char *name, unsigned int run, uint64_t runs);

/** Part of a subject begins. */
void bench_progress_stage(const char *name, const char *what);

void bench_progress_shape(const char *name, unsigned int pfs, uint64_t count);

/** On a terminal, say how far this run is, and how long the rest will take. */
void bench_progress_part(uint64_t done, uint64_t all);
void bench_progress_end(void);

/* bench_run.c: ^C ends what is measured, and tells what that was */
void bench_stop_on_interrupt(void);

/** Is that enough? From any thread. */
bool bench_is_stopped(void);

/** As often as the command line says, or until one fails. @return 0, or what that one did. */
int bench_run_often(const struct bench *bench, const char *name, int (*run)(void *arg), void *arg);

/** With 2 PFs, then with 4, or with as many as the command line says; until one fails. */
int bench_run_shapes(struct bench *bench,
		     int (*run)(struct bench *bench, void *arg, unsigned int nb_pfs), void *arg);

/* bench_plot.c */

/** Open FILE.csv, whose name is told, for FILE.png. @return 0 or a negative errno. */
int bench_plot_open(const char *plot, char name[PATH_MAX], FILE **f);

/**
 * Can the file be written, before hours of measuring? It is empty then.
 *
 * @param plot
 *   FILE.png, or NULL.
 * @return
 *   0, or a negative errno after a message.
 */
int bench_plot_check(const char *plot);

/* bench_report.c, bench_json.c */
void bench_report_insert(const struct bench *bench);
void bench_report_converge(const struct bench *bench);
void bench_report_zipf(const struct bench *bench);
void bench_report_partition(const struct bench *bench);
void bench_report_reta(const struct bench *bench);
void bench_report_learning(const struct bench *bench);
void bench_json_insert(FILE *f, const struct bench *bench);
void bench_json_converge(FILE *f, const struct bench *bench);
void bench_json_zipf(FILE *f, const struct bench *bench);
void bench_json_partition(FILE *f, const struct bench *bench);
void bench_json_reta(FILE *f, const struct bench *bench);
void bench_json_learning(FILE *f, const struct bench *bench);
void bench_report_intro(const struct bench *bench);
void bench_report_table(const struct bench *bench);
void bench_json_write(FILE *f, const struct bench *bench);

/** A line of the table; wanted may be empty. */
void bench_line(const char *name, const char *what, double value, int digits, const char *unit,
		const char *wanted, bool met);

#endif /* BENCH_H */
