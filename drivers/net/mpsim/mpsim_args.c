/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_kvargs.h>

#include "mpsim.h"
#include "mpsim_caps.h"
#include "octo_dialect.h"

#define DEFAULT_ENTRIES 65536
#define DEFAULT_WIRE_RING 1024
#define DEFAULT_WIRE_WAIT_US (10 * US_PER_S) /* longer than a busy machine delays a poller */
#define DEFAULT_QUEUES 16

/* A devarg: a number, with its field and range, or another value, with its own parser. */
struct arg {
	const char *key;
	size_t offset;
	uint32_t min;
	uint32_t max;
	int (*read)(const char *who, const char *value, struct mpsim_args *args);
	uint32_t given;
};

static int
read_nic(const char *who, const char *value, struct mpsim_args *args)
{
	size_t len = strlen(value);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)value[i]) && strchr("_.-", value[i]) == NULL)
			len = 0;
	if (len == 0 || len >= sizeof(args->nic)) {
		MPSIM_LOG(ERR, who,
			  "nic=%s: a name of 1 to %zu letters, digits, '_', '.' or '-' is needed",
			  value, sizeof(args->nic) - 1);
		return -EINVAL;
	}
	strlcpy(args->nic, value, sizeof(args->nic));
	return 0;
}

static int
read_wire(const char *who, const char *value, struct mpsim_args *args)
{
	if (value[0] == '\0' || strcmp(value, "nic:") == 0 || strlen(value) >= sizeof(args->wire)) {
		MPSIM_LOG(ERR, who, "wire=%s: the name of an ethdev, nic:NAME or loop is needed",
			  value);
		return -EINVAL;
	}
	strlcpy(args->wire, value, sizeof(args->wire));
	if (strcmp(value, "loop") == 0)
		args->wire_kind = MPSIM_WIRE_LOOP;
	else if (strncmp(value, "nic:", 4) == 0)
		args->wire_kind = MPSIM_WIRE_NIC;
	else
		args->wire_kind = MPSIM_WIRE_ETHDEV;
	return 0;
}

static int
read_mac(const char *who, const char *value, struct mpsim_args *args)
{
	if (rte_ether_unformat_addr(value, &args->mac) != 0 ||
	    !rte_is_valid_assigned_ether_addr(&args->mac)) {
		MPSIM_LOG(ERR, who, "mac=%s: a unicast address like 02:00:00:00:00:01 is needed",
			  value);
		return -EINVAL;
	}
	return 0;
}

static int
read_ignore(const char *who, const char *value, struct mpsim_args *args)
{
	if (strcmp(value, "mpfs") == 0)
		args->ignore = MPSIM_IGNORE_MPFS;
	else if (strcmp(value, "arfs") == 0)
		args->ignore = MPSIM_IGNORE_ARFS;
	else if (strcmp(value, "all") == 0)
		args->ignore = MPSIM_IGNORE_MPFS | MPSIM_IGNORE_ARFS;
	else
		MPSIM_LOG(ERR, who, "ignore=%s: mpfs, arfs or all is needed", value);
	return args->ignore != 0 ? 0 : -EINVAL;
}

/* NAME, or NAME/any: rules of other dialects are taken as well, and match nothing. */
static int
read_dialect(const char *who, const char *value, struct mpsim_args *args)
{
	char name[MPSIM_NAME_MAX];
	char *any;
	int id;

	strlcpy(name, value, sizeof(name));
	any = strchr(name, '/');
	args->takes_any_dialect = any != NULL && strcmp(any, "/any") == 0;
	if (args->takes_any_dialect)
		*any = '\0';
	id = octo_dialect_find(name);
	if (id < 0) {
		MPSIM_LOG(ERR, who, "dialect=%s: %s is needed, and /any may follow", value,
			  octo_dialect_names());
		return -EINVAL;
	}
	args->dialect = (uint32_t)id;
	return 0;
}

static int
read_caps(const char *who, const char *value, struct mpsim_args *args)
{
	return mpsim_caps_parse(who, value, &args->lacks);
}

static int
read_tx_nodes(const char *who, const char *value, struct mpsim_args *args)
{
	const int ret = mpsim_fetch_parse(value, &args->tx_nodes);

	if (ret != 0)
		MPSIM_LOG(ERR, who, "tx_nodes=%s: off, count or hint is needed", value);
	return ret;
}

static int
read_model(const char *who, const char *value, struct mpsim_args *args)
{
	if (value[0] == '\0' || strlen(value) >= sizeof(args->model)) {
		MPSIM_LOG(ERR, who, "model=%s: the name or the path of a profile is needed", value);
		return -EINVAL;
	}
	strlcpy(args->model, value, sizeof(args->model));
	return 0;
}

static int
read_socket_map(const char *who, const char *value, struct mpsim_args *args)
{
	char why[128];
	const int ret = octo_socket_map_read(&args->socket_map, value, why, sizeof(why));

	if (ret != 0)
		MPSIM_LOG(ERR, who, "socket_map=%s: %s", value, why);
	return ret;
}

static int
read_rings(const char *who, const char *value, struct mpsim_args *args)
{
	args->rings_on_pf = strcmp(value, "pf") == 0;
	if (args->rings_on_pf || strcmp(value, "cpu") == 0)
		return 0;
	MPSIM_LOG(ERR, who, "rings=%s: cpu or pf is needed", value);
	return -EINVAL;
}

static int
read_lost_pf(const char *who, const char *value, struct mpsim_args *args)
{
	args->routes_around = strcmp(value, "default") == 0;
	if (args->routes_around || strcmp(value, "drop") == 0)
		return 0;
	MPSIM_LOG(ERR, who, "lost_pf=%s: drop or default is needed", value);
	return -EINVAL;
}

static int
read_switch(const char *who, const char *value, struct mpsim_args *args)
{
	args->sorts_by_mac = strcmp(value, "mac") == 0;
	if (args->sorts_by_mac || strcmp(value, "rules") == 0)
		return 0;
	MPSIM_LOG(ERR, who, "switch=%s: rules or mac is needed", value);
	return -EINVAL;
}

static int
read_representor(const char *who, const char *value, struct mpsim_args *args)
{
	if (strcmp(value, "uplink") == 0) {
		args->representor = MPSIM_UPLINK;
	} else if (strncmp(value, "pf", 2) == 0 && value[2] >= '0' &&
		   value[2] < '0' + MPSIM_MAX_PFS && value[3] == '\0') {
		args->representor = MPSIM_REP(value[2] - '0');
	} else {
		MPSIM_LOG(ERR, who, "representor=%s: uplink, or pf0 to pf%u is needed", value,
			  MPSIM_MAX_PFS - 1);
		return -EINVAL;
	}
	return 0;
}

#define NUMBER(name, lowest, highest)                                                              \
	.key = #name, .offset = offsetof(struct mpsim_args, name), .min = (lowest), .max = (highest)

static const struct arg known_args[] = {
	{.key = "nic", .read = read_nic},
	{.key = "wire", .read = read_wire, .given = MPSIM_ARG_WIRE},
	{.key = "mac", .read = read_mac, .given = MPSIM_ARG_MAC},
	{.key = "ignore", .read = read_ignore},
	{.key = "caps", .read = read_caps},
	{.key = "dialect", .read = read_dialect, .given = MPSIM_ARG_DIALECT},
	{.key = "representor", .read = read_representor},
	{.key = "tx_nodes", .read = read_tx_nodes},
	{.key = "lost_pf", .read = read_lost_pf, .given = MPSIM_ARG_LOST_PF},
	{.key = "switch", .read = read_switch, .given = MPSIM_ARG_SWITCH},
	{.key = "model", .read = read_model, .given = MPSIM_ARG_MODEL},
	{.key = "socket_map", .read = read_socket_map, .given = MPSIM_ARG_SOCKET_MAP},
	{.key = "rings", .read = read_rings, .given = MPSIM_ARG_RINGS},
	{NUMBER(socket, 0, 63)},
	{NUMBER(default_pf, 0, MPSIM_MAX_PFS - 1), .given = MPSIM_ARG_DEFAULT_PF},
	{NUMBER(mpfs_entries, 1, 1 << 22), .given = MPSIM_ARG_MPFS_ENTRIES},
	{NUMBER(arfs_entries, 1, 1 << 22)},
	{NUMBER(generic_entries, 1, 1 << 22)},
	{NUMBER(wire_ring, MPSIM_BURST, 1 << 20), .given = MPSIM_ARG_WIRE_RING},
	{NUMBER(queues, 1, MPSIM_MAX_QUEUES)},
	{NUMBER(max_mtu, MPSIM_MTU_MIN, MPSIM_MTU_MAX)},
	{NUMBER(tx_delay_us, 0, 60 * US_PER_S)},
	{NUMBER(wire_wait_us, 0, 3600u * US_PER_S)},
	{NUMBER(latency_us, 0, MPSIM_LATENCY_MAX)},
	{NUMBER(fill_rings, 0, 1)},
	{NUMBER(ifindex, 0, INT32_MAX)},
};

static int
read_number(const char *who, const struct arg *arg, const char *value, struct mpsim_args *args)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end != '\0' || errno != 0 || v < arg->min ||
	    v > arg->max) {
		MPSIM_LOG(ERR, who, "%s=%s: a number from %u to %u is needed", arg->key, value,
			  arg->min, arg->max);
		return -EINVAL;
	}
	*(uint32_t *)RTE_PTR_ADD(args, arg->offset) = v;
	return 0;
}

static const struct arg *
find_arg(const char *key)
{
	for (unsigned int i = 0; i < RTE_DIM(known_args); i++)
		if (strcmp(known_args[i].key, key) == 0)
			return &known_args[i];
	return NULL;
}

static int
read_pair(const char *who, const struct rte_kvargs_pair *pair, struct mpsim_args *args)
{
	const struct arg *arg = find_arg(pair->key);
	const char *value = pair->value == NULL ? "" : pair->value;
	int ret;

	if (arg == NULL) {
		MPSIM_LOG(ERR, who,
			  "unknown argument '%s': nic, socket, wire, default_pf, lost_pf, switch, "
			  "mpfs_entries, arfs_entries, generic_entries, queues, mac, wire_ring, "
			  "wire_wait_us, max_mtu, tx_delay_us, tx_nodes, latency_us, ignore, "
			  "dialect, caps, model, socket_map, rings, fill_rings, ifindex and "
			  "representor are known",
			  pair->key);
		return -EINVAL;
	}
	ret = arg->read != NULL ? arg->read(who, value, args) : read_number(who, arg, value, args);
	if (ret == 0)
		args->given |= arg->given;
	return ret;
}

static int
read_pairs(const char *who, const struct rte_kvargs *kvlist, struct mpsim_args *args)
{
	int ret;

	for (unsigned int i = 0; i < kvlist->count; i++) {
		if (rte_kvargs_count(kvlist, kvlist->pairs[i].key) > 1) {
			MPSIM_LOG(ERR, who, "argument '%s' is given twice: once is enough",
				  kvlist->pairs[i].key);
			return -EINVAL;
		}
		ret = read_pair(who, &kvlist->pairs[i], args);
		if (ret != 0)
			return ret;
	}
	if (args->nic[0] == '\0') {
		MPSIM_LOG(ERR, who,
			  "argument 'nic' is missing: nic=NAME says which NIC the PF belongs to");
		return -EINVAL;
	}
	return 0;
}

int
mpsim_args_parse(const char *who, const char *text, struct mpsim_args *args)
{
	struct rte_kvargs *kvlist;
	int ret;

	*args = (struct mpsim_args){
		.mpfs_entries = DEFAULT_ENTRIES,
		.arfs_entries = DEFAULT_ENTRIES,
		.generic_entries = DEFAULT_ENTRIES,
		.wire_ring = DEFAULT_WIRE_RING,
		.wire_wait_us = DEFAULT_WIRE_WAIT_US,
		.queues = DEFAULT_QUEUES,
		.max_mtu = MPSIM_MTU_MAX,
	};
	octo_socket_map_clear(&args->socket_map);
	kvlist = rte_kvargs_parse(text == NULL ? "" : text, NULL);
	if (kvlist == NULL) {
		MPSIM_LOG(ERR, who, "cannot read the arguments '%s': key=value,... is needed",
			  text);
		return -EINVAL;
	}
	ret = read_pairs(who, kvlist, args);
	rte_kvargs_free(kvlist);
	return ret;
}
