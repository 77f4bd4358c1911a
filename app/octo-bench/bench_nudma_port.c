/* SPDX-License-Identifier: BSD-3-Clause */

/* The ways to use two PFs of a simulated NIC whose DMA is charged to a model. */

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "bench_flow.h"
#include "bench_nic.h"
#include "bench_nudma.h"
#include "bench_rule.h"
#include "mpsim_control.h"

#define PEER "net_mpsim9"
#define UPPER_OCTO "net_octo0"
#define UPPER_BONDING "net_bonding0"
#define ARGS_LEN 1024

const char *const nudma_configs[NUDMA_NB_CONFIGS] = {
	[NUDMA_LOCAL] = "local",
	[NUDMA_REMOTE] = "remote",
	[NUDMA_BONDING] = "bonding",
	[NUDMA_OCTO] = "octo",
};

static const char *
port_name(enum nudma_config config)
{
	switch (config) {
	case NUDMA_LOCAL:
		return bench_nic_name(NUDMA_APP);
	case NUDMA_REMOTE:
		return bench_nic_name(NUDMA_FAR);
	case NUDMA_BONDING:
		return UPPER_BONDING;
	default:
		return UPPER_OCTO;
	}
}

/* What has no rule comes by the PF that the configuration is about, or else by the far one. */
static int
add_pfs(const struct nudma_port *p, const struct bench *bench, const char *profile)
{
	const unsigned int main_pf = p->config == NUDMA_LOCAL ? NUDMA_APP : NUDMA_FAR;
	char args[ARGS_LEN];
	int ret = bench_nic_add_device(PEER, "nic=B,wire=nic:A,wire_ring=" RTE_STR(BENCH_RING));

	for (unsigned int i = 0; i < NUDMA_NB_PFS && ret == 0; i++) {
		snprintf(args, sizeof(args),
			 "nic=A,socket=%u,wire_ring=%u,default_pf=%u,"
			 "model=%s,socket_map=%u:%u/%u:%u",
			 i, BENCH_RING, main_pf, profile, bench->machine.cpu[0], NUDMA_FAR,
			 bench->machine.cpu[1], NUDMA_APP);
		ret = bench_nic_add_device(bench_nic_name(i), args);
	}
	return ret;
}

static int
add_upper(const struct nudma_port *p, const struct bench *bench)
{
	char args[ARGS_LEN];

	if (p->config == NUDMA_OCTO)
		snprintf(args, sizeof(args), "learn=off,socket_map=%u:%u/%u:%u,pf=%s,pf=%s",
			 bench->machine.cpu[0], NUDMA_FAR, bench->machine.cpu[1], NUDMA_APP,
			 bench_nic_name(0), bench_nic_name(1));
	else
		/* balance, by addresses and ports */
		snprintf(args, sizeof(args),
			 "mode=2,xmit_policy=l34," OCTO_BOND_MEMBER "=%s," OCTO_BOND_MEMBER "=%s",
			 bench_nic_name(0), bench_nic_name(1));
	return bench_nic_add_device(port_name(p->config), args);
}

/* The network spreads flows over the members of a bond, as it sees fit. */
static int
spread(const struct nudma_port *p)
{
	struct octo_flow_rule rule;
	struct octo_tuple tuple;
	int ret = 0;

	for (uint32_t flow = 1; flow < NUDMA_NB_FLOWS && ret == 0; flow += 2) {
		bench_flow_tuple(flow, &tuple);
		octo_flow_build_transfer(&rule, OCTO_DIALECT_WIRE_ITEM, &tuple, 0, p->pf[0],
					 p->pf[NUDMA_APP], false);
		ret = bench_rule_create(p->pf[0], &rule);
	}
	return ret;
}

/* The application tells octo which queue it wants each flow in. */
static int
steer(const struct nudma_port *p)
{
	int ret = 0;

	for (uint32_t flow = 0; flow < NUDMA_NB_FLOWS && ret == 0; flow++)
		ret = bench_rule_steer(p->port, flow, 0);
	return ret;
}

static int
start(struct nudma_port *p, const struct bench *bench)
{
	int ret = app_port_start(PEER, 1, BENCH_RING, bench->peer_pool, &p->peer);

	for (unsigned int i = 0; i < NUDMA_NB_PFS && ret == 0; i++)
		ret = rte_eth_dev_get_port_by_name(bench_nic_name(i), &p->pf[i]);
	if (ret == 0)
		ret = app_port_start(port_name(p->config), 1, BENCH_RING, bench->pool, &p->port);
	if (ret == 0)
		ret = app_port_await_link(p->port, port_name(p->config));
	if (ret == 0 && p->config == NUDMA_BONDING)
		ret = spread(p);
	if (ret == 0 && p->config == NUDMA_OCTO)
		ret = steer(p);
	if (ret == 0)
		ret = rte_pmd_mpsim_model_get(p->pf[0], &p->model, &p->place_offset);
	return ret;
}

int
nudma_port_open(struct nudma_port *p, const struct bench *bench, enum nudma_config config,
		const char *profile)
{
	int ret;

	*p = (struct nudma_port){.config = config};
	ret = add_pfs(p, bench, profile);
	if (ret == 0 && config >= NUDMA_BONDING)
		ret = add_upper(p, bench);
	return ret == 0 ? start(p, bench) : ret;
}

static void
remove_device(const char *name)
{
	uint16_t port;

	if (rte_eth_dev_get_port_by_name(name, &port) == 0)
		app_port_stop(port);
	rte_eal_hotplug_remove("vdev", name);
}

void
nudma_port_close(struct nudma_port *p)
{
	remove_device(PEER);
	if (p->config >= NUDMA_BONDING)
		remove_device(port_name(p->config));
	for (unsigned int i = 0; i < NUDMA_NB_PFS; i++)
		remove_device(bench_nic_name(i));
}

int
nudma_port_account(const struct nudma_port *p, struct nudma_account *sum,
		   uint64_t packets[NUDMA_NB_PFS])
{
	struct rte_eth_stats stats;
	struct nudma_account one;
	int ret = 0;

	*sum = (struct nudma_account){0};
	for (unsigned int i = 0; i < NUDMA_NB_PFS && ret == 0; i++) {
		ret = rte_pmd_mpsim_model_account(p->pf[i], &one);
		if (ret == 0)
			ret = rte_eth_stats_get(p->pf[i], &stats);
		nudma_account_add(sum, &one);
		packets[i] = stats.ipackets;
	}
	return ret;
}
