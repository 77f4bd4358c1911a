/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Now and then chaos comes to rest: every packet must be somewhere that is counted,
 * every flow at home, every fence closed, and no rule anywhere that nobody knows.
 */

#include <inttypes.h>

#include <rte_cycles.h>

#include "bench_chaos.h"
#include "rte_pmd_octo.h"

/* So many packets come, and none of them strays. */
#define HOME_PACKETS (4 * CHAOS_FLOWS)

/* Looks after which what is under way will not come any more. */
#define MAX_LOOKS 128

uint64_t
chaos_deadline(unsigned int seconds)
{
	return rte_rdtsc() + seconds * rte_get_tsc_hz();
}

static void
count(struct chaos *c, struct chaos_tally *t)
{
	struct bench_received rx = {0};

	*t = (struct chaos_tally){
		.sent = bench_stream_sent(&c->stream) - c->stream.nb_unsent,
		.came = bench_order_delivered(&c->stream.order),
		.back = bench_order_delivered(&c->back),
		.port_drops = bench_nic_xstat(&c->nic, "tx_switch_drops"),
	};
	for (unsigned int i = 0; i < CHAOS_QUEUES; i++)
		t->taken += rte_atomic_load_explicit(&c->lane[i].handed, rte_memory_order_relaxed);
	bench_nic_received(&c->nic, &rx);
	t->port_rx = rx.home + rx.stray;
	for (unsigned int i = 0; i < c->nb_pfs; i++) {
		char name[32];

		snprintf(name, sizeof(name), "tx_pf%u_packets", i);
		t->port_tx += bench_nic_xstat(&c->nic, name);
	}
}

/* Two ways to count the same. */
struct equation {
	const char *what;
	uint64_t left;
	uint64_t right;
};

#define MAX_EQUATIONS 16

struct book {
	unsigned int nb;
	struct equation eq[MAX_EQUATIONS];
	uint64_t lost, dropped;
};

static void
add(struct book *b, const char *what, uint64_t left, uint64_t right)
{
	b->eq[b->nb++] = (struct equation){what, left, right};
}

static void
add_port(struct book *b, const struct chaos_tally *now, const struct chaos_tally *then)
{
	add(b, "received by the port, and its home and stray packets", now->came - then->came,
	    now->port_rx - then->port_rx);
	add(b, "taken by the port, and its Tx packets and drops", now->taken - then->taken,
	    now->port_tx - then->port_tx + now->port_drops - then->port_drops);
}

/* Where every packet is; of NIC A, which is the port's, and of B, the peer. */
static int
keep_books(struct chaos *c, struct chaos_tally *t, struct book *b)
{
	struct mpsim_account nic, peer;
	int ret = rte_pmd_mpsim_account_get("A", &nic);

	*b = (struct book){.nb = 0};
	if (ret == 0)
		ret = rte_pmd_mpsim_account_get("B", &peer);
	if (ret != 0)
		return ret;
	t->nic = nic.sent + nic.tx_dropped + nic.lost_in_tx;
	b->lost = nic.lost + nic.lost_on_wire + nic.lost_in_tx + peer.lost_on_wire;
	b->dropped = nic.dropped + nic.tx_dropped + peer.dropped + peer.tx_dropped;
	add(b, "sent by the peer, and on its wire or dropped", t->sent,
	    peer.sent + peer.tx_dropped + peer.lost_in_tx);
	add(b, "sent to the NIC, and taken or lost on the wire", peer.sent,
	    nic.taken + nic.lost_on_wire);
	add(b, "in rings, pipelines and wires at rest", 0,
	    nic.in_rings + nic.in_pipelines + nic.on_wire + peer.in_rings + peer.on_wire +
		    nic.in_tx_rings + peer.in_tx_rings);
	add(b, "put aside by the port at rest", 0, bench_nic_xstat(&c->nic, "tx_switch_waiting"));
	add(b, "unaccounted for by the NICs", 0, (uint64_t)(nic.unaccounted + peer.unaccounted));
	add(b, "delivered by the NIC, and received by the port", nic.delivered, t->came);
	add(b, "sent by the NIC, and taken by the peer", nic.sent, peer.taken + peer.lost_on_wire);
	add(b, "delivered to the peer, and received", peer.delivered, t->back);
	add(b, "that came twice, or are damaged", 0,
	    c->stream.order.duplicated + c->stream.order.foreign + c->back.duplicated +
		    c->back.foreign);
	/* what waited in the port when it was stopped is told by its statistics only */
	if (!chaos_is(&c->was_reset)) {
		add_port(b, t, &c->before);
		add(b, "taken by the port, and by the NIC or dropped", t->taken - c->before.taken,
		    t->nic - c->before.nic + t->port_drops - c->before.port_drops);
	}
	return 0;
}

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t
unaccounted(const struct book *b)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < b->nb; i++)
		n += distance(b->eq[i].left, b->eq[i].right);
	return n;
}

static void
print_unequal(const struct book *b)
{
	for (unsigned int i = 0; i < b->nb; i++)
		if (b->eq[i].left != b->eq[i].right)
			fprintf(stderr, "%s: chaos: packets %s: %" PRIu64 " and %" PRIu64 "\n",
				app_name, b->eq[i].what, b->eq[i].left, b->eq[i].right);
}

/* Some are on their way yet. */
static int
settle_accounts(struct chaos *c, struct bench_chaos *r)
{
	const uint64_t end = chaos_deadline(CHAOS_PATIENCE_S);
	struct chaos_tally now;
	struct book book;
	int ret;

	bench_stream_hush(&c->stream);
	do {
		rte_delay_us_sleep(CHAOS_LOOK_US);
		count(c, &now);
		ret = keep_books(c, &now, &book);
	} while (ret == 0 && unaccounted(&book) != 0 && rte_rdtsc() < end);
	print_unequal(&book);
	r->unaccounted += unaccounted(&book);
	r->packets = now.sent;
	r->lost = book.lost;
	r->dropped = book.dropped;
	c->before = now;
	chaos_set(&c->was_reset, false);
	return ret;
}

/* Everything that comes comes by a PF of the right socket. */
static bool
await_home(struct chaos *c)
{
	const uint64_t end = chaos_deadline(CHAOS_PATIENCE_S);
	struct bench_received first, before, now;
	unsigned int looks = 0;

	if (bench_nic_received(&c->nic, &first) != 0)
		return false;
	before = first;
	while (bench_nic_received(&c->nic, &now) == 0 && rte_rdtsc() < end) {
		if (now.stray != before.stray)
			before = now;
		else if (now.home > before.home + HOME_PACKETS)
			return true;
		rte_delay_us_sleep(CHAOS_LOOK_US);
		if (++looks % MAX_LOOKS == 0)
			bench_stream_give_up(&c->stream);
	}
	fprintf(stderr,
		"%s: chaos: %" PRIu64 " strays and %" PRIu64 " others came, %" PRIu64
		" since the last stray\n",
		app_name, now.stray - first.stray, now.home - first.home, now.home - before.home);
	return false;
}

static bool
await_fences(const struct chaos *c)
{
	const uint64_t end = chaos_deadline(CHAOS_PATIENCE_S);

	while (bench_nic_xstat(&c->nic, "fences_open") != 0) {
		if (rte_rdtsc() > end)
			return false;
		rte_delay_us_sleep(CHAOS_LOOK_US);
	}
	return true;
}

static uint64_t
rules_in_tables(void)
{
	struct mpsim_account nic;

	return rte_pmd_mpsim_account_get("A", &nic) == 0 ? nic.rules : UINT64_MAX;
}

/*
 * Of directions to which no packet comes: with a symmetric RSS key both directions of a flow are
 * learned while the flow has no rule of the application, and only the flow gets one later. Each is
 * one entry of the MPFS table.
 */
static uint64_t
learned_rules(const struct chaos *c)
{
	struct rte_pmd_octo_learning learning;

	return rte_pmd_octo_learning_get(c->nic.octo, &learning) == 0 ? learning.rules : 0;
}

/* Those of flows that have moved go a little later. */
static uint64_t
count_stale_rules(struct chaos *c)
{
	const uint64_t end = chaos_deadline(CHAOS_PATIENCE_S);

	/* the first time that everything is at rest */
	if (c->expected_rules == 0)
		c->expected_rules = rules_in_tables() - learned_rules(c);
	while (c->counts_rules && rules_in_tables() != c->expected_rules + learned_rules(c)) {
		if (rte_rdtsc() > end)
			return distance(rules_in_tables(), c->expected_rules + learned_rules(c));
		rte_delay_us_sleep(CHAOS_LOOK_US);
	}
	return 0;
}

const char *
chaos_states(const struct chaos *c, char *states)
{
	for (unsigned int i = 0; i < c->nb_pfs; i++)
		states[i] = (char)('0' + c->state[i]);
	states[c->nb_pfs] = '\0';
	return states;
}

static void
complain(const struct chaos *c, const char *what)
{
	char states[BENCH_MAX_PFS + 1];

	fprintf(stderr,
		"%s: chaos: %s (PFs %s, %" PRIu64 " of use, tables with %" PRIu64 " rules)\n",
		app_name, what, chaos_states(c, states), bench_nic_xstat(&c->nic, "usable_pfs"),
		rules_in_tables());
	bench_threads_print();
	rte_pmd_octo_topology_dump(c->nic.octo, stderr);
	rte_pmd_octo_strays_dump(c->nic.octo, stderr);
	rte_pmd_octo_steering_dump(c->nic.octo, stderr);
}

static void
look_at_flows(struct chaos *c, struct bench_chaos *r)
{
	uint64_t stale;

	/* such rules stay what they are not, as nobody knows of it */
	if (c->lied)
		chaos_forget_rules(c);
	c->lied = false;
	if (!chaos_make_all_rules(c)) {
		complain(c, "rules cannot be made");
		r->misplaced++;
	} else if (!await_home(c)) {
		complain(c, "flows do not go home");
		r->misplaced++;
	}
	if (!await_fences(c)) {
		complain(c, "a fence stays open");
		r->open_fences++;
	}
	stale = count_stale_rules(c);
	if (stale > 0)
		complain(c, "rules are left over, or missing");
	r->stale_rules += stale;
}

int
chaos_check(struct chaos *c, struct bench_chaos *r)
{
	int ret;

	chaos_pause_calls(c);
	chaos_set(&c->stay, true);
	ret = chaos_revive_all(c);
	if (ret == 0 && !chaos_await_usable(c, c->nb_pfs)) {
		complain(c, "a PF does not come back");
		r->late++;
	} else if (ret == 0) {
		r->unlike += chaos_count_unlike(c);
	}
	if (ret == 0)
		look_at_flows(c, r);
	if (ret == 0)
		ret = settle_accounts(c, r);
	bench_stream_resume(&c->stream);
	chaos_set(&c->stay, false);
	chaos_resume_calls(c);
	return ret;
}
