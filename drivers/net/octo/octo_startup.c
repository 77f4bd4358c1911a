/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Octo ports of the EAL command line get their port ids before any PF is probed, so that
 * applications which take ports by mask or in pairs find them as 0, 1, ...
 *
 * The vdev bus probes its devices in the order of the command line and does not signal the
 * last one. So each port waits until the last octo port has its id; then all are built, in
 * order, in the probe of that one. Until then ethdev does not show any of them.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <dev_driver.h>
#include <ethdev_driver.h>
#include <rte_devargs.h>
#include <rte_string_fns.h>

#include "octo_private.h"
#include "octo_startup.h"

struct waiting {
	STAILQ_ENTRY(waiting) next;
	struct rte_eth_dev *dev;
	bool told; /* its probe returned ret to the bus */
	int ret;
	struct octo_args args;
};

static STAILQ_HEAD(, waiting) waiting = STAILQ_HEAD_INITIALIZER(waiting);

/* An octo port of the command line that is not probed yet. */
struct awaited {
	STAILQ_ENTRY(awaited) next;
	char name[RTE_DEV_NAME_MAX_LEN];
};

static STAILQ_HEAD(, awaited) awaited = STAILQ_HEAD_INITIALIZER(awaited);

static struct awaited *
find(const char *name)
{
	struct awaited *a;

	STAILQ_FOREACH(a, &awaited, next)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

/* Without memory the port is built when it is probed. */
static void
await(const char *name)
{
	struct awaited *a = find(name) != NULL ? NULL : calloc(1, sizeof(*a));

	if (a == NULL)
		return;
	rte_strscpy(a->name, name, sizeof(a->name));
	STAILQ_INSERT_TAIL(&awaited, a, next);
}

/*
 * Called before each scan of the vdev bus. EAL's own scan is the one before the IOVA mode
 * is chosen, as that depends on the devices found; later scans are for single devices.
 */
void
octo_startup_scan(void *arg)
{
	const struct rte_devargs *da;

	RTE_SET_USED(arg);
	if (rte_eal_iova_mode() != RTE_IOVA_DC || rte_eal_process_type() != RTE_PROC_PRIMARY)
		return;
	octo_environment_add();
	RTE_EAL_DEVARGS_FOREACH("vdev", da)
		if (octo_attach_would_be_octo(da->name) && da->policy != RTE_DEV_BLOCKED)
			await(da->name);
}

/*
 * Must this port wait for others? Not if it was not in the scan: then it is probed by
 * hotplug.
 */
bool
octo_startup_waits(const char *name)
{
	struct awaited *a = find(name);

	if (a == NULL)
		return false;
	STAILQ_REMOVE(&awaited, a, awaited, next);
	free(a);
	return !STAILQ_EMPTY(&awaited);
}

/*
 * Keep a port until all ports are probed. A port that failed (ret != 0) keeps its port id
 * as well, so that the ids of the others do not depend on it. Returns the result for the
 * bus.
 */
int
octo_startup_keep(struct rte_eth_dev *dev, const struct octo_args *args, int ret)
{
	struct waiting *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		rte_eth_dev_release_port(dev);
		return -ENOMEM;
	}
	*w = (struct waiting){.dev = dev, .told = ret != 0, .ret = ret, .args = *args};
	STAILQ_INSERT_TAIL(&waiting, w, next);
	return ret;
}

/* Build all waiting ports, if no other port is awaited. */
void
octo_startup_build(octo_startup_fn build)
{
	struct waiting *w;

	if (!STAILQ_EMPTY(&awaited))
		return;
	STAILQ_FOREACH(w, &waiting, next)
		if (w->ret == 0)
			w->ret = build(w->dev, &w->args);
}

/* Release a failed port; if its probe had returned success, remove the device. */
static void
give_up(const struct waiting *w)
{
	struct rte_device *device = w->dev->device;

	rte_eth_dev_release_port(w->dev);
	if (w->told)
		return;
	OCTO_LOG(ERR, "%s: the port is not made: %s", rte_dev_name(device), rte_strerror(-w->ret));
	rte_dev_remove(device);
}

/* When no port is awaited any more, release the port ids of those that failed. */
void
octo_startup_end(void)
{
	struct waiting *w;

	while (STAILQ_EMPTY(&awaited) && (w = STAILQ_FIRST(&waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&waiting, next);
		if (w->ret != 0)
			give_up(w);
		free(w);
	}
}
