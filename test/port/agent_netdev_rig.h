/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_NETDEV_RIG_H
#define AGENT_NETDEV_RIG_H

#include <stdbool.h>

#include "octo_port.h"
#include "octo_port_kernel.h"

#include "agent_ethtool.h"

/**
 * @file
 * The agent of the test's netdev, at a unix socket, in this process. It has its turn whenever a
 * port waits for it, and in netdev_rig_await().
 */

struct netdev_rig {
	char dir[32];  /**< of the socket */
	char arg[80];  /**< devarg of the port */
	char *address; /**< in arg */
	char journal[256];
	struct agent_ethtool *agent; /**< NULL: it is away */
	bool is_mute;                /**< it has no turn */
};

extern struct netdev_rig netdev_rig;

/** cmocka fixtures: the kernel's and, but in the second one, an agent that runs. */
int netdev_rig_setup(void **state);
int netdev_rig_setup_without(void **state);
int netdev_rig_teardown(void **state);

/** The agent begins, and ends. */
void netdev_rig_begin(void);
void netdev_rig_end(void);
/** It dies: what it has changed stays. */
void netdev_rig_crash(void);

/** It looks at its connections. Returns true. */
bool netdev_rig_step(void);

#define netdev_rig_await(condition) octo_port_await(netdev_rig_step() && (condition))

#define netdev_rig_test(f) cmocka_unit_test_setup_teardown(f, netdev_rig_setup, netdev_rig_teardown)
#define netdev_rig_test_without(f)                                                                 \
	cmocka_unit_test_setup_teardown(f, netdev_rig_setup_without, netdev_rig_teardown)

#endif /* AGENT_NETDEV_RIG_H */
