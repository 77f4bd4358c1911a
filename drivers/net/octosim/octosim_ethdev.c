/* SPDX-License-Identifier: BSD-3-Clause */

#include <bus_vdev_driver.h>
#include <rte_kvargs.h>

static int
octosim_probe(struct rte_vdev_device *vdev)
{
	RTE_SET_USED(vdev);
	return -1;
}

static int
octosim_remove(struct rte_vdev_device *vdev)
{
	RTE_SET_USED(vdev);
	return 0;
}

static struct rte_vdev_driver octosim_driver = {
	.probe = octosim_probe,
	.remove = octosim_remove,
};

RTE_PMD_REGISTER_VDEV(net_octosim, octosim_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_octosim, "nic=<string>");
