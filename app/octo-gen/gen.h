/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef GEN_H
#define GEN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mempool.h>

#include "app.h"

/**
 * @file
 * A small traffic generator: one lcore sends numbered flows of UDP by a port and
 * counts what of them comes back by it.
 */

#define GEN_MAX_RATE 1e12
#define GEN_MAX_SECONDS 86400.0

/** What is asked for on the command line. */
struct gen_options {
	uint64_t size;  /* bytes of a frame with its checksum, as RFC 2544 counts */
	uint64_t flows; /* 5-tuples, that take turns */
	uint64_t port;
	uint64_t window; /* packets under way at most; 0: any number */
	double rate;     /* packets per second; 0: as many as the window allows */
	double seconds;  /* of the one trial; 0: trials are read from stdin */
	struct rte_ether_addr dst_mac;
};

/** What there is while the program runs. */
struct gen {
	const struct gen_options *options;
	struct rte_mempool *pool;
	uint16_t port;
	struct gen_packet *packets; /* one per flow */
	uint32_t trial;             /* the number that this trial's packets bear */
};

/** What a trial came to. */
struct gen_result {
	uint64_t sent;
	uint64_t received;
	uint64_t foreign; /* received, but not of this trial */
	double seconds;   /* from the first packet sent to the last one received */
};

/** Set by a signal: what runs ends early. */
extern volatile sig_atomic_t gen_stopping;

/* gen_options.c */

/** @return 0, 1 if help was wanted and given, -EINVAL after a line on stderr. */
int gen_options_read(struct gen_options *options, int argc, char *argv[]);

/** A number that need not be whole, from 0 to max. False if it is none. */
bool gen_number_read(const char *text, double max, double *value);

/* gen_packet.c */

/** Headers and the mark behind them, by which a packet is known again. */
#define GEN_HEADERS 50

struct gen_packet {
	uint8_t bytes[GEN_HEADERS];
};

/** One packet for each flow; NULL without memory. */
struct gen_packet *
gen_packets_make(const struct gen_options *options, const struct rte_ether_addr *src_mac);
void
gen_packet_write(struct rte_mbuf *pkt, const struct gen_packet *from, uint32_t trial, uint16_t len);

/** Is it of this trial? */
bool gen_packet_is_ours(const struct rte_mbuf *pkt, uint32_t trial);

/* gen_trial.c */

/** Send for so long at this rate, then wait for what is still under way. */
void gen_trial_run(struct gen *gen, double rate, double seconds, struct gen_result *result);

#endif /* GEN_H */
