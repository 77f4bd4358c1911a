/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_CTRL_H
#define OCTO_CTRL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_stdatomic.h>
#include <rte_thread.h>

struct octo_dev;

/*
 * The control thread, in the primary process. Of the data path, only a poller that gives its queue
 * another home uses this: octo_wake_home().
 */
struct octo_ctrl {
	rte_thread_t thread;
	int wake_fd; /* eventfd */
	bool running;
	RTE_ATOMIC(bool) stop;
	RTE_ATOMIC(bool) link_changed;
	uint64_t next_link_poll; /* TSC */
};

/* octo_ctrl.c */
int octo_ctrl_start(struct octo_dev *octo);
void octo_ctrl_stop(struct octo_dev *octo);
unsigned int octo_ctrl_step(struct octo_dev *octo, uint64_t now);

/* octo_wake.c: wake it before its next tick */
int octo_wake_init(struct octo_dev *octo);
void octo_wake_fini(struct octo_dev *octo);
void octo_wake(struct octo_dev *octo);
void octo_wake_link(struct octo_dev *octo);
void octo_wake_home(struct octo_dev *octo);

#endif /* OCTO_CTRL_H */
