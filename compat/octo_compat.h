/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The only place that knows DPDK versions. The sources are written for the newest release; this
 * header, included before everything else in an out-of-tree build, supplies what an older
 * release names differently.
 */

#ifndef OCTO_COMPAT_H
#define OCTO_COMPAT_H

#include <rte_version.h>

#define OCTO_DPDK_BEFORE(year, month) (RTE_VERSION < RTE_VERSION_NUM(year, month, 0, 0))

#if OCTO_DPDK_BEFORE(24, 3)
/* 24.03: log a line with a prefix. */
#include <rte_common.h>
#include <rte_log.h>
#define RTE_LOG_COMMA ,
#define RTE_LOG_LINE_PREFIX(l, t, prefix, args, ...)                                               \
	RTE_LOG(l, t,                                                                              \
		RTE_FMT(prefix RTE_FMT_HEAD(__VA_ARGS__, ) "\n",                                   \
			args RTE_LOG_COMMA RTE_FMT_TAIL(__VA_ARGS__, )))
#define RTE_LOG_LINE(l, t, ...)                                                                    \
	RTE_LOG(l, t, RTE_FMT(RTE_FMT_HEAD(__VA_ARGS__, ) "\n", RTE_FMT_TAIL(__VA_ARGS__, )))
#endif

#if OCTO_DPDK_BEFORE(23, 3)
/* 23.03: renamed from _u64. */
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
/* 23.03: the aggregated ports API. Here its place in the table has no op. */
#define OCTO_AGGR_OPS .set_eeprom = NULL
#endif

#if OCTO_DPDK_BEFORE(24, 11)
/* 24.11: speed lanes. Here their place in the table has no op. */
#define OCTO_LANES_OPS .tm_ops_get = NULL
/* 24.11: the frequency of a clock. The same. */
#define OCTO_FREQ_OPS .mtr_ops_get = NULL
#define MPSIM_FREQ_OPS .mtr_ops_get = NULL
#endif

#if OCTO_DPDK_BEFORE(23, 11)
/* 23.11: control threads are created as rte_thread_t. */
#include "octo_compat_thread.h"
#endif

#if OCTO_DPDK_BEFORE(25, 3)
/* 25.03: annotations for clang's lock analysis. */
#define __rte_acquire_capability(...)
#define __rte_release_capability(...)
#endif

#if OCTO_DPDK_BEFORE(24, 3)
/* 24.03: the ops of flow queues left struct rte_flow_ops. */
#define rte_flow_fp_ops rte_flow_ops
#endif

/* 23.11: net_bonding's devarg for the ports that it bonds. */
#if OCTO_DPDK_BEFORE(23, 11)
#define OCTO_BOND_MEMBER                                                                           \
	"sla"                                                                                      \
	"ve"
#else
#define OCTO_BOND_MEMBER "member"
#endif

#if OCTO_DPDK_BEFORE(24, 11)
/* 24.11: only rte_kvargs_process_opt() calls handlers for keys without a value. */
#define rte_kvargs_process_opt rte_kvargs_process
#endif

#if OCTO_DPDK_BEFORE(24, 11)
#include "octo_compat_flow.h"
#endif

#if OCTO_DPDK_BEFORE(26, 7)
/* 26.07: segments that are discarded. Before, every segment has a pool. */
#define octo_selective_rx_get(capa) (RTE_SET_USED(capa), false)
#define octo_selective_rx_set(capa, can) (RTE_SET_USED(capa), RTE_SET_USED(can))
#endif

/*
 * Signatures. The drivers define an op as the newest DPDK requires it. For an older release
 * with another type, a function-like macro renames the definition, and the plain name in the
 * ops table is an adapter.
 */
#if OCTO_DPDK_BEFORE(25, 11)
#include "octo_compat_ethdev.h"
#endif

#if !OCTO_DPDK_BEFORE(25, 11) && OCTO_DPDK_BEFORE(26, 7)
#include "octo_compat_fast.h"
#endif

#endif /* OCTO_COMPAT_H */
