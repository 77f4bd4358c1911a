/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_ETHDEV_H
#define FUZZ_ETHDEV_H

#include "fuzz_pair.h"

/**
 * @file
 * One call of ethdev from bytes, to both ports of the pair.
 */

#define FUZZ_ETHDEV_KEY 64

/** Call is made with `port`, and `who` that is; both return the same, or are exempt. */
#define FUZZ_BOTH_RETURN(name, call)                                                               \
	do {                                                                                       \
		int ret_[FUZZ_BOTH];                                                               \
                                                                                                   \
		for (unsigned int who = 0; who < FUZZ_BOTH; who++) {                               \
			const uint16_t port = fuzz_pair.port[who];                                 \
                                                                                                   \
			ret_[who] = (call);                                                        \
		}                                                                                  \
		fuzz_ethdev_check(name, ret_);                                                     \
	} while (0)

void fuzz_ethdev_check(const char *call, const int *ret);

/** MTU, modes, link, the wire. */
void fuzz_ethdev_setting(struct fuzz_input *in);
/** Addresses and VLANs. */
void fuzz_ethdev_filter(struct fuzz_input *in);
/** RETA and hash. */
void fuzz_ethdev_rss(struct fuzz_input *in);
/** Start, stop and state of a queue. */
void fuzz_ethdev_queue(struct fuzz_input *in);
/** What changes nothing but counters. */
void fuzz_ethdev_question(struct fuzz_input *in);
/** What few applications and drivers know. @return what was called. */
const char *fuzz_ethdev_rare(struct fuzz_input *in);

#endif /* FUZZ_ETHDEV_H */
