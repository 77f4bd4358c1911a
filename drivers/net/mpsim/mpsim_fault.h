/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_FAULT_H
#define MPSIM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_stdatomic.h>

/**
 * @file
 * What can go wrong with a PF, set while it runs: "TARGET,FAULT[,ARGUMENT...]",
 * by telemetry or rte_pmd_mpsim_fault(). One thread at a time: the control lock.
 */

struct mpsim_pf;

/** How a PF goes. */
enum mpsim_removal {
	MPSIM_REMOVAL_ANNOUNCED, /**< RTE_ETH_EVENT_INTR_RMV, and a time later it is removed */
	MPSIM_REMOVAL_EJECT,     /**< the same, unless who is told removes it before */
	MPSIM_REMOVAL_SURPRISE,  /**< it is dead at once, and a time later it is removed */
};

/** Why a PF takes nothing from the switch. */
enum mpsim_mute {
	MPSIM_MUTE_NOT,
	MPSIM_MUTE_RECOVERING,
	MPSIM_MUTE_DEAD,
};

/** Which of the coming rules it befalls. Under the NIC's lock. */
struct mpsim_mishap {
	uint32_t skip;  /**< rules before the first */
	uint32_t count; /**< and how many it befalls then */
	int code;       /**< errno */
};

struct mpsim_faults {
	bool no_link;
	uint64_t full_rings; /**< mask of Rx queues */
	uint32_t room_arfs;  /**< rules that fit, if the table has more room */
	uint32_t room_generic;
	RTE_ATOMIC(bool) rules; /**< there is one of the following */
	uint32_t rule_us;       /**< that a rule takes to be made */
	struct mpsim_mishap fail;
	struct mpsim_mishap lost;        /**< accepted, and of no effect */
	struct mpsim_mishap false_error; /**< done, and said to have failed */
};

/** What befalls a rule. */
struct mpsim_fate_of_rule {
	uint32_t us;
	int code; /**< errno, 0: it is made */
	bool lost;
	bool false_error;
};

/* mpsim_fault.c */
void mpsim_fault_init(struct mpsim_faults *f);

/**
 * Set a fault, or clear it.
 *
 * @param why
 *   What is wrong with the text, on failure.
 * @return
 *   0 or a negative errno.
 */
int mpsim_fault_set(const char *text, char *why, size_t size);

/* mpsim_fault_rule.c */

/** Ask once for every rule that is put into a table or changed. Without the NIC's lock. */
struct mpsim_fate_of_rule mpsim_fault_next_rule(struct mpsim_pf *pf);

/** Let time pass. Without any lock of the NIC. */
void mpsim_fault_wait(uint32_t us);

/* mpsim_hotplug.c: in EAL's interrupt thread, where a bus reports such things */

/** Is the device out of its slot, so that nothing can be probed? */
bool mpsim_hotplug_is_out(const char *name);

/** @return 0 or a negative errno: -EBUSY if it is under way already. */
int mpsim_hotplug_remove(struct mpsim_pf *pf, enum mpsim_removal how, uint32_t us);

/** The device is being removed: if it was to be ejected, it is out of its slot now. */
void mpsim_hotplug_released(const char *name);

/** A removal that was not done yet is not to be done. */
void mpsim_hotplug_call_off(const char *name);

/** @return 0 or a negative errno: -ENODEV if it is not out, -EBUSY if it is not out yet. */
int mpsim_hotplug_insert(const char *name, bool probe);

/** Names of devices that are out, or on their way. @return the next one, after NULL. */
const char *mpsim_hotplug_next(const char *name, bool *out);

/** Raise an event of the port. */
int mpsim_hotplug_raise(const char *name, int event);

#endif /* MPSIM_FAULT_H */
