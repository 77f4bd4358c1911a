/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <rte_pause.h>
#include <rte_string_fns.h>

#include "octo_clock.h"
#include "octo_dialect.h"
#include "mpsim.h"
#include "mpsim_filter.h"

/* Mbufs, each for a jumbo frame; enough for a wire's ring, a burst in flight and the caches. */
#define POOL_SIZE 1024
#define POOL_CACHE 64

/* Tries of the lock before a control thread gives up the CPU. */
#define LOCK_SPINS 256

static TAILQ_HEAD(, mpsim_nic) nics = TAILQ_HEAD_INITIALIZER(nics);
/* recursive: probing a wire raises an event of its port, and a callback may probe again */
static pthread_mutex_t control_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void
mpsim_control_lock(void)
{
	pthread_mutex_lock(&control_mutex);
}

void
mpsim_control_unlock(void)
{
	pthread_mutex_unlock(&control_mutex);
}

void
mpsim_nic_lock(struct mpsim_nic *nic)
{
	unsigned int tries = 0;

	/* pollers check this before they try: several busy pollers would starve a control thread */
	rte_atomic_fetch_add_explicit(&nic->waiters, 1, rte_memory_order_relaxed);
	while (!rte_spinlock_trylock(&nic->lock)) {
		/* the holder may need this very CPU: sleep, as a yield may return at once */
		if (++tries % LOCK_SPINS == 0)
			octo_wait_us(1);
		else
			rte_pause();
	}
	rte_atomic_fetch_sub_explicit(&nic->waiters, 1, rte_memory_order_relaxed);
}

void
mpsim_nic_unlock(struct mpsim_nic *nic)
{
	rte_spinlock_unlock(&nic->lock);
}

void
mpsim_nic_set_mac(struct mpsim_nic *nic, const struct rte_ether_addr *addr)
{
	nic->mac_addr = *addr;
	nic->mac = mpsim_mac_key(addr->addr_bytes);
	for (uint16_t i = 0; i < MPSIM_MAX_PORTS; i++)
		if (nic->pf[i] != NULL && !nic->sorts_by_mac)
			nic->pf[i]->data->mac_addrs[0] = *addr;
}

/* With switch=mac the address of PF n is the NIC's with n added to the last byte. */
static void
give_mac(const struct mpsim_nic *nic, struct mpsim_pf *pf)
{
	struct rte_ether_addr *addr = &pf->data->mac_addrs[0];

	*addr = nic->mac_addr;
	if (nic->sorts_by_mac)
		addr->addr_bytes[RTE_ETHER_ADDR_LEN - 1] += pf->index;
	pf->mac = mpsim_mac_key(addr->addr_bytes);
}

/* A hash of the name, so that the address is the same in every run. */
static void
set_default_mac(struct mpsim_nic *nic)
{
	const uint32_t hash = rte_hash_crc(nic->name, strlen(nic->name), 0);
	struct rte_ether_addr addr = {{0x02, 0x0c, hash >> 24, hash >> 16, hash >> 8, hash}};

	mpsim_nic_set_mac(nic, &addr);
}

/* Reset settings of devargs to their defaults. */
static void
set_defaults(struct mpsim_nic *nic)
{
	nic->given &= MPSIM_ARG_WIRE;
	nic->default_pf = 0;
	nic->routes_around = false;
	nic->sorts_by_mac = false;
	nic->dialect = OCTO_DIALECT_WIRE_ITEM;
	nic->takes_any_dialect = false;
	memset(nic->pf_name, 0, sizeof(nic->pf_name));
	rte_free(nic->model);
	nic->model = NULL;
	set_default_mac(nic);
}

static struct mpsim_nic *
nic_create(const char *name)
{
	struct mpsim_nic *nic = rte_zmalloc("mpsim_nic", sizeof(*nic), RTE_CACHE_LINE_SIZE);

	if (nic == NULL)
		return NULL;
	strlcpy(nic->name, name, sizeof(nic->name));
	rte_spinlock_init(&nic->lock);
	rte_spinlock_init(&nic->tx_lock);
	nic->wire_port = RTE_MAX_ETHPORTS;
	nic->room = UINT32_MAX;
	if (rte_eth_switch_domain_alloc(&nic->switch_domain) != 0)
		nic->switch_domain = RTE_ETH_DEV_SWITCH_DOMAIN_ID_INVALID;
	set_defaults(nic);
	mpsim_eswitch_update(nic);
	TAILQ_INSERT_TAIL(&nics, nic, list);
	return nic;
}

static void
nic_free(struct mpsim_nic *nic)
{
	TAILQ_REMOVE(&nics, nic, list);
	mpsim_wire_detach(nic);
	mpsim_table_free(&nic->mpfs);
	mpsim_generic_free(&nic->masked);
	rte_mempool_free(nic->pool);
	rte_free(nic->model);
	if (nic->switch_domain != RTE_ETH_DEV_SWITCH_DOMAIN_ID_INVALID)
		rte_eth_switch_domain_free(nic->switch_domain);
	rte_free(nic);
}

struct mpsim_nic *
mpsim_nic_next(struct mpsim_nic *nic)
{
	return nic == NULL ? TAILQ_FIRST(&nics) : TAILQ_NEXT(nic, list);
}

struct mpsim_nic *
mpsim_nic_find(const char *name)
{
	struct mpsim_nic *nic;

	TAILQ_FOREACH(nic, &nics, list)
		if (strcmp(nic->name, name) == 0)
			return nic;
	return NULL;
}

struct mpsim_nic *
mpsim_nic_find_or_create(const char *name)
{
	struct mpsim_nic *nic = mpsim_nic_find(name);

	return nic != NULL ? nic : nic_create(name);
}

static int
contradiction(const struct mpsim_nic *nic, const char *who, const char *key)
{
	MPSIM_LOG(ERR, who,
		  "argument '%s' contradicts another PF of NIC %s: "
		  "give the same value, or only once",
		  key, nic->name);
	return -EINVAL;
}

/*
 * PFs get slots in the order of probing. A PF that comes back gets its previous slot, which
 * other PFs take only if there is no unused one. A representor has a fixed slot.
 */
static uint16_t
find_slot(const struct mpsim_nic *nic, const char *who, const struct mpsim_args *args)
{
	uint16_t free_slot = MPSIM_MAX_PFS, unused = MPSIM_MAX_PFS;

	if (args->representor != 0)
		return args->representor;
	for (uint16_t i = MPSIM_MAX_PFS; i-- > 0;) {
		if (nic->pf[i] != NULL)
			continue;
		if (strcmp(nic->pf_name[i], who) == 0)
			return i;
		free_slot = i;
		if (nic->pf_name[i][0] == '\0')
			unused = i;
	}
	return unused < MPSIM_MAX_PFS ? unused : free_slot;
}

static int
check_slot(const struct mpsim_nic *nic, const char *who, const struct mpsim_args *args)
{
	const uint16_t slot = find_slot(nic, who, args);

	if (args->representor == 0) {
		if (slot < MPSIM_MAX_PFS)
			return 0;
		MPSIM_LOG(ERR, who, "NIC %s has %u PFs already: no more fit", nic->name,
			  MPSIM_MAX_PFS);
		return -ENOSPC;
	}
	if (nic->pf[slot] != NULL) {
		MPSIM_LOG(ERR, who, "argument 'representor': it is port %s of NIC %s already",
			  nic->pf[slot]->data->name, nic->name);
		/* EAL would take -EEXIST to mean that this very device existed before */
		return -EBUSY;
	}
	if (slot == MPSIM_UPLINK && nic->mpfs.count + nic->masked.count > 0) {
		MPSIM_LOG(ERR, who,
			  "representor=uplink: NIC %s has transfer rules, made by a PF: remove "
			  "them first",
			  nic->name);
		return -EBUSY;
	}
	return 0;
}

/* Check the model's devargs: the first PF sets the model, others must have the same. */
static int
check_model(const struct mpsim_nic *nic, const char *who, const struct mpsim_args *args)
{
	const uint32_t rest = args->given & (MPSIM_ARG_SOCKET_MAP | MPSIM_ARG_RINGS);

	if (!(args->given & MPSIM_ARG_MODEL)) {
		if (rest == 0)
			return 0;
		MPSIM_LOG(ERR, who, "argument '%s' is for a model: give model=NAME as well",
			  rest & MPSIM_ARG_RINGS ? "rings" : "socket_map");
		return -EINVAL;
	}
	if (nic->model == NULL && nic->nb_ports == 0)
		return 0;
	if (nic->model == NULL) {
		MPSIM_LOG(ERR, who,
			  "argument 'model': NIC %s has PFs without: give it with the first one",
			  nic->name);
		return -EINVAL;
	}
	if (strcmp(nic->model_name, args->model) != 0)
		return contradiction(nic, who, "model");
	if (memcmp(&nic->model->map, &args->socket_map, sizeof(args->socket_map)) != 0)
		return contradiction(nic, who, "socket_map");
	return nic->model->rings_on_pf == args->rings_on_pf ? 0 : contradiction(nic, who, "rings");
}

static int
check_args(const struct mpsim_nic *nic, const char *who, const struct mpsim_args *args)
{
	const uint32_t both = nic->given & args->given;
	int ret;

	if ((both & MPSIM_ARG_MAC) && !rte_is_same_ether_addr(&nic->mac_given, &args->mac))
		return contradiction(nic, who, "mac");
	if ((both & MPSIM_ARG_DEFAULT_PF) && nic->default_pf != args->default_pf)
		return contradiction(nic, who, "default_pf");
	if ((both & MPSIM_ARG_LOST_PF) && nic->routes_around != args->routes_around)
		return contradiction(nic, who, "lost_pf");
	if ((args->given & MPSIM_ARG_SWITCH) && nic->nb_ports > 0 &&
	    nic->sorts_by_mac != args->sorts_by_mac)
		return contradiction(nic, who, "switch");
	if (args->representor != 0 && (nic->sorts_by_mac || args->sorts_by_mac)) {
		MPSIM_LOG(ERR, who,
			  "argument 'representor': the switch of NIC %s sorts by addresses "
			  "(switch=mac) and leads to no representor",
			  nic->name);
		return -EINVAL;
	}
	if ((both & MPSIM_ARG_DIALECT) &&
	    (nic->dialect != args->dialect || nic->takes_any_dialect != args->takes_any_dialect))
		return contradiction(nic, who, "dialect");
	if ((both & MPSIM_ARG_MPFS_ENTRIES) && nic->mpfs.max != args->mpfs_entries)
		return contradiction(nic, who, "mpfs_entries");
	if ((args->given & MPSIM_ARG_MPFS_ENTRIES) && nic->mpfs.hash != NULL &&
	    nic->mpfs.max != args->mpfs_entries)
		return contradiction(nic, who, "mpfs_entries");
	if ((both & MPSIM_ARG_WIRE_RING) && nic->wire_ring != args->wire_ring)
		return contradiction(nic, who, "wire_ring");
	if ((args->given & MPSIM_ARG_WIRE_RING) && nic->wire_frames != NULL &&
	    nic->wire_ring != args->wire_ring)
		return contradiction(nic, who, "wire_ring");
	if (mpsim_wire_differs(nic, args)) {
		MPSIM_LOG(ERR, who, "wire=%s: NIC %s has the wire %s already", args->wire,
			  nic->name, nic->wire_name);
		return -EBUSY;
	}
	ret = check_model(nic, who, args);
	return ret == 0 ? check_slot(nic, who, args) : ret;
}

static void
apply_args(struct mpsim_nic *nic, const struct mpsim_args *args)
{
	mpsim_nic_lock(nic);
	if (args->given & ~nic->given & MPSIM_ARG_MAC) {
		nic->mac_given = args->mac;
		mpsim_nic_set_mac(nic, &args->mac);
	}
	if (args->given & MPSIM_ARG_DEFAULT_PF)
		nic->default_pf = args->default_pf;
	if (args->given & MPSIM_ARG_LOST_PF)
		nic->routes_around = args->routes_around;
	if (args->given & MPSIM_ARG_SWITCH)
		nic->sorts_by_mac = args->sorts_by_mac;
	if (args->given & MPSIM_ARG_DIALECT) {
		nic->dialect = args->dialect;
		nic->takes_any_dialect = args->takes_any_dialect;
	}
	if ((args->given & MPSIM_ARG_MPFS_ENTRIES) || nic->mpfs.max == 0)
		nic->mpfs.max = args->mpfs_entries;
	if ((args->given & MPSIM_ARG_WIRE_RING) || nic->wire_ring == 0)
		nic->wire_ring = args->wire_ring;
	if (args->given & MPSIM_ARG_MODEL)
		strlcpy(nic->model_name, args->model, sizeof(nic->model_name));
	nic->given |= args->given & ~(uint32_t)MPSIM_ARG_WIRE;
	mpsim_nic_unlock(nic);
}

int
mpsim_nic_get(const char *who, const struct mpsim_args *args, struct mpsim_nic **found)
{
	struct mpsim_nic *nic = mpsim_nic_find_or_create(args->nic);
	int ret;

	if (nic == NULL) {
		MPSIM_LOG(ERR, who, "no memory for NIC %s", args->nic);
		return -ENOMEM;
	}
	ret = check_args(nic, who, args);
	/* probing the wire may probe a PF of this very NIC, which may fail */
	nic->held++;
	if (ret == 0)
		ret = mpsim_wire_attach(nic, who, args);
	nic->held--;
	if (ret == 0 && (args->given & MPSIM_ARG_MODEL) && nic->model == NULL)
		ret = mpsim_model_create(who, args, &nic->model);
	if (ret != 0) {
		mpsim_nic_put(nic);
		return ret;
	}
	apply_args(nic, args);
	*found = nic;
	return 0;
}

void
mpsim_nic_put(struct mpsim_nic *nic)
{
	struct mpsim_nic *peer = mpsim_wire_kind(nic) == MPSIM_WIRE_NIC ? nic->peer : NULL;

	if (nic->nb_ports > 0 || nic->held > 0)
		return;
	if (peer != NULL && (peer->nb_ports > 0 || peer->held > 0)) {
		/* not freed: the peer may be sending to this NIC right now */
		mpsim_table_free(&nic->mpfs);
		mpsim_generic_free(&nic->masked);
		nic->mpfs.max = 0;
		set_defaults(nic);
		return;
	}
	nic_free(nic);
	if (peer != NULL)
		nic_free(peer);
}

void
mpsim_nic_add_pf(struct mpsim_nic *nic, struct mpsim_pf *pf)
{
	mpsim_nic_lock(nic);
	pf->nic = nic;
	pf->index = find_slot(nic, pf->data->name, &pf->args);
	nic->pf[pf->index] = pf;
	mpsim_clock_init(pf);
	give_mac(nic, pf);
	if (!mpsim_is_representor(pf) && nic->manager == NULL)
		nic->manager = pf;
	if (!mpsim_is_representor(pf))
		strlcpy(nic->pf_name[pf->index], pf->data->name, sizeof(nic->pf_name[0]));
	nic->nb_ports++;
	mpsim_eswitch_update(nic);
	mpsim_nic_unlock(nic);
	/* the peer's link comes up: its cable is connected now */
	mpsim_link_recheck();
}

void
mpsim_nic_remove_pf(struct mpsim_nic *nic, struct mpsim_pf *pf)
{
	mpsim_nic_lock(nic);
	mpsim_filter_forget(pf);
	mpsim_account_keep(pf);
	nic->pf[pf->index] = NULL;
	if (nic->manager == pf)
		nic->manager = mpsim_nic_first_pf(nic);
	nic->nb_ports--;
	mpsim_eswitch_update(nic);
	mpsim_nic_unlock(nic);
	mpsim_nic_put(nic);
	mpsim_link_recheck();
}

struct mpsim_pf *
mpsim_nic_first_pf(const struct mpsim_nic *nic)
{
	for (uint16_t i = 0; i < MPSIM_MAX_PFS; i++)
		if (nic->pf[i] != NULL)
			return nic->pf[i];
	return NULL;
}

/* Does the switch know that the PF is lost? It sees the link to the CPU, not an error in the PF. */
static bool
is_lost(const struct mpsim_pf *pf)
{
	return pf->unplugged && pf->nic->routes_around;
}

void
mpsim_nic_unplug(struct mpsim_pf *pf)
{
	mpsim_nic_lock(pf->nic);
	pf->unplugged = true;
	mpsim_nic_unlock(pf->nic);
}

struct mpsim_pf *
mpsim_nic_default_pf(const struct mpsim_nic *nic)
{
	struct mpsim_pf *pf = nic->pf[nic->default_pf];

	for (uint16_t i = 0; (pf == NULL || is_lost(pf)) && i < MPSIM_MAX_PFS; i++)
		pf = nic->pf[i];
	return pf != NULL ? pf : mpsim_nic_first_pf(nic);
}

struct mpsim_pf *
mpsim_nic_target(const struct mpsim_nic *nic, uint16_t target)
{
	struct mpsim_pf *pf = nic->pf[target];

	if (likely(pf != NULL && !pf->unplugged))
		return pf;
	return nic->routes_around && !mpsim_has_eswitch(nic) ? mpsim_nic_default_pf(nic) : pf;
}

struct mpsim_pf *
mpsim_nic_pf_by_port(const struct mpsim_nic *nic, uint16_t port_id)
{
	for (uint16_t i = 0; i < MPSIM_MAX_PORTS; i++)
		if (nic->pf[i] != NULL && nic->pf[i]->port_id == port_id)
			return nic->pf[i];
	return NULL;
}

void
mpsim_nic_get_ports(uint64_t *ports)
{
	const struct mpsim_nic *nic;

	TAILQ_FOREACH(nic, &nics, list)
		for (uint16_t i = 0; i < MPSIM_MAX_PORTS; i++)
			if (nic->pf[i] != NULL && !nic->pf[i]->closing)
				ports[nic->pf[i]->port_id / 64] |= UINT64_C(1)
								   << nic->pf[i]->port_id % 64;
}

int
mpsim_nic_need_pool(struct mpsim_nic *nic)
{
	static uint32_t serial;
	char name[RTE_MEMPOOL_NAMESIZE];

	if (nic->pool != NULL)
		return 0;
	snprintf(name, sizeof(name), "mpsim_%u", serial++);
	nic->pool = rte_pktmbuf_pool_create(name, POOL_SIZE - 1, POOL_CACHE, 0,
					    MPSIM_FRAME_MAX + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	return nic->pool == NULL ? -rte_errno : 0;
}
