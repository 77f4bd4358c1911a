/* SPDX-License-Identifier: BSD-3-Clause */

/* rte_stdatomic.h appeared in DPDK 23.11: the part of it that octo uses. */

#ifndef OCTO_COMPAT_STDATOMIC_H
#define OCTO_COMPAT_STDATOMIC_H

#define RTE_ATOMIC(type) type
#define __rte_atomic

#define rte_memory_order_relaxed __ATOMIC_RELAXED
#define rte_memory_order_acquire __ATOMIC_ACQUIRE
#define rte_memory_order_release __ATOMIC_RELEASE
#define rte_memory_order_acq_rel __ATOMIC_ACQ_REL
#define rte_memory_order_seq_cst __ATOMIC_SEQ_CST

#define rte_atomic_load_explicit(ptr, order) __atomic_load_n(ptr, order)
#define rte_atomic_store_explicit(ptr, val, order) __atomic_store_n(ptr, val, order)
#define rte_atomic_exchange_explicit(ptr, val, order) __atomic_exchange_n(ptr, val, order)
#define rte_atomic_compare_exchange_strong_explicit(ptr, expected, val, succ, fail)                \
	__atomic_compare_exchange_n(ptr, expected, val, 0, succ, fail)
#define rte_atomic_compare_exchange_weak_explicit(ptr, expected, val, succ, fail)                  \
	__atomic_compare_exchange_n(ptr, expected, val, 1, succ, fail)
#define rte_atomic_fetch_add_explicit(ptr, val, order) __atomic_fetch_add(ptr, val, order)
#define rte_atomic_fetch_sub_explicit(ptr, val, order) __atomic_fetch_sub(ptr, val, order)
#define rte_atomic_fetch_or_explicit(ptr, val, order) __atomic_fetch_or(ptr, val, order)
#define rte_atomic_fetch_and_explicit(ptr, val, order) __atomic_fetch_and(ptr, val, order)
#define rte_atomic_thread_fence(order) __atomic_thread_fence(order)

#endif /* OCTO_COMPAT_STDATOMIC_H */
