/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of ethdev operations. */

#include <errno.h>

#include "octo_flow_ops.h"
#include "octo_private.h"
#include "octo_rx_intr.h"

static int
pf_ptypes_set(struct octo_port *port, const void *arg)
{
	return rte_eth_dev_set_ptypes(port->port_id, *(const uint32_t *)arg, NULL, 0);
}

static int
octo_ptypes_set(struct rte_eth_dev *dev, uint32_t mask)
{
	struct octo_dev *octo = octo_of(dev);
	uint32_t before;
	int ret;

	octo_lock(octo);
	before = octo->settings.ptypes_set ? octo->settings.ptypes : RTE_PTYPE_ALL_MASK;
	ret = octo_port_apply(octo, OCTO_PORT_IDLE, "set the packet types", pf_ptypes_set,
			      pf_ptypes_set, &mask, &before);
	if (ret == 0) {
		octo->settings.ptypes = mask;
		octo->settings.ptypes_set = true;
	}
	octo_unlock(octo);
	return ret;
}

static int
octo_fw_version_get(struct rte_eth_dev *dev, char *version, size_t size)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev),
			     rte_eth_dev_fw_version_get(pf_port_id, version, size));
}

/* The port is removed when its last PF is. */
static int
octo_is_removed(struct rte_eth_dev *dev)
{
	return octo_loss_is_removed(octo_of(dev));
}

static int
octo_flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	RTE_SET_USED(dev);
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return -ENOTSUP;
	*ops = &octo_flow_ops;
	return 0;
}

const struct eth_dev_ops octo_dev_ops = {
	/* served by octo itself, from what it knows of the PFs */
	.dev_configure = octo_configure,
	.dev_start = octo_start,
	.dev_stop = octo_stop,
	.dev_close = octo_close,
	.dev_reset = octo_reset,
	.dev_infos_get = octo_info_get,
	.link_update = octo_link_update,
	.is_removed = octo_is_removed,
	.stats_get = octo_stats_get,
	.stats_reset = octo_stats_reset,
	.xstats_get = octo_xstats_get,
	.xstats_get_names = octo_xstats_get_names,
	.xstats_reset = octo_xstats_reset,
	.dev_supported_ptypes_get = octo_ptypes_get,
	.buffer_split_supported_hdr_ptypes_get = octo_split_ptypes_get,
	.rx_queue_setup = octo_rx_queue_setup,
	.rx_queue_release = octo_rx_queue_release,
	.get_monitor_addr = octo_get_monitor_addr,
	.tx_queue_setup = octo_tx_queue_setup,
	.tx_queue_release = octo_tx_queue_release,
	.rxq_info_get = octo_rxq_info,
	.txq_info_get = octo_txq_info,
	.rx_burst_mode_get = octo_rx_burst_mode,
	.tx_burst_mode_get = octo_tx_burst_mode,
	.reta_update = octo_reta_update,
	.reta_query = octo_reta_query,
	.rss_hash_update = octo_rss_hash_update,
	.rss_hash_conf_get = octo_rss_hash_get,
	.flow_ops_get = octo_flow_ops_get,
	.eth_dev_priv_dump = octo_dump,
	OCTO_AGGR_OPS,
	/* forwarded to all PFs, and again to one that comes back */
	.promiscuous_enable = octo_promiscuous_enable,
	.promiscuous_disable = octo_promiscuous_disable,
	.allmulticast_enable = octo_allmulticast_enable,
	.allmulticast_disable = octo_allmulticast_disable,
	.mac_addr_set = octo_mac_set,
	.mac_addr_add = octo_mac_add,
	.mac_addr_remove = octo_mac_remove,
	.set_mc_addr_list = octo_mc_list,
	.mtu_set = octo_mtu_set,
	.vlan_filter_set = octo_vlan_filter,
	.vlan_offload_set = octo_vlan_offload,
	.vlan_strip_queue_set = octo_vlan_strip_queue,
	.vlan_pvid_set = octo_vlan_pvid,
	.udp_tunnel_port_add = octo_tunnel_add,
	.udp_tunnel_port_del = octo_tunnel_del,
	.dev_ptypes_set = octo_ptypes_set,
	.dev_set_link_up = octo_set_link_up,
	.dev_set_link_down = octo_set_link_down,
	.rx_queue_start = octo_rx_queue_start,
	.rx_queue_stop = octo_rx_queue_stop,
	.rx_queue_intr_enable = octo_rx_queue_intr_enable,
	.rx_queue_intr_disable = octo_rx_queue_intr_disable,
	.tx_queue_start = octo_tx_queue_start,
	.tx_queue_stop = octo_tx_queue_stop,
	.tx_done_cleanup = octo_tx_done_cleanup,
	.rx_metadata_negotiate = octo_rx_metadata_negotiate,
	.flow_ctrl_set = octo_flow_ctrl_set,
	.fec_set = octo_fec_set,
	/* asked of the PFs in turn */
	.fw_version_get = octo_fw_version_get,
	.flow_ctrl_get = octo_flow_ctrl_get,
	.fec_get_capability = octo_fec_get_capability,
	.fec_get = octo_fec_get,
	.get_module_info = octo_module_info_get,
	.get_module_eeprom = octo_module_eeprom_get,
	.get_eeprom_length = octo_eeprom_length_get,
	.get_eeprom = octo_eeprom_get,
	.get_reg = octo_reg_get,
	.dev_led_on = octo_led_on,
	.dev_led_off = octo_led_off,
	/* asked of one PF, whose clock is the port's; while timesync is off, of the PFs in turn */
	.timesync_enable = octo_timesync_enable,
	.timesync_disable = octo_timesync_disable,
	.timesync_read_rx_timestamp = octo_timesync_read_rx,
	.timesync_read_tx_timestamp = octo_timesync_read_tx,
	.timesync_adjust_time = octo_timesync_adjust_time,
	OCTO_FREQ_OPS,
	.timesync_read_time = octo_timesync_read_time,
	.timesync_write_time = octo_timesync_write_time,
	.read_clock = octo_read_clock,
	/* speed lanes: set on all PFs, asked of them in turn */
	OCTO_LANES_OPS,
};
