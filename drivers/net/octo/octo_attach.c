/* SPDX-License-Identifier: BSD-3-Clause */

/* The PFs' ports: found or probed, owned, told apart, given back. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include <dev_driver.h>
#include <rte_devargs.h>
#include <rte_kvargs.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "octo_attach.h"
#include "octo_private.h"

#define SIM_DRIVER_NAME "net_octosim"

static bool
looks_like_pci(const char *name)
{
	return isxdigit((unsigned char)name[0]) && strchr(name, ':') != NULL;
}

/* Find a port by its name, or by any spelling of its PCI address. */
static int
find_port(const char *name, uint16_t *port_id)
{
	struct rte_dev_iterator it;
	uint16_t id, found = RTE_MAX_ETHPORTS;

	if (rte_eth_dev_get_port_by_name(name, port_id) == 0)
		return 0;
	if (!looks_like_pci(name))
		return -ENODEV;
	RTE_ETH_FOREACH_MATCHING_DEV(id, name, &it)
		if (found == RTE_MAX_ETHPORTS)
			found = id;
	if (found == RTE_MAX_ETHPORTS)
		return -ENODEV;
	*port_id = found;
	return 0;
}

/* The arguments that EAL was given for this device, or NULL. */
static const struct rte_devargs *
eal_devargs(const char *name)
{
	struct rte_devargs *da;

	RTE_EAL_DEVARGS_FOREACH("vdev", da)
		if (strcmp(da->name, name) == 0)
			return da;
	return NULL;
}

static int
probe_with_args(const char *name, const char *args)
{
	char *text = NULL;
	int ret;

	if (args == NULL || args[0] == '\0')
		return rte_dev_probe(name);
	if (asprintf(&text, "%s,%s", name, args) < 0)
		return -ENOMEM;
	ret = rte_dev_probe(text);
	free(text);
	return ret;
}

/* EAL probes vdevs in the order they were given: this one's turn may not have come. */
static int
probe_one(const char *port, const char *name, bool *probed_here)
{
	const struct rte_devargs *da = eal_devargs(name);
	uint16_t port_id;
	int ret;

	ret = probe_with_args(name, da == NULL ? NULL : da->args);
	if (ret != 0 && ret != -EEXIST) {
		OCTO_LOG(ERR, "%s: pf=%s: no such port, and probing it failed: %s", port, name,
			 rte_strerror(-ret));
		return -ENODEV;
	}
	*probed_here = da == NULL;
	if (find_port(name, &port_id) != 0) {
		OCTO_LOG(ERR, "%s: pf=%s: the device was probed but has no ethdev port", port,
			 name);
		return -ENODEV;
	}
	return 0;
}

/* Ports that name each other would be probed without end. */
static bool
would_be_octo(const char *name)
{
	return strncmp(name, OCTO_DRIVER_NAME, strlen(OCTO_DRIVER_NAME)) == 0 &&
	       strncmp(name, SIM_DRIVER_NAME, strlen(SIM_DRIVER_NAME)) != 0;
}

int
octo_attach_probe_missing(const char *port, struct octo_args *args)
{
	uint16_t port_id;
	int ret;

	for (uint16_t i = 0; i < args->nb_pfs; i++) {
		const char *name = args->pf[i].name;

		if (find_port(name, &port_id) == 0)
			continue;
		if (would_be_octo(name)) {
			OCTO_LOG(ERR, "%s: pf=%s: an octo port cannot be a PF", port, name);
			ret = -EINVAL;
		} else {
			ret = probe_one(port, name, &args->pf[i].probed_here);
		}
		if (ret != 0)
			return ret;
	}
	return 0;
}

static void
remove_device(uint16_t port_id)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(port_id, &info) == 0 && info.device != NULL)
		rte_dev_remove(info.device);
}

void
octo_attach_unprobe(const struct octo_args *args)
{
	uint16_t port_id;

	for (int i = args->nb_pfs - 1; i >= 0; i--)
		if (args->pf[i].probed_here && find_port(args->pf[i].name, &port_id) == 0)
			remove_device(port_id);
}

static int
read_socket(const char *key, const char *value, void *arg)
{
	RTE_SET_USED(key);
	*(int16_t *)arg = (int16_t)(value == NULL ? -1 : atoi(value));
	return 0;
}

/* What a simulated PF says of its socket: its own socket= devarg, 0 by default. */
static bool
simulated_node(const struct rte_eth_dev_info *info, int16_t *node)
{
	const struct rte_devargs *da;
	struct rte_kvargs *kvlist;

	if (info->driver_name == NULL || strcmp(info->driver_name, SIM_DRIVER_NAME) != 0)
		return false;
	*node = 0;
	da = rte_dev_devargs(info->device);
	kvlist = rte_kvargs_parse(da == NULL || da->args == NULL ? "" : da->args, NULL);
	if (kvlist != NULL) {
		rte_kvargs_process(kvlist, "socket", read_socket, node);
		rte_kvargs_free(kvlist);
	}
	return true;
}

static void
describe(struct octo_pf *pf, const struct rte_eth_dev_info *info, int node)
{
	const int socket = rte_eth_dev_socket_id(pf->port_id);

	pf->alloc_socket = socket;
	pf->has_rmv = info->dev_flags != NULL && (*info->dev_flags & RTE_ETH_DEV_INTR_RMV);
	pf->has_lsc = info->dev_flags != NULL && (*info->dev_flags & RTE_ETH_DEV_INTR_LSC);
	if (node >= 0) {
		pf->node = (int16_t)node;
		pf->simulated = node != socket;
	} else {
		pf->node = (int16_t)socket;
		pf->simulated = simulated_node(info, &pf->node);
	}
}

/* May this port be a PF of ours? */
static int
check_candidate(const struct octo_dev *octo, const char *name, uint16_t port_id,
		const struct rte_eth_dev_info *info)
{
	const char *port = octo_data(octo)->name;

	if (info->driver_name != NULL && strcmp(info->driver_name, OCTO_DRIVER_NAME) == 0) {
		OCTO_LOG(ERR, "%s: pf=%s: an octo port cannot be a PF", port, name);
		return -EINVAL;
	}
	for (uint16_t i = 0; i < octo->nb_pfs; i++) {
		if (octo->pf[i].port_id == port_id) {
			OCTO_LOG(ERR, "%s: pf=%s is given twice", port, name);
			/* not -EEXIST: EAL takes that for "probed already" */
			return -EINVAL;
		}
	}
	return 0;
}

static int
own(const struct octo_dev *octo, const char *name, uint16_t port_id)
{
	struct rte_eth_dev_owner owner = {.id = octo->owner_id};
	struct rte_eth_dev_owner other;
	int ret;

	rte_strscpy(owner.name, octo_data(octo)->name, sizeof(owner.name));
	if (rte_eth_dev_owner_get(port_id, &other) == 0 && other.id != RTE_ETH_DEV_NO_OWNER) {
		OCTO_LOG(ERR, "%s: pf=%s is already owned by %s", octo_data(octo)->name, name,
			 other.name);
		return -EBUSY;
	}
	ret = rte_eth_dev_owner_set(port_id, &owner);
	if (ret != 0)
		OCTO_LOG(ERR, "%s: pf=%s cannot be owned: %s", octo_data(octo)->name, name,
			 rte_strerror(-ret));
	return ret;
}

static int
attach(struct octo_dev *octo, const char *name, int node, bool probed_here)
{
	struct octo_pf *pf = &octo->pf[octo->nb_pfs];
	struct rte_eth_dev_info info;
	uint16_t port_id;
	int ret;

	ret = find_port(name, &port_id);
	if (ret == 0)
		ret = rte_eth_dev_info_get(port_id, &info);
	if (ret == 0)
		ret = check_candidate(octo, name, port_id, &info);
	if (ret == 0)
		ret = own(octo, name, port_id);
	if (ret != 0)
		return ret;
	*pf = (struct octo_pf){.port_id = port_id, .probed_here = probed_here};
	rte_eth_dev_get_name_by_port(port_id, pf->name);
	rte_eth_macaddr_get(port_id, &pf->mac);
	describe(pf, &info, node);
	pf->state = OCTO_PF_OWNED;
	octo->nb_pfs++;
	return 0;
}

/* A PF that is gone may still have its port; its owner is gone now, too. */
static void
detach(struct octo_dev *octo, struct octo_pf *pf, bool remove_probed)
{
	struct rte_eth_dev_owner owner;

	if (!rte_eth_dev_is_valid_port(pf->port_id) ||
	    rte_eth_dev_owner_get(pf->port_id, &owner) != 0 || owner.id != octo->owner_id)
		return;
	rte_eth_dev_owner_unset(pf->port_id, octo->owner_id);
	pf->state = OCTO_PF_GONE;
	if (remove_probed && pf->probed_here)
		remove_device(pf->port_id);
}

int
octo_attach_all(struct octo_dev *octo, const struct octo_args *args)
{
	int ret = rte_eth_dev_owner_new(&octo->owner_id);

	for (uint16_t i = 0; ret == 0 && i < args->nb_pfs; i++)
		ret = attach(octo, args->pf[i].name, args->pf[i].node, args->pf[i].probed_here);
	if (ret != 0)
		octo_attach_undo_all(octo, false);
	return ret;
}

/*
 * remove_probed: remove the devices that octo probed itself. Not while a bus
 * walks its devices, as in rte_eal_cleanup().
 */
void
octo_attach_undo_all(struct octo_dev *octo, bool remove_probed)
{
	for (int i = octo->nb_pfs - 1; i >= 0; i--)
		detach(octo, &octo->pf[i], remove_probed);
	octo->nb_pfs = 0;
}
