/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ETHTOOL_TABLE_H
#define OCTO_ETHTOOL_TABLE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_ethtool.h"
#include "octo_ethtool_journal.h"

/**
 * @file
 * What a netdev's flows are steered by: its ntuple rules and its RETA, as octo changes them. Rules
 * of others are left alone, a rule is looked at before it is removed, and the netdev has its own
 * RETA back in the end. Under the control mutex. Errors are negative errnos.
 */

#define OCTO_ETHTOOL_MAX_KEY 64

struct octo_ethtool_client;

struct octo_ethtool {
	int fd;
	struct octo_ethtool_client *client; /* the agent that asks the kernel, or NULL */
	uint32_t ifindex;
	struct octo_ethtool_journal journal;
	struct {
		uint32_t size;       /* rules that the table can have */
		bool chooses_places; /* the driver chooses the location of a rule */
	} room;
	uint64_t taken[OCTO_ETHTOOL_MAX_RULES / 64]; /* where octo chooses the locations */
	int rules_refused;                           /* errno; no rule can be made */
	int reta_refused;                            /* errno; the RETA cannot be set */
	unsigned int nb_swept;                       /* rules that a previous run had left */
	uint32_t reta_size;                          /* that the netdev has now */
	uint32_t key_size;                           /* 0: the hash cannot be computed */
	uint8_t key[OCTO_ETHTOOL_MAX_KEY];
	uint64_t hash_types; /* RTE_ETH_RSS_...; 0: unknown */
	uint8_t xfrm;        /* octo_ethtool_xfrm(), as last read */
};

/**
 * Take over a netdev: remove what a previous run has left, and find out what the kernel allows.
 *
 * @param dir
 *   Where the journal is; NULL: nowhere.
 * @return
 *   NULL without memory, else see rules_refused and reta_refused.
 */
__rte_internal
struct octo_ethtool *octo_ethtool_open(const char *dir, uint32_t ifindex);

/**
 * The same by an agent, which also has the journal. If it is away, rules_refused and reta_refused
 * are ENOTCONN.
 */
__rte_internal
struct octo_ethtool *octo_ethtool_open_by_agent(const char *addr, uint32_t ifindex);

/** The agent, which was away at octo_ethtool_open_by_agent(), is there. */
__rte_internal
void octo_ethtool_begin_again(struct octo_ethtool *et);

/** Give it back, and free et, which may be NULL. Returns 0, or why something stays. */
__rte_internal
int octo_ethtool_close(struct octo_ethtool *et);

/** Make a rule, unless an older one of the flow, which the kernel did not remove, still stays. */
__rte_internal
int octo_ethtool_insert(struct octo_ethtool *et, const struct octo_tuple *tuple, uint32_t channel,
			struct octo_ethtool_note **rule);

/**
 * Have a rule lead to another channel, with as little in between as the kernel allows. On failure
 * it leads where it did, or, if the kernel has removed it meanwhile and refuses it now, nowhere.
 * That the older rule of a driver that makes the new one beside it stays is a failure, too.
 */
__rte_internal
int octo_ethtool_update(struct octo_ethtool *et, struct octo_ethtool_note *rule, uint32_t channel);

/** Drivers have two errnos for a location without a rule; a netdev without ntuple has no rule. */
static inline bool
octo_ethtool_is_free(int ret)
{
	return ret == -ENOENT || ret == -EINVAL || ret == -EOPNOTSUPP;
}

/** Is it the rule that was noted, rather than one that somebody has put in its place? */
bool
octo_ethtool_is_noted(const struct octo_ethtool_note *note, const struct ethtool_rx_flow_spec *fs);

/**
 * Remove a rule; one that is not in the kernel any more counts as removed. On failure the flow is
 * led as before, also if it is an older rule that stays.
 */
__rte_internal
int octo_ethtool_remove(struct octo_ethtool *et, struct octo_ethtool_note *rule);

/** Remove all rules that octo has made; goes on after an error and returns the first one. */
__rte_internal
int octo_ethtool_flush(struct octo_ethtool *et);

/** The channels of the netdev's RETA, OCTO_ETHTOOL_MAX_RETA at most; sets reta_size. */
__rte_internal
int octo_ethtool_get_reta(struct octo_ethtool *et, uint32_t *reta);

/** Set a RETA whose size divides the netdev's; -ERANGE: it does not. */
__rte_internal
int octo_ethtool_set_reta(struct octo_ethtool *et, const uint32_t *reta, uint32_t size);

/** If the RETA is the one that the journal says, set the one from before, or the default. */
int octo_ethtool_reta_give_back(struct octo_ethtool *et);

/** @name Between octo_ethtool_table.c and octo_ethtool_reta.c @{ */

/** Send a request to the kernel, or to the agent. */
int octo_ethtool_ask(const struct octo_ethtool *et, void *request);

/** Read the sizes of RETA and key, the key, and what is hashed. Sets reta_refused. */
void octo_ethtool_reta_find(struct octo_ethtool *et);

/** Set the RETA that there is, the kernel's default as such. */
int octo_ethtool_reta_try(struct octo_ethtool *et);

/** @} */

#endif /* OCTO_ETHTOOL_TABLE_H */
