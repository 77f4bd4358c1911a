/* SPDX-License-Identifier: BSD-3-Clause */

/* Properties of the wire and its cage: flow control, FEC, modules, EEPROM, registers, LED. */

#include <errno.h>

#include <rte_dev_info.h>

#include "octo_private.h"
#include "octo_wire.h"

struct octo_wire_turn
octo_wire_turn(struct rte_eth_dev *dev)
{
	const struct octo_dev *octo = octo_of(dev);

	return (struct octo_wire_turn){.octo = octo, .end = octo->nb_ports, .ret = -ENODEV};
}

bool
octo_wire_enter(struct octo_wire_turn *turn)
{
	const struct octo_dev *octo = turn->octo;

	while (turn->next < turn->end) {
		const int i = octo_port_next(octo, turn->next, OCTO_PORT_IDLE);

		turn->next = i + 1;
		if (i < turn->end && octo_users_enter(&octo->port[i], &turn->use))
			return true;
	}
	return false;
}

void
octo_wire_leave(struct octo_wire_turn *turn, int answer)
{
	octo_users_leave(&turn->use);
	if (answer != -ENOTSUP || !turn->asked)
		turn->ret = answer;
	turn->asked = true;
	/* -ENODEV, -EIO: the PF may be gone, and its event is yet to come */
	if (answer != -ENOTSUP && answer != -ENODEV && answer != -EIO)
		turn->next = turn->end;
}

struct attempt {
	const struct octo_wire_setting *setting;
	unsigned int *made;
};

static int
pf_set(struct octo_port *port, const void *arg)
{
	const struct attempt *attempt = arg;
	const int ret = attempt->setting->set(port->port_id, attempt->setting);

	if (ret == -ENOTSUP)
		return 0;
	if (ret == 0)
		(*attempt->made)++;
	return ret;
}

int
octo_wire_set(struct octo_dev *octo, const char *what, struct octo_wire_setting *kept,
	      const struct octo_wire_setting *setting, const struct octo_wire_setting *before)
{
	unsigned int made = 0, unmade = 0;
	const struct attempt attempt = {.setting = setting, .made = &made};
	const struct attempt undo = {.setting = before, .made = &unmade};
	int ret;

	octo_lock(octo);
	ret = octo_port_apply(octo, OCTO_PORT_IDLE, what, pf_set, before->on ? pf_set : NULL,
			      &attempt, &undo);
	if (ret == 0 && made == 0)
		ret = -ENOTSUP;
	if (ret == 0) {
		*kept = *setting;
		kept->on = true;
	}
	octo_unlock(octo);
	return ret;
}

int
octo_wire_resync_locked(const struct octo_dev *octo, const struct octo_port *port)
{
	const struct octo_wire *wire = &octo->settings.wire;
	const struct octo_wire_setting *all[] = {&wire->fc, &wire->fec, &wire->lanes};
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < RTE_DIM(all); i++) {
		if (all[i]->on)
			ret = all[i]->set(port->port_id, all[i]);
		if (ret == -ENOTSUP)
			ret = 0;
	}
	return ret;
}

int
octo_flow_ctrl_get(struct rte_eth_dev *dev, struct rte_eth_fc_conf *fc)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_dev_flow_ctrl_get(pf_port_id, fc));
}

static int
set_fc(uint16_t port_id, const struct octo_wire_setting *setting)
{
	struct rte_eth_fc_conf fc = setting->fc;

	return rte_eth_dev_flow_ctrl_set(port_id, &fc);
}

int
octo_flow_ctrl_set(struct rte_eth_dev *dev, struct rte_eth_fc_conf *fc)
{
	struct octo_dev *octo = octo_of(dev);
	const struct octo_wire_setting setting = {.set = set_fc, .fc = *fc};
	struct octo_wire_setting before = {.set = set_fc};

	before.on = OCTO_WIRE_ASK(octo_wire_turn(dev),
				  rte_eth_dev_flow_ctrl_get(pf_port_id, &before.fc)) == 0;
	return octo_wire_set(octo, "set flow control", &octo->settings.wire.fc, &setting, &before);
}

int
octo_fec_get_capability(struct rte_eth_dev *dev, struct rte_eth_fec_capa *capa, unsigned int nb)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_fec_get_capability(pf_port_id, capa, nb));
}

int
octo_fec_get(struct rte_eth_dev *dev, uint32_t *fec)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_fec_get(pf_port_id, fec));
}

static int
set_fec(uint16_t port_id, const struct octo_wire_setting *setting)
{
	return rte_eth_fec_set(port_id, setting->fec);
}

int
octo_fec_set(struct rte_eth_dev *dev, uint32_t fec)
{
	struct octo_dev *octo = octo_of(dev);
	const struct octo_wire_setting setting = {.set = set_fec, .fec = fec};
	struct octo_wire_setting before = {.set = set_fec};

	before.on = OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_fec_get(pf_port_id, &before.fec)) ==
		    0;
	return octo_wire_set(octo, "set FEC", &octo->settings.wire.fec, &setting, &before);
}

int
octo_module_info_get(struct rte_eth_dev *dev, struct rte_eth_dev_module_info *info)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_dev_get_module_info(pf_port_id, info));
}

int
octo_module_eeprom_get(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_dev_get_module_eeprom(pf_port_id, info));
}

int
octo_eeprom_length_get(struct rte_eth_dev *dev)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_dev_get_eeprom_length(pf_port_id));
}

int
octo_eeprom_get(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_dev_get_eeprom(pf_port_id, info));
}

/* Registers are those of the first PF that shows any: struct rte_dev_reg_info names no PF. */
int
octo_reg_get(struct rte_eth_dev *dev, struct rte_dev_reg_info *info)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_dev_get_reg_info(pf_port_id, info));
}

int
octo_led_on(struct rte_eth_dev *dev)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_led_on(pf_port_id));
}

int
octo_led_off(struct rte_eth_dev *dev)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_led_off(pf_port_id));
}
