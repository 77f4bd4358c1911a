/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "demo.h"

int
demo_ports_start(struct demo_ports *ports)
{
	int ret;

	ports->octo_pool = app_pool_create("demo_octo", DEMO_POOL_SIZE);
	ports->peer_pool = app_pool_create("demo_peer", DEMO_POOL_SIZE);
	if (ports->octo_pool == NULL || ports->peer_pool == NULL)
		return -ENOMEM;
	ret = app_port_start(DEMO_PORT, DEMO_NB_LCORES, DEMO_RING, ports->octo_pool, &ports->octo);
	if (ret == 0)
		ret = app_port_start(DEMO_PEER, DEMO_NB_LCORES, DEMO_RING, ports->peer_pool,
				     &ports->peer);
	if (ret == 0)
		ret = app_port_await_link(ports->octo, DEMO_PORT);
	if (ret == 0)
		ret = app_port_await_link(ports->peer, DEMO_PEER);
	return ret;
}

void
demo_ports_stop(const struct demo_ports *ports)
{
	app_port_stop(ports->peer);
	app_port_stop(ports->octo);
}
