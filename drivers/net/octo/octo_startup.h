/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_STARTUP_H
#define OCTO_STARTUP_H

#include <stdbool.h>

struct octo_args;
struct rte_eth_dev;

/*
 * octo_startup.c: which octo ports wait for which. By the thread that runs rte_eal_init(); when
 * that is over, nothing waits, and these do nothing.
 */

/* Builds the port over its PFs and announces it; or leaves nothing. */
typedef int (*octo_startup_fn)(struct rte_eth_dev *dev, struct octo_args *args);

void octo_startup_scan(void);
bool octo_startup_waits(const char *name);
int octo_startup_keep(struct rte_eth_dev *dev, const struct octo_args *args, int ret);
void octo_startup_build(octo_startup_fn build);
void octo_startup_end(void);

/* octo_environment.c: before the vdev bus looks for its devices. */
void octo_environment_add(void);

#endif /* OCTO_STARTUP_H */
