/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_memzone.h>

#include "octo_private.h"

#define LENDING "net_octo_lending"

static struct octo_lending *lending;

/* Never freed: a process that stands still while it attaches a port may be late for its close. */
static const struct rte_memzone *
make_lending(void)
{
	const size_t size = RTE_MAX_ETHPORTS * sizeof(struct octo_lending);
	const struct rte_memzone *mz = rte_memzone_reserve(LENDING, size, SOCKET_ID_ANY, 0);

	if (mz != NULL)
		memset(mz->addr, 0, size);
	return mz;
}

int
octo_lending_init(void)
{
	const bool is_primary = rte_eal_process_type() == RTE_PROC_PRIMARY;
	const struct rte_memzone *mz = rte_memzone_lookup(LENDING);
	int ret;

	if (mz == NULL && is_primary)
		mz = make_lending();
	if (mz != NULL) {
		lending = mz->addr;
		return 0;
	}
	if (is_primary) {
		ret = -rte_errno;
		OCTO_LOG(ERR, "the processes cannot note which ports they use: %s",
			 rte_strerror(-ret));
		return ret;
	}
	/* the lookup has not set rte_errno */
	OCTO_LOG(ERR, "the primary process has made no octo port");
	return -ENODEV;
}

struct octo_lending *
octo_lending_of(uint16_t port_id)
{
	return &lending[port_id];
}

void
octo_lending_set_open(struct octo_dev *octo, bool open)
{
	/* pairs with the acquire in octo_lending_port() */
	rte_atomic_store_explicit(&lending[octo->port_id].octo, open ? octo : NULL,
				  rte_memory_order_release);
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
}

struct octo_dev *
octo_lending_port(uint16_t port_id)
{
	/* pairs with the release above: the port is seen as built */
	return rte_atomic_load_explicit(&lending[port_id].octo, rte_memory_order_acquire);
}

bool
octo_lending_is_open(const struct octo_dev *octo)
{
	return octo_lending_port(octo->port_id) == octo;
}
