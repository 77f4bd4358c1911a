/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Octo ports of EAL's command line have their numbers before any of their PFs is probed:
 * applications that take ports by masks or in pairs are to find them as 0, 1, ...
 *
 * The vdev bus probes its devices one after the other, in the order of the command line, and
 * tells nobody when it is done. So the ports wait until the last of them has its number: then
 * all are built, in order, in the probe of that one. Until then ethdev shows none of them.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <dev_driver.h>
#include <ethdev_driver.h>
#include <rte_devargs.h>
#include <rte_string_fns.h>

#include "octo_attach.h"
#include "octo_private.h"
#include "octo_startup.h"

struct waiting {
	STAILQ_ENTRY(waiting) next;
	struct rte_eth_dev *dev;
	bool told; /* the bus knows what became of it */
	int ret;
	struct octo_args args;
};

static STAILQ_HEAD(, waiting) waiting = STAILQ_HEAD_INITIALIZER(waiting);

/* An octo port of the command line that was not probed yet. */
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

/* Without memory it is built when it is probed. */
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
 * Called before each scan of the vdev bus. EAL's own is the one before an IOVA mode is
 * chosen, as that depends on the devices found; later ones are for a device each.
 */
void
octo_startup_scan(void)
{
	const struct rte_devargs *da;

	if (rte_eal_iova_mode() != RTE_IOVA_DC || rte_eal_process_type() != RTE_PROC_PRIMARY)
		return;
	octo_environment_add();
	RTE_EAL_DEVARGS_FOREACH("vdev", da)
		if (octo_attach_would_be_octo(da->name) && da->policy != RTE_DEV_BLOCKED)
			await(da->name);
}

/* This port is probed. Does it wait for others? Not if somebody else has it probed. */
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
 * Keep a port until there are no others to come: one that failed, with ret, keeps its number
 * as well, as the others are to have the same with it and without. Returns what the bus is
 * to be told.
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

/* Build all that wait, if no other is to come. */
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

/* The bus was told that it is there. */
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

/* Nobody waits any more: the numbers of those that failed are free. */
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
