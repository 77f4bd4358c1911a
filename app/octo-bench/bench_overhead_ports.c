/* SPDX-License-Identifier: BSD-3-Clause */

/* The ways to use a PF or two that are compared, and how they are made. */

#include <stdarg.h>

#include <rte_dev.h>
#include <rte_errno.h>

#include "bench_overhead.h"

#define ARGS_LEN 256
#define DESCRIPTORS 1024

/* By number, as the devarg mode= is. */
static const char *const bonding_modes[] = {
	"bonding-round-robin", "bonding-active-backup", "bonding-balance", "bonding-broadcast",
	"bonding-802.3ad",     "bonding-tlb",           "bonding-alb",
};

static __rte_format_printf(2, 3) void leave_out(struct overhead_contender *c, const char *format,
						...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->left_out, sizeof(c->left_out), format, ap);
	va_end(ap);
}

static int
add_device(struct overhead_contender *c, const char *name, const char *args)
{
	const int ret = rte_eal_hotplug_add("vdev", name, args);

	if (ret != 0)
		leave_out(c, "%s cannot be made: %s", name, rte_strerror(-ret));
	return ret;
}

static void
pf_args(const struct overhead_stage *s, unsigned int number, unsigned int i, char args[ARGS_LEN])
{
	const bool silent = s->shape == OVERHEAD_HOME && i > 0;
	char interface[OVERHEAD_VETH_LEN];

	if (s->shape == OVERHEAD_BY_MAC) {
		snprintf(args, ARGS_LEN, "nic=O%u.%u.%u,socket=%u,wire=loop,mac=" OVERHEAD_MAC_OF,
			 s->number, number, i, i, i + 1);
		return;
	}
	switch (s->kind) {
	case OVERHEAD_NULL:
		snprintf(args, ARGS_LEN, "no-rx=%d", silent);
		break;
	case OVERHEAD_SIM:
		snprintf(args, ARGS_LEN, "nic=O%u.%u,socket=%u,mac=" OVERHEAD_MAC "%s", s->number,
			 number, i, i == 0 ? ",wire=loop" : "");
		break;
	case OVERHEAD_PACKET:
		overhead_veth_name(number, i, interface);
		snprintf(args, ARGS_LEN, "iface=%s", interface);
		break;
	case OVERHEAD_XDP:
		overhead_veth_name(number, i, interface);
		snprintf(args, ARGS_LEN, "iface=%s,force_copy=1", interface);
		break;
	default:
		args[0] = '\0';
	}
}

static int
add_pfs(const struct overhead_stage *s, struct overhead_contender *c, unsigned int number)
{
	static const char *const drivers[OVERHEAD_NB_PF] = {
		[OVERHEAD_NULL] = "net_null",  [OVERHEAD_RING] = "net_ring",
		[OVERHEAD_SIM] = "net_mpsim",  [OVERHEAD_PACKET] = "net_af_packet",
		[OVERHEAD_XDP] = "net_af_xdp",
	};
	char args[ARGS_LEN];
	int ret = 0;

	for (unsigned int i = 0; i < c->nb_pfs && ret == 0; i++) {
		char *name = c->pf_name[i];

		snprintf(name, sizeof(c->pf_name[i]), "%s%u", drivers[s->kind],
			 1000 * s->number + 10 * number + i);
		pf_args(s, number, i, args);
		c->index[i] = overhead_veth_peer(number, i);
		ret = add_device(c, name, args);
	}
	return ret;
}

/* How a device above PFs is told of them, and what else it is told. */
struct upper {
	const char *driver;
	const char *before; /* the name of a PF, ... */
	const char *after;
	bool on_node; /* PF i is on node i */
};

static const struct upper octo = {"net_octo", "pf=", "", true};
static const struct upper failsafe = {"net_failsafe", "dev(", ")", false};
static const struct upper bonding = {"net_bonding", OCTO_BOND_MEMBER "=", "", false};

static int
add_upper(struct overhead_contender *c, const struct upper *upper, unsigned int number,
	  const char *more)
{
	char args[ARGS_LEN];
	int len = snprintf(args, sizeof(args), "%s", more);

	snprintf(c->upper, sizeof(c->upper), "%s%u", upper->driver, number);
	for (unsigned int i = 0; i < overhead_legs(c); i++) {
		len += snprintf(args + len, sizeof(args) - len, "%s%s%s%s", len == 0 ? "" : ",",
				upper->before, c->pf_name[c->sliced ? 0 : i], upper->after);
		if (c->sliced)
			len += snprintf(args + len, sizeof(args) - len, "[%u::%u]", i,
					OVERHEAD_MAX_PFS);
		if (upper->on_node)
			len += snprintf(args + len, sizeof(args) - len, "@%u", i);
	}
	return add_device(c, c->upper, args);
}

static int
start(struct overhead_contender *c, const char *name, uint16_t nb_queues, struct rte_mempool *pool,
      uint16_t *port)
{
	const struct rte_eth_conf conf = {0};
	int ret = app_port_start_as(name, &conf, nb_queues, DESCRIPTORS, pool, port);

	if (ret == 0)
		ret = app_port_await_link(*port, name);
	if (ret != 0)
		leave_out(c, "%s does not start: %s", name, rte_strerror(-ret));
	return ret;
}

/* The bare PF, or slice, is polled alone while nothing comes by the other one. */
static int
start_bare(const struct overhead_stage *s, struct overhead_contender *c)
{
	const uint16_t nb_queues = c->sliced ? OVERHEAD_MAX_PFS : 1;
	int ret = 0;

	for (unsigned int i = 0; i < c->nb_pfs && ret == 0; i++)
		ret = start(c, c->pf_name[i], nb_queues, s->bench->pool, &c->pf[i]);
	if (ret == 0)
		ret = overhead_wire_split(s, c);
	c->port[0] = c->pf[0];
	c->port[1] = c->pf[c->nb_pfs - 1];
	c->queue[1] = s->shape == OVERHEAD_STRAYS ? nb_queues - 1 : 0;
	return ret;
}

static int
start_upper(const struct overhead_stage *s, struct overhead_contender *c)
{
	int ret = 0;

	for (unsigned int i = 0; i < c->nb_pfs && ret == 0; i++)
		ret = rte_eth_dev_get_port_by_name(c->pf_name[i], &c->pf[i]);
	if (ret == 0)
		ret = start(c, c->upper, 1, s->bench->pool, &c->port[0]);
	if (ret == 0)
		ret = overhead_wire_split(s, c);
	c->port[1] = c->port[0];
	return ret;
}

static struct overhead_contender *
next(struct overhead_stage *s, const char *name, unsigned int nb_pfs)
{
	struct overhead_contender *c = &s->contender[s->nb++];

	*c = (struct overhead_contender){.name = name, .nb_pfs = nb_pfs};
	return c;
}

static void
open_bare(struct overhead_stage *s, const char *name, unsigned int nb_pfs, bool sliced)
{
	struct overhead_contender *c = next(s, name, nb_pfs);

	c->sliced = sliced;
	if (add_pfs(s, c, s->nb - 1) == 0)
		start_bare(s, c);
}

static void
make_upper(struct overhead_stage *s, struct overhead_contender *c, const struct upper *upper,
	   const char *more)
{
	const unsigned int number = s->nb - 1;

	if (add_pfs(s, c, number) == 0 && add_upper(c, upper, number, more) == 0)
		start_upper(s, c);
}

static void
open_octo(struct overhead_stage *s, const char *name, unsigned int nb_pfs, bool sliced)
{
	struct overhead_contender *c = next(s, name, nb_pfs);
	char more[ARGS_LEN];

	c->sliced = sliced;
	snprintf(more, sizeof(more), "learn=off,socket_map=%u:0", s->bench->machine.cpu[0]);
	make_upper(s, c, &octo, more);
}

/* Without strays, as in each tier: PF 0 is designated, PF 1 drops copies and rewrites addresses. */
static void
open_tiers(struct overhead_stage *s)
{
	static const struct {
		const char *name;
		const char *tier;
		unsigned int home;
		bool copies;
		bool rewrites;
	} tiers[] = {
		{"octo", "queue", 0, false, false},
		{"octo-mac", "mac", 0, false, false},
		{"octo-mac-other", "mac", 1, false, true},
		{"octo-mac-copies", "mac", 1, true, true},
		{"octo-mac-app", "mac,mac_source=app", 1, false, false},
		{"octo-mac-address", "mac,mac_source=address", 1, false, false},
	};
	char more[ARGS_LEN];

	for (unsigned int i = 0; i < RTE_DIM(tiers); i++) {
		struct overhead_contender *c = next(s, tiers[i].name, 2);

		c->home = tiers[i].home;
		c->copies = tiers[i].copies;
		c->rewrites = tiers[i].rewrites;
		snprintf(more, sizeof(more), "learn=off,socket_map=%u:%u,tier=%s",
			 s->bench->machine.cpu[0], c->home, tiers[i].tier);
		make_upper(s, c, &octo, more);
	}
}

static void
open_others(struct overhead_stage *s, unsigned int nb_pfs)
{
	char mode[ARGS_LEN];

	make_upper(s, next(s, "failsafe", nb_pfs), &failsafe, "");
	for (unsigned int i = 0; i < RTE_DIM(bonding_modes); i++) {
		snprintf(mode, sizeof(mode), "mode=%u", i);
		make_upper(s, next(s, bonding_modes[i], nb_pfs), &bonding, mode);
	}
}

int
overhead_open(struct overhead_stage *s)
{
	const unsigned int nb_pfs = s->shape == OVERHEAD_ONE ? 1 : 2;
	int ret = overhead_is_on_veth(s->kind) ? overhead_veth_open(s) : 0;

	if (ret != 0)
		return ret;
	open_bare(s, "bare", s->shape == OVERHEAD_STRAYS ? 2 : 1, false);
	if (s->shape == OVERHEAD_BY_MAC) {
		open_tiers(s);
		return 0;
	}
	open_octo(s, "octo", nb_pfs, false);
	if (overhead_has_slices(s->kind, s->shape)) {
		open_octo(s, "octo-slices", 1, true);
		open_bare(s, "bare-slices", 1, true);
	}
	if (overhead_only_slices(s->bench))
		return 0;
	/* what a second PF costs that has nothing, is known by one that is not there */
	if (s->shape == OVERHEAD_HOME)
		open_octo(s, "octo-one-pf", 1, false);
	open_others(s, nb_pfs);
	return 0;
}

static void
remove_device(const char *name)
{
	uint16_t port;

	if (name[0] == '\0')
		return;
	/* closed, net_bonding gives its members back; and a port above may have closed this one */
	if (rte_eth_dev_get_port_by_name(name, &port) == 0)
		app_port_stop(port);
	rte_eal_hotplug_remove("vdev", name);
}

void
overhead_close(struct overhead_stage *s)
{
	for (unsigned int k = s->nb; k-- > 0;) {
		remove_device(s->contender[k].upper);
		for (unsigned int i = 0; i < s->contender[k].nb_pfs; i++)
			remove_device(s->contender[k].pf_name[i]);
	}
	if (overhead_is_on_veth(s->kind))
		overhead_veth_close(s);
	s->nb = 0;
}
