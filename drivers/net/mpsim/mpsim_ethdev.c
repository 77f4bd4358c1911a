/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <bus_vdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_malloc.h>

#include "mpsim.h"
#include "mpsim_async.h"
#include "mpsim_flow_ops.h"

RTE_LOG_REGISTER_DEFAULT(mpsim_logtype, NOTICE);

static void
init_pf(struct rte_eth_dev *dev, const struct mpsim_args *args)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	pf->data = dev->data;
	pf->port_id = dev->data->port_id;
	pf->args = *args;
	pf->arfs.max = args->arfs_entries;
	pf->generic.max = args->generic_entries;
	mpsim_pipe_init(&pf->pipe);
	mpsim_fault_init(&pf->faults);
	pf->max_frame = RTE_ETHER_MTU + MPSIM_OVERHEAD;
	rte_spinlock_init(&pf->link_lock);
	rte_atomic_store_explicit(&pf->link_up, true, rte_memory_order_relaxed);
	TAILQ_INIT(&pf->flows);
	mpsim_rss_set_key(&pf->rss_state, mpsim_rss_default_key);
	dev->data->mtu = RTE_MIN((uint32_t)RTE_ETHER_MTU, args->max_mtu);
	dev->data->dev_flags |= RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE |
				RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
	if (args->representor != 0 && args->representor != MPSIM_UPLINK) {
		dev->data->dev_flags |= RTE_ETH_DEV_REPRESENTOR;
		dev->data->representor_id = args->representor - MPSIM_REP(0);
	}
	mpsim_set_bursts(dev);
	mpsim_flow_ops_install(dev);
}

static struct rte_eth_dev *
create_port(struct rte_vdev_device *vdev, const struct mpsim_args *args)
{
	struct rte_eth_dev *dev = rte_eth_vdev_allocate(vdev, sizeof(struct mpsim_pf));
	struct mpsim_pf *pf;

	if (dev == NULL)
		return NULL;
	dev->data->mac_addrs = rte_zmalloc("mpsim_macs",
					   MPSIM_MAX_MACS * sizeof(struct rte_ether_addr), 0);
	if (dev->data->mac_addrs == NULL) {
		rte_eth_dev_release_port(dev);
		return NULL;
	}
	init_pf(dev, args);
	pf = dev->data->dev_private;
	if (mpsim_pipe_set_latency(&pf->pipe, args->latency_us) != 0) {
		rte_eth_dev_release_port(dev);
		return NULL;
	}
	return dev;
}

static int
join_nic(struct rte_eth_dev *dev, const struct mpsim_args *args)
{
	struct mpsim_nic *nic;
	int ret;

	mpsim_control_lock();
	ret = mpsim_nic_get(dev->data->name, args, &nic);
	if (ret == 0) {
		ret = mpsim_model_join(dev, nic);
		if (ret != 0)
			mpsim_nic_put(nic);
	}
	if (ret == 0)
		mpsim_nic_add_pf(nic, dev->data->dev_private);
	mpsim_control_unlock();
	return ret;
}

static int
probe_primary(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct mpsim_args args;
	struct rte_eth_dev *dev;
	int ret;

	ret = mpsim_args_parse(name, rte_vdev_device_args(vdev), &args);
	if (ret != 0)
		return ret;
	if (mpsim_hotplug_is_out(name)) {
		MPSIM_LOG(INFO, name, "it is not there: a fault has removed it, and not put back");
		return -ENODEV;
	}
	/* EAL may let two threads probe one device at the same time */
	if (rte_eth_dev_allocated(name) != NULL) {
		MPSIM_LOG(INFO, name, "it is being probed already, or not released yet");
		return -EEXIST;
	}
	dev = create_port(vdev, &args);
	if (dev == NULL) {
		MPSIM_LOG(ERR, name, "no memory or no port id for the port");
		return -ENOMEM;
	}
	/* may probe the wire, whose port id then follows that of the PF */
	ret = join_nic(dev, &args);
	if (ret != 0) {
		mpsim_pipe_free(&((struct mpsim_pf *)dev->data->dev_private)->pipe);
		rte_eth_dev_release_port(dev);
		return ret;
	}
	/* without any lock: in a callback the application may use the port at once */
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int
probe_secondary(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_eth_dev *dev = rte_eth_dev_attach_secondary(name);

	if (dev == NULL) {
		MPSIM_LOG(ERR, name, "the primary process has no such port");
		return -ENODEV;
	}
	dev->device = &vdev->device;
	mpsim_set_bursts(dev);
	mpsim_model_set_bursts(dev);
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int
mpsim_probe(struct rte_vdev_device *vdev)
{
	if (rte_eal_process_type() == RTE_PROC_SECONDARY)
		return probe_secondary(vdev);
	return probe_primary(vdev);
}

/*
 * Raise RMV before the queues are freed: an octo port that owns this port may be polling it,
 * and does not know of the removal. An application that removes its own port does.
 */
static void
tell_owner(struct rte_eth_dev *dev)
{
	struct rte_eth_dev_owner owner;

	if (rte_eth_dev_owner_get(dev->data->port_id, &owner) == 0 &&
	    owner.id != RTE_ETH_DEV_NO_OWNER)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
}

/* EAL may also let two threads remove one device at the same time. */
static bool
is_first_to_remove(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	bool first;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return true;
	mpsim_control_lock();
	first = !pf->removing;
	pf->removing = true;
	mpsim_control_unlock();
	return first;
}

static int
mpsim_remove(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_eth_dev *dev = rte_eth_dev_allocated(name);

	if (dev != NULL && !is_first_to_remove(dev))
		return -EBUSY;
	mpsim_hotplug_released(name);
	/* the application has closed the port before */
	if (dev == NULL)
		return 0;
	if (rte_eal_process_type() == RTE_PROC_PRIMARY) {
		mpsim_nic_unplug(dev->data->dev_private);
		mpsim_link_update(dev, 0);
		tell_owner(dev);
	}
	mpsim_close(dev);
	return rte_eth_dev_release_port(dev);
}

static struct rte_vdev_driver mpsim_driver = {
	.probe = mpsim_probe,
	.remove = mpsim_remove,
};

RTE_PMD_REGISTER_VDEV(net_mpsim, mpsim_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_mpsim, "nic=<string> "
					 "socket=<int> "
					 "wire=<ethdev name>|nic:<string>|loop "
					 "default_pf=<int> "
					 "lost_pf=drop|default "
					 "switch=rules|mac "
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
					 "fill_rings=<int> "
					 "ifindex=<int> "
					 "ignore=mpfs|arfs|all "
					 "dialect=<name>[/any] "
					 "caps=-<word>[/-<word>...] "
					 "representor=uplink|pf<int> "
					 "model=<name or path> "
					 "socket_map=<cpus>:<node>[/...] "
					 "rings=cpu|pf");
