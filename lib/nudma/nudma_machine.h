/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef NUDMA_MACHINE_H
#define NUDMA_MACHINE_H

#include <stddef.h>

#include <rte_compat.h>

/**
 * @file
 * A dual-socket server as the model sees it: constants with a unit and a physical meaning, read
 * from a profile (config/machines/NAME.ini). doc/guides/nudma.rst explains them.
 */

/** Sockets, each a node with its own memory. */
#define NUDMA_NODES 2

/** Bytes that caches, DRAM and the inter-socket link transfer at a time. */
#define NUDMA_LINE 64

#define NUDMA_NAME_MAX 64

struct nudma_cpu {
	double cores;       /**< per socket */
	double llc_mib;     /**< last-level cache of a socket */
	double llc_hit_ns;  /**< a load that hits the LLC */
	double llc_miss_ns; /**< added time of a load from local DRAM */
	double llc_gb;      /**< GB/s that one core streams from the LLC */
	double lines;       /**< outstanding lines of one core, at most */
};

/** The part of the last-level cache in which DMA writes may allocate. */
struct nudma_ddio {
	double ways;
	double of_ways;
};

struct nudma_link {
	double hop_ns;        /**< one way, without load */
	double gb;            /**< GB/s of lines read from the other socket, at most */
	double data_flits;    /**< of a message with a line */
	double control_flits; /**< of a message without a line */
	double directory;     /**< 1: only lines that the other socket has written are snooped */
};

/** The PCIe link of one PF. */
struct nudma_pcie {
	double gt;             /**< GT/s of a lane */
	double lanes;          /**< of each PF */
	double encoding;       /**< bits of data per bit on the lane */
	double max_payload;    /**< bytes */
	double tlp_bytes;      /**< framing, sequence number, header and LCRC of a TLP */
	double remote_read_ns; /**< added time of a DMA read of the other socket's memory */
};

struct nudma_nic {
	double gbps; /**< of the wire */
	double completion_bytes;
	double rx_descriptor_bytes;
	double tx_descriptor_bytes;
};

/** CPU time of programs, as their rate on a socket whose NIC is local. */
struct nudma_work {
	double tcp_rx_gbps;    /**< one core receives TCP by full frames */
	double tcp_tx_gbps;    /**< one core sends TCP by segments of 64 KiB */
	double pktgen_mpps;    /**< one core sends the same small packet again and again */
	double rtt_us;         /**< a small TCP request and its response, both ends local */
	double window_mib;     /**< received data that waits for a slow reader */
	double pagerank_lines; /**< outstanding lines of a thread of PageRank */
};

struct nudma_machine {
	char name[NUDMA_NAME_MAX]; /**< file name without directory and extension */
	struct nudma_cpu cpu;
	struct nudma_ddio ddio;
	double dram_gb; /**< GB/s of a socket's memory */
	struct nudma_link link;
	struct nudma_pcie pcie;
	struct nudma_nic nic;
	struct nudma_work work;
};

/**
 * The path of a profile: text itself if it contains a '/', else NAME.ini in the directory of
 * the environment variable NUDMA_MACHINES, or in the installation directory.
 *
 * @return
 *   0, or -ENAMETOOLONG.
 */
__rte_internal
int nudma_machine_path(const char *text, char *path, size_t size);

/**
 * Read a profile. Each key must occur once, and no other key.
 *
 * @param why
 *   Filled on failure with the file, the section, the key and the expected value.
 * @return
 *   0, or a negative errno with *machine unchanged.
 */
__rte_internal
int nudma_machine_read(struct nudma_machine *machine, const char *path, char *why, size_t why_size);

#endif /* NUDMA_MACHINE_H */
