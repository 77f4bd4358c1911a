/* SPDX-License-Identifier: BSD-3-Clause */

/* Probe and remove of the octo vdev. */

#include <errno.h>
#include <unistd.h>

#include <bus_vdev_driver.h>
#include <ethdev_vdev.h>

#include "octo_flow_ops.h"
#include "octo_peers.h"
#include "octo_private.h"
#include "octo_rx_intr.h"
#include "octo_startup.h"

static void
set_bursts(struct rte_eth_dev *dev, const struct octo_dev *octo)
{
	const bool borrowed = rte_eal_process_type() == RTE_PROC_SECONDARY;
	const struct octo_macs *macs = &octo->macs;
	const bool by_source = macs->reserved && macs->source == OCTO_MAC_SOURCE_ADDRESS;
	const bool rewrites = macs->reserved && macs->source == OCTO_MAC_SOURCE_REWRITE;

	/* from the rings on all PFs, that of the home PF in each burst */
	dev->rx_pkt_burst = borrowed       ? octo_rx_burst_borrowed :
			    macs->reserved ? octo_rx_burst_mac :
					     octo_rx_burst;
	/* by the PF of the sender's node or of the buffer's */
	dev->tx_pkt_burst = octo->tx_by_buffer ? octo_tx_burst_by_buffer :
			    by_source          ? octo_tx_burst_by_source :
			    borrowed           ? octo_tx_burst_borrowed :
			    rewrites           ? octo_tx_burst_mac :
						 octo_tx_burst;
}

static void
set_entry_points(struct rte_eth_dev *dev, const struct octo_dev *octo)
{
	dev->dev_ops = &octo_dev_ops;
	octo_flow_ops_install(dev);
	set_bursts(dev, octo);
	/* by the PF that the queue sends by next */
	dev->tx_pkt_prepare = octo_tx_prepare;
	/* the sum of the rings on all PFs */
	dev->rx_queue_count = octo_rx_queue_count;
	OCTO_SET_TX_QUEUE_COUNT(dev, octo_tx_queue_count);
	/* of the ring on the queue's home PF */
	dev->rx_descriptor_status = octo_rx_descriptor_status;
	dev->tx_descriptor_status = octo_tx_descriptor_status;
}

/* All PFs share one MAC address: that of mac=, or of the first PF. */
static int
set_mac_table(struct rte_eth_dev *dev, const struct octo_args *args)
{
	struct octo_dev *octo = octo_of(dev);
	struct rte_eth_dev_info info;
	int ret = octo_info_get(dev, &info);
	int first;

	if (ret != 0)
		return ret;
	octo->nb_macs = RTE_MAX(info.max_mac_addrs, 1u);
	dev->data->mac_addrs = rte_calloc(OCTO_DRIVER_NAME, octo->nb_macs,
					  sizeof(struct rte_ether_addr), 0);
	if (dev->data->mac_addrs == NULL)
		return -ENOMEM;
	first = octo_port_first(octo, OCTO_PORT_IDLE);
	if (!args->has_mac)
		return rte_eth_macaddr_get(octo->port[first].port_id, &dev->data->mac_addrs[0]);
	rte_ether_addr_copy(&args->mac, &dev->data->mac_addrs[0]);
	return 0;
}

/* Applications allocate memory on this node, so it is never a simulated one. */
static void
set_node(struct rte_eth_dev *dev, const struct octo_args *args)
{
	const struct octo_dev *octo = octo_of(dev);
	const int first = octo_port_first(octo, OCTO_PORT_IDLE);

	dev->data->numa_node = args->socket >= 0 ? args->socket : octo->pf[first].alloc_socket;
	dev->device->numa_node = dev->data->numa_node;
}

static int
build_port(struct rte_eth_dev *dev, const struct octo_args *args)
{
	struct octo_dev *octo = octo_of(dev);
	int ret;

	octo->port_id = dev->data->port_id;
	octo->proxy = OCTO_NO_PF;
	octo->clone_pools = args->clone_pools;
	octo->ring_mode = args->ring_mode;
	octo->fences.settings = args->fence;
	octo->tx_by_buffer = args->tx_by_buffer;
	octo->replug.on = args->replug;
	ret = octo_wake_init(octo);
	if (ret != 0)
		return ret;
	ret = octo_lock_init(octo);
	if (ret != 0)
		goto err_wake;
	/* first: PFs may go while others are looked for */
	octo_registry_add(octo);
	ret = octo_attach_all(octo, args);
	if (ret != 0)
		goto err_pfs;
	octo_rss_remember(octo);
	ret = octo_info_check_alike(octo);
	if (ret == 0)
		ret = set_mac_table(dev, args);
	if (ret == 0)
		ret = octo_mpfs_agent_init(octo, args);
	if (ret != 0)
		goto err_pfs;
	ret = octo_learn_init(octo, &args->learning);
	if (ret != 0)
		goto err_agent;
	ret = octo_rule_store_init(octo);
	if (ret != 0)
		goto err_learn;
	octo_learn_publish_counts_locked(octo);
	octo_topo_init(octo, args);
	octo_tier_init(octo, args);
	octo->macs.source = args->mac_source;
	if (octo->tier_wanted == OCTO_TIER_MAC)
		octo_mac_reserve(octo);
	set_node(dev, args);
	return 0;

err_learn:
	octo_learn_fini(octo);
err_agent:
	octo_mpfs_agent_fini(octo);
err_pfs:
	octo_registry_remove(octo->port_id, octo->owner_id);
	octo_attach_undo_all(octo, false);
	octo_lock_fini(octo);
err_wake:
	octo_wake_fini(octo);
	return ret;
}

/* Everybody may use the port from now on. Events of its PFs that were raised before are handled. */
static void
open_port(struct octo_dev *octo)
{
	octo_lending_set_open(octo, true);
	/* handlers that have seen it closed have posted their events */
	octo_registry_await();
	octo_lock(octo);
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		octo_loss_hear_locked(octo, (uint8_t)i, NULL);
	octo_unlock(octo);
}

static int
build(struct rte_eth_dev *dev, struct octo_args *args)
{
	int ret = octo_attach_probe_missing(args->port, args);

	if (ret == 0)
		ret = build_port(dev, args);
	if (ret != 0) {
		octo_attach_unprobe(args);
		return ret;
	}
	set_entry_points(dev, octo_of(dev));
	/* rte_flow operations take the control mutex, hence FLOW_OPS_THREAD_SAFE */
	dev->data->dev_flags |= RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV |
				RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE |
				RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
	open_port(octo_of(dev));
	rte_eth_dev_probing_finish(dev);
	OCTO_LOG(NOTICE, "%s: port %u over %u PFs", args->port, dev->data->port_id,
		 octo_of(dev)->nb_pfs);
	return 0;
}

/* The port id is allocated before the PFs, and the PFs of other octo ports, are probed. */
static int
probe_primary(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	const bool waits = octo_startup_waits(name);
	struct rte_eth_dev *dev = rte_eth_vdev_allocate(vdev, sizeof(struct octo_dev));
	struct octo_args args;
	int ret = octo_args_parse(name, rte_vdev_device_args(vdev), &args);

	if (ret == 0)
		ret = octo_event_init();
	if (ret == 0)
		ret = octo_rx_intr_serve();
	if (dev == NULL) {
		OCTO_LOG(ERR, "%s: no ethdev port or no memory is left", name);
		ret = -ENOMEM;
	}
	if (waits)
		return dev == NULL ? ret : octo_startup_keep(dev, &args, ret);
	octo_startup_build(build);
	if (ret == 0)
		ret = build(dev, &args);
	octo_startup_end();
	if (ret != 0 && dev != NULL)
		rte_eth_dev_release_port(dev);
	return ret;
}

/* Another port may have the id that ethdev has found, or its data be gone. */
static struct octo_dev *
borrow(const struct rte_eth_dev *dev, const char *name)
{
	struct octo_dev *octo = octo_legs_borrow(dev->data->port_id);

	if (octo == NULL ||
	    (octo->port_id == dev->data->port_id && strcmp(dev->data->name, name) == 0))
		return octo;
	octo_legs_return(octo->port_id, octo->owner_id);
	return NULL;
}

/*
 * A port that is being built is refused: EAL has it attached when its probe has returned. The
 * primary may close the port at any time here. If it has given up waiting for this process, the
 * port's structure is not in dev->data any more.
 */
static int
attach_secondary(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_eth_dev *dev = rte_eth_dev_attach_secondary(name);
	struct octo_dev *octo;

	/* ethdev has said why */
	if (dev == NULL)
		return -ENODEV;
	octo = borrow(dev, name);
	if (octo == NULL) {
		OCTO_LOG(ERR, "%s: the primary process is making or closing the port", name);
		return -ENODEV;
	}
	dev->device = &vdev->device;
	set_entry_points(dev, octo);
	octo_rx_intr_borrow(dev, octo);
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int
probe_secondary(struct rte_vdev_device *vdev)
{
	int ret = octo_event_init();

	if (ret == 0)
		ret = octo_peers_init();
	if (ret == 0)
		ret = octo_rx_intr_serve();
	if (ret != 0)
		return ret;
	octo_peers_begin_attach();
	ret = attach_secondary(vdev);
	octo_peers_end_attach();
	return ret;
}

static const struct octo_hooks hooks = {
	.settle_events_locked = octo_loss_settle_locked,
	.forget_rule_locked = octo_learn_forget_locked,
	.make_room_locked = octo_learn_make_room_locked,
	.unlearn_locked = octo_learn_unlearn_locked,
};

static int
octo_probe(struct rte_vdev_device *vdev)
{
	int ret;

	octo_hooks = &hooks;
	octo_epoch_init();
	octo_legs_process = getpid();
	ret = octo_lending_init();
	if (ret != 0)
		return ret;
	octo_home_read_distances();
	if (rte_eal_process_type() == RTE_PROC_SECONDARY)
		return probe_secondary(vdev);
	return probe_primary(vdev);
}

static int
octo_remove(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));
	int ret;
	int released;

	if (dev == NULL)
		return 0;
	/* not built: its probe was put off until other devices are probed, which never happened */
	if (dev->dev_ops == NULL)
		return rte_eth_dev_release_port(dev);
	/* the bus may be walking its devices: the PFs' devices are not removed */
	ret = octo_take_down(dev, false);
	released = rte_eth_dev_release_port(dev);
	return ret != 0 ? ret : released;
}

static struct rte_vdev_driver octo_driver = {
	.probe = octo_probe,
	.remove = octo_remove,
};

RTE_PMD_REGISTER_VDEV(net_octo, octo_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_octo, "pf=<ethdev or PCI address>[@<socket>] "
					"socket_map=<cpus>:<node>[/<cpus>:<node>] "
					"socket=<node> "
					"mac=<address> "
					"agent=unix:<path>|tcp:<address>:<port>|dev:<path> "
					"agent_secret=<path> "
					"ethtool=unix:<path> "
					"tier=exact|partition|mac|queue|none "
					"dialect=<name> "
					"learn=on|off "
					"learn_sample=<int> "
					"learn_max=<int> "
					"idle_ms=<int> "
					"pools=app|local "
					"rx_rings=auto|full|shared "
					"grace_us=<int> "
					"fence_timeout_ms=<int> "
					"tx_pf=lcore|mbuf "
					"mac_source=rewrite|address|app "
					"dwell_ms=<int> "
					"replug=on|off "
					"linger_ms=<int>");

RTE_INIT(octo_scan_init)
{
	rte_vdev_add_custom_scan(octo_startup_scan, NULL);
}
