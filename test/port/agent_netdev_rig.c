/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <net/if.h>

#include <rte_eal.h>
#include <rte_log.h>

#include "agent_log.h"
#include "agent_netdev_rig.h"

RTE_LOG_REGISTER(agent_logtype, octo.agent, INFO)

struct netdev_rig netdev_rig;

unsigned int __wrap_if_nametoindex(const char *name);

unsigned int
__wrap_if_nametoindex(const char *name)
{
	return strcmp(name, "eth0") == 0 && octo_port_kernel.everything != ENODEV ?
		       octo_port_kernel_ifindex() :
		       0;
}

bool
netdev_rig_step(void)
{
	if (netdev_rig.agent != NULL && !netdev_rig.is_mute)
		agent_ethtool_step(netdev_rig.agent, 0);
	return true;
}

static void
have_a_turn(void)
{
	netdev_rig_step();
}

void
netdev_rig_begin(void)
{
	const struct agent_ethtool_config config = {
		.netdev = "eth0",
		.listen = netdev_rig.address,
		.dir = netdev_rig.journal,
	};
	char why[128];

	if (agent_ethtool_open(&config, &netdev_rig.agent, why, sizeof(why)) != 0)
		fail_msg("%s", why);
}

void
netdev_rig_end(void)
{
	if (netdev_rig.agent != NULL)
		agent_ethtool_close(netdev_rig.agent);
	netdev_rig.agent = NULL;
}

/* The journal stays where something cannot be taken back. */
void
netdev_rig_crash(void)
{
	octo_port_kernel.change = EBUSY;
	netdev_rig_end();
	octo_port_kernel.change = 0;
}

int
netdev_rig_setup_without(void **state)
{
	struct netdev_rig *rig = &netdev_rig;

	*rig = (struct netdev_rig){.dir = "/tmp/octo-netdev-XXXXXX"};
	if (mkdtemp(rig->dir) == NULL)
		return -1;
	snprintf(rig->arg, sizeof(rig->arg), "ethtool=unix:%.50s/sock", rig->dir);
	rig->address = strchr(rig->arg, '=') + 1;
	strcpy(rig->journal, rte_eal_get_runtime_dir());
	*strrchr(rig->journal, '/') = '\0';
	octo_port_kernel_waits = have_a_turn;
	return octo_port_kernel_setup(state);
}

int
netdev_rig_setup(void **state)
{
	const int ret = netdev_rig_setup_without(state);

	if (ret == 0)
		netdev_rig_begin();
	return ret;
}

int
netdev_rig_teardown(void **state)
{
	char path[64];
	int ret;

	octo_port_destroy();
	netdev_rig_end();
	ret = octo_port_kernel_teardown(state);
	octo_port_kernel_waits = NULL;
	snprintf(path, sizeof(path), "%s/sock", netdev_rig.dir);
	unlink(path);
	rmdir(netdev_rig.dir);
	return ret;
}
