/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_RULES_RIG_H
#define AGENT_RULES_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_port.h"

#include "agent_rules.h"

/**
 * @file
 * mpsim NICs of the kinds that the agent's rules know, on a looped wire. A third
 * PF is the default one: what arrives there matched no rule.
 */

#define RIG_PFS 3
#define RIG_DEFAULT_PF 2
#define RIG_UPLINK 3
#define RIG_REP(pf) (RIG_UPLINK + 1 + (pf))
#define RIG_PORTS 7
#define RIG_QUEUES 3

struct rig_kind {
	bool uplink;  /**< and a representor of each PF */
	bool own_pfs; /**< the agent's, not another program's */
};

extern const struct rig_kind rig_direct;
extern const struct rig_kind rig_eswitch;
extern const struct rig_kind rig_eswitch_of_host;

/** Of the test that runs. */
extern const struct rig_kind *rig_kind;

/** Called after each rule that was made or removed, so that nothing in between goes unseen. */
extern void (*rig_between)(void);

/** Make and start the NIC of this kind, with more devargs of the NIC and of every port. */
void rig_add_ports(const char *nic, const char *all);

/** What is right for agent_rules_create(). */
struct agent_rules_config rig_config(void);

/** Send here, on queue 0, and it comes in from the network. */
uint16_t rig_player(void);

/** One burst of every queue; got is added to. @return how many packets. */
unsigned int rig_poll_all(unsigned int got[RIG_PORTS][RIG_QUEUES]);

/** Fail unless all packets of the flow arrive on this port and queue. */
void rig_expect(uint16_t src_port, unsigned int port, uint16_t queue);

#endif /* AGENT_RULES_RIG_H */
