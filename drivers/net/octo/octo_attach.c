/* SPDX-License-Identifier: BSD-3-Clause */

/* The PFs' ports: find or probe them, own them, identify them, release them. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bus_driver.h>
#include <dev_driver.h>
#include <rte_cycles.h>
#include <rte_devargs.h>
#include <rte_kvargs.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "octo_clock.h"
#include "octo_private.h"

#define SIM_DRIVER_NAME "net_mpsim"

static bool
looks_like_pci(const char *name)
{
	return isxdigit((unsigned char)name[0]) && strchr(name, ':') != NULL;
}

/* Find a port by its name, or by any spelling of its PCI address, but no representor by that. */
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
		if (found == RTE_MAX_ETHPORTS && !octo_lower_is_representor(id))
			found = id;
	if (found == RTE_MAX_ETHPORTS)
		return -ENODEV;
	*port_id = found;
	return 0;
}

/*
 * Only the thread that probes a device may use its port before the probe has returned: ethdev
 * announces the port earlier, and the bus sets the driver afterwards. From DPDK 26.07 on EAL
 * sets the driver before the probe: there, an announced port counts as probed.
 */
bool
octo_attach_is_probed(uint16_t port_id)
{
	const struct rte_device *device = octo_lower_device(port_id);

	if (device == NULL || !rte_dev_is_probed(device))
		return false;
	/* a barrier in all threads, as the driver pointers are the last stores of the probe */
	octo_epoch_await(NULL, 0, 0);
	return true;
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

/* EAL probes vdevs in the order of its arguments, so this one may not have been probed so far. */
static int
probe_one(const char *port, const char *name, bool *probed_here, bool may_miss)
{
	const struct rte_devargs *da = eal_devargs(name);
	uint16_t port_id;
	int ret;

	ret = probe_with_args(name, da == NULL ? NULL : da->args);
	if (ret != 0 && ret != -EEXIST) {
		if (may_miss)
			OCTO_LOG(WARNING, "%s: pf=%s is missing: %s", port, name,
				 rte_strerror(-ret));
		else
			OCTO_LOG(ERR, "%s: pf=%s: no such port, and probing it failed: %s", port,
				 name, rte_strerror(-ret));
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

/* Octo ports as PFs are refused: two ports that name each other would be probed endlessly. */
bool
octo_attach_would_be_octo(const char *name)
{
	return strncmp(name, OCTO_DRIVER_NAME, strlen(OCTO_DRIVER_NAME)) == 0;
}

/* The device is being probed by another thread, or by this one further up the stack. */
static int
refuse_unprobed(const char *port, const char *name, bool may_miss)
{
	if (may_miss)
		OCTO_LOG(NOTICE, "%s: pf=%s is still being probed, and joins later", port, name);
	else
		OCTO_LOG(ERR, "%s: pf=%s is still being probed: create the port afterwards", port,
			 name);
	return may_miss ? -ENODEV : -EBUSY;
}

/* With replug, a missing PF may come later, as long as at least one PF is present. */
int
octo_attach_probe_missing(const char *port, struct octo_args *args)
{
	uint16_t nb_missing = 0;
	uint16_t port_id;
	int ret;

	for (uint16_t i = 0; i < args->nb_pfs; i++) {
		const bool may_miss = args->replug && !args->sliced &&
				      nb_missing + 1 < args->nb_pfs;
		const char *name = args->pf[i].name;
		const bool is_found = find_port(name, &port_id) == 0;

		if (is_found && octo_attach_is_probed(port_id))
			continue;
		if (is_found) {
			ret = refuse_unprobed(port, name, may_miss);
		} else if (octo_attach_would_be_octo(name)) {
			OCTO_LOG(ERR, "%s: pf=%s: an octo port cannot be a PF", port, name);
			ret = -EINVAL;
		} else {
			ret = probe_one(port, name, &args->pf[i].probed_here, may_miss);
		}
		if (ret == -ENODEV && may_miss) {
			args->pf[i].missing = true;
			nb_missing++;
			ret = 0;
		}
		if (ret != 0)
			return ret;
	}
	return 0;
}

/* The device is kept while another of its ports exists. */
static void
remove_device(uint16_t port_id)
{
	struct rte_eth_dev_info info;

	if (octo_attach_is_probed(port_id) && rte_eth_dev_info_get(port_id, &info) == 0 &&
	    !octo_lower_is_shared(port_id, rte_bus_name(rte_dev_bus(info.device)),
				  rte_dev_name(info.device)))
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

/* The socket of a simulated PF: its own socket= devarg, 0 by default. */
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

/* Store what is needed to find and probe the device again. */
static void
remember(struct octo_port *port, const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *da = rte_dev_devargs(info->device);
	struct octo_pf_past *past = &port->past;
	size_t len;

	past->info = *info;
	rte_strscpy(past->device, rte_dev_name(info->device), sizeof(past->device));
	rte_strscpy(past->bus, rte_bus_name(rte_dev_bus(info->device)), sizeof(past->bus));
	rte_free(past->args);
	past->args = NULL;
	if (da == NULL || da->args == NULL || da->args[0] == '\0')
		return;
	len = strlen(da->args) + 1;
	past->args = rte_malloc("octo_devargs", len, 0);
	if (past->args != NULL)
		memcpy(past->args, da->args, len);
}

/* Has this machine, or what EAL was given of it, memory on this node? */
bool
octo_attach_is_real_node(int node)
{
	for (unsigned int i = 0; i < rte_socket_count(); i++)
		if (rte_socket_id_by_idx(i) == node)
			return true;
	return false;
}

static void
locate(struct octo_pf *pf, const struct rte_eth_dev_info *info, bool is_slice)
{
	const int socket = rte_eth_dev_socket_id(pf->port->port_id);

	pf->alloc_socket = socket;
	/* the port itself is on one node, its slices are on several */
	if (is_slice && octo_attach_is_real_node(pf->given_node)) {
		pf->node = pf->given_node;
		pf->alloc_socket = pf->given_node;
		pf->simulated = false;
	} else if (pf->given_node >= 0) {
		pf->node = pf->given_node;
		pf->simulated = pf->given_node != socket;
	} else {
		pf->node = (int16_t)socket;
		pf->simulated = simulated_node(info, &pf->node);
	}
}

/* Why this port cannot become one of the octo port's PFs, or NULL. */
static const char *
refuse(const struct octo_dev *octo, uint16_t port_id, const struct rte_eth_dev_info *info)
{
	if (info->driver_name != NULL && strcmp(info->driver_name, OCTO_DRIVER_NAME) == 0)
		return ": an octo port cannot be a PF";
	if (octo_af_xdp_waits(info))
		return ": with busy_budget=0 a burst may wait for a second, and the other PFs' "
		       "packets with it: leave it out, or give 64";
	if (octo->ethtool[0] != '\0' && octo_af_xdp_netdev(info) == 0)
		return ": with ethtool= a port of net_af_xdp is needed";
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		if (octo_port_is_owned(&octo->port[i]) && octo->port[i].port_id == port_id)
			return " is given twice";
	return NULL;
}

static int
own(const struct octo_dev *octo, const char *name, bool logged, uint16_t port_id)
{
	struct rte_eth_dev_owner owner = {.id = octo->owner_id};
	struct rte_eth_dev_owner other = {.id = RTE_ETH_DEV_NO_OWNER};
	int ret;

	rte_strscpy(owner.name, octo_data(octo)->name, sizeof(owner.name));
	if (rte_eth_dev_owner_get(port_id, &other) == 0 && other.id == octo->owner_id)
		return 0;
	if (other.id != RTE_ETH_DEV_NO_OWNER) {
		if (!logged)
			OCTO_LOG(ERR, "%s: pf=%s is already owned by %s", octo_data(octo)->name,
				 name, other.name);
		return -EBUSY;
	}
	ret = rte_eth_dev_owner_set(port_id, &owner);
	if (ret != 0 && !logged)
		OCTO_LOG(ERR, "%s: pf=%s cannot be owned: %s", octo_data(octo)->name, name,
			 rte_strerror(-ret));
	return ret;
}

/* Find the port by its name and take ownership of it. */
static int
find_and_own(struct octo_dev *octo, const char *name, bool logged, uint16_t *port_id,
	     struct rte_eth_dev_info *info)
{
	const char *why;
	int ret = find_port(name, port_id);

	if (ret == 0 && !octo_attach_is_probed(*port_id))
		ret = -EAGAIN;
	if (ret == 0)
		ret = rte_eth_dev_info_get(*port_id, info);
	if (ret != 0)
		return ret;
	why = refuse(octo, *port_id, info);
	if (why == NULL)
		return own(octo, name, logged, *port_id);
	if (!logged)
		OCTO_LOG(ERR, "%s: pf=%s%s", octo_data(octo)->name, name, why);
	/* not -EEXIST: EAL takes that for "probed already" */
	return -EINVAL;
}

static void
take_in(struct octo_dev *octo, struct octo_port *port, uint16_t port_id,
	struct rte_eth_dev_info *info)
{
	port->port_id = port_id;
	rte_eth_dev_get_name_by_port(port_id, port->name);
	/* a port that was owned before still has the address of the octo port */
	if (!(port->todo & OCTO_PORT_DO_RENEW))
		rte_eth_macaddr_get(port_id, &port->mac);
	port->has_rmv = info->dev_flags != NULL && (*info->dev_flags & RTE_ETH_DEV_INTR_RMV);
	port->has_lsc = info->dev_flags != NULL && (*info->dev_flags & RTE_ETH_DEV_INTR_LSC);
	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		if (octo->pf[i].port == port)
			locate(&octo->pf[i], info, octo->sliced);
	octo_nic_take(octo, port, info);
	remember(port, info);
	port->has_port = true;
	octo_users_open(port);
}

/* The PF with index nb_pfs, and its port. */
static int
attach(struct octo_dev *octo, const struct octo_args *args)
{
	const uint16_t i = octo->nb_pfs++;
	const bool is_next = args->sliced && i > 0;
	struct octo_port *port = &octo->port[is_next ? 0 : octo->nb_ports];
	struct octo_pf *pf = &octo->pf[i];
	struct rte_eth_dev_info info;
	uint16_t port_id;
	int ret;

	*pf = (struct octo_pf){
		.port = port, .slice = args->pf[i].slice, .given_node = (int16_t)args->pf[i].node};
	if (is_next) {
		locate(pf, &port->past.info, true);
		return 0;
	}
	*port = (struct octo_port){
		.shut = true,
		.probed_here = args->pf[i].probed_here,
		.posted_port = RTE_MAX_ETHPORTS,
	};
	octo_pf_state_init(&octo->role[octo->nb_ports], rte_get_timer_hz(), octo_now());
	octo_port_state_init(&port->fsm, args->pf[i].missing ? OCTO_PORT_ABSENT : OCTO_PORT_IDLE,
			     args->replug, args->pf[i].probed_here, rte_get_timer_hz(), octo_now());
	port->past.life = port->fsm.life;
	if (args->pf[i].missing) {
		rte_strscpy(port->name, args->pf[i].name, sizeof(port->name));
		port->port_id = RTE_MAX_ETHPORTS;
		pf->node = pf->given_node;
		pf->alloc_socket = SOCKET_ID_ANY;
		octo->nb_ports++;
		return 0;
	}
	ret = find_and_own(octo, args->pf[i].name, false, &port_id, &info);
	if (ret != 0)
		return ret;
	take_in(octo, port, port_id, &info);
	/* the octo port is new: all that the PF has counted belongs to it */
	port->past.counted = true;
	octo->nb_ports++;
	return 0;
}

bool
octo_attach_is_ours(uint64_t owner_id, const struct octo_port *port)
{
	struct rte_eth_dev_owner owner;

	return rte_eth_dev_is_valid_port(port->port_id) &&
	       rte_eth_dev_owner_get(port->port_id, &owner) == 0 && owner.id == owner_id;
}

/* The port of a PF that is gone may exist still; its ownership is given up, too. */
static void
detach(struct octo_dev *octo, struct octo_port *port, bool remove_probed)
{
	rte_free(port->past.args);
	port->past.args = NULL;
	octo_users_shut(port);
	octo_users_await(port);
	octo_nic_give_back(port);
	if (!port->has_port || !octo_attach_is_ours(octo->owner_id, port))
		return;
	rte_eth_dev_owner_unset(port->port_id, octo->owner_id);
	octo_port_state_post(&port->mail, OCTO_PORT_EV_DIED);
	octo_port_state_hear(&port->fsm, octo_port_state_take(&port->mail), NULL, octo_now());
	if (remove_probed && port->probed_here)
		remove_device(port->port_id);
}

/* If it fails, octo_attach_undo_all() must follow. */
int
octo_attach_all(struct octo_dev *octo, const struct octo_args *args)
{
	int ret = rte_eth_dev_owner_new(&octo->owner_id);

	octo->sliced = args->sliced;
	rte_strscpy(octo->ethtool, args->ethtool, sizeof(octo->ethtool));
	while (ret == 0 && octo->nb_pfs < args->nb_pfs)
		ret = attach(octo, args);
	if (ret == 0 && octo->sliced)
		ret = octo_slices_fit(octo, &octo->port[0].past.info);
	return ret;
}

/*
 * remove_probed: also remove the devices that octo probed itself. Must be false while a bus
 * walks its devices, as in rte_eal_cleanup().
 */
void
octo_attach_undo_all(struct octo_dev *octo, bool remove_probed)
{
	uint64_t port_id;

	for (int i = octo->nb_ports - 1; i >= 0; i--)
		detach(octo, &octo->port[i], remove_probed);
	octo->nb_pfs = 0;
	octo->nb_ports = 0;
	/* ports that were claimed, but did not become PFs */
	RTE_ETH_FOREACH_DEV_OWNED_BY(port_id, octo->owner_id)
		rte_eth_dev_owner_unset((uint16_t)port_id, octo->owner_id);
}

/* Check first, because EAL logs an error for a device that does not exist. */
bool
octo_attach_is_on_bus(const struct octo_port *port)
{
	const struct octo_pf_past *past = &port->past;
	char path[128];

	if (strcmp(past->bus, "pci") != 0)
		return true;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", past->device);
	return access(path, F_OK) == 0;
}

static const char *
device_name(const struct octo_port *port)
{
	return port->past.device[0] != '\0' ? port->past.device : port->name;
}

/* Find the port by its device's name, or by its own. */
bool
octo_attach_find(const struct octo_port *port, uint16_t *port_id)
{
	return find_port(device_name(port), port_id) == 0 || find_port(port->name, port_id) == 0;
}

/* Called without any lock: a listener for device events may call into the port. */
int
octo_attach_probe_again(const struct octo_port *port)
{
	const struct octo_pf_past *past = &port->past;
	const char *name = device_name(port);
	const struct rte_devargs *da;

	if (past->device[0] != '\0')
		return octo_attach_is_on_bus(port) ?
			       rte_eal_hotplug_add(past->bus, past->device,
						   past->args != NULL ? past->args : "") :
			       -ENODEV;
	/* some buses would create a device that never existed */
	da = eal_devargs(name);
	if (da != NULL && da->args != NULL && da->args[0] != '\0')
		return probe_with_args(name, da->args);
	return looks_like_pci(name) ? rte_dev_probe(name) : -ENODEV;
}

/* Called when the octo port that the device was probed for does not exist any more. */
void
octo_attach_abandon(const struct octo_port *port)
{
	struct rte_eth_dev_owner owner;
	uint16_t port_id;

	if (find_port(port->name, &port_id) == 0 && rte_eth_dev_owner_get(port_id, &owner) == 0 &&
	    owner.id == RTE_ETH_DEV_NO_OWNER)
		remove_device(port_id);
}

/*
 * May a port that was configured already be the new one? The end of a port is announced before its
 * name is free, so it may be one that ends: of this octo port, or, for moments, of others.
 */
static int
check_configured(const struct octo_dev *octo, const struct octo_port *port, uint16_t port_id)
{
	struct rte_eth_dev_owner owner = {.id = RTE_ETH_DEV_NO_OWNER};
	int ret = rte_eth_dev_owner_get(port_id, &owner);

	if (ret == 0 && owner.id != octo->owner_id && owner.id != RTE_ETH_DEV_NO_OWNER)
		return -EBUSY;
	if (ret != 0 || owner.id == octo->owner_id ||
	    octo_now() < port->fsm.since + rte_get_timer_hz())
		return -EAGAIN;
	return octo_lower_is_started(port_id) ? -EBUSY : 0;
}

/*
 * The PF's port exists again: take it back, if it supports what the others do. `life` is that in
 * which its state machine asked for this: events in between make the claim void.
 */
int
octo_attach_again_locked(struct octo_dev *octo, uint8_t i, uint32_t life)
{
	struct octo_port *port = &octo->port[i];
	struct rte_eth_dev_info info;
	uint16_t port_id;
	int ret = find_port(port->name, &port_id);

	if (ret == 0 && !port->has_port && !octo_lower_is_new(port_id))
		ret = check_configured(octo, port, port_id);
	if (ret == 0)
		ret = find_and_own(octo, port->name, port->fsm.logged, &port_id, &info);
	if (ret != 0)
		return ret;
	octo_nic_offer(port, &info);
	if (!octo_info_can_replace(octo, port, &info)) {
		rte_eth_dev_owner_unset(port_id, octo->owner_id);
		return -ENOTSUP;
	}
	/* until the caller has set it up */
	octo_users_bar(port);
	port->todo |= octo_port_answer(port, OCTO_PORT_EV_CLAIMED, life);
	if (!octo_port_is_owned(port))
		return -EAGAIN;
	take_in(octo, port, port_id, &info);
	octo->removal_raised = false;
	octo_legs_end_removal(octo);
	octo_pf_counts_join_locked(octo, i);
	for (uint16_t pf = 0; pf < octo->nb_pfs; pf++)
		octo->plan.node[pf] = octo->pf[pf].node;
	return 0;
}
