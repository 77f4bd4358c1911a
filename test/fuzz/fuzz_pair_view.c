/* SPDX-License-Identifier: BSD-3-Clause */

/* What a port says of itself, as text. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <ethdev_driver.h>

#include "fuzz_pair.h"

#define ROOM 16384
#define MAX_MACS 64
#define MAX_RETA 128
#define KEY_LEN 40

struct view {
	size_t len;
	char text[ROOM];
};

static __rte_format_printf(2, 3) void say(struct view *v, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	v->len += vsnprintf(v->text + v->len, sizeof(v->text) - v->len, format, ap);
	va_end(ap);
	FUZZ_CHECK(v->len < sizeof(v->text), "a view is too long");
}

static void
say_bytes(struct view *v, const char *what, const uint8_t *bytes, size_t len)
{
	say(v, "%s ", what);
	for (size_t i = 0; i < len; i++)
		say(v, "%02x", bytes[i]);
	say(v, "\n");
}

/* The other ones are PFs of the octo port. */
static bool
is_of_pair(uint16_t port)
{
	return port == fuzz_pair.port[FUZZ_OCTO] || port == fuzz_pair.port[FUZZ_BARE];
}

/* The table's order is ethdev's own on each PF: it is named by a sum. */
static void
say_macs(struct view *v, uint16_t port)
{
	struct rte_ether_addr macs[MAX_MACS] = {0};
	const int nb = rte_eth_macaddrs_get(port, macs, MAX_MACS);
	unsigned int used = 0;
	uint64_t sum = 0;

	for (int i = 1; i < nb; i++) {
		uint64_t key = 0;

		memcpy(&key, macs[i].addr_bytes, sizeof(macs[i]));
		sum += key * 31 * key;
		used += key != 0;
	}
	say_bytes(v, "MAC", macs[0].addr_bytes, sizeof(macs[0]));
	say(v, "MACs %u sum %" PRIx64 "\n", used, sum);
}

static bool
has_rss(void)
{
	const struct rte_eth_dev_data *data = rte_eth_devices[fuzz_pair.port[FUZZ_OCTO]].data;

	return data->dev_conf.rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG;
}

/* The octo port has RSS settings, to be alike on all PFs, from its configuration on. */
static void
say_rss(struct view *v, uint16_t port)
{
	struct rte_eth_rss_reta_entry64 reta[MAX_RETA / RTE_ETH_RETA_GROUP_SIZE] = {
		{.mask = UINT64_MAX}, {.mask = UINT64_MAX}};
	uint8_t key[KEY_LEN] = {0};
	struct rte_eth_rss_conf conf = {.rss_key = key, .rss_key_len = sizeof(key)};
	int ret;

	if (!rte_eth_devices[fuzz_pair.port[FUZZ_OCTO]].data->dev_configured)
		return;
	ret = rte_eth_dev_rss_hash_conf_get(port, &conf);

	say(v, "hash: %d types %" PRIx64 " length %u\n", ret, conf.rss_hf, conf.rss_key_len);
	say_bytes(v, "key", key, sizeof(key));
	/* that of a PF with slices names legs */
	if (fuzz_pair.sliced && !is_of_pair(port))
		port = fuzz_pair.port[FUZZ_OCTO];
	/* without RSS the RETA of slices has queue 0 only */
	if (fuzz_pair.sliced && !has_rss())
		return;
	ret = rte_eth_dev_rss_reta_query(port, reta, MAX_RETA);
	say(v, "RETA: %d", ret);
	for (unsigned int i = 0; i < MAX_RETA; i++)
		say(v, "%s%u", i % 8 == 0 ? " " : "",
		    reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE]);
	say(v, "\n");
}

/* ethdev cannot be asked for the VLANs of the filter. */
static void
say_vlans(struct view *v, uint16_t port)
{
	const struct rte_vlan_filter_conf *conf = &rte_eth_devices[port].data->vlan_filter_conf;

	say(v, "VLAN offloads %x VLANs", rte_eth_dev_get_vlan_offload(port));
	for (unsigned int id = 0; id <= RTE_ETHER_MAX_VLAN_ID; id++)
		if (conf->ids[id / 64] >> (id % 64) & 1)
			say(v, " %u", id);
	say(v, "\n");
}

/* ethdev has released the queue, but not its leg, and then refused to set it up. */
static bool
is_retired(uint16_t port, uint16_t q, bool tx)
{
	const struct rte_eth_dev_data *data = rte_eth_devices[fuzz_pair.port[FUZZ_OCTO]].data;

	if (is_of_pair(port))
		return false;
	return tx ? q >= data->nb_tx_queues || data->tx_queues[q] == NULL :
		    q >= data->nb_rx_queues || data->rx_queues[q] == NULL;
}

/* No offloads: a PF names those of the port as those of its queues, the octo port does not. */
static void
say_queues(struct view *v, uint16_t port, unsigned int pf)
{
	for (uint16_t q = 0; q < FUZZ_PAIR_QUEUES; q++) {
		struct rte_eth_rxq_info rx = {0};
		struct rte_eth_txq_info tx = {0};
		const uint16_t queue = is_of_pair(port) ? q : fuzz_pair_leg(pf, q);
		int ret = -EINVAL;

		if (!is_retired(port, q, false))
			ret = rte_eth_rx_queue_info_get(port, queue, &rx);
		say(v, "Rx %u: %d nb %u room %u scatter %u state %u", q, ret, rx.nb_desc,
		    rx.rx_buf_size, rx.scattered_rx, rx.queue_state);
		say(v, " deferred %u drop %u\n", rx.conf.rx_deferred_start, rx.conf.rx_drop_en);
		ret = -EINVAL;
		if (!is_retired(port, q, true))
			ret = rte_eth_tx_queue_info_get(port, queue, &tx);
		say(v, "Tx %u: %d nb %u state %u deferred %u\n", q, ret, tx.nb_desc, tx.queue_state,
		    tx.conf.tx_deferred_start);
	}
}

static void
say_wire(struct view *v, uint16_t port)
{
	struct rte_eth_fc_conf fc = {0};
	uint32_t fec = 0;
	int ret = rte_eth_dev_flow_ctrl_get(port, &fc);

	say(v, "flow control: %d %u %u %u %u ", ret, fc.mode, fc.send_xon, fc.high_water,
	    fc.low_water);
	ret = rte_eth_fec_get(port, &fec);
	say(v, "FEC: %d %x\n", ret, fec);
}

/* What holds on each PF as on the octo port. */
static void
say_settings(struct view *v, uint16_t port, unsigned int pf)
{
	uint16_t mtu = 0;
	int ret = rte_eth_dev_get_mtu(port, &mtu);

	v->len = 0;
	say(v, "MTU %d %u promiscuous %d multicast %d\n", ret, mtu, rte_eth_promiscuous_get(port),
	    rte_eth_allmulticast_get(port));
	say_macs(v, port);
	say_vlans(v, port);
	say_wire(v, port);
	say_rss(v, port);
	say_queues(v, port, pf);
}

static void
say_info(struct view *v, uint16_t port)
{
	struct rte_eth_dev_info info = {0};
	struct rte_eth_link link = {0};

	FUZZ_CHECK(rte_eth_dev_info_get(port, &info) == 0, "no info");
	say(v, "queues %u %u of %u %u, MTU %u to %u, frames %u, MACs %u\n", info.nb_rx_queues,
	    info.nb_tx_queues, info.max_rx_queues, info.max_tx_queues, info.min_mtu, info.max_mtu,
	    info.max_rx_pktlen, info.max_mac_addrs);
	say(v, "Rx offloads %" PRIx64 " %" PRIx64 " Tx %" PRIx64 " %" PRIx64 " RSS %" PRIx64 "\n",
	    info.rx_offload_capa, info.rx_queue_offload_capa, info.tx_offload_capa,
	    info.tx_queue_offload_capa, info.flow_type_rss_offloads);
	say(v, "RETA %u key %u capabilities %" PRIx64 " descriptors %u to %u\n", info.reta_size,
	    info.hash_key_size, info.dev_capa, info.rx_desc_lim.nb_min, info.rx_desc_lim.nb_max);
	rte_eth_link_get_nowait(port, &link);
	say(v, "started %u configured %u link %u speed %u\n",
	    rte_eth_devices[port].data->dev_started, rte_eth_devices[port].data->dev_configured,
	    link.link_status, link.link_speed);
}

/* Counts of a PF that was lost include packets that were lost with it. */
static void
say_stats(struct view *v, uint16_t port)
{
	struct rte_eth_stats s = {0};

	if (fuzz_pair.was_faulty || !fuzz_pair.counted)
		return;
	FUZZ_CHECK(rte_eth_stats_get(port, &s) == 0, "no statistics");
	say(v, "in %" PRIu64 " %" PRIu64 " missed %" PRIu64 " bad %" PRIu64 " no mbuf %" PRIu64,
	    s.ipackets, s.ibytes, s.imissed, s.ierrors, s.rx_nombuf);
	say(v, " out %" PRIu64 " %" PRIu64 " bad %" PRIu64 "\n", s.opackets, s.obytes, s.oerrors);
}

/* The first line that differs. */
static void
compare(const struct view *octo, const struct view *other, const char *after, const char *who)
{
	const char *a = octo->text, *b = other->text;

	while (*a != '\0' || *b != '\0') {
		const size_t len = strcspn(a, "\n"), other_len = strcspn(b, "\n");

		FUZZ_CHECK(len == other_len && memcmp(a, b, len) == 0,
			   "after %s, the octo port: %.*s\n%s: %.*s", after, (int)len, a, who,
			   (int)other_len, b);
		a += len + (a[len] != '\0');
		b += len + (b[len] != '\0');
	}
}

void
fuzz_pair_compare(const char *after)
{
	static const char *const names[FUZZ_PAIR_MAX_PFS] = {"PF 0", "PF 1", "PF 2"};
	static struct view octo, other;

	say_settings(&octo, fuzz_pair.port[FUZZ_OCTO], 0);
	for (unsigned int pf = 0; pf < fuzz_pair.nb_pfs; pf++) {
		const int port = fuzz_pair_live_pf(pf);

		if (port < 0)
			continue;
		say_settings(&other, (uint16_t)port, pf);
		compare(&octo, &other, after, names[pf]);
	}
	say_info(&octo, fuzz_pair.port[FUZZ_OCTO]);
	say_stats(&octo, fuzz_pair.port[FUZZ_OCTO]);
	say_settings(&other, fuzz_pair.port[FUZZ_BARE], 0);
	say_info(&other, fuzz_pair.port[FUZZ_BARE]);
	say_stats(&other, fuzz_pair.port[FUZZ_BARE]);
	compare(&octo, &other, after, "the bare PF");
	fuzz_pair.counted = false;
}
