/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The octo ports of this process, for callers outside a control operation: PF events,
 * telemetry, testpmd. In a secondary process they are the primary's. A caller holds the registry
 * while it uses a port; a port is removed from the registry before any of it is freed. A port that
 * is being built is found by events of the PFs that it has so far only.
 *
 * A reader may wait for a port's control mutex, and a thread that holds the mutex may
 * become a reader, when a PF raises an event inside an operation. So readers precede a
 * waiting writer (glibc's default for rwlocks), and a writer holds no mutex.
 */

#include <pthread.h>

#include "octo_private.h"

static pthread_rwlock_t registry_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct octo_dev *registry[RTE_MAX_ETHPORTS];

static bool
is_primary(void)
{
	return rte_eal_process_type() == RTE_PROC_PRIMARY;
}

static void
write_lock(void)
{
	octo_lock_order_wait(OCTO_RANK_REGISTRY, 0);
	pthread_rwlock_wrlock(&registry_lock);
}

static void
read_lock(void)
{
	pthread_rwlock_rdlock(&registry_lock);
	octo_lock_order_took(OCTO_RANK_REGISTRY, 0);
}

void
octo_registry_add(struct octo_dev *octo)
{
	write_lock();
	registry[octo->port_id] = octo;
	pthread_rwlock_unlock(&registry_lock);
}

/* After this returns, callers from outside see what this thread has stored before. */
void
octo_registry_await(void)
{
	write_lock();
	pthread_rwlock_unlock(&registry_lock);
}

/*
 * After this returns, no caller from outside uses the port, and none can get it. Returns the
 * port; NULL if there is none with this owner id, as its port id belongs to a later one.
 */
struct octo_dev *
octo_registry_remove(uint16_t port_id, uint64_t owner_id)
{
	struct octo_dev *octo;

	if (port_id >= RTE_MAX_ETHPORTS)
		return NULL;
	write_lock();
	octo = registry[port_id];
	if (octo != NULL && octo->owner_id == owner_id)
		registry[port_id] = NULL;
	else
		octo = NULL;
	pthread_rwlock_unlock(&registry_lock);
	return octo;
}

/* octo_registry_get() in any process. */
struct octo_dev *
octo_registry_get_any(uint16_t port_id)
{
	struct octo_dev *octo;

	if (port_id >= RTE_MAX_ETHPORTS)
		return NULL;
	read_lock();
	octo = registry[port_id];
	if (octo != NULL && octo_lending_is_open(octo))
		return octo;
	octo_registry_put();
	return NULL;
}

/*
 * Get an octo port that this process may change: none in a secondary. Returns NULL, or the port:
 * then call octo_registry_put().
 */
struct octo_dev *
octo_registry_get(uint16_t port_id)
{
	return is_primary() ? octo_registry_get_any(port_id) : NULL;
}

const char *
octo_registry_refusal(uint16_t port_id)
{
	if (octo_registry_get_any(port_id) == NULL)
		return "this is not an octo port";
	octo_registry_put();
	return "only the primary process can do this";
}

/* How a port of ethdev belongs to an octo port, the closest way last. */
enum belonging {
	NOT_AT_ALL,
	MAY_JOIN, /* it exists without having joined the port */
	HAS_PORT, /* its PF is dead, is recovering, or was given up and may be another's now */
	IS_OWNED,
};

static enum belonging
belonging_to(const struct octo_dev *octo, const struct octo_port *port, uint16_t pf_port_id)
{
	if (port->has_port && port->port_id == pf_port_id)
		return octo_port_is_owned(port) ? IS_OWNED : HAS_PORT;
	return !port->has_port && octo->replug.on && octo_registry_is_named(port, pf_port_id) ?
		       MAY_JOIN :
		       NOT_AT_ALL;
}

/*
 * The octo port that a PF belongs to, also while it is built, or else one that it may join: several
 * may have its name. See octo_registry_get().
 */
struct octo_dev *
octo_registry_get_by_pf(uint16_t pf_port_id)
{
	enum belonging how, closest = NOT_AT_ALL;
	struct octo_dev *octo, *found = NULL;

	if (!is_primary())
		return NULL;
	read_lock();
	for (unsigned int id = 0; id < RTE_DIM(registry); id++) {
		octo = registry[id];
		for (uint16_t i = 0; octo != NULL && i < octo->nb_ports; i++) {
			how = belonging_to(octo, &octo->port[i], pf_port_id);
			if (how <= closest)
				continue;
			closest = how;
			found = octo;
		}
	}
	if (found == NULL)
		octo_registry_put();
	return found;
}

void
octo_registry_put(void)
{
	octo_lock_order_left(OCTO_RANK_REGISTRY, 0);
	pthread_rwlock_unlock(&registry_lock);
}

/*
 * Call a function for each octo port of this process, with the registry held. Some may not be
 * built.
 */
void
octo_registry_foreach(void (*fn)(struct octo_dev *octo, const void *what), const void *what)
{
	read_lock();
	for (unsigned int i = 0; i < RTE_DIM(registry); i++)
		if (registry[i] != NULL)
			fn(registry[i], what);
	octo_registry_put();
}

/*
 * Does this ethdev port have the PF's name, joined or not? The port may be released
 * meanwhile.
 */
bool
octo_registry_is_named(const struct octo_port *port, uint16_t port_id)
{
	const char *name = octo_lower_name(port_id);

	return name != NULL && strcmp(name, port->name) == 0;
}
