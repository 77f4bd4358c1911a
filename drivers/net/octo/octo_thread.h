/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_THREAD_H
#define OCTO_THREAD_H

#include <stdint.h>

#include <rte_errno.h>

/**
 * A value that is unique among the threads of this process, EAL's or not, at the cost of a
 * load. So a queue handed over to another thread is noticed in the next burst.
 */
static inline uintptr_t
octo_thread_here(void)
{
#ifdef OCTO_HAS_THREAD_POINTER
	return (uintptr_t)__builtin_thread_pointer();
#else
	/* as unique, at the cost of a call */
	return (uintptr_t)&rte_errno;
#endif
}

#endif /* OCTO_THREAD_H */
