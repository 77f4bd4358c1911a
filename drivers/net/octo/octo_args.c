/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include <rte_kvargs.h>
#include <rte_string_fns.h>

#include "octo_private.h"

#define ARG_PF "pf"
#define ARG_SOCKET_MAP "socket_map"
#define ARG_SOCKET "socket"
#define ARG_MAC "mac"
#define ARG_AGENT "agent"
#define ARG_AGENT_SECRET "agent_secret"
#define ARG_TIER "tier"
#define ARG_LEARN "learn"
#define ARG_LEARN_SAMPLE "learn_sample"
#define ARG_LEARN_MAX "learn_max"
#define ARG_IDLE_MS "idle_ms"
#define ARG_POOLS "pools"
#define ARG_GRACE_US "grace_us"
#define ARG_FENCE_TIMEOUT_MS "fence_timeout_ms"
#define ARG_TX_PF "tx_pf"
#define ARG_DWELL_MS "dwell_ms"
#define ARG_REPLUG "replug"
#define ARG_LINGER_MS "linger_ms"

static const char *const valid_args[] = {
	ARG_PF,           ARG_SOCKET_MAP,       ARG_SOCKET,  ARG_MAC,
	ARG_AGENT,        ARG_AGENT_SECRET,     ARG_TIER,    ARG_LEARN,
	ARG_LEARN_SAMPLE, ARG_LEARN_MAX,        ARG_IDLE_MS, ARG_POOLS,
	ARG_GRACE_US,     ARG_FENCE_TIMEOUT_MS, ARG_TX_PF,   ARG_DWELL_MS,
	ARG_REPLUG,       ARG_LINGER_MS,        NULL,
};

static int
read_node(const char *text, int *node)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end != '\0' || value < 0 || value > OCTO_SOCKET_MAP_MAX_NODE)
		return -EINVAL;
	*node = (int)value;
	return 0;
}

/* The slice in NAME[SLICE], which is cut off. Returns 0 without one, too. */
static int
read_slice(const char *key, const char *value, char *name, struct octo_args *args)
{
	struct octo_slice *slice = &args->pf[args->nb_pfs].slice;
	char *open = strchr(name, '[');
	char *end = open == NULL ? NULL : strchr(open, ']');
	char why[128];

	*slice = OCTO_SLICE_ALL;
	if (open == NULL)
		return 0;
	if (end == NULL || end[1] != '\0' || open == name) {
		OCTO_LOG(ERR, "%s: %s=%s: NAME[QUEUES]@SOCKET is expected, like NAME[0::2]@0",
			 args->port, key, value);
		return -EINVAL;
	}
	*open = '\0';
	*end = '\0';
	if (octo_slice_read(slice, open + 1, why, sizeof(why)) != 0) {
		OCTO_LOG(ERR, "%s: %s=%s: %s", args->port, key, value, why);
		return -EINVAL;
	}
	args->pf[args->nb_pfs].is_slice = true;
	args->sliced = true;
	return 0;
}

/* pf=NAME[@SOCKET] or pf=NAME[QUEUES][@SOCKET] */
static int
read_pf(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;
	char *name = args->pf[RTE_MIN(args->nb_pfs, OCTO_MAX_PFS - 1)].name;
	int *node = &args->pf[RTE_MIN(args->nb_pfs, OCTO_MAX_PFS - 1)].node;
	char *at;

	if (args->nb_pfs == OCTO_MAX_PFS) {
		OCTO_LOG(ERR, "%s: %s=%s: a port can have at most %d PFs", args->port, key, value,
			 OCTO_MAX_PFS);
		return -EINVAL;
	}
	*node = -1;
	if (value == NULL || rte_strscpy(name, value, RTE_ETH_NAME_MAX_LEN) <= 0) {
		OCTO_LOG(ERR, "%s: %s=%s: an ethdev name or a PCI address is expected", args->port,
			 key, value == NULL ? "" : value);
		return -EINVAL;
	}
	at = strchr(name, '@');
	if (at != NULL) {
		*at = '\0';
		if (at == name || read_node(at + 1, node) != 0) {
			OCTO_LOG(ERR, "%s: %s=%s: NAME@SOCKET with a socket of 0 to %d is expected",
				 args->port, key, value, OCTO_SOCKET_MAP_MAX_NODE);
			return -EINVAL;
		}
	}
	if (read_slice(key, value, name, args) != 0)
		return -EINVAL;
	args->nb_pfs++;
	return 0;
}

/* Slices are of one port, share no queue, and are not mixed with other PFs or an agent. */
static int
check_slices(const struct octo_args *args)
{
	if (!args->sliced)
		return 0;
	for (uint16_t i = 0; i < args->nb_pfs; i++) {
		if (!args->pf[i].is_slice || strcmp(args->pf[i].name, args->pf[0].name) != 0) {
			OCTO_LOG(ERR,
				 "%s: pf=%s: with slices all pf= are slices of the same port, like "
				 "pf=%s[0::2]@0,pf=%s[1::2]@1",
				 args->port, args->pf[i].name, args->pf[0].name, args->pf[0].name);
			return -EINVAL;
		}
		for (uint16_t before = 0; before < i; before++) {
			if (!octo_slice_overlaps(&args->pf[before].slice, &args->pf[i].slice))
				continue;
			OCTO_LOG(ERR, "%s: pf=%s: slices %u and %u share a queue", args->port,
				 args->pf[i].name, before, i);
			return -EINVAL;
		}
	}
	if (args->agent[0] != '\0') {
		OCTO_LOG(ERR,
			 "%s: agent=%s: it is for PFs behind a switch, not for slices of a port",
			 args->port, args->agent);
		return -EINVAL;
	}
	return 0;
}

static int
read_socket_map(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;
	char why[128];

	if (octo_socket_map_read(&args->map, value == NULL ? "" : value, why, sizeof(why)) != 0) {
		OCTO_LOG(ERR, "%s: %s=%s: %s", args->port, key, value == NULL ? "" : value, why);
		return -EINVAL;
	}
	args->has_map = true;
	return 0;
}

static int
read_socket(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;

	if (value == NULL || read_node(value, &args->socket) != 0) {
		OCTO_LOG(ERR, "%s: %s=%s: a NUMA node of 0 to %d is expected", args->port, key,
			 value == NULL ? "" : value, OCTO_SOCKET_MAP_MAX_NODE);
		return -EINVAL;
	}
	return 0;
}

static int
read_mac(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;

	if (value == NULL || rte_ether_unformat_addr(value, &args->mac) != 0 ||
	    !rte_is_valid_assigned_ether_addr(&args->mac)) {
		OCTO_LOG(ERR, "%s: %s=%s: a unicast MAC address like 02:00:00:00:00:01 is expected",
			 args->port, key, value == NULL ? "" : value);
		return -EINVAL;
	}
	args->has_mac = true;
	return 0;
}

static int
read_agent(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;
	struct octo_agent_addr addr;
	char why[128];

	if (octo_agent_addr_read(&addr, value == NULL ? "" : value, why, sizeof(why)) != 0) {
		OCTO_LOG(ERR, "%s: %s=%s: %s", args->port, key, value == NULL ? "" : value, why);
		return -EINVAL;
	}
	rte_strscpy(args->agent, value, sizeof(args->agent));
	return 0;
}

static int
read_agent_secret(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;
	const char *path = value == NULL ? "" : value;
	char why[128];

	if (args->agent[0] == '\0') {
		OCTO_LOG(ERR, "%s: %s=%s: agent= is needed with it", args->port, key, path);
		return -EINVAL;
	}
	if (octo_agent_secret_read(&args->agent_secret, path, why, sizeof(why)) != 0) {
		OCTO_LOG(ERR, "%s: %s=%s: %s", args->port, key, path, why);
		return -EINVAL;
	}
	return 0;
}

static int
read_tier(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;

	if (value == NULL || octo_tier_read(value, &args->tier) != 0) {
		OCTO_LOG(ERR, "%s: %s=%s: exact, partition, queue or none is expected", args->port,
			 key, value == NULL ? "" : value);
		return -EINVAL;
	}
	args->has_tier = true;
	return 0;
}

static int
read_switch(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;
	bool *on = strcmp(key, ARG_LEARN) == 0 ? &args->learning.on : &args->replug;

	if (value == NULL || (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)) {
		OCTO_LOG(ERR, "%s: %s=%s: on or off is expected", args->port, key,
			 value == NULL ? "" : value);
		return -EINVAL;
	}
	*on = strcmp(value, "on") == 0;
	return 0;
}

static int
read_learn_number(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;
	struct rte_pmd_octo_learning_settings s = args->learning;
	uint32_t *number = strcmp(key, ARG_LEARN_SAMPLE) == 0 ? &s.sample :
			   strcmp(key, ARG_LEARN_MAX) == 0    ? &s.max_rules :
								&s.idle_ms;
	const char *why = "a number is expected";

	if (octo_learning_read_number(value, number) == 0)
		why = octo_learning_check(&s);
	if (why != NULL) {
		OCTO_LOG(ERR, "%s: %s=%s: %s", args->port, key, value == NULL ? "" : value, why);
		return -EINVAL;
	}
	args->learning = s;
	return 0;
}

static int
read_pools(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;

	if (value == NULL || (strcmp(value, "app") != 0 && strcmp(value, "local") != 0)) {
		OCTO_LOG(ERR, "%s: %s=%s: app or local is expected", args->port, key,
			 value == NULL ? "" : value);
		return -EINVAL;
	}
	args->clone_pools = strcmp(value, "local") == 0;
	return 0;
}

static int
read_number(const char *key, const char *value, uint32_t min, uint32_t max,
	    const struct octo_args *args, uint32_t *number)
{
	uint32_t n;

	if (octo_learning_read_number(value, &n) != 0 || n < min || n > max) {
		OCTO_LOG(ERR, "%s: %s=%s: a number of %u to %u is expected", args->port, key,
			 value == NULL ? "" : value, min, max);
		return -EINVAL;
	}
	*number = n;
	return 0;
}

static int
read_grace(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;

	return read_number(key, value, 0, OCTO_FENCE_MAX_GRACE_US, args, &args->fence.grace_us);
}

static int
read_fence_timeout(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;

	return read_number(key, value, 1, OCTO_FENCE_MAX_TIMEOUT_MS, args, &args->fence.timeout_ms);
}

static int
read_tx_pf(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;

	if (value == NULL || (strcmp(value, "lcore") != 0 && strcmp(value, "mbuf") != 0)) {
		OCTO_LOG(ERR, "%s: %s=%s: lcore or mbuf is expected", args->port, key,
			 value == NULL ? "" : value);
		return -EINVAL;
	}
	args->tx_by_buffer = strcmp(value, "mbuf") == 0;
	return 0;
}

static int
read_dwell(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;

	return read_number(key, value, 0, OCTO_FENCE_MAX_DWELL_MS, args, &args->fence.dwell_ms);
}

static int
read_linger(const char *key, const char *value, void *arg)
{
	struct octo_args *args = arg;

	return read_number(key, value, 0, OCTO_FENCE_MAX_LINGER_MS, args, &args->fence.linger_ms);
}

static const struct {
	const char *key;
	arg_handler_t read;
	bool many;
} readers[] = {
	{ARG_PF, read_pf, true},
	{ARG_SOCKET_MAP, read_socket_map, false},
	{ARG_SOCKET, read_socket, false},
	{ARG_MAC, read_mac, false},
	{ARG_AGENT, read_agent, false},
	{ARG_AGENT_SECRET, read_agent_secret, false},
	{ARG_TIER, read_tier, false},
	{ARG_LEARN, read_switch, false},
	{ARG_LEARN_SAMPLE, read_learn_number, false},
	{ARG_LEARN_MAX, read_learn_number, false},
	{ARG_IDLE_MS, read_learn_number, false},
	{ARG_POOLS, read_pools, false},
	{ARG_GRACE_US, read_grace, false},
	{ARG_FENCE_TIMEOUT_MS, read_fence_timeout, false},
	{ARG_TX_PF, read_tx_pf, false},
	{ARG_DWELL_MS, read_dwell, false},
	{ARG_LINGER_MS, read_linger, false},
	{ARG_REPLUG, read_switch, false},
};

static int
read_all(const struct rte_kvargs *kvlist, struct octo_args *args)
{
	for (unsigned int i = 0; i < RTE_DIM(readers); i++) {
		unsigned int count = rte_kvargs_count(kvlist, readers[i].key);

		if (count == 0)
			continue;
		if (count > 1 && !readers[i].many) {
			OCTO_LOG(ERR, "%s: %s= is given %u times: once is right", args->port,
				 readers[i].key, count);
			return -EINVAL;
		}
		/* _opt: the reader itself refuses a key without a value */
		if (rte_kvargs_process_opt(kvlist, readers[i].key, readers[i].read, args) != 0)
			return -EINVAL;
	}
	return 0;
}

int
octo_args_parse(const char *name, const char *text, struct octo_args *args)
{
	struct rte_kvargs *kvlist;
	int ret;

	*args = (struct octo_args){
		.port = name,
		.socket = -1,
		.learning = octo_learning_default,
		.fence = {OCTO_FENCE_GRACE_US, OCTO_FENCE_TIMEOUT_MS, OCTO_FENCE_DWELL_MS,
			  OCTO_FENCE_LINGER_MS},
		.replug = true,
	};
	octo_socket_map_clear(&args->map);
	kvlist = rte_kvargs_parse(text == NULL ? "" : text, valid_args);
	if (kvlist == NULL) {
		OCTO_LOG(ERR,
			 "%s: cannot read \"%s\": "
			 "known are pf=, socket_map=, socket=, mac=, agent=, agent_secret=, tier=, "
			 "learn=, learn_sample=, learn_max=, idle_ms=, pools=, grace_us=, "
			 "fence_timeout_ms=, tx_pf=, dwell_ms=, replug= and linger_ms=",
			 name, text);
		return -EINVAL;
	}
	ret = read_all(kvlist, args);
	rte_kvargs_free(kvlist);
	if (ret == 0 && args->nb_pfs == 0) {
		OCTO_LOG(ERR, "%s: no pf= is given: pf=NAME once for each PF, 1 to %d of them",
			 name, OCTO_MAX_PFS);
		ret = -EINVAL;
	}
	return ret == 0 ? check_slices(args) : ret;
}
