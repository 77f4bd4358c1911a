/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_CONTROL_H
#define MPSIM_CONTROL_H

#include <stdint.h>

#include <rte_compat.h>

#include "nudma_model.h"

/**
 * @file
 * Control of a simulated NIC by tests and benchmarks in the same primary process. Telemetry
 * provides the same to other processes.
 */

/**
 * Set or clear a fault: "TARGET,FAULT[,ARGUMENT...]", as telemetry /mpsim/fault. Events are
 * raised, and devices removed, in EAL's interrupt thread.
 *
 * @return
 *   0 or a negative errno; an error was logged.
 */
__rte_experimental
int rte_pmd_mpsim_fault(const char *text);

/**
 * Where the frames are that a NIC has taken from its wire since its first PF was probed.
 * Includes PFs that are gone.
 */
struct mpsim_account {
	uint64_t taken;     /**< from the wire, and from behind representors */
	uint64_t copied;    /**< copies of these, each for one more PF (switch=mac) */
	uint64_t delivered; /**< to the application, by Rx bursts */
	uint64_t in_rings;
	uint64_t in_pipelines;
	uint64_t dropped;      /**< by the NIC and its PFs; each reason has an xstat */
	uint64_t lost;         /**< in rings and pipelines of PFs that were stopped or removed */
	int64_t unaccounted;   /**< the difference: 0 while no burst is under way */
	uint64_t sent;         /**< to the wire, by Tx bursts */
	uint64_t in_tx_rings;  /**< not sent so far */
	uint64_t lost_in_tx;   /**< in Tx rings of queues that were stopped */
	uint64_t tx_dropped;   /**< by Tx bursts: malformed, or without a link or a wire */
	uint64_t on_wire;      /**< sent, not taken so far; not for an ethdev wire */
	uint64_t lost_on_wire; /**< when the wire stopped with the last PF */
	uint64_t rules;        /**< in the tables of the switch and of all PFs */
};

/** Get the account of a NIC. Returns 0, or -ENODEV if there is no NIC of this name. */
__rte_experimental
int rte_pmd_mpsim_account_get(const char *nic, struct mpsim_account *account);

/** State of a NIC's model that is not in its profile. */
struct mpsim_model_state {
	const struct nudma_load *load;
	bool no_ddio;
	bool rings_on_pf;
	uint32_t tx_frames; /**< frames per completion; 0 is 1 */
};

/**
 * Get the model of a PF's NIC, for callers that charge it for their own accesses to packets.
 *
 * @param place_offset
 *   Offset of the byte in a received mbuf with the place of its data (enum nudma_place).
 * @return
 *   0, or -ENODEV if the port is not a PF with a model.
 */
__rte_experimental
int rte_pmd_mpsim_model_get(uint16_t port, const struct nudma_model **model, int *place_offset);

/** Change the model while no thread sends or receives. Returns 0 or -ENODEV. */
__rte_experimental
int rte_pmd_mpsim_model_set(uint16_t port, const struct mpsim_model_state *state);

/**
 * Get the charges of all queues of a PF since it was probed; exact while they are not used.
 * Returns 0 or -ENODEV.
 */
__rte_experimental
int rte_pmd_mpsim_model_account(uint16_t port, struct nudma_account *account);

#endif /* MPSIM_CONTROL_H */
