/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LENDING_H
#define OCTO_LENDING_H

/** @file Which ports the primary process lends now, by port id. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_stdatomic.h>

struct octo_dev;

#define OCTO_LENDING_BORROWERS 32

/** Secondary processes that use the port. Without a lock, as they may be killed. */
struct octo_borrowers {
	/** process id, below the inode of its pid namespace; 0: none */
	RTE_ATOMIC(uint64_t) process[OCTO_LENDING_BORROWERS];
	/** processes without room above, including those that were killed */
	RTE_ATOMIC(uint32_t) nb_more;
};

/** Of a port id, in memory that outlives the ports: what a secondary reads before a port is its. */
struct octo_lending {
	/** the port, from when it is built until it is being closed; else NULL */
	RTE_ATOMIC(struct octo_dev *) octo;
	/** those that attach it now, and are not among octo_legs.borrowers yet */
	struct octo_borrowers attaching;
};

/**
 * At probe, before any other function that has a port: find what is lent. The primary makes it.
 *
 * @return
 *   0 or a negative errno.
 */
int octo_lending_init(void);

/** What is noted of a port id. In any process, after octo_lending_init(). */
struct octo_lending *octo_lending_of(uint16_t port_id);

/** In the primary: other processes may attach the port from now on, or no more. */
void octo_lending_set_open(struct octo_dev *octo, bool open);

/** The port that has this id; NULL if it is not open, or not of this driver. */
struct octo_dev *octo_lending_port(uint16_t port_id);

/** Is the port built, and not being closed? Of one that this process has. */
bool octo_lending_is_open(const struct octo_dev *octo);

#endif /* OCTO_LENDING_H */
