/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <rte_kvargs.h>
#include <rte_string_fns.h>

#include "octo_ethtool_client.h"
#include "octo_number.h"
#include "octo_private.h"

/* A devarg, how its value is read, and what it may be. */
struct devarg {
	const char *name;
	int (*read)(const struct devarg *arg, const char *value, struct octo_args *args);
	size_t field;         /* offset in struct octo_args */
	uint32_t min;         /* of a number */
	uint32_t max;         /* of a number */
	const char *words[3]; /* of an enum, or the two of a bool */
	uint8_t yes;          /* index of the word for true */
	bool many;            /* may be given several times */
};

/* Log why the value is refused. */
__rte_format_printf(4, 5) static int refuse(const struct octo_args *args, const struct devarg *arg,
					    const char *value, const char *format, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	OCTO_LOG(ERR, "%s: %s=%s: %s", args->port, arg->name, value, why);
	return -EINVAL;
}

static int
read_node(const char *text, int *node)
{
	uint32_t value;

	if (octo_number_read(text, &value) != 0 || value > OCTO_SOCKET_MAP_MAX_NODE)
		return -EINVAL;
	*node = (int)value;
	return 0;
}

/* The slice in NAME[SLICE], which is cut off. Returns 0 without one, too. */
static int
read_slice(const struct devarg *arg, const char *value, char *name, struct octo_args *args)
{
	struct octo_slice *slice = &args->pf[args->nb_pfs].slice;
	char *open = strchr(name, '[');
	char *end = open == NULL ? NULL : strchr(open, ']');
	char why[128];

	*slice = OCTO_SLICE_ALL;
	if (open == NULL)
		return 0;
	if (end == NULL || end[1] != '\0' || open == name)
		return refuse(args, arg, value,
			      "NAME[QUEUES]@SOCKET is expected, like NAME[0::2]@0");
	*open = '\0';
	*end = '\0';
	if (octo_slice_read(slice, open + 1, why, sizeof(why)) != 0)
		return refuse(args, arg, value, "%s", why);
	args->pf[args->nb_pfs].is_slice = true;
	args->sliced = true;
	return 0;
}

/* pf=NAME[@SOCKET] or pf=NAME[QUEUES][@SOCKET] */
static int
read_pf(const struct devarg *arg, const char *value, struct octo_args *args)
{
	char *name;
	int *node;
	char *at;

	if (args->nb_pfs == OCTO_MAX_PFS)
		return refuse(args, arg, value, "a port can have at most %d PFs", OCTO_MAX_PFS);
	name = args->pf[args->nb_pfs].name;
	node = &args->pf[args->nb_pfs].node;
	*node = -1;
	if (rte_strscpy(name, value, RTE_ETH_NAME_MAX_LEN) <= 0)
		return refuse(args, arg, value, "an ethdev name or a PCI address is expected");
	at = strchr(name, '@');
	if (at != NULL) {
		*at = '\0';
		if (at == name || read_node(at + 1, node) != 0)
			return refuse(args, arg, value,
				      "NAME@SOCKET with a socket of 0 to %d is expected",
				      OCTO_SOCKET_MAP_MAX_NODE);
	}
	if (read_slice(arg, value, name, args) != 0)
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
read_socket_map(const struct devarg *arg, const char *value, struct octo_args *args)
{
	char why[128];

	if (octo_socket_map_read(&args->map, value, why, sizeof(why)) != 0)
		return refuse(args, arg, value, "%s", why);
	args->has_map = true;
	return 0;
}

static int
read_socket(const struct devarg *arg, const char *value, struct octo_args *args)
{
	if (read_node(value, &args->socket) != 0)
		return refuse(args, arg, value, "a NUMA node of 0 to %d is expected",
			      OCTO_SOCKET_MAP_MAX_NODE);
	if (!octo_attach_is_real_node(args->socket))
		return refuse(args, arg, value, "there is no memory on this NUMA node");
	return 0;
}

static int
read_mac(const struct devarg *arg, const char *value, struct octo_args *args)
{
	if (rte_ether_unformat_addr(value, &args->mac) != 0 ||
	    !rte_is_valid_assigned_ether_addr(&args->mac))
		return refuse(args, arg, value,
			      "a unicast MAC address like 02:00:00:00:00:01 is expected");
	args->has_mac = true;
	return 0;
}

static int
read_agent(const struct devarg *arg, const char *value, struct octo_args *args)
{
	struct octo_agent_addr addr;
	char why[128];

	if (octo_agent_addr_read(&addr, value, why, sizeof(why)) != 0)
		return refuse(args, arg, value, "%s", why);
	rte_strscpy(args->agent, value, sizeof(args->agent));
	return 0;
}

static int
read_agent_secret(const struct devarg *arg, const char *value, struct octo_args *args)
{
	char why[128];

	if (args->agent[0] == '\0')
		return refuse(args, arg, value, "agent= is needed with it");
	if (octo_agent_secret_read(&args->agent_secret, value, why, sizeof(why)) != 0)
		return refuse(args, arg, value, "%s", why);
	return 0;
}

static int
read_ethtool(const struct devarg *arg, const char *value, struct octo_args *args)
{
	char why[128];

	if (!args->sliced)
		return refuse(args, arg, value,
			      "it is for slices of a port of net_af_xdp, like "
			      "pf=net_af_xdp0[0::2]@0");
	if (!octo_ethtool_client_is_addr(value, why, sizeof(why)))
		return refuse(args, arg, value, "%s", why);
	rte_strscpy(args->ethtool, value, sizeof(args->ethtool));
	return 0;
}

static int
read_tier(const struct devarg *arg, const char *value, struct octo_args *args)
{
	if (octo_tier_read(value, &args->tier) != 0)
		return refuse(args, arg, value, "exact, partition, mac, queue or none is expected");
	args->has_tier = true;
	return 0;
}

/* The words' indices are the field's values; of a bool, with two words, `yes` is true. */
static int
read_word(const struct devarg *arg, const char *value, struct octo_args *args)
{
	const char *const *words = arg->words;
	const bool is_bool = words[2] == NULL;

	for (uint8_t i = 0; i < RTE_DIM(arg->words) - is_bool; i++) {
		if (strcmp(value, words[i]) != 0)
			continue;
		*(uint8_t *)RTE_PTR_ADD(args, arg->field) = is_bool ? i == arg->yes : i;
		return 0;
	}
	if (is_bool)
		return refuse(args, arg, value, "%s or %s is expected", words[0], words[1]);
	return refuse(args, arg, value, "%s, %s or %s is expected", words[0], words[1], words[2]);
}

static int
read_mac_source(const struct devarg *arg, const char *value, struct octo_args *args)
{
	if (!args->has_tier || args->tier != OCTO_TIER_MAC)
		return refuse(args, arg, value, "tier=mac is needed with it");
	return read_word(arg, value, args);
}

/* With both, each packet would have two PFs to be sent by. */
static int
check_mac_source(const struct octo_args *args)
{
	if (args->mac_source != OCTO_MAC_SOURCE_ADDRESS || !args->tx_by_buffer)
		return 0;
	OCTO_LOG(ERR,
		 "%s: tx_pf=mbuf: with mac_source=address the source address chooses the PF: "
		 "give one of the two",
		 args->port);
	return -EINVAL;
}

static int
read_dialect(const struct devarg *arg, const char *value, struct octo_args *args)
{
	const int id = octo_dialect_find(value);

	if (id < 0)
		return refuse(args, arg, value, "%s is expected", octo_dialect_names());
	args->dialects = RTE_BIT32(id);
	return 0;
}

/* Rules of slices and of agents are written in one way. */
static int
check_dialect(const struct octo_args *args)
{
	if (args->dialects == 0 || (!args->sliced && args->agent[0] == '\0'))
		return 0;
	OCTO_LOG(ERR, "%s: dialect=: it is for PFs behind a switch that they program, not with %s",
		 args->port, args->sliced ? "slices of a port" : "agent=");
	return -EINVAL;
}

static uint32_t *
number_of(const struct devarg *arg, struct octo_args *args)
{
	return RTE_PTR_ADD(args, arg->field);
}

/* A setting of learning: octo_learning_check() knows its range. */
static int
read_learning(const struct devarg *arg, const char *value, struct octo_args *args)
{
	const char *why;

	/* what is no number is in no range */
	if (octo_number_read(value, number_of(arg, args)) != 0)
		*number_of(arg, args) = UINT32_MAX;
	why = octo_learning_check(&args->learning);
	return why == NULL ? 0 : refuse(args, arg, value, "%s", why);
}

static int
read_number(const struct devarg *arg, const char *value, struct octo_args *args)
{
	uint32_t n;

	if (octo_number_read(value, &n) != 0 || n < arg->min || n > arg->max)
		return refuse(args, arg, value, "a number of %u to %u is expected", arg->min,
			      arg->max);
	*number_of(arg, args) = n;
	return 0;
}

#define FIELD(member) .field = offsetof(struct octo_args, member)

/*
 * In the order in which they are read: agent_secret= needs agent=, ethtool= needs pf=, and
 * mac_source= needs tier=.
 */
static const struct devarg devargs[] = {
	{"pf", read_pf, .many = true},
	{"socket_map", read_socket_map},
	{"socket", read_socket},
	{"mac", read_mac},
	{"agent", read_agent},
	{"agent_secret", read_agent_secret},
	{"ethtool", read_ethtool},
	{"tier", read_tier},
	{"mac_source", read_mac_source, FIELD(mac_source),
	 .words = {[OCTO_MAC_SOURCE_REWRITE] = "rewrite",
		   [OCTO_MAC_SOURCE_ADDRESS] = "address",
		   [OCTO_MAC_SOURCE_APP] = "app"}},
	{"dialect", read_dialect},
	{"learn", read_word, FIELD(learning.on), .words = {"on", "off"}, .yes = 0},
	{"learn_sample", read_learning, FIELD(learning.sample)},
	{"learn_max", read_learning, FIELD(learning.max_rules)},
	{"idle_ms", read_learning, FIELD(learning.idle_ms)},
	{"pools", read_word, FIELD(clone_pools), .words = {"app", "local"}, .yes = 1},
	{"rx_rings", read_word, FIELD(ring_mode),
	 .words = {[OCTO_RINGS_AUTO] = "auto",
		   [OCTO_RINGS_FULL] = "full",
		   [OCTO_RINGS_SHARED] = "shared"}},
	{"grace_us", read_number, FIELD(fence.grace_us), .max = OCTO_FENCE_MAX_GRACE_US},
	{"fence_timeout_ms", read_number, FIELD(fence.timeout_ms), .min = 1,
	 .max = OCTO_FENCE_MAX_TIMEOUT_MS},
	{"tx_pf", read_word, FIELD(tx_by_buffer), .words = {"lcore", "mbuf"}, .yes = 1},
	{"dwell_ms", read_number, FIELD(fence.dwell_ms), .max = OCTO_FENCE_MAX_DWELL_MS},
	{"linger_ms", read_number, FIELD(fence.linger_ms), .max = OCTO_FENCE_MAX_LINGER_MS},
	{"replug", read_word, FIELD(replug), .words = {"on", "off"}, .yes = 0},
};

struct reader {
	const struct devarg *arg;
	struct octo_args *args;
};

static int
read_one(const char *key, const char *value, void *reader)
{
	const struct reader *r = reader;

	RTE_SET_USED(key);
	return r->arg->read(r->arg, value == NULL ? "" : value, r->args);
}

static int
read_all(const struct rte_kvargs *kvlist, struct octo_args *args)
{
	for (unsigned int i = 0; i < RTE_DIM(devargs); i++) {
		struct reader r = {.arg = &devargs[i], .args = args};
		unsigned int count = rte_kvargs_count(kvlist, r.arg->name);

		if (count > 1 && !r.arg->many) {
			OCTO_LOG(ERR, "%s: %s= is given %u times: once is right", args->port,
				 r.arg->name, count);
			return -EINVAL;
		}
		/* _opt: the reader itself refuses a key without a value */
		if (rte_kvargs_process_opt(kvlist, r.arg->name, read_one, &r) != 0)
			return -EINVAL;
	}
	return 0;
}

/* Log that the port does not know the devarg, and which it knows. */
static void
refuse_unknown(const char *name, const char *key)
{
	char known[320] = "";

	for (unsigned int i = 0; i < RTE_DIM(devargs); i++) {
		rte_strlcat(known, " ", sizeof(known));
		rte_strlcat(known, devargs[i].name, sizeof(known));
		rte_strlcat(known, "=", sizeof(known));
	}
	OCTO_LOG(ERR, "%s: %s=: there is no such devarg: known are%s", name, key, known);
}

static bool
is_known(const char *key)
{
	for (unsigned int i = 0; i < RTE_DIM(devargs); i++)
		if (strcmp(devargs[i].name, key) == 0)
			return true;
	return false;
}

/* Split the text into keys and values. Returns NULL, after a log message, if it cannot be. */
static struct rte_kvargs *
split(const char *name, const char *text)
{
	struct rte_kvargs *kvlist = rte_kvargs_parse(text, NULL);

	if (kvlist == NULL)
		OCTO_LOG(ERR,
			 "%s: cannot read \"%s\": KEY=VALUE,... is expected, %d of them at most",
			 name, text, RTE_KVARGS_MAX);
	for (unsigned int i = 0; kvlist != NULL && i < kvlist->count; i++) {
		if (is_known(kvlist->pairs[i].key))
			continue;
		refuse_unknown(name, kvlist->pairs[i].key);
		rte_kvargs_free(kvlist);
		return NULL;
	}
	return kvlist;
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
	kvlist = split(name, text == NULL ? "" : text);
	if (kvlist == NULL)
		return -EINVAL;
	ret = read_all(kvlist, args);
	rte_kvargs_free(kvlist);
	if (ret == 0 && args->nb_pfs == 0) {
		OCTO_LOG(ERR, "%s: no pf= is given: pf=NAME once for each PF, 1 to %d of them",
			 name, OCTO_MAX_PFS);
		ret = -EINVAL;
	}
	if (ret == 0)
		ret = check_slices(args);
	if (ret == 0)
		ret = check_mac_source(args);
	return ret == 0 ? check_dialect(args) : ret;
}
