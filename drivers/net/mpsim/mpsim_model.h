/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_MODEL_H
#define MPSIM_MODEL_H

#include <stdalign.h>
#include <stdint.h>

#include <ethdev_driver.h>

#include "nudma_model.h"
#include "octo_socket_map.h"

/**
 * @file
 * Devarg model=: the cost of a PF's DMA on a machine with two sockets, in virtual time
 * (lib/nudma). A NIC with a model has its own burst functions; those of other NICs have no code
 * for it.
 *
 * A DMA is charged when a CPU takes the packet, because only then the CPU is known. The data
 * are on its socket, unless the machine has several sockets.
 */

struct mpsim_args;
struct mpsim_nic;
struct mpsim_pf;

/** Charges of one queue. Written by the thread that polls it, or sends on it. */
struct mpsim_charge {
	alignas(RTE_CACHE_LINE_SIZE) struct nudma_account account;
	uint32_t uncompleted; /**< frames sent since the last completion */
};

/** Model of a NIC. */
struct mpsim_model {
	struct nudma_model nudma;
	struct octo_socket_map map; /**< simulated socket of each CPU */
	uint32_t tx_frames;         /**< per completion */
	bool rings_on_pf;           /**< rings are on the PF's socket */
	int place_offset;           /**< of the mbuf field with the place of a packet */
};

/** Read the profile in the devargs. Returns 0, or a negative errno after logging an error. */
int mpsim_model_create(const char *who, const struct mpsim_args *args, struct mpsim_model **model);

/** A PF joins a NIC: set it up, and choose its bursts. Returns 0 or -ENOMEM. */
int mpsim_model_join(struct rte_eth_dev *dev, const struct mpsim_nic *nic);

/** Choose the burst functions, in a secondary process as well. */
void mpsim_model_set_bursts(struct rte_eth_dev *dev);

/** Sum of the charges of a PF's queues since it was probed. */
void mpsim_model_sum(const struct mpsim_pf *pf, struct nudma_account *sum);

uint16_t mpsim_model_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t n);
uint16_t mpsim_model_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t n);

#endif /* MPSIM_MODEL_H */
