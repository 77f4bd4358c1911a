/* SPDX-License-Identifier: BSD-3-Clause */

/* UDP tunnel ports, and the VLAN of what is sent, over PFs that have these operations. */

#include <errno.h>

#include <ethdev_driver.h>

#include "octo_port.h"

#define NB_PFS 2
#define NB_TUNNELS 64
#define VXLAN 4789
#define GENEVE 6081

static const struct octo_port_conf two_pfs = {.replug = true};

/* What a PF was told, and its refusals. As some drivers, it takes a tunnel port once. */
static struct pf {
	const struct eth_dev_ops *real;
	struct eth_dev_ops ops;
	uint16_t tunnels[NB_TUNNELS];
	uint16_t pvid; /* 0: none */
	int refusal;   /* errno */
} pfs[NB_PFS];

static struct pf *
of(const struct rte_eth_dev *dev)
{
	for (unsigned int i = 0; i < NB_PFS; i++)
		if (dev->dev_ops == &pfs[i].ops)
			return &pfs[i];
	fail_msg("port %u is no PF of the test", dev->data->port_id);
	return NULL;
}

static uint16_t *
find(struct pf *pf, uint16_t udp_port)
{
	for (unsigned int i = 0; i < NB_TUNNELS; i++)
		if (pf->tunnels[i] == udp_port)
			return &pf->tunnels[i];
	return NULL;
}

static bool
knows(unsigned int i, uint16_t udp_port)
{
	return find(&pfs[i], udp_port) != NULL;
}

static int
tunnel_add(struct rte_eth_dev *dev, struct rte_eth_udp_tunnel *tunnel)
{
	struct pf *pf = of(dev);

	if (pf->refusal != 0)
		return -pf->refusal;
	if (find(pf, tunnel->udp_port) != NULL)
		return -EEXIST;
	*find(pf, 0) = tunnel->udp_port;
	return 0;
}

static int
tunnel_del(struct rte_eth_dev *dev, struct rte_eth_udp_tunnel *tunnel)
{
	uint16_t *known = find(of(dev), tunnel->udp_port);

	if (of(dev)->refusal != 0)
		return -of(dev)->refusal;
	if (known == NULL)
		return -ENOENT;
	*known = 0;
	return 0;
}

static int
pvid_set(struct rte_eth_dev *dev, uint16_t vlan_id, int on)
{
	if (of(dev)->refusal == 0)
		of(dev)->pvid = on ? vlan_id : 0;
	return -of(dev)->refusal;
}

static void
equip_port(unsigned int i, uint16_t port_id)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port_id];
	struct pf *pf = &pfs[i];

	*pf = (struct pf){.real = dev->dev_ops, .ops = *dev->dev_ops};
	pf->ops.udp_tunnel_port_add = tunnel_add;
	pf->ops.udp_tunnel_port_del = tunnel_del;
	pf->ops.vlan_pvid_set = pvid_set;
	dev->dev_ops = &pf->ops;
}

static uint16_t
start(void)
{
	const uint16_t port = octo_port_create(&two_pfs);

	for (unsigned int i = 0; i < NB_PFS; i++)
		equip_port(i, octo_port_pf(i));
	octo_port_up(port, 1);
	return port;
}

static int
add(uint16_t port, uint16_t udp_port)
{
	struct rte_eth_udp_tunnel tunnel = {.udp_port = udp_port,
					    .prot_type = RTE_ETH_TUNNEL_TYPE_VXLAN};

	return rte_eth_dev_udp_tunnel_port_add(port, &tunnel);
}

static int
del(uint16_t port, uint16_t udp_port)
{
	struct rte_eth_udp_tunnel tunnel = {.udp_port = udp_port,
					    .prot_type = RTE_ETH_TUNNEL_TYPE_VXLAN};

	return rte_eth_dev_udp_tunnel_port_delete(port, &tunnel);
}

static void
assert_known(uint16_t udp_port, bool known)
{
	for (unsigned int i = 0; i < NB_PFS; i++)
		assert_int_equal(knows(i, udp_port), known);
}

static void
test_tunnel_ports_go_to_all_pfs(void **state)
{
	const uint16_t port = start();

	(void)state;
	assert_int_equal(add(port, VXLAN), 0);
	assert_int_equal(add(port, GENEVE), 0);
	assert_known(VXLAN, true);
	assert_known(GENEVE, true);
	/* the port has it already: its PFs are not asked */
	assert_int_equal(add(port, VXLAN), 0);
	assert_int_equal(del(port, VXLAN), 0);
	assert_known(VXLAN, false);
	assert_known(GENEVE, true);
	assert_int_equal(del(port, VXLAN), -ENOENT);
	octo_port_close_and_remove(port);
	assert_known(GENEVE, false);
}

static void
test_all_pfs_have_a_tunnel_port_or_none(void **state)
{
	const uint16_t port = start();

	(void)state;
	pfs[1].refusal = EIO;
	assert_int_equal(add(port, VXLAN), -EIO);
	assert_false(knows(0, VXLAN));
	pfs[1].refusal = 0;
	assert_int_equal(add(port, VXLAN), 0);
	pfs[1].refusal = EIO;
	assert_int_equal(del(port, VXLAN), -EIO);
	assert_known(VXLAN, true);
}

static void
test_tunnel_ports_are_limited(void **state)
{
	const uint16_t port = start();
	unsigned int nb = 0;

	(void)state;
	while (add(port, VXLAN + nb) == 0)
		nb++;
	assert_int_equal(nb, 32);
	assert_int_equal(add(port, VXLAN + nb), -ENOSPC);
	assert_known(VXLAN + nb, false);
	assert_int_equal(del(port, VXLAN), 0);
	assert_int_equal(add(port, VXLAN + nb), 0);
	assert_known(VXLAN + nb, true);
}

static void
test_the_vlan_of_what_is_sent_is_that_of_all_pfs(void **state)
{
	const uint16_t port = start();

	(void)state;
	assert_int_equal(rte_eth_dev_set_vlan_pvid(port, 7, 1), 0);
	assert_int_equal(pfs[0].pvid, 7);
	assert_int_equal(pfs[1].pvid, 7);
	pfs[1].refusal = EIO;
	assert_int_equal(rte_eth_dev_set_vlan_pvid(port, 8, 1), -EIO);
	assert_int_equal(pfs[0].pvid, 7);
	pfs[1].refusal = 0;
	octo_port_close_and_remove(port);
	assert_int_equal(pfs[0].pvid, 0);
	assert_int_equal(pfs[1].pvid, 0);
}

/* A PF that returns has the operations before octo sees it. */
static int
equip_returning(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret)
{
	(void)event;
	(void)arg;
	(void)ret;
	equip_port(1, port_id);
	return 0;
}

static bool
is_back(uint16_t port)
{
	struct octo_port_tally tally;

	octo_port_poll(port, 0, 1, &tally);
	octo_port_pass_us(1000);
	return octo_port_pf_is_started(port, 1);
}

static void
test_they_come_back_with_the_pf(void **state)
{
	const uint16_t port = start();

	(void)state;
	assert_int_equal(add(port, VXLAN), 0);
	assert_int_equal(add(port, GENEVE), 0);
	assert_int_equal(rte_eth_dev_set_vlan_pvid(port, 7, 1), 0);
	octo_port_remove_pf(1);
	assert_int_equal(del(port, VXLAN), 0);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, equip_returning, NULL);
	octo_port_add_pf(&two_pfs, 1);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, equip_returning, NULL);
	octo_port_await(is_back(port));
	assert_true(knows(1, GENEVE));
	assert_false(knows(1, VXLAN));
	assert_int_equal(pfs[1].pvid, 7);
}

/* It recovered, and has what it had: a tunnel port that is gone since, and one that is not. */
static void
test_a_pf_that_was_away_loses_what_is_gone_since(void **state)
{
	const uint16_t port = start();

	(void)state;
	assert_int_equal(add(port, VXLAN), 0);
	assert_int_equal(add(port, GENEVE), 0);
	assert_int_equal(rte_eth_dev_set_vlan_pvid(port, 7, 1), 0);
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
				     RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	assert_int_equal(del(port, VXLAN), 0);
	assert_int_equal(rte_eth_dev_set_vlan_pvid(port, 0, 0), 0);
	assert_true(knows(1, VXLAN));
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
				     RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(is_back(port));
	assert_known(GENEVE, true);
	assert_known(VXLAN, false);
	assert_int_equal(pfs[1].pvid, 0);
}

/* Ports that remain have their own operations again. */
static int
teardown(void **state)
{
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		for (unsigned int pf = 0; pf < NB_PFS; pf++)
			if (rte_eth_devices[i].dev_ops == &pfs[pf].ops)
				rte_eth_devices[i].dev_ops = pfs[pf].real;
	return octo_port_teardown(state);
}

#define encap_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		encap_test(test_tunnel_ports_go_to_all_pfs),
		encap_test(test_all_pfs_have_a_tunnel_port_or_none),
		encap_test(test_tunnel_ports_are_limited),
		encap_test(test_the_vlan_of_what_is_sent_is_that_of_all_pfs),
		encap_test(test_they_come_back_with_the_pf),
		encap_test(test_a_pf_that_was_away_loses_what_is_gone_since),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
