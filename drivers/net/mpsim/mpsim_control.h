/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_CONTROL_H
#define MPSIM_CONTROL_H

#include <stdint.h>

#include <rte_compat.h>

#include "nudma_model.h"

/**
 * @file
 * What tests and benchmarks in the same primary process may ask of a simulated
 * NIC. Telemetry offers the same to all others.
 */

/**
 * Set a fault, or clear it: "TARGET,FAULT[,ARGUMENT...]", as telemetry /mpsim/fault
 * takes it. What raises events, or removes a device, happens in EAL's interrupt thread.
 *
 * @return
 *   0 or a negative errno; an error was logged.
 */
__rte_experimental
int rte_pmd_mpsim_fault(const char *text);

/**
 * Where the frames are that a NIC has taken from its wire, since its first PF
 * came; what PFs that are gone have done included.
 */
struct mpsim_account {
	uint64_t taken;     /**< from the wire, and from behind representors */
	uint64_t delivered; /**< to the application, by Rx bursts */
	uint64_t in_rings;
	uint64_t in_pipelines;
	uint64_t dropped;      /**< by the NIC and its PFs; every kind has an xstat */
	uint64_t lost;         /**< in rings and pipelines of PFs that were stopped or removed */
	int64_t unaccounted;   /**< what is left: 0 while no burst is under way */
	uint64_t sent;         /**< to the wire, by Tx bursts */
	uint64_t in_tx_rings;  /**< not sent yet */
	uint64_t lost_in_tx;   /**< in Tx rings of queues that were stopped */
	uint64_t tx_dropped;   /**< by Tx bursts: malformed, or no link or no wire to go by */
	uint64_t on_wire;      /**< sent, and not taken yet; not of an ethdev as wire */
	uint64_t lost_on_wire; /**< when the wire was stopped with the last PF */
	uint64_t rules;        /**< in the tables of the switch and of all PFs */
};

/** @return 0 or -ENODEV: there is no NIC of this name. */
__rte_experimental
int rte_pmd_mpsim_account_get(const char *nic, struct mpsim_account *account);

/** Of the model of a NIC: what is not in its profile. */
struct mpsim_model_state {
	const struct nudma_load *load;
	bool no_ddio;
	bool rings_on_pf;
	uint32_t tx_frames; /**< that have one completion together; 0 is 1 */
};

/**
 * The model of the NIC that a PF belongs to, for those who charge it with what they do with
 * packets themselves.
 *
 * @param place_offset
 *   Of the byte in a received mbuf that says where its data are (enum nudma_place).
 * @return
 *   0 or -ENODEV: the port is not a PF with a model.
 */
__rte_experimental
int rte_pmd_mpsim_model_get(uint16_t port, const struct nudma_model **model, int *place_offset);

/** Change it, while nobody sends or receives. 0 or -ENODEV. */
__rte_experimental
int rte_pmd_mpsim_model_set(uint16_t port, const struct mpsim_model_state *state);

/** What all queues of a PF were charged since it came; exact while nobody uses them. */
__rte_experimental
int rte_pmd_mpsim_model_account(uint16_t port, struct nudma_account *account);

#endif /* MPSIM_CONTROL_H */
