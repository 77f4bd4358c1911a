/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_OVERHEAD_H
#define BENCH_OVERHEAD_H

#include <rte_ethdev.h>

#include "bench.h"

/**
 * @file
 * What the octo layer costs over a bare PF, next to DPDK's other ports that are made of
 * ports. A *contender* is one way to use one PF or two: all contenders of a shape live in
 * this process at the same time, each on PFs of its own, and take turns.
 */

#define OVERHEAD_MAX_PFS 2

/**
 * Bare PFs and slices, octo with one PF more, without and by slices, failsafe, bonding in its
 * seven modes.
 */
#define OVERHEAD_MAX_CONTENDERS 13

/** The bare PF is the first: what others are compared with. */
#define OVERHEAD_BARE 0

/** The octo port over the PFs of the shape is the second. */
#define OVERHEAD_OCTO 1

enum overhead_pf {
	OVERHEAD_NULL,
	OVERHEAD_RING,
	OVERHEAD_SIM,
	OVERHEAD_PACKET,
	OVERHEAD_XDP,
	OVERHEAD_NB_PF,
};

enum overhead_work {
	OVERHEAD_RX,
	OVERHEAD_TX,
	OVERHEAD_IO,
	OVERHEAD_MACSWAP,
	OVERHEAD_TOUCH,
	OVERHEAD_SOURCE, /**< in OVERHEAD_BY_MAC only */
	OVERHEAD_NB_WORK,
};

/** PFs, and by which of them packets come. */
enum overhead_shape {
	OVERHEAD_ONE,    /**< one PF */
	OVERHEAD_HOME,   /**< two; the second has nothing, but may be polled for it */
	OVERHEAD_STRAYS, /**< two, half of the packets by each */
	OVERHEAD_BY_MAC, /**< two with switches of their own; all packets by the home PF */
	OVERHEAD_NB_SHAPE,
};

/** Of all frames and simulated NICs, so that swapping addresses changes nothing. */
#define OVERHEAD_MAC "02:00:00:00:00:01"

/** Of PF i in OVERHEAD_BY_MAC. */
#define OVERHEAD_MAC_OF "02:00:00:00:00:%02x"

/* The shortest on a wire, but its checksum. */
#define OVERHEAD_FRAME_LEN 60

/** Of the name of a network interface. */
#define OVERHEAD_VETH_LEN 16

#define OVERHEAD_NB_BURST 4
#define OVERHEAD_MAX_BURST 64

extern const uint16_t overhead_bursts[OVERHEAD_NB_BURST];
extern const char *const overhead_works[OVERHEAD_NB_WORK];
extern const char *const overhead_pfs[OVERHEAD_NB_PF];

struct overhead_contender {
	const char *name;                 /**< in the JSON file */
	char upper[RTE_DEV_NAME_MAX_LEN]; /**< device above the PFs; empty: none */
	bool sliced;                      /**< the PFs are slices of one port, a queue each */
	bool copies;                      /**< every second packet is a copy, to be dropped */
	bool rewrites;                    /**< the source address of what it sends */
	unsigned int home;                /**< in OVERHEAD_BY_MAC: PF near the lcore */
	unsigned int nb_pfs;              /**< ports of PFs */
	char pf_name[OVERHEAD_MAX_PFS][RTE_DEV_NAME_MAX_LEN];
	uint16_t pf[OVERHEAD_MAX_PFS]; /**< ports */
	uint16_t port[2];  /**< of the application, polled in turn; may be twice the same */
	uint16_t queue[2]; /**< of these ports */
	char left_out[96]; /**< why nothing is measured; empty: it is */
	bool wrong_port;   /**< mbuf->port is not the port that was polled */
	unsigned int index[OVERHEAD_MAX_PFS]; /**< network interfaces of the generator */
};

/** All contenders over one kind of PF in one shape. */
struct overhead_stage {
	enum overhead_pf kind;
	enum overhead_shape shape;
	const struct bench *bench;
	unsigned int number; /**< of the stage, in names: not every driver leaves none behind */
	unsigned int nb;
	struct overhead_contender contender[OVERHEAD_MAX_CONTENDERS];
	int generator;      /**< socket, -1: none */
	bool lacks_buffers; /**< a PF does: nothing is measured */
};

/** PFs whose packets the contender receives: slices count as well. */
static inline unsigned int
overhead_legs(const struct overhead_contender *c)
{
	return c->sliced ? OVERHEAD_MAX_PFS : c->nb_pfs;
}

/** What came of one turn. */
struct overhead_turn {
	uint64_t cycles;
	uint64_t bursts;
	uint64_t packets;
	/* as the application counts */
	uint64_t received;
	uint64_t sent;
	uint64_t dropped; /* copies: one before each packet */
	/* as the PFs do; what was left there was taken from them afterwards */
	uint64_t delivered[OVERHEAD_MAX_PFS];
	uint64_t left[OVERHEAD_MAX_PFS];
	uint64_t sent_by[OVERHEAD_MAX_PFS];
};

/** Packets that the PFs gave to who was above them. */
static inline uint64_t
overhead_turn_given(const struct overhead_turn *t, unsigned int pf)
{
	return t->delivered[pf] - t->left[pf];
}

/** Was nothing lost in between, and did nothing come or go twice? */
static inline bool
overhead_turn_is_exact(const struct overhead_turn *t)
{
	return t->received + t->dropped == overhead_turn_given(t, 0) + overhead_turn_given(t, 1) &&
	       t->sent == t->sent_by[0] + t->sent_by[1];
}

/** A median and its confidence interval. */
struct overhead_figure {
	double median;
	double low;
	double high;
};

struct overhead_result {
	struct overhead_figure packet; /**< cycles */
	struct overhead_figure burst;
	struct overhead_figure ratio;     /**< to the bare PF, of one round each */
	struct overhead_figure added;     /**< cycles per packet over the bare PF's */
	struct overhead_figure over_octo; /**< cycles per packet over the octo port's */
	bool measured;
	bool inexact; /**< packets were lost, or came twice */
};

/** Kind of PF, shape, work and burst. */
struct overhead_case {
	enum overhead_pf kind;
	enum overhead_shape shape;
	enum overhead_work work;
	uint16_t burst;
	uint64_t rounds;
	struct overhead_result of[OVERHEAD_MAX_CONTENDERS];
	/** Cycles per packet that the second PF of an octo port takes though it has nothing. */
	struct overhead_figure empty_leg;
	/** Cycles per packet that slices take more than PFs with ports of their own. */
	struct overhead_figure slices;
	/** Of that, octo's: what it adds to bare slices less what it adds to bare PFs. */
	struct overhead_figure slices_own;
};

/** Cycles of each contender's turn in each round; 0 where it broke off. */
struct overhead_rounds {
	unsigned int nb;
	bool broken[OVERHEAD_MAX_CONTENDERS];
	double packet[OVERHEAD_MAX_CONTENDERS][BENCH_MAX_RUNS];
	double burst[OVERHEAD_MAX_CONTENDERS][BENCH_MAX_RUNS];
};

#define OVERHEAD_CASES_OF_STAGE (OVERHEAD_NB_WORK * OVERHEAD_NB_BURST)
#define OVERHEAD_MAX_STAGES (OVERHEAD_NB_PF * OVERHEAD_NB_SHAPE)

/** What is known of the contenders when their stage is over. */
struct overhead_stage_result {
	enum overhead_pf kind;
	enum overhead_shape shape;
	unsigned int nb;
	struct {
		const char *name;
		char left_out[96];
		bool wrong_port;
	} of[OVERHEAD_MAX_CONTENDERS];
	unsigned int nb_cases;
	struct overhead_case cases[OVERHEAD_CASES_OF_STAGE];
};

struct overhead_results {
	double core_per_tsc; /**< core cycles in a TSC cycle; 0: unknown */
	char skipped[OVERHEAD_NB_PF][128];
	unsigned int nb;
	struct overhead_stage_result stage[OVERHEAD_MAX_STAGES];
};

extern struct overhead_results overhead_results;

/** Do PFs of this kind have network interfaces? */
static inline bool
overhead_is_on_veth(enum overhead_pf kind)
{
	return kind == OVERHEAD_PACKET || kind == OVERHEAD_XDP;
}

/** Can a PF of this kind be sliced so that packets come as the shape says? */
static inline bool
overhead_has_slices(enum overhead_pf kind, enum overhead_shape shape)
{
	/* all queues of a net_null have packets, or none; on a veth there is one queue */
	return shape != OVERHEAD_ONE && shape != OVERHEAD_BY_MAC && !overhead_is_on_veth(kind) &&
	       (kind != OVERHEAD_NULL || shape == OVERHEAD_STRAYS);
}

/** Are only the cases wanted that slices have limits in? */
bool overhead_only_slices(const struct bench *bench);

/** Is only tier mac wanted, next to tier queue? */
bool overhead_only_mac(const struct bench *bench);

/* bench_overhead_ports.c */

/** Make the contenders; who cannot be made is left out. @return 0 or a negative errno. */
int overhead_open(struct overhead_stage *s);
void overhead_close(struct overhead_stage *s);

/* bench_overhead_veth.c: network interfaces for net_af_packet and net_af_xdp */

/** Before there are threads: go to a network namespace of our own, if we may. */
void overhead_veth_enter(void);

/** Let the libraries of net_af_xdp, which have no part in DPDK's log, say nothing. */
void overhead_veth_quiet(void);

/** What is in the way of making interfaces there; NULL: nothing. */
const char *overhead_veth_trouble(void);

/** Make interfaces for all contenders, and the socket of the generator. */
int overhead_veth_open(struct overhead_stage *s);
void overhead_veth_close(struct overhead_stage *s);

/** The one that this PF is on. */
void overhead_veth_name(unsigned int contender, unsigned int pf, char name[OVERHEAD_VETH_LEN]);

/** The other end of the pair. @return its index, 0: there is none */
unsigned int overhead_veth_peer(unsigned int contender, unsigned int pf);

/* bench_overhead_wire.c: what is at the other end of a PF */

/** Have what is injected for PF 1 come by it. @return 0 or a negative errno. */
int overhead_wire_split(const struct overhead_stage *s, const struct overhead_contender *c);

/** Write the frame of the benchmark into all buffers. */
void overhead_wire_fill(struct rte_mempool *pool);

/** Let PF i have nb packets to receive. */
void overhead_wire_inject(const struct overhead_stage *s, const struct overhead_contender *c,
			  unsigned int i, unsigned int nb);

/** Take from the PFs what is left there, and count it. */
void overhead_wire_drain(const struct overhead_stage *s, const struct overhead_contender *c,
			 uint64_t drained[OVERHEAD_MAX_PFS]);

/** Packets that a PF can be given at once. */
unsigned int overhead_wire_room(enum overhead_pf kind);

/* bench_overhead_work.c */

/** Is mbuf->port what it should be? Drops what it receives. */
void overhead_look_at_ports(const struct overhead_stage *s, struct overhead_contender *c);

/** A contender's turn: so many packets, in chunks of what there is room for. */
int overhead_turn(const struct overhead_stage *s, const struct overhead_contender *c,
		  enum overhead_work work, uint16_t burst, unsigned int packets,
		  struct overhead_turn *turn);

/* bench_overhead_clock.c */
double overhead_core_per_tsc(void);

/** Sorts; 95 %, by order statistics. */
struct overhead_figure overhead_figure_of(double values[], unsigned int nb);

/* bench_overhead_sum.c */

/** Fill in the figures of a case. Who broke off has none, and nobody has any if the bare PF did. */
void overhead_sum_up(const struct overhead_stage *s, struct overhead_rounds *rounds,
		     struct overhead_case *r);

/* bench_overhead_report.c, bench_overhead_json.c */

const char *overhead_shape_text(enum overhead_shape shape);

/** Took this contender part, to the end? */
bool overhead_measured(const struct overhead_stage_result *stage, const struct overhead_case *c,
		       const char *name);
void overhead_intro(const struct bench *bench);
void overhead_report(const struct bench *bench);
void overhead_write(FILE *f, const struct bench *bench);
int overhead_plot(struct bench *bench);

#endif /* BENCH_OVERHEAD_H */
