/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <bus_vdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_malloc.h>

#include "octosim.h"
#include "octosim_async.h"

RTE_LOG_REGISTER_DEFAULT(octosim_logtype, NOTICE);

static void
init_pf(struct rte_eth_dev *dev, const struct octosim_args *args)
{
	struct octosim_pf *pf = dev->data->dev_private;

	pf->data = dev->data;
	pf->port_id = dev->data->port_id;
	pf->args = *args;
	pf->arfs.max = args->arfs_entries;
	pf->generic.max = args->generic_entries;
	octosim_pipe_init(&pf->pipe);
	octosim_fault_init(&pf->faults);
	pf->max_frame = RTE_ETHER_MTU + OCTOSIM_OVERHEAD;
	rte_spinlock_init(&pf->link_lock);
	rte_atomic_store_explicit(&pf->link_up, true, rte_memory_order_relaxed);
	TAILQ_INIT(&pf->flows);
	octosim_rss_set_key(&pf->rss_state, octosim_rss_default_key);
	dev->data->mtu = RTE_MIN((uint32_t)RTE_ETHER_MTU, args->max_mtu);
	dev->data->dev_flags |= RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE |
				RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
	if (args->representor != 0 && args->representor != OCTOSIM_UPLINK) {
		dev->data->dev_flags |= RTE_ETH_DEV_REPRESENTOR;
		dev->data->representor_id = args->representor - OCTOSIM_REP(0);
	}
	octosim_set_bursts(dev);
	octosim_async_install(dev);
}

static struct rte_eth_dev *
create_port(struct rte_vdev_device *vdev, const struct octosim_args *args)
{
	struct rte_eth_dev *dev = rte_eth_vdev_allocate(vdev, sizeof(struct octosim_pf));
	struct octosim_pf *pf;

	if (dev == NULL)
		return NULL;
	dev->data->mac_addrs = rte_zmalloc("octosim_macs",
					   OCTOSIM_MAX_MACS * sizeof(struct rte_ether_addr), 0);
	if (dev->data->mac_addrs == NULL) {
		rte_eth_dev_release_port(dev);
		return NULL;
	}
	init_pf(dev, args);
	pf = dev->data->dev_private;
	if (octosim_pipe_set_latency(&pf->pipe, args->latency_us) != 0) {
		rte_eth_dev_release_port(dev);
		return NULL;
	}
	return dev;
}

static int
join_nic(struct rte_eth_dev *dev, const struct octosim_args *args)
{
	struct octosim_nic *nic;
	int ret;

	octosim_control_lock();
	ret = octosim_nic_get(dev->data->name, args, &nic);
	if (ret == 0) {
		ret = octosim_model_join(dev, nic);
		if (ret != 0)
			octosim_nic_put(nic);
	}
	if (ret == 0) {
		dev->data->mac_addrs[0] = nic->mac_addr;
		octosim_nic_add_pf(nic, dev->data->dev_private);
	}
	octosim_control_unlock();
	return ret;
}

static int
probe_primary(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct octosim_args args;
	struct rte_eth_dev *dev;
	int ret;

	ret = octosim_args_parse(name, rte_vdev_device_args(vdev), &args);
	if (ret != 0)
		return ret;
	if (octosim_hotplug_is_out(name)) {
		OCTOSIM_LOG(INFO, name,
			    "it is not there: a fault has removed it, and not put back");
		return -ENODEV;
	}
	/* EAL does not keep two threads from probing one device at the same time */
	if (rte_eth_dev_allocated(name) != NULL) {
		OCTOSIM_LOG(INFO, name, "it is being probed already, or not released yet");
		return -EEXIST;
	}
	dev = create_port(vdev, &args);
	if (dev == NULL) {
		OCTOSIM_LOG(ERR, name, "no memory or no port id for the port");
		return -ENOMEM;
	}
	/* may probe the wire, which is to get a port id behind that of the PF */
	ret = join_nic(dev, &args);
	if (ret != 0) {
		octosim_pipe_free(&((struct octosim_pf *)dev->data->dev_private)->pipe);
		rte_eth_dev_release_port(dev);
		return ret;
	}
	/* without any lock: the application is told, and may use the port at once */
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int
probe_secondary(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_eth_dev *dev = rte_eth_dev_attach_secondary(name);

	if (dev == NULL) {
		OCTOSIM_LOG(ERR, name, "the primary process has no such port");
		return -ENODEV;
	}
	dev->device = &vdev->device;
	octosim_set_bursts(dev);
	octosim_model_set_bursts(dev);
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int
octosim_probe(struct rte_vdev_device *vdev)
{
	if (rte_eal_process_type() == RTE_PROC_SECONDARY)
		return probe_secondary(vdev);
	return probe_primary(vdev);
}

/*
 * Whoever polls the port must leave it before its queues are freed. An
 * application that removes a port of its own knows; the owner of one does not.
 */
static void
tell_owner(struct rte_eth_dev *dev)
{
	struct rte_eth_dev_owner owner;

	if (rte_eth_dev_owner_get(dev->data->port_id, &owner) == 0 &&
	    owner.id != RTE_ETH_DEV_NO_OWNER)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
}

/* EAL does not keep two threads from removing one device at the same time, either. */
static bool
is_first_to_remove(struct rte_eth_dev *dev)
{
	struct octosim_pf *pf = dev->data->dev_private;
	bool first;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return true;
	octosim_control_lock();
	first = !pf->removing;
	pf->removing = true;
	octosim_control_unlock();
	return first;
}

static int
octosim_remove(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_eth_dev *dev = rte_eth_dev_allocated(name);

	if (dev != NULL && !is_first_to_remove(dev))
		return -EBUSY;
	octosim_hotplug_released(name);
	/* the application may have closed the port before */
	if (dev == NULL)
		return 0;
	if (rte_eal_process_type() == RTE_PROC_PRIMARY) {
		octosim_nic_unplug(dev->data->dev_private);
		octosim_link_update(dev, 0);
		tell_owner(dev);
	}
	octosim_close(dev);
	return rte_eth_dev_release_port(dev);
}

static struct rte_vdev_driver octosim_driver = {
	.probe = octosim_probe,
	.remove = octosim_remove,
};

RTE_PMD_REGISTER_VDEV(net_octosim, octosim_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_octosim, "nic=<string> "
					   "socket=<int> "
					   "wire=<ethdev name>|nic:<string>|loop "
					   "default_pf=<int> "
					   "lost_pf=drop|default "
					   "mpfs_entries=<int> "
					   "arfs_entries=<int> "
					   "generic_entries=<int> "
					   "queues=<int> "
					   "mac=<mac address> "
					   "wire_ring=<int> "
					   "wire_wait_us=<int> "
					   "max_mtu=<int> "
					   "tx_delay_us=<int> "
					   "tx_nodes=off|count|hint "
					   "latency_us=<int> "
					   "ignore=mpfs|arfs|all "
					   "caps=-<word>[/-<word>...] "
					   "representor=uplink|pf<int> "
					   "model=<name or path> "
					   "socket_map=<cpus>:<node>[/...] "
					   "rings=cpu|pf");
