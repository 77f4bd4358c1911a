/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * DPDK's headers, compiled once for each part of the project: reading them is most of
 * what it takes to compile a file. Drivers and libraries include what they use all the
 * same: a DPDK tree has no such header, nor has "octo fuzz".
 */

#include <rte_config.h>

#include "../../compat/octo_compat.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_flow.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#if __has_include(<ethdev_driver.h>)
#include <ethdev_driver.h>
#include <rte_flow_driver.h>
#endif
