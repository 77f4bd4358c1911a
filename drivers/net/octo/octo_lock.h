/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LOCK_H
#define OCTO_LOCK_H

#include <stdbool.h>

#include "octo_lock_order.h"

struct octo_dev;

int octo_lock_init(struct octo_dev *octo);
void octo_lock_fini(struct octo_dev *octo);
void octo_lock(struct octo_dev *octo);
bool octo_lock_in_time(struct octo_dev *octo);
bool octo_lock_try(struct octo_dev *octo);
void octo_unlock(struct octo_dev *octo);
void octo_lock_give_way(struct octo_dev *octo);
void octo_lock_counts(struct octo_dev *octo);
bool octo_lock_counts_in_time(struct octo_dev *octo);
void octo_unlock_counts(struct octo_dev *octo);

/* Evaluate a call under the control mutex; the value is the call's. */
#define OCTO_LOCKED(octo, call)                                                                    \
	__extension__({                                                                            \
		struct octo_dev *octo_locked_dev = (octo);                                         \
		octo_lock(octo_locked_dev);                                                        \
		typeof(call) octo_locked_ret = (call);                                             \
		octo_unlock(octo_locked_dev);                                                      \
		octo_locked_ret;                                                                   \
	})

/* The value of fn(octo, ...) with the mutex of the ethdev's octo port held. */
#define OCTO_CALL_LOCKED(dev, fn, ...)                                                             \
	__extension__({                                                                            \
		struct octo_dev *octo_called = octo_of(dev);                                       \
		OCTO_LOCKED(octo_called, fn(octo_called, __VA_ARGS__));                            \
	})

#endif /* OCTO_LOCK_H */
