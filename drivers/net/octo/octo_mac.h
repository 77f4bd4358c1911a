/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MAC_H
#define OCTO_MAC_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mempool.h>
#include <rte_stdatomic.h>

#include "octo_mac_plan.h"

/**
 * @file
 * Tier mac: the MAC addresses of the PFs. Entry i of the port's MAC table is the address of PF i
 * then, the first one that of PF 0. Under the control mutex.
 */

struct octo_dev;
struct octo_port;

/* The source address of sent packets: devarg mac_source=. */
enum octo_mac_source {
	OCTO_MAC_SOURCE_REWRITE, /* another PF's address becomes that of the sending PF */
	OCTO_MAC_SOURCE_ADDRESS, /* the address chooses the sending PF */
	OCTO_MAC_SOURCE_APP,     /* the application takes care of it */
};

/* What the data path knows. Written by the control side; no other data depends on it. */
struct octo_mac_view {
	RTE_ATOMIC(uint32_t) apart; /* PFs with addresses of their own: a mask, 0 in other tiers */
	RTE_ATOMIC(uint8_t) holder[OCTO_PLAN_MAX_PFS]; /* as octo_mac_plan.holder */
	RTE_ATOMIC(uint32_t) groups; /* PFs whose frames to groups are copies: a mask */
	RTE_ATOMIC(uint32_t) foreign[OCTO_PLAN_MAX_PFS]; /* by PF: octo_mac_plan_foreign() */
	RTE_ATOMIC(uint32_t) others[OCTO_PLAN_MAX_PFS];  /* by PF: addresses that others hold */
	RTE_ATOMIC(uint64_t) mac[OCTO_PLAN_MAX_PFS];     /* octo_mac_key() of each PF's address */
};

/* State of the addresses; in struct octo_dev. */
struct octo_macs {
	enum octo_mac_source source;
	bool reserved; /* the PFs' addresses are in the port's MAC table */
	bool apart;    /* each PF has its own */
	struct rte_ether_addr own[OCTO_PLAN_MAX_PFS]; /* as found; [0] is not used */
	struct octo_mac_plan plan; /* as on the PFs, or as it was when they were apart */
	struct octo_mac_view view;
	/* since the start; what came meanwhile may be in a PF's rings */
	uint32_t promiscuous;             /* PFs that were: a mask */
	uint32_t held[OCTO_PLAN_MAX_PFS]; /* by PF: the addresses that it has held, as a mask */
	bool renewed;                     /* a PF that has returned lacks all but its own address */
	bool announces;                   /* each PF has one more Tx queue, for announcements */
	uint32_t due;                     /* addresses that have moved, not announced yet: a mask */
	uint64_t announced;               /* announcements sent so far */
	struct rte_mempool *announce;     /* pool of these frames; primary only */
};

/** At probe, with tier=mac: enter the PFs' addresses in the port's MAC table if they differ. */
void octo_mac_reserve(struct octo_dev *octo);

/** Why the PFs cannot have addresses of their own, or NULL. */
const char *octo_mac_refuse(const struct octo_dev *octo);

/** Give each PF its own address, and to one PF what is for several. */
void octo_mac_spread_locked(struct octo_dev *octo);

/** Give all PFs the port's address and all others. Without effect if they have these. */
void octo_mac_join_locked(struct octo_dev *octo);

/** Move addresses when other PFs are usable. */
void octo_mac_follow_locked(struct octo_dev *octo);

/** The PF that returns gets its own address; more follows when it is usable. */
int octo_mac_resync_locked(struct octo_dev *octo, struct octo_port *port);

/** Tell the data path who has which address, and which frames are copies. */
void octo_mac_publish_locked(struct octo_dev *octo, bool promiscuous);

/** This entry of the port's MAC table. */
struct rte_ether_addr octo_mac_entry(const struct octo_dev *octo, uint32_t i);

/** Does this entry of the port's MAC table belong to a PF? */
bool octo_mac_is_reserved(const struct octo_dev *octo, uint32_t index);

/** While apart: the application changes the first address. */
int octo_mac_set_first_locked(struct octo_dev *octo, const struct rte_ether_addr *mac);

/** Is this the port's own address? */
bool octo_mac_is_of(const struct octo_port *port, const struct rte_ether_addr *mac);

/** Set the port's own address, a struct rte_ether_addr; one that it has need not be supported. */
int octo_mac_set_on(struct octo_port *port, const void *mac);

/* octo_mac_announce.c */

/** At configuration: is there a Tx queue for announcements? */
void octo_mac_announce_configure_locked(struct octo_dev *octo);

/** Before the PF starts: set up its queue for announcements, if there is one. */
int octo_mac_announce_set_up_locked(const struct octo_dev *octo, uint8_t port);

/** Announce addresses that have moved. */
void octo_mac_announce_tick_locked(struct octo_dev *octo);

/** At close, when no PF has frames any more. */
void octo_mac_announce_fini_locked(struct octo_dev *octo);

/** The address of this mask that has the key, or -1. */
static inline int
octo_mac_find(const struct octo_mac_view *view, uint32_t mask, uint64_t key)
{
	for (int i = 0; mask >> i != 0; i++)
		if ((mask >> i & 1) &&
		    rte_atomic_load_explicit(&view->mac[i], rte_memory_order_relaxed) == key)
			return i;
	return -1;
}

/** The ports with promiscuity, groups and added addresses, as a mask. */
static inline uint32_t
octo_mac_shared_by(const struct octo_macs *macs)
{
	return macs->apart ? UINT32_C(1) << macs->plan.designated : UINT32_MAX;
}

#endif /* OCTO_MAC_H */
