/* SPDX-License-Identifier: BSD-3-Clause */

/* Properties of the wire and its cage: flow control, FEC, modules, EEPROM, registers, LED. */

#include <errno.h>

#include <rte_dev_info.h>

#include "octo_private.h"
#include "octo_wire.h"

int
octo_wire_ask(const struct octo_dev *octo, octo_wire_ask_fn ask, void *arg)
{
	struct octo_use use;
	bool asked = false;
	int ret = -ENODEV;
	int i;

	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE) {
		int answer;

		if (!octo_users_enter(&octo->port[i], &use))
			continue;
		answer = ask(use.port_id, arg);
		octo_users_leave(&use);
		if (answer != -ENOTSUP || !asked)
			ret = answer;
		asked = true;
		/* -ENODEV, -EIO: the PF may be gone, and its event is yet to come */
		if (answer != -ENOTSUP && answer != -ENODEV && answer != -EIO)
			break;
	}
	return ret;
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

static int
ask_fc(uint16_t port_id, void *fc)
{
	return rte_eth_dev_flow_ctrl_get(port_id, fc);
}

int
octo_flow_ctrl_get(struct rte_eth_dev *dev, struct rte_eth_fc_conf *fc)
{
	return octo_wire_ask(octo_of(dev), ask_fc, fc);
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

	before.on = octo_wire_ask(octo, ask_fc, &before.fc) == 0;
	return octo_wire_set(octo, "set flow control", &octo->settings.wire.fc, &setting, &before);
}

struct fec_question {
	struct rte_eth_fec_capa *capa;
	unsigned int nb;
};

static int
ask_fec_capability(uint16_t port_id, void *arg)
{
	const struct fec_question *question = arg;

	return rte_eth_fec_get_capability(port_id, question->capa, question->nb);
}

int
octo_fec_get_capability(struct rte_eth_dev *dev, struct rte_eth_fec_capa *capa, unsigned int nb)
{
	struct fec_question question = {.capa = capa, .nb = nb};

	return octo_wire_ask(octo_of(dev), ask_fec_capability, &question);
}

static int
ask_fec(uint16_t port_id, void *fec)
{
	return rte_eth_fec_get(port_id, fec);
}

int
octo_fec_get(struct rte_eth_dev *dev, uint32_t *fec)
{
	return octo_wire_ask(octo_of(dev), ask_fec, fec);
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

	before.on = octo_wire_ask(octo, ask_fec, &before.fec) == 0;
	return octo_wire_set(octo, "set FEC", &octo->settings.wire.fec, &setting, &before);
}

static int
ask_module_info(uint16_t port_id, void *info)
{
	return rte_eth_dev_get_module_info(port_id, info);
}

int
octo_module_info_get(struct rte_eth_dev *dev, struct rte_eth_dev_module_info *info)
{
	return octo_wire_ask(octo_of(dev), ask_module_info, info);
}

static int
ask_module_eeprom(uint16_t port_id, void *info)
{
	return rte_eth_dev_get_module_eeprom(port_id, info);
}

int
octo_module_eeprom_get(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info)
{
	return octo_wire_ask(octo_of(dev), ask_module_eeprom, info);
}

static int
ask_eeprom_length(uint16_t port_id, void *arg)
{
	RTE_SET_USED(arg);
	return rte_eth_dev_get_eeprom_length(port_id);
}

int
octo_eeprom_length_get(struct rte_eth_dev *dev)
{
	return octo_wire_ask(octo_of(dev), ask_eeprom_length, NULL);
}

static int
ask_eeprom(uint16_t port_id, void *info)
{
	return rte_eth_dev_get_eeprom(port_id, info);
}

int
octo_eeprom_get(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info)
{
	return octo_wire_ask(octo_of(dev), ask_eeprom, info);
}

static int
ask_registers(uint16_t port_id, void *info)
{
	return rte_eth_dev_get_reg_info(port_id, info);
}

/* Registers are those of the first PF that shows any: struct rte_dev_reg_info names no PF. */
int
octo_reg_get(struct rte_eth_dev *dev, struct rte_dev_reg_info *info)
{
	return octo_wire_ask(octo_of(dev), ask_registers, info);
}

static int
turn_led_on(uint16_t port_id, void *arg)
{
	RTE_SET_USED(arg);
	return rte_eth_led_on(port_id);
}

int
octo_led_on(struct rte_eth_dev *dev)
{
	return octo_wire_ask(octo_of(dev), turn_led_on, NULL);
}

static int
turn_led_off(uint16_t port_id, void *arg)
{
	RTE_SET_USED(arg);
	return rte_eth_led_off(port_id);
}

int
octo_led_off(struct rte_eth_dev *dev)
{
	return octo_wire_ask(octo_of(dev), turn_led_off, NULL);
}
