/* SPDX-License-Identifier: BSD-3-Clause */

#include <bus_vdev_driver.h>
#include <rte_kvargs.h>

static int
octo_probe(struct rte_vdev_device *vdev)
{
	RTE_SET_USED(vdev);
	return -1;
}

static int
octo_remove(struct rte_vdev_device *vdev)
{
	RTE_SET_USED(vdev);
	return 0;
}

static struct rte_vdev_driver octo_driver = {
	.probe = octo_probe,
	.remove = octo_remove,
};

RTE_PMD_REGISTER_VDEV(net_octo, octo_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_octo, "nic=<string>");
