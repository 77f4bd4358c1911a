/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

enum bench_case {
	BENCH_INSERT,
	BENCH_CONVERGE,
	BENCH_ZIPF,
	BENCH_PARTITION,
	BENCH_LEARNING,
	BENCH_NB_CASES,
};

struct bench_options {
	const char *json; /**< file to write, or NULL */
	uint64_t runs;    /**< of which the figures are medians */
	uint32_t cases;   /**< bit mask of enum bench_case */
	bool quick;       /**< small counts: shows that it runs, measures nothing */
	bool verbose;     /**< show what EAL and the drivers log */
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
	uint32_t cases; /**< that were measured */
	struct bench_insert insert;
	struct bench_converge converge;
	struct bench_zipf zipf;
	struct bench_partition partition[BENCH_NB_PARTITIONS];
	struct bench_learning learning;
};

/** What each case is given. */
struct bench {
	struct bench_options options;
	struct app_machine machine;
	struct rte_mempool *pool;      /**< of the NIC under test */
	struct rte_mempool *peer_pool; /**< of the NIC that generates */
	struct bench_results results;
};

/* bench_options.c */

/** @return 0 to go on, 1 if all is done (help), or -EINVAL after a message. */
int bench_options_read(struct bench_options *options, int argc, char *argv[]);
const char *bench_case_name(enum bench_case which);

/** The first in a full run, the second in a quick one. */
static inline uint32_t
bench_count(const struct bench *bench, uint32_t full, uint32_t quick)
{
	return bench->options.quick ? quick : full;
}

/* The cases: 0 or a negative errno after a message. */
int bench_insert_run(struct bench *bench);
int bench_converge_run(struct bench *bench);
int bench_zipf_run(struct bench *bench);
int bench_partition_run(struct bench *bench);
int bench_learning_run(struct bench *bench);

/* bench_median.c: one figure in many runs */
struct bench_series {
	unsigned int nb;
	double value[BENCH_MAX_RUNS];
};

void bench_series_add(struct bench_series *series, double value);
double bench_series_median(struct bench_series *series);

/** Sorts. */
double bench_median(double values[], unsigned int nb);

/* bench_progress.c: what goes on is told on stderr */
void bench_progress_run(enum bench_case which, unsigned int run, uint64_t runs);

/** On a terminal, say how far this run is. */
void bench_progress_part(uint64_t done, uint64_t all);
void bench_progress_end(void);

/* bench_report.c, bench_json.c */
void bench_report_intro(const struct bench *bench);
void bench_report_table(const struct bench *bench);
void bench_json_write(FILE *f, const struct bench *bench);

#endif /* BENCH_H */
