/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_NIC_H
#define BENCH_NIC_H

#include "bench.h"

/**
 * @file
 * The NIC under test and the one at the other end of its cable, which generates.
 */

#define BENCH_MAX_PFS 4

/** Devargs by which PFs take time, each another: a path that changes may overtake itself. */
extern const char *const bench_nic_latencies[BENCH_MAX_PFS];

/**
 * Devargs of the octo port where all queues are polled, but by threads that share a CPU, also
 * with other programs: they may be silent for longer than by default is waited for.
 */
#define BENCH_PATIENT ",fence_timeout_ms=5000"

/** Frames that a ring of a queue, or the cable, has room for. */
#define BENCH_RING 4096

struct bench_nic_conf {
	unsigned int nb_pfs; /**< PF i on socket i modulo the number of workers */
	uint16_t nb_queues;
	uint32_t mpfs_entries;
	uint32_t arfs_entries;      /**< of each PF */
	bool sliced;                /**< the PFs are slices of one port's queues */
	bool bare;                  /**< no octo port: the PFs are the application's own */
	const char *octo_args;      /**< more devargs of the octo port, or "" */
	const char *const *pf_args; /**< of each PF as well, or NULL */
	const char *nic_args;       /**< of the NIC as well, or NULL */
};

struct bench_nic {
	struct bench_nic_conf conf;
	uint16_t peer;
	uint16_t pf[BENCH_MAX_PFS]; /**< ports, an octo port's as well; of slices the first only */
	uint16_t octo;              /**< unless bare */
	uint64_t xstat[2];          /**< its statistics of bench_nic_received() */
};

/** Packets that the octo port received. */
struct bench_received {
	uint64_t home;
	uint64_t stray;
};

/** Make the NICs and start their ports. @return 0, or a negative errno after a message. */
int
bench_nic_open(struct bench_nic *nic, const struct bench *bench, const struct bench_nic_conf *conf);

/** Remove whatever bench_nic_open() made, also after it failed. */
void bench_nic_close(struct bench_nic *nic);

/** The port and the queue that a queue of the octo port has on a PF. */
void bench_nic_leg(const struct bench_nic *nic, unsigned int pf, uint16_t queue, uint16_t *leg_port,
		   uint16_t *leg_queue);

/** Have a flow come to a queue of the octo port. @return 0 or a negative errno. */
int bench_nic_steer(const struct bench_nic *nic, uint32_t flow, uint16_t queue);

/** Read in a microsecond or so. @return 0, or a negative errno after a message. */
int bench_nic_received(const struct bench_nic *nic, struct bench_received *received);

/** Another statistic of the octo port; 0 as well if it has none of this name. */
uint64_t bench_nic_xstat(const struct bench_nic *nic, const char *name);

/** Make a virtual device. @return 0, or a negative errno after a message. */
int bench_nic_add_device(const char *name, const char *args);

/** The device of a PF. */
const char *bench_nic_name(unsigned int pf);

/** Until EAL's interrupt thread has brought it, or removed it. @return 0 or -ETIMEDOUT. */
int bench_nic_await(unsigned int pf, bool present);

/** Take a PF out of the running NIC; put it back. @return 0, or a negative errno. */
int bench_nic_unplug(struct bench_nic *nic, unsigned int pf);
int bench_nic_plug(struct bench_nic *nic, unsigned int pf);

/**
 * The same as a bus does it. The PF is dead at once, and the port is told so; or it works
 * until the port, which is told that it is to go, has let go of it.
 */
int bench_nic_remove(struct bench_nic *nic, unsigned int pf, bool announced);

/** It is there again, and the port is told so. */
int bench_nic_restore(struct bench_nic *nic, unsigned int pf);

/** Fences that were opened by a timeout; 0 as well if the port does not count them. */
uint64_t bench_nic_fence_timeouts(const struct bench_nic *nic);

/** For how long, in the mean, a fence kept packets waiting that it was seen to; 0: none. */
double bench_nic_wait_us(const struct bench_nic *nic);

#endif /* BENCH_NIC_H */
