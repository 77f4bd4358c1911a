/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_PF_LOSS_H
#define BENCH_PF_LOSS_H

#include "bench_stream.h"
#include "mpsim_control.h"

/**
 * @file
 * A port under load whose PFs come and go: the peer sends, two queues with the
 * same number of flows each are polled, one on each socket.
 */

#define BENCH_PF_LOSS_QUEUES 2

struct bench_pf_loss {
	struct bench *bench;
	struct bench_nic nic;
	struct bench_flows flows;
	struct bench_stream stream;
	uint32_t nb_flows;
	int64_t lost; /**< so far */
};

/** The first rules' flows are steered. @return 0, or a negative errno after a message. */
int bench_pf_loss_open(struct bench_pf_loss *c, struct bench *bench, enum bench_loss loss,
		       unsigned int nb_pfs, uint32_t nb_flows, uint32_t nb_rules);
void bench_pf_loss_close(struct bench_pf_loss *c);

/** Wait until a statistic of the octo port is another than before. @return whether it is. */
bool bench_pf_loss_await(const struct bench_pf_loss *c, const char *xstat, uint64_t before);

/** @return whether packets come, and none of them strays for a while. */
bool bench_pf_loss_await_home(const struct bench_pf_loss *c);

#endif /* BENCH_PF_LOSS_H */
