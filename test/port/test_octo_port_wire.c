/* SPDX-License-Identifier: BSD-3-Clause */

/* Properties of the wire, and Rx metadata, over PFs that have some of the operations. */

#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>

#include "octo_port.h"

#define NB_PFS 2
#define PAUSE 1234
#define VERSION "1.2"
#define FEC RTE_ETH_FEC_MODE_CAPA_MASK(RS)

static const struct octo_port_conf two_pfs = {.replug = true};

/* What a PF was told, and its refusals. */
static struct pf {
	const struct eth_dev_ops *real;
	struct eth_dev_ops ops;
	struct rte_eth_fc_conf fc;
	uint32_t fec;
	uint64_t asked;   /* metadata */
	uint64_t lacking; /* metadata */
	int refusal;      /* errno of settings */
	int gone;         /* errno of all answers */
	unsigned int settings;
	unsigned int led;
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
fc_get(struct rte_eth_dev *dev, struct rte_eth_fc_conf *fc)
{
	*fc = of(dev)->fc;
	return -of(dev)->gone;
}

static int
fw_version(struct rte_eth_dev *dev, char *version, size_t size)
{
	if (of(dev)->gone != 0)
		return -of(dev)->gone;
	if (size < sizeof(VERSION))
		return sizeof(VERSION);
	memcpy(version, VERSION, sizeof(VERSION));
	return 0;
}

static int
set_link(struct rte_eth_dev *dev, bool up)
{
	const struct eth_dev_ops *real = of(dev)->real;

	if (of(dev)->refusal != 0)
		return -of(dev)->refusal;
	return up ? real->dev_set_link_up(dev) : real->dev_set_link_down(dev);
}

static int
set_link_up(struct rte_eth_dev *dev)
{
	return set_link(dev, true);
}

static int
set_link_down(struct rte_eth_dev *dev)
{
	return set_link(dev, false);
}

static int
fc_set(struct rte_eth_dev *dev, struct rte_eth_fc_conf *fc)
{
	of(dev)->settings++;
	if (of(dev)->refusal == 0)
		of(dev)->fc = *fc;
	return -of(dev)->refusal;
}

static int
fec_get(struct rte_eth_dev *dev, uint32_t *fec)
{
	*fec = of(dev)->fec;
	return 0;
}

static int
fec_set(struct rte_eth_dev *dev, uint32_t fec)
{
	if (of(dev)->refusal == 0)
		of(dev)->fec = fec;
	return -of(dev)->refusal;
}

static int
fec_get_capability(struct rte_eth_dev *dev, struct rte_eth_fec_capa *capa, unsigned int nb)
{
	(void)dev;
	if (nb > 0)
		*capa = (struct rte_eth_fec_capa){.speed = RTE_ETH_SPEED_NUM_100G, .capa = FEC};
	return 1;
}

static int
module_info(struct rte_eth_dev *dev, struct rte_eth_dev_module_info *info)
{
	(void)dev;
	*info = (struct rte_eth_dev_module_info){.type = RTE_ETH_MODULE_SFF_8636, .eeprom_len = 3};
	return 0;
}

static int
eeprom(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info)
{
	(void)dev;
	memset(info->data, 'E', info->length);
	return 0;
}

static int
eeprom_length(struct rte_eth_dev *dev)
{
	(void)dev;
	return 3;
}

static int
registers(struct rte_eth_dev *dev, struct rte_dev_reg_info *info)
{
	(void)dev;
	info->version = 7;
	return 0;
}

static int
led(struct rte_eth_dev *dev)
{
	of(dev)->led++;
	return 0;
}

static int
negotiate(struct rte_eth_dev *dev, uint64_t *features)
{
	of(dev)->asked = *features;
	*features &= ~of(dev)->lacking;
	return -of(dev)->refusal;
}

/* The PF has the operations of a wire. */
static struct pf *
equip_port(unsigned int i, uint16_t port_id)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port_id];
	struct pf *pf = &pfs[i];

	*pf = (struct pf){.real = dev->dev_ops, .ops = *dev->dev_ops};
	pf->ops.fw_version_get = fw_version;
	pf->ops.dev_set_link_up = set_link_up;
	pf->ops.dev_set_link_down = set_link_down;
	pf->ops.flow_ctrl_get = fc_get;
	pf->ops.flow_ctrl_set = fc_set;
	pf->ops.fec_get = fec_get;
	pf->ops.fec_set = fec_set;
	pf->ops.fec_get_capability = fec_get_capability;
	pf->ops.get_module_info = module_info;
	pf->ops.get_module_eeprom = eeprom;
	pf->ops.get_eeprom_length = eeprom_length;
	pf->ops.get_eeprom = eeprom;
	pf->ops.get_reg = registers;
	pf->ops.dev_led_on = led;
	pf->ops.dev_led_off = led;
	pf->ops.rx_metadata_negotiate = negotiate;
	dev->dev_ops = &pf->ops;
	return pf;
}

static struct pf *
equip(unsigned int i)
{
	return equip_port(i, octo_port_pf(i));
}

static int
set_pause(uint16_t port, uint16_t pause)
{
	struct rte_eth_fc_conf fc = {.pause_time = pause, .mode = RTE_ETH_FC_FULL};

	return rte_eth_dev_flow_ctrl_set(port, &fc);
}

static void
test_what_no_pf_has_is_refused(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev_module_info module;
	struct rte_dev_reg_info regs = {0};
	struct rte_eth_fc_conf fc;
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK;
	uint32_t fec;

	(void)state;
	assert_int_equal(rte_eth_rx_metadata_negotiate(port, &features), -ENOTSUP);
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_dev_flow_ctrl_get(port, &fc), -ENOTSUP);
	assert_int_equal(set_pause(port, PAUSE), -ENOTSUP);
	assert_int_equal(rte_eth_fec_get_capability(port, NULL, 0), -ENOTSUP);
	assert_int_equal(rte_eth_fec_get(port, &fec), -ENOTSUP);
	assert_int_equal(rte_eth_fec_set(port, FEC), -ENOTSUP);
	assert_int_equal(rte_eth_dev_get_module_info(port, &module), -ENOTSUP);
	assert_int_equal(rte_eth_dev_get_eeprom_length(port), -ENOTSUP);
	assert_int_equal(rte_eth_dev_get_reg_info(port, &regs), -ENOTSUP);
	assert_int_equal(rte_eth_led_on(port), -ENOTSUP);
}

/* Only the second PF has what is asked for. */
static void
test_pfs_are_asked_in_turn(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_dev_eeprom_info bytes = {.length = 2};
	struct rte_eth_dev_module_info module;
	struct rte_dev_reg_info regs = {0};
	struct rte_eth_fec_capa capa;
	struct rte_eth_fc_conf fc;
	char data[3] = {0};
	struct pf *pf;

	(void)state;
	octo_port_up(port, 1);
	pf = equip(1);
	pf->fc.pause_time = PAUSE;
	bytes.data = data;
	assert_int_equal(rte_eth_dev_flow_ctrl_get(port, &fc), 0);
	assert_int_equal(fc.pause_time, PAUSE);
	assert_int_equal(rte_eth_fec_get_capability(port, &capa, 1), 1);
	assert_int_equal(capa.capa, FEC);
	assert_int_equal(rte_eth_dev_get_module_info(port, &module), 0);
	assert_int_equal(module.eeprom_len, 3);
	assert_int_equal(rte_eth_dev_get_module_eeprom(port, &bytes), 0);
	assert_string_equal(data, "EE");
	assert_int_equal(rte_eth_dev_get_eeprom_length(port), 3);
	memset(data, 0, sizeof(data));
	assert_int_equal(rte_eth_dev_get_eeprom(port, &bytes), 0);
	assert_string_equal(data, "EE");
	assert_int_equal(rte_eth_dev_get_reg_info(port, &regs), 0);
	assert_int_equal(regs.version, 7);
	assert_int_equal(rte_eth_led_on(port), 0);
	assert_int_equal(rte_eth_led_off(port), 0);
	assert_int_equal(pf->led, 2);
}

/* The first PF is gone, and no event has said so. */
static void
test_the_next_pf_is_asked_where_one_is_gone(void **state)
{
	static const int errors[] = {ENODEV, EIO};
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_fc_conf fc;
	char version[8];

	(void)state;
	octo_port_up(port, 1);
	equip(0);
	equip(1)->fc.pause_time = PAUSE;
	for (unsigned int i = 0; i < RTE_DIM(errors); i++) {
		pfs[0].gone = errors[i];
		assert_int_equal(rte_eth_dev_flow_ctrl_get(port, &fc), 0);
		assert_int_equal(fc.pause_time, PAUSE);
		assert_int_equal(rte_eth_dev_fw_version_get(port, version, sizeof(version)), 0);
		assert_string_equal(version, VERSION);
		assert_int_equal(rte_eth_dev_fw_version_get(port, version, 1), sizeof(VERSION));
		/* a PF that does not answer says more than one that cannot */
		pfs[1].gone = ENOTSUP;
		assert_int_equal(rte_eth_dev_flow_ctrl_get(port, &fc), -errors[i]);
		pfs[1].gone = 0;
	}
	pfs[0].gone = EINVAL;
	assert_int_equal(rte_eth_dev_flow_ctrl_get(port, &fc), -EINVAL);
}

static void
test_settings_go_to_all_pfs(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	uint32_t fec;

	(void)state;
	octo_port_up(port, 1);
	equip(0);
	equip(1);
	assert_int_equal(set_pause(port, PAUSE), 0);
	assert_int_equal(rte_eth_fec_set(port, FEC), 0);
	for (unsigned int i = 0; i < NB_PFS; i++) {
		assert_int_equal(pfs[i].fc.pause_time, PAUSE);
		assert_int_equal(pfs[i].fec, FEC);
	}
	assert_int_equal(rte_eth_fec_get(port, &fec), 0);
	assert_int_equal(fec, FEC);
}

/* PFs but the first may lack the right to it. */
static void
test_a_pf_that_cannot_set_is_passed_over(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 1);
	equip(0);
	equip(1)->refusal = ENOTSUP;
	assert_int_equal(set_pause(port, PAUSE), 0);
	assert_int_equal(pfs[0].fc.pause_time, PAUSE);
}

static void
test_a_refused_setting_changes_nothing(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 1);
	equip(0)->fc.pause_time = 1;
	equip(1)->refusal = EIO;
	assert_int_equal(set_pause(port, PAUSE), -EIO);
	assert_int_equal(pfs[0].settings, 2);
	assert_int_equal(pfs[0].fc.pause_time, 1);
}

static bool
has_link(unsigned int i)
{
	struct rte_eth_link link;

	assert_int_equal(rte_eth_link_get_nowait(octo_port_pf(i), &link), 0);
	return link.link_status == RTE_ETH_LINK_UP;
}

/* The second PF refuses: the first has the link state of before, whatever that was. */
static void
test_a_refused_link_state_changes_nothing(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 1);
	equip(0);
	equip(1)->refusal = EIO;
	assert_int_equal(rte_eth_dev_set_link_up(port), -EIO);
	assert_true(has_link(0));
	assert_int_equal(rte_eth_dev_set_link_down(port), -EIO);
	assert_true(has_link(0));
	pfs[1].refusal = 0;
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	pfs[1].refusal = EIO;
	assert_int_equal(rte_eth_dev_set_link_down(port), -EIO);
	assert_false(has_link(0));
	assert_int_equal(rte_eth_dev_set_link_up(port), -EIO);
	assert_false(has_link(0));
}

static bool
is_told(uint16_t port, unsigned int i)
{
	struct octo_port_tally tally;

	octo_port_poll(port, 0, 1, &tally);
	octo_port_pass_us(1000);
	return pfs[i].settings > 0;
}

static uint64_t returning_lacks;

/* A PF that returns has the operations before octo sees it. */
static int
equip_returning(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret)
{
	(void)event;
	(void)arg;
	(void)ret;
	equip_port(1, port_id)->lacking = returning_lacks;
	return 0;
}

static void
replug(void)
{
	octo_port_remove_pf(1);
	memset(&pfs[1], 0, sizeof(pfs[1]));
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, equip_returning, NULL);
	octo_port_add_pf(&two_pfs, 1);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, equip_returning, NULL);
}

static void
test_settings_come_back_with_the_pf(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK | RTE_ETH_RX_METADATA_TUNNEL_ID;

	(void)state;
	returning_lacks = 0;
	equip(0)->lacking = RTE_ETH_RX_METADATA_TUNNEL_ID;
	equip(1);
	assert_int_equal(rte_eth_rx_metadata_negotiate(port, &features), 0);
	assert_int_equal(features, RTE_ETH_RX_METADATA_USER_MARK);
	octo_port_up(port, 1);
	assert_int_equal(set_pause(port, PAUSE), 0);
	assert_int_equal(rte_eth_fec_set(port, FEC), 0);
	replug();
	octo_port_await(is_told(port, 1));
	assert_int_equal(pfs[1].fc.pause_time, PAUSE);
	assert_int_equal(pfs[1].asked, RTE_ETH_RX_METADATA_USER_MARK);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(pfs[1].fec, FEC);
}

/* Packets that it received would lack the mark. */
static void
test_a_pf_that_returns_with_less_metadata_does_not_join(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK;

	(void)state;
	equip(0);
	equip(1);
	assert_int_equal(rte_eth_rx_metadata_negotiate(port, &features), 0);
	assert_int_equal(features, RTE_ETH_RX_METADATA_USER_MARK);
	octo_port_up(port, 1);
	returning_lacks = RTE_ETH_RX_METADATA_USER_MARK;
	replug();
	for (unsigned int i = 0; i < 5000; i++)
		assert_false(is_told(port, 1));
	assert_int_equal(pfs[1].asked, RTE_ETH_RX_METADATA_USER_MARK);
	assert_false(octo_port_pf_is_started(port, 1));
}

/* As testpmd does when an octo port is made anew over PFs that stayed. */
static void
test_pfs_that_were_configured_before_are_not_asked(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK;

	(void)state;
	equip(0);
	equip(1);
	octo_port_up(port, 1);
	octo_port_close_and_remove(port);
	port = octo_port_add(&two_pfs);
	pfs[0].asked = 0;
	assert_int_equal(rte_eth_rx_metadata_negotiate(port, &features), -ENOTSUP);
	assert_int_equal(features, RTE_ETH_RX_METADATA_USER_MARK);
	assert_int_equal(pfs[0].asked, 0);
	octo_port_up(port, 1);
	octo_port_assert_arrives(port, 7, 0, 3);
}

/* ethdev takes a port for a new one after a configuration that it refused; the PFs are none. */
static void
test_metadata_stay_negotiated_where_no_pf_is_asked_again(void **state)
{
	const struct rte_eth_conf refused = {.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP};
	const uint16_t port = octo_port_create(&two_pfs);
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK;

	(void)state;
	returning_lacks = 0;
	equip(0);
	equip(1);
	assert_int_equal(rte_eth_rx_metadata_negotiate(port, &features), 0);
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_configure(port, 1, 1, &refused), -EINVAL);
	assert_int_equal(rte_eth_rx_metadata_negotiate(port, &features), -ENOTSUP);
	octo_port_up(port, 1);
	replug();
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(pfs[1].asked, RTE_ETH_RX_METADATA_USER_MARK);
}

static void
test_a_refused_negotiation_is_an_error(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK;

	(void)state;
	equip(0);
	equip(1)->refusal = EIO;
	assert_int_equal(rte_eth_rx_metadata_negotiate(port, &features), -EIO);
	octo_port_up(port, 1);
	octo_port_assert_arrives(port, 7, 0, 3);
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

#define wire_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		wire_test(test_what_no_pf_has_is_refused),
		wire_test(test_pfs_are_asked_in_turn),
		wire_test(test_the_next_pf_is_asked_where_one_is_gone),
		wire_test(test_settings_go_to_all_pfs),
		wire_test(test_a_pf_that_cannot_set_is_passed_over),
		wire_test(test_a_refused_setting_changes_nothing),
		wire_test(test_a_refused_link_state_changes_nothing),
		wire_test(test_settings_come_back_with_the_pf),
		wire_test(test_a_pf_that_returns_with_less_metadata_does_not_join),
		wire_test(test_pfs_that_were_configured_before_are_not_asked),
		wire_test(test_metadata_stay_negotiated_where_no_pf_is_asked_again),
		wire_test(test_a_refused_negotiation_is_an_error),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
