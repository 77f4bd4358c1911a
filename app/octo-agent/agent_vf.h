/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_VF_H
#define AGENT_VF_H

#include "agent_options.h"

/**
 * @file
 * From VFs that vf= names to the ethdevs of their representors.
 */

/**
 * Fill in the rep of each PF that has vf= instead, and check that EAL has it and the uplink as
 * ports of one switch. Nothing happens without --uplink.
 *
 * @return
 *   0, or a negative errno after a message: -EEXIST if a representor is given twice.
 */
int agent_vf_find_reps(struct agent_options *options);

#endif /* AGENT_VF_H */
