/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ASan knows nothing of EAL's heap. What the drivers ask of it while the guard
 * is on comes from libc, where ASan sees what is used after free or overrun.
 * The linker leads them here (--wrap); DPDK's own libraries keep EAL's heap.
 */

#include <stdlib.h>

#include <sanitizer/lsan_interface.h>

#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_stdatomic.h>

#include "fuzz.h"

void *__real_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);
void __real_rte_free(void *ptr);

void *__wrap_rte_malloc(const char *type, size_t size, unsigned int align);
void *__wrap_rte_zmalloc(const char *type, size_t size, unsigned int align);
void *__wrap_rte_calloc(const char *type, size_t num, size_t size, unsigned int align);
void *
__wrap_rte_calloc_socket(const char *type, size_t num, size_t size, unsigned int align, int socket);
void *__wrap_rte_malloc_socket(const char *type, size_t size, unsigned int align, int socket);
void *__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);
void __wrap_rte_free(void *ptr);

static RTE_ATOMIC(bool) guarded;
static RTE_ATOMIC(int) live;

void
fuzz_heap_guard(bool on)
{
	rte_atomic_store_explicit(&guarded, on, rte_memory_order_relaxed);
}

int
fuzz_heap_live(void)
{
	return rte_atomic_load_explicit(&live, rte_memory_order_relaxed);
}

/* What ethdev frees for a driver, its own way, must be EAL's. */
static bool
is_ours(const char *type)
{
	return rte_atomic_load_explicit(&guarded, rte_memory_order_relaxed) && type != NULL &&
	       strncmp(type, "octo", 4) == 0 && strcmp(type, "mpsim_macs") != 0;
}

void *
__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	void *ptr = NULL;

	if (!is_ours(type))
		return __real_rte_zmalloc_socket(type, size, align, socket);
	if (size == 0 || posix_memalign(&ptr, RTE_MAX(align, 64u), size) != 0)
		return NULL;
	memset(ptr, 0, size);
	/* who holds it may be in EAL's memory, where LSan does not look: live tells */
	__lsan_ignore_object(ptr);
	rte_atomic_fetch_add_explicit(&live, 1, rte_memory_order_relaxed);
	fuzz_log_note("allocated", type, ptr);
	return ptr;
}

void *
__wrap_rte_zmalloc(const char *type, size_t size, unsigned int align)
{
	return __wrap_rte_zmalloc_socket(type, size, align, SOCKET_ID_ANY);
}

/* not zeroed by EAL either: the field shall not depend on it */
void *
__wrap_rte_malloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	void *ptr = __wrap_rte_zmalloc_socket(type, size, align, socket);

	if (ptr != NULL)
		memset(ptr, 0xa5, size);
	return ptr;
}

void *
__wrap_rte_malloc(const char *type, size_t size, unsigned int align)
{
	return __wrap_rte_malloc_socket(type, size, align, SOCKET_ID_ANY);
}

void *
__wrap_rte_calloc_socket(const char *type, size_t num, size_t size, unsigned int align, int socket)
{
	return __wrap_rte_zmalloc_socket(type, num * size, align, socket);
}

void *
__wrap_rte_calloc(const char *type, size_t num, size_t size, unsigned int align)
{
	return __wrap_rte_calloc_socket(type, num, size, align, SOCKET_ID_ANY);
}

void
__wrap_rte_free(void *ptr)
{
	if (ptr == NULL)
		return;
	if (rte_mem_virt2memseg_list(ptr) != NULL) {
		__real_rte_free(ptr);
		return;
	}
	rte_atomic_fetch_sub_explicit(&live, 1, rte_memory_order_relaxed);
	fuzz_log_note("freed", "", ptr);
	free(ptr);
}
