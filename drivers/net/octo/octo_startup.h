/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_STARTUP_H
#define OCTO_STARTUP_H

#include <stdbool.h>

struct octo_args;
struct rte_eth_dev;

/*
 * octo_startup.c: order of the octo ports at startup. Called by the thread that runs
 * rte_eal_init(); afterwards no port waits, and these functions do nothing.
 */

/* Build the port over its PFs and announce it; on failure leave nothing behind. */
typedef int (*octo_startup_fn)(struct rte_eth_dev *dev, struct octo_args *args);

void octo_startup_scan(void *arg);
bool octo_startup_waits(const char *name);
int octo_startup_keep(struct rte_eth_dev *dev, const struct octo_args *args, int ret);
void octo_startup_build(octo_startup_fn build);
void octo_startup_end(void);

/* octo_environment.c: called before the vdev bus scans for devices. */
void octo_environment_add(void);

#endif /* OCTO_STARTUP_H */
