/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SLICES_H
#define OCTO_SLICES_H

#include <stdint.h>

#include <rte_ethdev.h>

#include "octo_slice.h"

/**
 * @file
 * PFs that are slices of one port's queues: the NIC's driver, or the kernel, has joined the PFs
 * into one ethdev, whose queues lie on several nodes. The port is configured with the queues of
 * all slices; a rule of it chooses queue and PF at once. All under the control mutex.
 */

/** Longest name of a PF, with its end. */
#define OCTO_PF_NAME_MAX (RTE_ETH_NAME_MAX_LEN + OCTO_SLICE_TEXT_MAX)

struct octo_dev;
struct octo_port;

/**
 * Compute the slices that are parts of all queues of the port, which is described by info, and
 * check that the port has at least one queue for each slice. Returns 0, or a negative errno after
 * an error message with nothing changed; -EBUSY: they are others, but the octo port is started.
 */
int octo_slices_fit(struct octo_dev *octo, const struct rte_eth_dev_info *info);

/** Writes PORT[SLICE], or the port's name where the PF is no slice; "none" for OCTO_NO_PF. */
void octo_pf_format(const struct octo_dev *octo, uint8_t pf, char *text, size_t size);

/** Queues to configure the port with, if the octo port has nb: Rx and Tx alike. */
uint16_t octo_slices_total(const struct octo_dev *octo, uint16_t nb);

/** Reduce a port's numbers of queues to those that the octo port can have. */
void octo_slices_narrow(const struct octo_dev *octo, struct rte_eth_dev_info *info);

/** Number of the port's Rx queues, as it is configured, that are no leg: nothing polls them. */
uint16_t octo_slices_nb_idle(const struct octo_dev *octo);

/**
 * Set up the port's queues that are no leg, like queue 0: ethdev starts no port without. Called
 * when queue 0 is set up, so that none holds its previous pool, and before the port starts.
 */
int octo_slices_set_up_idle_locked(const struct octo_dev *octo, const struct octo_port *port);

/** The PF whose slice has this queue of the port; OCTO_NO_PF if none has. */
uint8_t octo_slices_pf_of(const struct octo_dev *octo, uint16_t queue);

/** The octo queue that is this queue of a port, with or without slices; -1 if none is. */
int octo_slices_queue_of(const struct octo_dev *octo, const struct octo_port *port, uint16_t queue);

#endif /* OCTO_SLICES_H */
