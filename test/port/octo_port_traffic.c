/* SPDX-License-Identifier: BSD-3-Clause */

#include <assert.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>

#include <rte_ip.h>
#include <rte_udp.h>

#include "mpsim_control.h"
#include "octo_port.h"

#include "octo_flow_build.h"

#define SRC_IP RTE_BE32(0x0a000001)
#define DST_IP RTE_BE32(0x0a000002)
#define DST_PORT RTE_BE16(9)
#define BURST 32
/* how often nothing may come before nothing is left; strays of an idle leg need 64 */
#define PATIENCE 300

struct frame {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
};

static_assert(sizeof(struct frame) == 42, "as on the wire");

/* aligned, as mbufs are */
#define NUMBER_AT 44

static struct octo_tuple
tuple_of(uint16_t src_port)
{
	const rte_be32_t src = SRC_IP, dst = DST_IP;
	struct octo_tuple t = {
		.family = OCTO_IPV4,
		.proto = IPPROTO_UDP,
		.src_port = rte_cpu_to_be_16(src_port),
		.dst_port = DST_PORT,
	};

	memcpy(t.src, &src, sizeof(src));
	memcpy(t.dst, &dst, sizeof(dst));
	return t;
}

void
octo_port_build(struct octo_flow_rule *r, uint16_t src_port, uint16_t queue)
{
	const struct octo_tuple t = tuple_of(src_port);

	octo_flow_build_queue(r, &t, 0, queue, false);
}

void
octo_port_build_mpfs(struct octo_flow_rule *r, uint16_t src_port, unsigned int pf)
{
	const struct octo_tuple t = tuple_of(src_port);
	const uint16_t to = octo_port_pf(pf);

	octo_flow_build_transfer(r, OCTO_DIALECT_WIRE_ITEM, &t, 0, to, to, false);
}

struct rte_flow *
octo_port_steer_again(uint16_t port, uint16_t src_port, uint16_t queue,
		      struct rte_flow_error *error)
{
	struct octo_flow_rule r;

	octo_port_build(&r, src_port, queue);
	return rte_flow_create(port, &r.attr, r.pattern, r.actions, error);
}

struct rte_flow *
octo_port_steer(uint16_t port, uint16_t src_port, uint16_t queue, struct rte_flow_error *error)
{
	if (error != NULL)
		*error = (struct rte_flow_error){.message = NULL};
	return octo_port_steer_again(port, src_port, queue, error);
}

int
octo_port_validate(uint16_t port, uint16_t src_port, uint16_t queue)
{
	const struct octo_tuple t = tuple_of(src_port);
	struct rte_flow_error error;
	struct octo_flow_rule r;

	octo_flow_build_queue(&r, &t, 0, queue, false);
	return rte_flow_validate(port, &r.attr, r.pattern, r.actions, &error);
}

struct rte_flow *
octo_port_overrule(uint16_t src_port, unsigned int pf)
{
	const struct octo_tuple t = tuple_of(src_port);
	struct octo_flow_rule r;

	octo_flow_build_transfer(&r, OCTO_DIALECT_WIRE_ITEM, &t, 0, octo_port_pf(0),
				 octo_port_pf(pf), false);
	return rte_flow_create(octo_port_pf(0), &r.attr, r.pattern, r.actions, NULL);
}

int
octo_port_rule_pf(uint16_t port, uint16_t src_port)
{
	const struct octo_tuple t = tuple_of(src_port);
	struct octo_view_rule rules[64];
	uint32_t total;
	int nb = rte_pmd_octo_view_rules(port, 0, rules, RTE_DIM(rules), &total);

	for (int i = 0; i < nb; i++)
		if (octo_tuple_equal(&rules[i].tuple, &t))
			return rules[i].pf;
	return -2;
}

bool
octo_port_leads_to(uint16_t port, uint16_t src_port, uint16_t queue, int pf)
{
	octo_port_poll(port, queue, BURST, &(struct octo_port_tally){0});
	return octo_port_rule_pf(port, src_port) == pf;
}

static void
fill(struct rte_mbuf *m, const struct rte_ether_addr *dst, uint16_t src_port)
{
	const uint16_t ip_len = OCTO_PORT_FRAME_LEN - sizeof(struct rte_ether_hdr);
	struct frame f = {
		.eth = {.dst_addr = *dst,
			.src_addr = {{0x02}},
			.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)},
		.ip = {.version_ihl = RTE_IPV4_VHL_DEF,
		       .total_length = rte_cpu_to_be_16(ip_len),
		       .time_to_live = 64,
		       .next_proto_id = IPPROTO_UDP,
		       .src_addr = SRC_IP,
		       .dst_addr = DST_IP},
		.udp = {.src_port = rte_cpu_to_be_16(src_port),
			.dst_port = DST_PORT,
			.dgram_len = rte_cpu_to_be_16(ip_len - sizeof(struct rte_ipv4_hdr))},
	};
	char *data = rte_pktmbuf_append(m, OCTO_PORT_FRAME_LEN);

	f.ip.hdr_checksum = rte_ipv4_cksum(&f.ip);
	if (data == NULL)
		fail_msg("no room for a frame");
	memset(data, 0, OCTO_PORT_FRAME_LEN);
	memcpy(data, &f, sizeof(f));
}

void
octo_port_make(uint16_t port, uint16_t src_port, struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_ether_addr dst;

	assert_int_equal(rte_eth_macaddr_get(port, &dst), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(octo_port_pool, pkts, n), 0);
	for (uint16_t i = 0; i < n; i++)
		fill(pkts[i], &dst, src_port);
}

void
octo_port_send(uint16_t port, uint16_t queue, uint16_t src_port, unsigned int n)
{
	while (n > 0) {
		const uint16_t nb = RTE_MIN(n, (unsigned int)BURST);
		struct rte_mbuf *pkts[BURST];

		octo_port_make(port, src_port, pkts, nb);
		assert_int_equal(rte_eth_tx_burst(port, queue, pkts, nb), nb);
		n -= nb;
	}
}

void
octo_port_make_numbered(uint16_t port, uint16_t src_port, uint32_t first, struct rte_mbuf **pkts,
			uint16_t n)
{
	octo_port_make(port, src_port, pkts, n);
	for (uint16_t i = 0; i < n; i++) {
		const uint32_t number = first + i;

		memcpy(rte_pktmbuf_mtod_offset(pkts[i], void *, NUMBER_AT), &number,
		       sizeof(number));
	}
}

uint32_t
octo_port_number(const struct rte_mbuf *m)
{
	uint32_t number;

	memcpy(&number, rte_pktmbuf_mtod_offset(m, const void *, NUMBER_AT), sizeof(number));
	return number;
}

uint16_t
octo_port_send_numbered(uint16_t port, uint16_t queue, uint16_t src_port, uint32_t first,
			uint16_t n)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t sent;

	assert_true(n <= BURST);
	octo_port_make_numbered(port, src_port, first, pkts, n);
	sent = rte_eth_tx_burst(port, queue, pkts, n);
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	return sent;
}

static void
count(struct octo_port_tally *tally, const struct rte_mbuf *m, uint16_t port)
{
	const struct frame *f = rte_pktmbuf_mtod(m, const struct frame *);

	tally->packets++;
	tally->bytes += m->pkt_len;
	tally->wrong_port += m->port != port;
	tally->wrong_flow += m->pkt_len != OCTO_PORT_FRAME_LEN || f->ip.dst_addr != DST_IP ||
			     f->udp.dst_port != DST_PORT;
}

uint64_t
octo_port_lost(void)
{
	struct mpsim_account a;

	assert_int_equal(rte_pmd_mpsim_account_get("T", &a), 0);
	return a.lost + a.dropped;
}

uint16_t
octo_port_poll(uint16_t port, uint16_t queue, uint16_t nb, struct octo_port_tally *tally)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t got;

	assert_true(nb <= BURST);
	got = rte_eth_rx_burst(port, queue, pkts, nb);
	assert_true(got <= nb);
	for (uint16_t i = 0; i < got; i++)
		count(tally, pkts[i], port);
	rte_pktmbuf_free_bulk(pkts, got);
	return got;
}

/* Longer than a queue waits for one that a flow came from, and that is polled no more. */
#define FENCE_MS 30
/* Between two polls of which the first got nothing. */
#define POLL_US 20

void
octo_port_receive(uint16_t port, uint16_t queue, uint64_t packets, struct octo_port_tally *tally)
{
	const uint64_t end = tally->packets + packets;
	const uint64_t patience = rte_get_timer_hz() / MS_PER_S * FENCE_MS;
	uint64_t since = octo_now();
	unsigned int idle = 0;

	/* in real time a thread that this waits for may have no CPU */
	while (tally->packets < end && (idle < PATIENCE || octo_clock == NULL)) {
		const bool late = octo_now() - since >= patience;

		idle += late;
		if (octo_port_poll(port, queue, BURST, tally) == 0) {
			octo_port_pass_us(POLL_US);
			continue;
		}
		idle = 0;
		since = octo_now();
	}
}

struct rte_mbuf *
octo_port_receive_one(uint16_t port, uint16_t queue)
{
	struct rte_mbuf *pkts[8];
	uint16_t got = 0;

	octo_port_await(got > 0 || (got = rte_eth_rx_burst(port, queue, pkts, RTE_DIM(pkts))) > 0);
	assert_int_equal(got, 1);
	return pkts[0];
}

void
octo_port_assert_intact(const struct rte_mbuf *m, uint16_t port, uint16_t src_port, uint32_t number)
{
	char copy[OCTO_PORT_FRAME_LEN];
	struct rte_mbuf *sent;

	octo_port_make_numbered(port, src_port, number, &sent, 1);
	assert_int_equal(rte_mbuf_check(m, 1, &(const char *){NULL}), 0);
	assert_int_equal(m->port, port);
	assert_int_equal(m->pkt_len, OCTO_PORT_FRAME_LEN);
	assert_memory_equal(rte_pktmbuf_read(m, 0, OCTO_PORT_FRAME_LEN, copy),
			    rte_pktmbuf_mtod(sent, const void *), OCTO_PORT_FRAME_LEN);
	rte_pktmbuf_free(sent);
}

void
octo_port_assert_arrives(uint16_t port, uint16_t src_port, uint16_t queue, unsigned int packets)
{
	struct octo_port_tally tally = {0};

	octo_port_send(port, 0, src_port, packets);
	octo_port_receive(port, queue, packets, &tally);
	assert_int_equal(tally.packets, packets);
	assert_int_equal(tally.wrong_flow, 0);
	assert_int_equal(tally.wrong_port, 0);
}

/* A poll of a PF moves a burst from the wire into whatever rings it belongs to. */
void
octo_port_pump(uint16_t idle_queue)
{
	const uint16_t pf = octo_port_pf(0);
	struct rte_mbuf *pkts[BURST];

	for (unsigned int i = 0; i < 4096 / BURST + 1; i++)
		assert_int_equal(rte_eth_rx_burst(pf, idle_queue, pkts, BURST), 0);
}

#define XSTAT_TRIES 1000

static int
find_xstat(uint16_t port, const char *name, uint64_t *value)
{
	uint64_t id;

	return rte_eth_xstats_get_id_by_name(port, name, &id) == 0 ?
		       rte_eth_xstats_get_by_id(port, &id, value, 1) :
		       -1;
}

uint64_t
octo_port_xstat(uint16_t port, const char *format, ...)
{
	char name[RTE_ETH_XSTATS_NAME_SIZE];
	uint64_t value = 0;
	va_list ap;

	va_start(ap, format);
	vsnprintf(name, sizeof(name), format, ap);
	va_end(ap);
	/* ethdev fails if a PF comes or goes, and its xstats, while it looks for the name */
	for (int i = 0; find_xstat(port, name, &value) != 1; i++) {
		if (i == XSTAT_TRIES)
			fail_msg("port %u has no xstat %s", port, name);
		octo_port_await_interrupts();
	}
	return value;
}

uint32_t
octo_port_reta_of(unsigned int pf)
{
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = UINT64_MAX}, {.mask = UINT64_MAX}};
	uint32_t queues = 0;

	assert_int_equal(rte_eth_dev_rss_reta_query(octo_port_pf(pf), reta, 128), 0);
	for (int i = 0; i < 128; i++)
		queues |= RTE_BIT32(reta[i / 64].reta[i % 64]);
	return queues;
}

uint64_t
octo_port_strays(uint16_t port)
{
	return octo_port_xstat(port, "rx_stray_packets");
}
