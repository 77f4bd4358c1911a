/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TX_H
#define OCTO_TX_H

#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_stdatomic.h>

#include "octo_epoch.h"
#include "octo_plan.h"

struct octo_dev;

/* A Tx queue: hardware queue `queue_id` of every PF; written by its sender. */
struct __rte_cache_aligned octo_txq {
	struct octo_epoch epoch;
	RTE_ATOMIC(uint32_t) live;    /* legs that may be touched; written by the control side */
	RTE_ATOMIC(uint32_t) sending; /* those of them with link, all of them if none has */
	uint16_t queue_id;
	uint16_t nb_desc;
	uint16_t leg_port[OCTO_PLAN_MAX_PFS];
	RTE_ATOMIC(uint8_t) home; /* PF index */
	uint8_t other_node_seen;
	int16_t node;
	uint32_t plan_generation;
	uint32_t now; /* bursts so far */
	struct octo_dev *octo;
	uint64_t packets[OCTO_PLAN_MAX_PFS];
	uint64_t bytes[OCTO_PLAN_MAX_PFS];
	/* cold; see octo_rxq.home_base */
	uint64_t packets_base[OCTO_PLAN_MAX_PFS];
	uint64_t bytes_base[OCTO_PLAN_MAX_PFS];
	RTE_ATOMIC(int16_t) cpu;
	uint32_t configuration; /* octo_dev.configuration that it was set up in */
	struct rte_eth_txconf conf;
};

/* octo_tx.c */
uint16_t octo_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t nb);
uint16_t octo_tx_prepare(void *txq, struct rte_mbuf **pkts, uint16_t nb);
int octo_tx_descriptor_status(void *txq, uint16_t offset);
int octo_tx_done_cleanup(void *txq, uint32_t free_cnt);

#endif /* OCTO_TX_H */
