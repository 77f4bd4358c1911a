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
 * Devarg model=: what a PF's DMA would cost on a machine with two sockets, in virtual time
 * (lib/nudma). Bursts of a NIC with a model are others than those of one without, which know
 * nothing of it.
 *
 * A DMA is charged when the CPU that it is for takes the packet, because only then it is known
 * which that is. Its socket is where the data are, unless the machine has sockets of its own.
 */

struct mpsim_args;
struct mpsim_nic;
struct mpsim_pf;

/** What one queue was charged. One writer: the thread that polls it, or sends on it. */
struct mpsim_charge {
	alignas(RTE_CACHE_LINE_SIZE) struct nudma_account account;
	uint32_t uncompleted; /**< frames sent since the last completion */
};

/** Of a NIC. */
struct mpsim_model {
	struct nudma_model nudma;
	struct octo_socket_map map; /**< which CPU plays on which socket */
	uint32_t tx_frames;         /**< per completion */
	bool rings_on_pf;           /**< rings are in the memory of the PF's socket */
	int place_offset;           /**< of the mbuf field that says where a packet is */
};

/** Read the profile that the devargs name. 0, or a negative errno; an error was logged. */
int mpsim_model_create(const char *who, const struct mpsim_args *args, struct mpsim_model **model);

/** A PF comes to a NIC: its bursts are chosen. 0 or -ENOMEM. */
int mpsim_model_join(struct rte_eth_dev *dev, const struct mpsim_nic *nic);

/** Choose the bursts, in a secondary process as well. */
void mpsim_model_set_bursts(struct rte_eth_dev *dev);

/** What its queues were charged since it came. */
void mpsim_model_sum(const struct mpsim_pf *pf, struct nudma_account *sum);

uint16_t mpsim_model_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t n);
uint16_t mpsim_model_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t n);

#endif /* MPSIM_MODEL_H */
