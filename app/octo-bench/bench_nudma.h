/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_NUDMA_H
#define BENCH_NUDMA_H

#include "bench.h"
#include "nudma_model.h"

/**
 * @file
 * What published figures of nonuniform DMA come to when the PMDs run over mpsim, and its DMA
 * is charged to a model of the machine (lib/nudma). All times are virtual. An *experiment* is
 * traffic under a load; it is done in each *configuration* of the port, in one thread that plays
 * on socket 1. doc/guides/nudma.rst has the equations.
 */

/** The socket of the application, and the other one, whose PF is remote. */
#define NUDMA_APP 1
#define NUDMA_FAR 0

#define NUDMA_NB_PFS 2
#define NUDMA_NB_FLOWS 32

enum nudma_config {
	NUDMA_LOCAL,   /**< the PF on the application's socket */
	NUDMA_REMOTE,  /**< the other one */
	NUDMA_BONDING, /**< net_bonding over both, half of the flows by each */
	NUDMA_OCTO,    /**< net_octo over both */
	NUDMA_NB_CONFIGS,
};

extern const char *const nudma_configs[NUDMA_NB_CONFIGS];

enum nudma_traffic {
	NUDMA_RX,     /**< full frames are received, and read */
	NUDMA_TX,     /**< frames are sent; what is in them is in the cache */
	NUDMA_ANSWER, /**< messages of some frames are received and answered by as many */
};

/** Steps from an idle machine to one whose other cores all run STREAM. */
#define NUDMA_NB_LOADS 14

/** And what Dell has done: five instances of STREAM. */
#define NUDMA_FIVE NUDMA_NB_LOADS

/** Sizes of messages that are sent and answered. */
#define NUDMA_NB_SIZES 6

enum nudma_experiment {
	NUDMA_X_RX,                                          /**< under each load, and five */
	NUDMA_X_ECHO = NUDMA_X_RX + NUDMA_NB_LOADS + 1,      /**< of 64 bytes, the same */
	NUDMA_X_SIZE = NUDMA_X_ECHO + NUDMA_NB_LOADS + 1,    /**< of each size */
	NUDMA_X_SIZE_DRAM = NUDMA_X_SIZE + NUDMA_NB_SIZES,   /**< the same, DDIO is off */
	NUDMA_X_PKTGEN = NUDMA_X_SIZE_DRAM + NUDMA_NB_SIZES, /**< small packets are sent */
	NUDMA_X_PKTGEN_RINGS,                                /**< rings are on the PF's socket */
	NUDMA_X_TSO,                                         /**< segments of 64 KiB are sent */
	NUDMA_NB_EXPERIMENTS,
};

/** Bytes of a full frame, without what only the wire has. */
#define NUDMA_FRAME 1514

/** Bytes of TCP in such a frame, with time stamps. */
#define NUDMA_MSS 1448

/** What is on the wire between frames: preamble, checksum, gap. */
#define NUDMA_GAP 24

#define NUDMA_SEGMENT 65536

extern const uint32_t nudma_sizes[NUDMA_NB_SIZES];

/** Frames that a message of this many bytes takes. */
static inline uint32_t
nudma_frames_of(uint32_t bytes)
{
	return (bytes + NUDMA_MSS - 1) / NUDMA_MSS;
}

/** What came of an experiment. */
struct nudma_tally {
	uint64_t packets; /**< received, or sent if nothing is received */
	uint64_t bytes;
	uint64_t messages;
	struct nudma_account device; /**< by the PFs, and by the CPU for their completions */
	struct nudma_account app;    /**< by the CPU for what it did with packets */
};

/** A migration from one socket to the other. */
struct nudma_migration {
	uint64_t packets;
	uint64_t lost;
	uint64_t reordered;
	uint64_t by_pf[2][NUDMA_NB_PFS]; /**< [after] and at rest, by which PF they came */
};

/** All that was done on one machine. */
struct nudma_results {
	struct nudma_machine machine;
	unsigned int pairs[NUDMA_NB_LOADS + 1]; /**< of STREAM */
	struct nudma_load load[NUDMA_NB_LOADS + 1];
	struct nudma_tally of[NUDMA_NB_CONFIGS][NUDMA_NB_EXPERIMENTS];
	struct nudma_migration migration;
};

/* bench_nudma_port.c: the port in a configuration, and the generator at the other end */
struct nudma_port {
	enum nudma_config config;
	uint16_t peer;
	uint16_t pf[NUDMA_NB_PFS]; /**< those that there are; one may be the port itself */
	uint16_t port;             /**< the application's */
	const struct nudma_model *model;
	int place_offset;
};

/** @return 0, or a negative errno after a message. */
int nudma_port_open(struct nudma_port *p, const struct bench *bench, enum nudma_config config,
		    const char *profile);

/** Remove whatever nudma_port_open() made, also after it failed. */
void nudma_port_close(struct nudma_port *p);

/** Sum of what its PFs were charged, and by which PF packets came. */
int nudma_port_account(const struct nudma_port *p, struct nudma_account *sum,
		       uint64_t packets[NUDMA_NB_PFS]);

/* bench_nudma_run.c: by the lcore on socket 1 */

/** Wait until every flow comes the way that it will come by. */
int nudma_settle(const struct nudma_port *p, const struct bench *bench);

/** @return 0, or -EIO if packets were lost. */
int nudma_experiment(const struct nudma_port *p, const struct bench *bench, enum nudma_experiment x,
		     struct nudma_results *results);

/** How experiments differ. */
struct nudma_plan {
	enum nudma_traffic traffic;
	uint32_t bytes;  /**< of a message, or of a frame */
	uint32_t frames; /**< of a message */
	unsigned int load;
	bool no_ddio;
	bool rings_on_pf;
	uint32_t tx_frames; /**< per completion */
};

struct nudma_plan nudma_plan_of(enum nudma_experiment x);

/* bench_nudma_migrate.c */
int nudma_migrate(const struct nudma_port *p, const struct bench *bench,
		  struct nudma_migration *migration);

/* bench_nudma_work.c: from charges to throughput and latency; pure functions */

/** Gb/s of one core that receives TCP, by full frames. */
double nudma_rx_gbps(const struct nudma_results *r, enum nudma_config config, unsigned int load);

/** CPU time per frame of the same, in ns. */
double nudma_rx_ns(const struct nudma_results *r, enum nudma_config config, unsigned int load);

/** Bytes in and out of DRAM per byte that is received, or sent. */
double nudma_dram_per_byte(const struct nudma_results *r, enum nudma_config config,
			   enum nudma_experiment x);

double
nudma_pktgen_mpps(const struct nudma_results *r, enum nudma_config config, enum nudma_experiment x);
double nudma_tso_gbps(const struct nudma_results *r, enum nudma_config config);

/**
 * Round trip of a message of so many bytes, in us.
 *
 * @param ends
 *   Of the two, how many are in this configuration; the other one is local.
 */
double nudma_rtt_us(const struct nudma_results *r, enum nudma_config config,
		    enum nudma_experiment x, unsigned int ends);

/** Transactions per second and core of a key-value store; sets: part of them that are SETs. */
double nudma_store_rate(const struct nudma_results *r, enum nudma_config config, double sets);

/** Gb/s that the lanes of one PF let in, as full frames. */
double nudma_pf_gbps(const struct nudma_results *r);

/** Part of the link that receiving at the rate of the wire keeps busy, the busier direction. */
double nudma_link_use(const struct nudma_results *r, enum nudma_config config);

/** What PageRank's threads share the machine with. */
enum nudma_neighbour {
	NUDMA_NETPERF,
	NUDMA_MEMCACHED,
};

/** Its run time next to it, over what it is without any. */
double nudma_pagerank_time(const struct nudma_results *r, enum nudma_config config,
			   enum nudma_neighbour neighbour);

/* bench_nudma_rows.c */

/** What the comparison of a published figure with the model is worth. */
enum nudma_role {
	NUDMA_CALIBRATED,      /**< a constant was chosen by it */
	NUDMA_PREDICTED,       /**< all that it depends on was published */
	NUDMA_NOT_COMPARABLE,  /**< not all of that was: it is shown, and not judged */
	NUDMA_ANOTHER_MACHINE, /**< it was published of another machine: the same */
	NUDMA_NB_ROLES,
};

extern const char *const nudma_roles[NUDMA_NB_ROLES];

/** A published figure, and what it comes to here. */
struct nudma_row {
	const char *id;     /**< of the list of figures that the project was started with */
	const char *source; /**< paper and figure */
	const char *what;
	const char *unit;
	const char *machine; /**< that it was measured on, as a profile */
	double low;          /**< published; alike if it is one value */
	double high;
	bool calibrated; /**< a constant was chosen by it */
	const char *why; /**< not to be modelled: what was not published; or NULL */
	/** Of each configuration under the load that counts, and what is to be compared. */
	void (*model)(const struct nudma_results *r, struct nudma_row *row);
	/* what it fills in */
	double modelled;
	double least; /**< over the loads or sizes of the figure */
	double most;
	bool has_configs;
	double of[NUDMA_NB_CONFIGS];
};

#define NUDMA_MAX_ROWS 32

extern struct nudma_row nudma_rows[NUDMA_MAX_ROWS];
unsigned int nudma_nb_rows(void);

/** Is it in the published range, give or take a tenth? */
bool nudma_row_fits(const struct nudma_row *row);

enum nudma_role nudma_row_role(const struct nudma_row *row, const struct bench *bench);

/** Is it said whether a row of that role fits? */
static inline bool
nudma_role_is_judged(enum nudma_role role)
{
	return role == NUDMA_CALIBRATED || role == NUDMA_PREDICTED;
}

/* bench_nudma.c */
const struct nudma_results *
nudma_results_for(const struct bench *bench, const struct nudma_row *row);
const struct nudma_results *nudma_results_first(void);

/* bench_nudma_report.c, bench_nudma_json.c */
void nudma_report_intro(const struct bench *bench);
void nudma_report(const struct bench *bench);
void nudma_write(FILE *f, const struct bench *bench);
int nudma_plot(struct bench *bench);

#endif /* BENCH_NUDMA_H */
