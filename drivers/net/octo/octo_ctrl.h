/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_CTRL_H
#define OCTO_CTRL_H

#include <stdbool.h>
#include <stdint.h>

struct octo_dev;

/* octo_ctrl.c: the control mutex and the control thread */
int octo_ctrl_init(struct octo_dev *octo);
void octo_ctrl_fini(struct octo_dev *octo);
void octo_lock(struct octo_dev *octo);
bool octo_lock_in_time(struct octo_dev *octo);
bool octo_lock_try(struct octo_dev *octo);
void octo_unlock(struct octo_dev *octo);
int octo_ctrl_start(struct octo_dev *octo);
void octo_ctrl_stop(struct octo_dev *octo);
unsigned int octo_ctrl_step(struct octo_dev *octo, uint64_t now);
void octo_ctrl_post_link(struct octo_dev *octo);
void octo_ctrl_post_home(struct octo_dev *octo);
void octo_ctrl_wake(struct octo_dev *octo);
uint64_t octo_ctrl_deadline(unsigned int us);
void octo_ctrl_give_way(struct octo_dev *octo);
void octo_ctrl_hurry_locked(struct octo_dev *octo);

/* Run one call under the control mutex; the value is the call's. */
#define OCTO_LOCKED(octo, call)                                                                    \
	__extension__({                                                                            \
		struct octo_dev *octo_locked_dev = (octo);                                         \
		octo_lock(octo_locked_dev);                                                        \
		typeof(call) octo_locked_ret = (call);                                             \
		octo_unlock(octo_locked_dev);                                                      \
		octo_locked_ret;                                                                   \
	})

#endif /* OCTO_CTRL_H */
