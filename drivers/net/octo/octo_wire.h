/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_WIRE_H
#define OCTO_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "octo_users.h"

/**
 * @file
 * Properties of the wire and its cage, which the PFs of a NIC share. The PFs are asked in turn, as
 * some NICs answer by their first PF only. A setting goes to all PFs and comes back with one that
 * returns; a PF that does not support it is passed over.
 */

struct octo_dev;
struct octo_port;

/** A setting of the wire, and the function of ethdev that makes it. */
struct octo_wire_setting {
	bool on; /**< by the application */
	int (*set)(uint16_t port_id, const struct octo_wire_setting *setting);
	union {
		struct rte_eth_fc_conf fc;
		uint32_t fec;   /**< mask of RTE_ETH_FEC_MODE_CAPA_MASK() */
		uint32_t lanes; /**< number of lanes */
	};
};

/** Of the application, under the control mutex. */
struct octo_wire {
	struct octo_wire_setting fc;
	struct octo_wire_setting fec;
	struct octo_wire_setting lanes;
};

/** The ports of the PFs that are asked for a property, in turn. Used by OCTO_WIRE_ASK() only. */
struct octo_wire_turn {
	const struct octo_dev *octo;
	int next, end; /**< indices of the ports still to be asked */
	bool asked;
	int ret;
	struct octo_use use; /**< of the port that is being asked */
};

/** Let a port that serves take part in the turn: octo_wire_turn.use. False if none is left. */
bool octo_wire_enter(struct octo_wire_turn *turn);

/** Take the answer of that port. */
void octo_wire_leave(struct octo_wire_turn *turn, int answer);

/** All PFs in turn. */
struct octo_wire_turn octo_wire_turn(struct rte_eth_dev *dev);

/**
 * Ask PFs in turn. After -ENOTSUP, -ENODEV or -EIO the next PF is asked.
 *
 * @param turn
 *   A struct octo_wire_turn: which PFs are asked.
 * @param call
 *   The question: a call with a result of int, in which pf_port_id is the PF's port id.
 * @return
 *   The first answer after which no other PF is asked; if there is none, the last error other
 *   than -ENOTSUP, or -ENOTSUP; -ENODEV without a PF.
 */
#define OCTO_WIRE_ASK(turn, call)                                                                  \
	__extension__({                                                                            \
		struct octo_wire_turn octo_asking = (turn);                                        \
		while (octo_wire_enter(&octo_asking)) {                                            \
			const uint16_t pf_port_id = octo_asking.use.port_id;                       \
			octo_wire_leave(&octo_asking, call);                                       \
		}                                                                                  \
		octo_asking.ret;                                                                   \
	})

/**
 * Make a setting on all PFs, or on none.
 *
 * @param what
 *   For messages: "set ...".
 * @param kept
 *   Where the setting is kept for PFs that return.
 * @param before
 *   As the PFs have it; its member `on` is false where that is unknown, and nothing is undone then.
 * @return
 *   0, -ENOTSUP if no PF supports it, or the error of the PF that refused.
 */
int octo_wire_set(struct octo_dev *octo, const char *what, struct octo_wire_setting *kept,
		  const struct octo_wire_setting *setting, const struct octo_wire_setting *before);

/** Make all settings on a PF that returns; under the control mutex. */
int octo_wire_resync_locked(const struct octo_dev *octo, const struct octo_port *port);

int octo_flow_ctrl_get(struct rte_eth_dev *dev, struct rte_eth_fc_conf *fc);
int octo_flow_ctrl_set(struct rte_eth_dev *dev, struct rte_eth_fc_conf *fc);
int
octo_fec_get_capability(struct rte_eth_dev *dev, struct rte_eth_fec_capa *capa, unsigned int nb);
int octo_fec_get(struct rte_eth_dev *dev, uint32_t *fec);
int octo_fec_set(struct rte_eth_dev *dev, uint32_t fec);
int octo_module_info_get(struct rte_eth_dev *dev, struct rte_eth_dev_module_info *info);
int octo_module_eeprom_get(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info);
int octo_eeprom_length_get(struct rte_eth_dev *dev);
int octo_eeprom_get(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info);
int octo_reg_get(struct rte_eth_dev *dev, struct rte_dev_reg_info *info);
int octo_led_on(struct rte_eth_dev *dev);
int octo_led_off(struct rte_eth_dev *dev);

/* octo_wire_lanes.c; compat/ has no ops of it where DPDK is older than 24.11 */
#ifndef OCTO_LANES_OPS
int octo_speed_lanes_get(struct rte_eth_dev *dev, uint32_t *lanes);
int octo_speed_lanes_set(struct rte_eth_dev *dev, uint32_t lanes);
int octo_speed_lanes_get_capability(struct rte_eth_dev *dev, struct rte_eth_speed_lanes_capa *capa,
				    unsigned int nb);
#define OCTO_LANES_OPS                                                                             \
	.speed_lanes_get = octo_speed_lanes_get, .speed_lanes_set = octo_speed_lanes_set,          \
	.speed_lanes_get_capa = octo_speed_lanes_get_capability
#endif

/* octo_rx_metadata.c */
int octo_rx_metadata_negotiate(struct rte_eth_dev *dev, uint64_t *features);
int octo_rx_metadata_resync_locked(const struct octo_dev *octo, const struct octo_port *port);

#endif /* OCTO_WIRE_H */
