/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a simulated PF has not, and a NIC has: flow control, FEC, a module, an EEPROM, registers,
 * LEDs, packet types that can be switched off. A PF that is plugged in has forgotten its settings.
 */

#include <errno.h>

#include <ethdev_driver.h>
#include <rte_dev_info.h>
#include <rte_string_fns.h>

#include "fuzz_pair.h"

#define FEC (RTE_ETH_FEC_MODE_CAPA_MASK(NOFEC) | RTE_ETH_FEC_MODE_CAPA_MASK(RS))
#define EEPROM 16
#define MAX_PORTS 8

static struct wire {
	struct rte_eth_fc_conf fc;
	uint32_t fec;
} wires[MAX_PORTS];

static struct wire *
wire_of(const struct rte_eth_dev *dev)
{
	FUZZ_CHECK(dev->data->port_id < MAX_PORTS, "port %u", dev->data->port_id);
	return &wires[dev->data->port_id];
}

static int
get_fc(struct rte_eth_dev *dev, struct rte_eth_fc_conf *fc)
{
	*fc = wire_of(dev)->fc;
	return 0;
}

static int
set_fc(struct rte_eth_dev *dev, struct rte_eth_fc_conf *fc)
{
	if (fc->high_water < fc->low_water)
		return -EINVAL;
	wire_of(dev)->fc = *fc;
	return 0;
}

static int
get_fec_capability(struct rte_eth_dev *dev, struct rte_eth_fec_capa *capa, unsigned int num)
{
	RTE_SET_USED(dev);
	if (capa != NULL && num > 0)
		capa[0] = (struct rte_eth_fec_capa){.speed = RTE_ETH_SPEED_NUM_100G, .capa = FEC};
	return 1;
}

static int
get_fec(struct rte_eth_dev *dev, uint32_t *fec)
{
	*fec = wire_of(dev)->fec;
	return 0;
}

static int
set_fec(struct rte_eth_dev *dev, uint32_t fec)
{
	if ((fec & ~(uint32_t)FEC) != 0)
		return -EINVAL;
	wire_of(dev)->fec = fec;
	return 0;
}

static int
get_module_info(struct rte_eth_dev *dev, struct rte_eth_dev_module_info *info)
{
	RTE_SET_USED(dev);
	*info = (struct rte_eth_dev_module_info){.type = RTE_ETH_MODULE_SFF_8636,
						 .eeprom_len = EEPROM};
	return 0;
}

static int
get_eeprom_length(struct rte_eth_dev *dev)
{
	RTE_SET_USED(dev);
	return EEPROM;
}

static int
get_eeprom(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info)
{
	RTE_SET_USED(dev);
	if (info->offset > EEPROM || info->length > EEPROM - info->offset)
		return -EINVAL;
	memset(info->data, 0xee, info->length);
	return 0;
}

static int
get_reg(struct rte_eth_dev *dev, struct rte_dev_reg_info *info)
{
	RTE_SET_USED(dev);
	info->length = 4;
	info->width = 4;
	if (info->data != NULL)
		memset(info->data, 0x4e, 16);
	return 0;
}

static int
turn_led(struct rte_eth_dev *dev)
{
	RTE_SET_USED(dev);
	return 0;
}

static int
get_fw_version(struct rte_eth_dev *dev, char *version, size_t size)
{
	const int len = strlcpy(version, "fuzz", size);

	RTE_SET_USED(dev);
	return (size_t)len >= size ? len + 1 : 0;
}

static int
set_ptypes(struct rte_eth_dev *dev, uint32_t mask)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(mask);
	return 0;
}

static int
negotiate(struct rte_eth_dev *dev, uint64_t *features)
{
	RTE_SET_USED(dev);
	*features &= RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK;
	return 0;
}

void __real_mpsim_set_bursts(struct rte_eth_dev *dev);
void __wrap_mpsim_set_bursts(struct rte_eth_dev *dev);

void
__wrap_mpsim_set_bursts(struct rte_eth_dev *dev)
{
	static struct eth_dev_ops ops;

	__real_mpsim_set_bursts(dev);
	ops = *dev->dev_ops;
	ops.flow_ctrl_get = get_fc;
	ops.flow_ctrl_set = set_fc;
	ops.fec_get_capability = get_fec_capability;
	ops.fec_get = get_fec;
	ops.fec_set = set_fec;
	ops.get_module_info = get_module_info;
	ops.get_module_eeprom = get_eeprom;
	ops.get_eeprom_length = get_eeprom_length;
	ops.get_eeprom = get_eeprom;
	ops.get_reg = get_reg;
	ops.dev_led_on = turn_led;
	ops.dev_led_off = turn_led;
	ops.fw_version_get = get_fw_version;
	ops.dev_ptypes_set = set_ptypes;
	ops.rx_metadata_negotiate = negotiate;
	dev->dev_ops = &ops;
	*wire_of(dev) = (struct wire){.fec = RTE_ETH_FEC_MODE_CAPA_MASK(NOFEC)};
}
