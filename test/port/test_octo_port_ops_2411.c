/* SPDX-License-Identifier: BSD-3-Clause */

/* Operations that ethdev has since 24.11: speed lanes of the wire, and the frequency of a clock. */

#include <errno.h>

#include <ethdev_driver.h>

#include "octo_port.h"

#define NB_PFS 2
#define LANES 4

static const struct octo_port_conf two_pfs = {.replug = true};

/* What a PF was told, and its refusals. */
static struct pf {
	const struct eth_dev_ops *real;
	struct eth_dev_ops ops;
	uint32_t lanes;
	int64_t ppm;
	int refusal; /* errno */
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

static int
lanes_get(struct rte_eth_dev *dev, uint32_t *lanes)
{
	*lanes = of(dev)->lanes;
	return 0;
}

static int
lanes_set(struct rte_eth_dev *dev, uint32_t lanes)
{
	if (of(dev)->refusal == 0)
		of(dev)->lanes = lanes;
	return -of(dev)->refusal;
}

static int
lanes_capa(struct rte_eth_dev *dev, struct rte_eth_speed_lanes_capa *capa, unsigned int nb)
{
	(void)dev;
	if (nb > 0)
		*capa = (struct rte_eth_speed_lanes_capa){.speed = RTE_ETH_SPEED_NUM_100G,
							  .capa = RTE_BIT32(LANES)};
	return 1;
}

static int
adjust_freq(struct rte_eth_dev *dev, int64_t ppm)
{
	of(dev)->ppm = ppm;
	return 0;
}

static void
equip_port(unsigned int i, uint16_t port_id)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port_id];
	struct pf *pf = &pfs[i];

	*pf = (struct pf){.real = dev->dev_ops, .ops = *dev->dev_ops, .lanes = 1};
	pf->ops.speed_lanes_get = lanes_get;
	pf->ops.speed_lanes_set = lanes_set;
	pf->ops.speed_lanes_get_capa = lanes_capa;
	pf->ops.timesync_adjust_freq = adjust_freq;
	dev->dev_ops = &pf->ops;
}

static uint16_t
start(const struct octo_port_conf *conf, unsigned int first)
{
	const uint16_t port = octo_port_create(conf);

	for (unsigned int i = first; i < NB_PFS; i++)
		equip_port(i, octo_port_pf(i));
	octo_port_up(port, 1);
	return port;
}

static void
test_without_lanes_they_are_refused(void **state)
{
	const uint16_t port = start(&two_pfs, NB_PFS);
	uint32_t lanes;

	(void)state;
	assert_int_equal(rte_eth_speed_lanes_get(port, &lanes), -ENOTSUP);
	assert_int_equal(rte_eth_speed_lanes_set(port, LANES), -ENOTSUP);
	assert_int_equal(rte_eth_speed_lanes_get_capability(port, NULL, 0), -ENOTSUP);
}

static void
test_lanes_are_set_on_all_pfs_or_on_none(void **state)
{
	const uint16_t port = start(&two_pfs, 0);
	struct rte_eth_speed_lanes_capa capa;
	uint32_t lanes;

	(void)state;
	assert_int_equal(rte_eth_speed_lanes_get_capability(port, &capa, 1), 1);
	assert_int_equal(capa.capa, RTE_BIT32(LANES));
	assert_int_equal(rte_eth_speed_lanes_set(port, LANES), 0);
	assert_int_equal(pfs[0].lanes, LANES);
	assert_int_equal(pfs[1].lanes, LANES);
	assert_int_equal(rte_eth_speed_lanes_get(port, &lanes), 0);
	assert_int_equal(lanes, LANES);
	pfs[1].refusal = EIO;
	assert_int_equal(rte_eth_speed_lanes_set(port, 2), -EIO);
	assert_int_equal(pfs[0].lanes, LANES);
}

/* As NICs may answer by one PF only. */
static void
test_the_pf_that_has_lanes_is_asked(void **state)
{
	const uint16_t port = start(&two_pfs, 1);
	uint32_t lanes;

	(void)state;
	assert_int_equal(rte_eth_speed_lanes_set(port, LANES), 0);
	assert_int_equal(pfs[1].lanes, LANES);
	assert_int_equal(rte_eth_speed_lanes_get(port, &lanes), 0);
	assert_int_equal(lanes, LANES);
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
test_lanes_come_back_with_the_pf(void **state)
{
	const uint16_t port = start(&two_pfs, 0);

	(void)state;
	assert_int_equal(rte_eth_speed_lanes_set(port, LANES), 0);
	octo_port_remove_pf(1);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, equip_returning, NULL);
	octo_port_add_pf(&two_pfs, 1);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, equip_returning, NULL);
	octo_port_await(is_back(port));
	assert_int_equal(pfs[1].lanes, LANES);
}

static void
test_the_frequency_is_that_of_the_clock_pf(void **state)
{
	static const struct octo_port_conf by_second = {.pf = {"caps=-timesync"}};
	const uint16_t port = start(&by_second, 0);

	(void)state;
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	assert_int_equal(rte_eth_timesync_adjust_freq(port, -7), 0);
	assert_int_equal(pfs[0].ppm, 0);
	assert_int_equal(pfs[1].ppm, -7);
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

#define ops_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ops_test(test_without_lanes_they_are_refused),
		ops_test(test_lanes_are_set_on_all_pfs_or_on_none),
		ops_test(test_the_pf_that_has_lanes_is_asked),
		ops_test(test_lanes_come_back_with_the_pf),
		ops_test(test_the_frequency_is_that_of_the_clock_pf),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
