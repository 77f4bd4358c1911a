/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_COMPAT_THREAD_H
#define OCTO_COMPAT_THREAD_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <rte_lcore.h>
#include <rte_thread.h>

struct octo_compat_thread {
	uint32_t (*func)(void *arg);
	void *arg;
};

static inline void *
octo_compat_thread_main(void *arg)
{
	struct octo_compat_thread start = *(struct octo_compat_thread *)arg;

	free(arg);
	return (void *)(uintptr_t)start.func(start.arg);
}

static inline int
rte_thread_create_internal_control(rte_thread_t *id, const char *name, uint32_t (*func)(void *arg),
				   void *arg)
{
	struct octo_compat_thread *start = malloc(sizeof(*start));
	pthread_t thread;
	int ret;

	if (start == NULL)
		return -ENOMEM;
	start->func = func;
	start->arg = arg;
	ret = rte_ctrl_thread_create(&thread, name, NULL, octo_compat_thread_main, start);
	if (ret != 0) {
		free(start);
		return ret > 0 ? -ret : ret;
	}
	id->opaque_id = (uintptr_t)thread;
	return 0;
}

#endif /* OCTO_COMPAT_THREAD_H */
