/* SPDX-License-Identifier: BSD-3-Clause */

#include "agent_rules_rig.h"

#define BURST 32

const struct rig_kind rig_direct = {.own_pfs = true};
const struct rig_kind rig_eswitch = {.uplink = true, .own_pfs = true};
const struct rig_kind rig_eswitch_of_host = {.uplink = true};

const struct rig_kind *rig_kind;
void (*rig_between)(void);

struct rte_flow *
__real_rte_flow_create(uint16_t port, const struct rte_flow_attr *attr,
		       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		       struct rte_flow_error *error);
struct rte_flow *
__wrap_rte_flow_create(uint16_t port, const struct rte_flow_attr *attr,
		       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		       struct rte_flow_error *error);
int __real_rte_flow_destroy(uint16_t port, struct rte_flow *flow, struct rte_flow_error *error);
int __wrap_rte_flow_destroy(uint16_t port, struct rte_flow *flow, struct rte_flow_error *error);

struct rte_flow *
__wrap_rte_flow_create(uint16_t port, const struct rte_flow_attr *attr,
		       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		       struct rte_flow_error *error)
{
	struct rte_flow *flow = __real_rte_flow_create(port, attr, pattern, actions, error);

	if (rig_between != NULL)
		rig_between();
	return flow;
}

int
__wrap_rte_flow_destroy(uint16_t port, struct rte_flow *flow, struct rte_flow_error *error)
{
	int ret = __real_rte_flow_destroy(port, flow, error);

	if (rig_between != NULL)
		rig_between();
	return ret;
}

static unsigned int
nb_ports(void)
{
	return rig_kind->uplink ? RIG_PORTS : RIG_PFS;
}

void
rig_add_ports(const char *nic, const char *all)
{
	const struct octo_port_conf conf = {
		.nic = nic,
		.all = all,
		.pf = {[RIG_UPLINK] = "representor=uplink",
		       [RIG_REP(0)] = "representor=pf0",
		       [RIG_REP(1)] = "representor=pf1",
		       [RIG_REP(2)] = "representor=pf2"},
	};

	for (unsigned int i = 0; i < nb_ports(); i++) {
		octo_port_add_pf(&conf, i);
		octo_port_up(octo_port_pf(i), RIG_QUEUES);
	}
}

struct agent_rules_config
rig_config(void)
{
	struct agent_rules_config c = {
		.nb_pfs = RIG_PFS,
		.uplink = RTE_MAX_ETHPORTS,
		.default_pf = RIG_DEFAULT_PF,
	};

	for (unsigned int pf = 0; pf < RIG_PFS; pf++) {
		c.pf_port[pf] = rig_kind->own_pfs ? octo_port_pf(pf) : RTE_MAX_ETHPORTS;
		c.rep_port[pf] = rig_kind->uplink ? octo_port_pf(RIG_REP(pf)) : RTE_MAX_ETHPORTS;
	}
	if (rig_kind->uplink)
		c.uplink = octo_port_pf(RIG_UPLINK);
	return c;
}

/* The wire is a loop: what the uplink sends, or the default PF, comes in from the network. */
uint16_t
rig_player(void)
{
	return octo_port_pf(rig_kind->uplink ? RIG_UPLINK : RIG_DEFAULT_PF);
}

static unsigned int
poll(unsigned int port, uint16_t queue)
{
	struct octo_port_tally tally = {0};

	octo_port_poll(octo_port_pf(port), queue, BURST, &tally);
	assert_int_equal(tally.wrong_flow + tally.wrong_port, 0);
	return tally.packets;
}

unsigned int
rig_poll_all(unsigned int got[RIG_PORTS][RIG_QUEUES])
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < nb_ports(); i++) {
		for (uint16_t q = 0; q < RIG_QUEUES; q++) {
			const unsigned int n = poll(i, q);

			got[i][q] += n;
			sum += n;
		}
	}
	return sum;
}

/* All of n packets of the flow are to arrive on this port and queue. */
void
rig_expect(uint16_t src_port, unsigned int port, uint16_t queue)
{
	const unsigned int n = 5;
	unsigned int got[RIG_PORTS][RIG_QUEUES] = {0};

	octo_port_send(rig_player(), 0, src_port, n);
	while (rig_poll_all(got) > 0)
		continue;
	if (got[port][queue] == n)
		return;
	for (unsigned int i = 0; i < nb_ports(); i++)
		for (uint16_t q = 0; q < RIG_QUEUES; q++)
			print_error("port %u, queue %u: %u packets\n", i, q, got[i][q]);
	fail_msg("flow %u did not arrive on queue %u of port %u", src_port, queue, port);
}
