/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ETHTOOL_JOURNAL_H
#define OCTO_ETHTOOL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/ethtool.h>

/**
 * @file
 * The kernel does not know whose an ntuple rule is. So what octo changes of a netdev is written to
 * a file first, which outlives a crash: the next run takes back what it finds there. The file is
 * mapped memory, as a process that dies leaves what it has stored. A lock of the file, which ends
 * with the process, says that its writer lives.
 */

#define OCTO_ETHTOOL_MAX_RETA 4096
/** Rules at most, however large a table is. */
#define OCTO_ETHTOOL_MAX_RULES 16384
/** One more note: of a rule that is made beside another. */
#define OCTO_ETHTOOL_MAX_NOTES (OCTO_ETHTOOL_MAX_RULES + 1)

/** A note of a rule that stays beside the one that replaces it, or after a flush. */
#define OCTO_ETHTOOL_LEFT 2

/** A rule that octo has made, or is about to make. */
struct octo_ethtool_note {
	uint32_t used;         /**< 0: it is free; the last field that is written */
	uint32_t reserved;     /**< zero */
	uint64_t queue_before; /**< fs.ring_cookie, or the one before while it is changed */
	struct ethtool_rx_flow_spec fs; /**< location RX_CLS_LOC_ANY: not known yet */
};

/** The RETA that the netdev had, and those that octo has set or is about to set. */
struct octo_ethtool_reta {
	uint32_t size[2];     /**< of each of ours; 0: it is none */
	uint32_t now;         /**< index in ours[] of the RETA that was set last */
	uint32_t size_before; /**< of the netdev's own; 0: it was the kernel's default */
	uint32_t before[OCTO_ETHTOOL_MAX_RETA];
	uint32_t ours[2][OCTO_ETHTOOL_MAX_RETA];
};

/** The content of the file. */
struct octo_ethtool_record {
	char magic[16];
	char boot[40]; /**< rules do not outlive a boot */
	uint32_t ifindex;
	uint32_t nb_notes;
	struct octo_ethtool_reta reta;
	struct octo_ethtool_note notes[];
};

struct octo_ethtool_journal {
	int fd; /**< -1: in memory only */
	char path[256];
	size_t len;                         /**< of what is mapped */
	struct octo_ethtool_record *record; /**< NULL: none */
};

/**
 * Open the file of a netdev, and read what a previous run has left.
 *
 * @param dir
 *   NULL: what is written does not outlive this process.
 * @return
 *   0; record is not NULL if a previous run has left one. -EALREADY: a process that lives has it.
 */
int octo_ethtool_journal_open(struct octo_ethtool_journal *j, const char *dir, uint32_t ifindex);

/** Begin a new record in place of the previous one. Returns 0 or a negative errno. */
int octo_ethtool_journal_begin(struct octo_ethtool_journal *j, uint32_t ifindex, uint32_t nb_rules);

/** Nothing is left to be taken back: remove the file. */
void octo_ethtool_journal_end(struct octo_ethtool_journal *j);

/** Close the file and leave it to the next run. */
void octo_ethtool_journal_leave(struct octo_ethtool_journal *j);

/**
 * Write a rule down.
 *
 * @param beside
 *   It replaces one that is noted: the last note is kept for these.
 * @return
 *   NULL if there is no room.
 */
struct octo_ethtool_note *
octo_ethtool_journal_note(struct octo_ethtool_journal *j, const struct ethtool_rx_flow_spec *fs,
			  bool beside);

/** The rule is gone. */
void octo_ethtool_journal_strike(struct octo_ethtool_note *note);

#endif /* OCTO_ETHTOOL_JOURNAL_H */
