/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_THREAD_H
#define OCTO_THREAD_H

#include <stdint.h>

#include <rte_errno.h>

/**
 * Something that tells the thread that calls from all others of its process, EAL's
 * or not, at the cost of a load: who hands a queue over is seen in the next burst.
 */
static inline uintptr_t
octo_thread_here(void)
{
#ifdef OCTO_HAS_THREAD_POINTER
	return (uintptr_t)__builtin_thread_pointer();
#else
	/* the same for a call */
	return (uintptr_t)&rte_errno;
#endif
}

#endif /* OCTO_THREAD_H */
