/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_FAULT_H
#define MPSIM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_stdatomic.h>

/**
 * @file
 * Faults of a PF, set at run time: "TARGET,FAULT[,ARGUMENT...]", by telemetry or
 * rte_pmd_mpsim_fault(). By one thread at a time: the control lock.
 */

struct mpsim_pf;

/** Ways to remove a PF. */
enum mpsim_removal {
	MPSIM_REMOVAL_ANNOUNCED, /**< RTE_ETH_EVENT_INTR_RMV, and the removal after a delay */
	MPSIM_REMOVAL_EJECT,     /**< the same, unless the application removes it before */
	MPSIM_REMOVAL_SURPRISE,  /**< dead at once, and removed after a delay */
};

/** Why a PF accepts no frames from the switch. */
enum mpsim_mute {
	MPSIM_MUTE_NOT,
	MPSIM_MUTE_RECOVERING,
	MPSIM_MUTE_RESET, /**< until rte_eth_dev_reset() */
	MPSIM_MUTE_DEAD,
};

/** Selects which of the next rules have a fault. Under the NIC's lock. */
struct mpsim_mishap {
	uint32_t skip;  /**< rules without the fault, first */
	uint32_t count; /**< rules with the fault, then */
	int code;       /**< errno */
};

struct mpsim_faults {
	bool no_link;
	int reset_code;      /**< errno of resets, 0: they succeed */
	uint64_t full_rings; /**< mask of Rx queues */
	uint32_t room_arfs;  /**< rules that fit, if less than the table has room for */
	uint32_t room_generic;
	RTE_ATOMIC(bool) rules; /**< one of the following is set */
	uint32_t rule_us;       /**< added time per rule */
	struct mpsim_mishap fail;
	struct mpsim_mishap lost;        /**< accepted, but without effect */
	struct mpsim_mishap false_error; /**< done, but reported as failed */
};

/** Faults of one rule. */
struct mpsim_fate_of_rule {
	uint32_t us;
	int code; /**< errno, 0: it succeeds */
	bool lost;
	bool false_error;
};

/* mpsim_fault.c */
void mpsim_fault_init(struct mpsim_faults *f);

/**
 * Set or clear a fault.
 *
 * @param why
 *   Filled on failure with the error of the text.
 * @return
 *   0 or a negative errno.
 */
int mpsim_fault_set(const char *text, char *why, size_t size);

/** The PF is reset: end the fault that asks for it. Returns 0, or the negative errno of a fault. */
int mpsim_fault_reset(struct mpsim_pf *pf);

/* mpsim_fault_rule.c */

/** Get the faults of the next rule; called once per insertion or change. Without the NIC's lock. */
struct mpsim_fate_of_rule mpsim_fault_next_rule(struct mpsim_pf *pf);

/** Wait. Without any lock of the NIC. */
void mpsim_fault_wait(uint32_t us);

/* mpsim_hotplug.c: runs in EAL's interrupt thread, like reports of a bus */

/** Is the device out of its slot, so that it cannot be probed? */
bool mpsim_hotplug_is_out(const char *name);

/** Start a removal. Returns 0, or a negative errno: -EBUSY if one is under way. */
int mpsim_hotplug_remove(struct mpsim_pf *pf, enum mpsim_removal how, uint32_t us);

/** The device is being removed: if it was to be ejected, it is out of its slot now. */
void mpsim_hotplug_released(const char *name);

/** Cancel a pending removal. */
void mpsim_hotplug_call_off(const char *name);

/**
 * Put the device in again. Returns 0, or a negative errno: -ENODEV if it is not out, -EBUSY if
 * its removal is not complete.
 */
int mpsim_hotplug_insert(const char *name, bool probe);

/** Iterate over the names of devices that are out or being removed, starting with NULL. */
const char *mpsim_hotplug_next(const char *name, bool *out);

/** Raise an event of the port. */
int mpsim_hotplug_raise(const char *name, int event);

#endif /* MPSIM_FAULT_H */
