/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The octo ports of this process, for those who come from outside of a control
 * operation: a PF's events, telemetry, testpmd. They hold the registry while
 * they use a port; a port leaves it before anything of it is freed.
 *
 * A reader may wait for a port's control mutex, and a thread that holds the
 * mutex may become a reader (a PF raises an event inside of an operation). So
 * readers come before a waiting writer, which is the default of a rwlock here,
 * and a writer holds no mutex.
 */

#include <pthread.h>

#include "octo_private.h"

static pthread_rwlock_t registry_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct octo_dev *registry[RTE_MAX_ETHPORTS];

void
octo_registry_add(struct octo_dev *octo)
{
	pthread_rwlock_wrlock(&registry_lock);
	registry[octo->port_id] = octo;
	pthread_rwlock_unlock(&registry_lock);
}

/* When this returns, nobody uses the port from outside, nor will. */
void
octo_registry_remove(struct octo_dev *octo)
{
	pthread_rwlock_wrlock(&registry_lock);
	registry[octo->port_id] = NULL;
	pthread_rwlock_unlock(&registry_lock);
}

/* The octo port with this id, or NULL. Where not NULL, octo_registry_put() must follow. */
struct octo_dev *
octo_registry_get(uint16_t port_id)
{
	struct octo_dev *octo;

	if (port_id >= RTE_MAX_ETHPORTS)
		return NULL;
	pthread_rwlock_rdlock(&registry_lock);
	octo = registry[port_id];
	if (octo == NULL)
		pthread_rwlock_unlock(&registry_lock);
	return octo;
}

/* Also of one that is dead, or recovers, or is there and has not joined. */
static bool
has_pf(const struct octo_dev *octo, uint16_t pf_port_id)
{
	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		if (octo->pf[i].has_port ? octo->pf[i].port_id == pf_port_id :
					   octo_registry_is_named(&octo->pf[i], pf_port_id))
			return true;
	return false;
}

/* The octo port that owns this PF, or NULL. Where not NULL, octo_registry_put() must follow. */
struct octo_dev *
octo_registry_get_by_pf(uint16_t pf_port_id)
{
	pthread_rwlock_rdlock(&registry_lock);
	for (unsigned int i = 0; i < RTE_DIM(registry); i++)
		if (registry[i] != NULL && has_pf(registry[i], pf_port_id))
			return registry[i];
	pthread_rwlock_unlock(&registry_lock);
	return NULL;
}

void
octo_registry_put(void)
{
	pthread_rwlock_unlock(&registry_lock);
}

/* Something happened that any of the ports may want to know of. */
void
octo_registry_foreach(void (*tell)(struct octo_dev *octo, const void *what), const void *what)
{
	pthread_rwlock_rdlock(&registry_lock);
	for (unsigned int i = 0; i < RTE_DIM(registry); i++)
		if (registry[i] != NULL)
			tell(registry[i], what);
	pthread_rwlock_unlock(&registry_lock);
}

/* Is this the port of that PF, whether it has joined or not? It may be released just now. */
bool
octo_registry_is_named(const struct octo_pf *pf, uint16_t port_id)
{
	const char *name = octo_lower_name(port_id);

	return name != NULL && strcmp(name, pf->name) == 0;
}
