/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RSS_H
#define OCTO_RSS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "octo_tuple.h"

/**
 * @file
 * RSS: one key and one RETA of octo queues for all PFs. Under the control mutex, but for the
 * operations of ethdev, which take it.
 */

struct octo_dev;

/**
 * Before DPDK 24.07, where ethdev refuses it, a key of length 0 has 40 bytes, by the comment on
 * rss_key_len, or is ignored, as by i40e, whose keys are longer.
 */
static inline void
octo_rss_set_length(struct rte_eth_rss_conf *rss, uint8_t key_size)
{
	if (rss->rss_key == NULL || rss->rss_key_len != 0)
		return;
	if (key_size == 40)
		rss->rss_key_len = key_size;
	else
		rss->rss_key = NULL;
}

/* octo_rss.c */
int octo_rss_configure(struct octo_dev *octo);
int octo_rss_check_slices(const struct octo_dev *octo);
int octo_rss_level(struct octo_dev *octo);

/**
 * Read the RETA of the port that slices are of, before octo configures it; give it back when the
 * octo port is closed. A port that octo has probed is removed then, and a netdev has its own way.
 */
void octo_rss_remember(struct octo_dev *octo);
void octo_rss_give_back_locked(struct octo_dev *octo);

bool octo_rss_is_on(const struct octo_dev *octo);
int octo_rss_apply_reta_locked(struct octo_dev *octo, const uint16_t *reta);
void octo_rss_keep_hash(struct octo_dev *octo, const struct rte_eth_rss_conf *rss);
int octo_rss_set_pf_reta(struct octo_dev *octo, uint8_t port, const uint16_t *reta);

/**
 * Write the RETA's entries of a queue again: another leg stands for it, where the PFs are slices of
 * one port. Returns 0 or a negative errno.
 */
int octo_rss_lead_queue_locked(struct octo_dev *octo, uint16_t queue);

/* octo_rss_queue.c: where RSS sends a flow, if the PFs hash as configured */

/** The queue, or -1 if it is unknown. */
int octo_rss_queue_locked(const struct octo_dev *octo, const struct octo_tuple *tuple);

/** Does the key lead both to the same queue, whatever the RETA? False if that is unknown. */
bool octo_rss_joins_locked(const struct octo_dev *octo, const struct octo_tuple *a,
			   const struct octo_tuple *b);

/** The PF, where the PFs are slices of one port; OCTO_NO_PF if it is unknown. */
uint8_t octo_rss_pf_locked(const struct octo_dev *octo, const struct octo_tuple *tuple);

/* octo_rss_ops.c */
int octo_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf, uint16_t size);
int octo_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf, uint16_t size);
int octo_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int octo_rss_hash_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);

#endif /* OCTO_RSS_H */
