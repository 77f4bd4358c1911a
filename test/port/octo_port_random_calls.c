/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls of ethdev that leave rules alone: what is asked, and settings that PFs are told again. */

#include <stdio.h>

#include <ethdev_driver.h>

#include "mpsim.h"
#include "octo_port_random.h"
#include "octo_private.h"
#include "rte_pmd_octo.h"

#define MAX_XSTATS 512
#define MAX_GROUPS 4
#define KEY_LEN 40

static struct random_port *const r = &random_port;

/* Counters at the last look, by name. */
static struct {
	struct rte_eth_xstat_name name[MAX_XSTATS];
	struct rte_eth_xstat value[MAX_XSTATS];
	int nb;
} seen;

void
random_forget_xstats(void)
{
	seen.nb = 0;
}

/* Packets and bytes of the port, its queues and its PFs, which are no gauges. */
static bool
is_counter(const char *name)
{
	const size_t len = strlen(name);

	return (strncmp(name, "rx_", 3) == 0 || strncmp(name, "tx_", 3) == 0) &&
	       ((len > 8 && strcmp(name + len - 8, "_packets") == 0) ||
		(len > 6 && strcmp(name + len - 6, "_bytes") == 0));
}

static const struct rte_eth_xstat *
seen_of(const char *name, int hint)
{
	if (hint < seen.nb && strcmp(seen.name[hint].name, name) == 0)
		return &seen.value[hint];
	for (int i = 0; i < seen.nb; i++)
		if (strcmp(seen.name[i].name, name) == 0)
			return &seen.value[i];
	return NULL;
}

static void
look_at_xstats(void)
{
	static struct rte_eth_xstat_name names[MAX_XSTATS];
	static struct rte_eth_xstat values[MAX_XSTATS];
	const int nb = rte_eth_xstats_get_names(r->port, names, MAX_XSTATS);

	if (nb <= 0 || rte_eth_xstats_get(r->port, values, MAX_XSTATS) != nb)
		return;
	assert_true(nb <= MAX_XSTATS);
	for (int i = 0; i < nb; i++) {
		const struct rte_eth_xstat *before = seen_of(names[i].name, i);

		if (before != NULL && is_counter(names[i].name) && values[i].value < before->value)
			fail_msg("%s fell from %" PRIu64 " to %" PRIu64, names[i].name,
				 before->value, values[i].value);
	}
	memcpy(seen.name, names, sizeof(names));
	memcpy(seen.value, values, sizeof(values));
	seen.nb = nb;
}

static void
dump(void)
{
	FILE *file = fopen("/dev/null", "w");

	assert_non_null(file);
	rte_eth_dev_priv_dump(r->port, file);
	rte_flow_dev_dump(r->port, NULL, file, NULL);
	rte_pmd_octo_topology_dump(r->port, file);
	rte_pmd_octo_steering_dump(r->port, file);
	rte_pmd_octo_strays_dump(r->port, file);
	fclose(file);
}

static void
ask_rings(void)
{
	const uint16_t queue = random_below(RANDOM_QUEUES);

	if (random_rx_runs(queue)) {
		rte_eth_rx_queue_count(r->port, queue);
		rte_eth_rx_descriptor_status(r->port, queue, random_below(OCTO_PORT_NB_DESC));
	}
	if (random_tx_runs(queue)) {
		rte_eth_tx_descriptor_status(r->port, queue, random_below(OCTO_PORT_NB_DESC));
		rte_eth_tx_done_cleanup(r->port, queue, random_below(64));
	}
}

void
random_op_question(void)
{
	struct rte_eth_link link;

	switch (random_below(6)) {
	case 0:
		dump();
		break;
	case 1:
		ask_rings();
		break;
	case 2:
		assert_int_equal(rte_eth_link_get_nowait(r->port, &link), 0);
		rte_eth_dev_is_removed(r->port);
		break;
	default:
		look_at_xstats();
	}
}

static void
set_groups(void)
{
	struct rte_ether_addr groups[MAX_GROUPS];
	const unsigned int nb = random_below(MAX_GROUPS + 1), first = random_below(100);
	int ret;

	for (unsigned int i = 0; i < nb; i++)
		groups[i] = (struct rte_ether_addr){{0x01, 0, 0x5e, 0, 1, first + i}};
	ret = rte_eth_dev_set_mc_addr_list(r->port, groups, nb);
	random_say("%u groups from %u on: %d", nb, first, ret);
	if (ret != 0)
		return;
	r->nb_groups = nb;
	r->first_group = first;
}

static void
set_hash(void)
{
	static const uint64_t types[] = {RTE_ETH_RSS_IP, RTE_ETH_RSS_UDP,
					 RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP};
	uint8_t key[KEY_LEN];
	struct rte_eth_rss_conf conf = {.rss_hf = types[random_below(RTE_DIM(types))],
					.rss_key = random_one_in(2) ? key : NULL,
					.rss_key_len = KEY_LEN};
	int ret;

	memset(key, 1 + random_below(255), sizeof(key));
	ret = rte_eth_dev_rss_hash_update(r->port, &conf);
	random_say("hash of %" PRIx64 ", key %d: %d", conf.rss_hf, conf.rss_key != NULL, ret);
}

static void
set_link(bool up)
{
	int ret = up ? rte_eth_dev_set_link_up(r->port) : rte_eth_dev_set_link_down(r->port);

	random_say("link %d: %d", up, ret);
}

static void
set_vlans(void)
{
	const int mask = (random_one_in(2) ? RTE_ETH_VLAN_STRIP_OFFLOAD : 0) |
			 (random_one_in(2) ? RTE_ETH_VLAN_FILTER_OFFLOAD : 0);
	int ret = rte_eth_dev_set_vlan_offload(r->port, mask);

	random_say("VLAN offloads %x: %d", mask, ret);
}

static void
set_timesync(void)
{
	struct timespec time = {.tv_sec = 1};
	int ret;

	switch (random_below(5)) {
	case 0:
		ret = rte_eth_timesync_enable(r->port);
		break;
	case 1:
		ret = rte_eth_timesync_disable(r->port);
		break;
	case 2:
		ret = rte_eth_timesync_write_time(r->port, &time);
		break;
	case 3:
		ret = rte_eth_timesync_adjust_time(r->port, random_below(1000));
		break;
	default:
		ret = rte_eth_timesync_read_time(r->port, &time);
	}
	random_say("timesync: %d", ret);
}

static void
set_learning(void)
{
	const struct rte_pmd_octo_learning_settings settings = {
		.on = r->conf->learn && !random_one_in(4),
		.sample = 1 + random_below(64),
		.max_rules = 1 + random_below(12),
		.idle_ms = random_below(2000),
	};
	const char *why;
	int ret = rte_pmd_octo_learning_set(r->port, &settings, &why);

	random_say("learning %d, %u rules: %d", settings.on, settings.max_rules, ret);
}

void
random_op_rare_setting(void)
{
	switch (random_below(8)) {
	case 0:
	case 1:
		set_groups();
		break;
	case 2:
		set_hash();
		break;
	case 3:
		set_link(!random_one_in(3));
		break;
	case 4:
		set_vlans();
		break;
	case 5:
		set_timesync();
		break;
	case 6:
		rte_eth_dev_set_vlan_strip_on_queue(r->port, random_below(RANDOM_QUEUES),
						    random_one_in(2));
		break;
	default:
		set_learning();
	}
}

static void
check_groups(const struct mpsim_pf *pf, bool shares)
{
	const uint32_t nb = shares ? r->nb_groups : 0;

	if (pf->nb_mc != nb)
		fail_msg("%s has %u groups, not %u", pf->data->name, pf->nb_mc, nb);
	for (uint32_t i = 0; i < nb; i++) {
		const uint8_t mac[] = {0x01, 0, 0x5e, 0, 1, r->first_group + i};

		assert_int_equal(pf->mc[i], mpsim_mac_key(mac));
	}
}

void
random_check_rare_settings(unsigned int pf, bool shares)
{
	const struct rte_eth_dev *theirs = &rte_eth_devices[octo_port_pf(pf)];
	uint8_t key[2][KEY_LEN] = {0};
	struct rte_eth_rss_conf rss[] = {{.rss_key = key[0], .rss_key_len = KEY_LEN},
					 {.rss_key = key[1], .rss_key_len = KEY_LEN}};

	check_groups(theirs->data->dev_private, shares);
	assert_int_equal(rte_eth_dev_get_vlan_offload(octo_port_pf(pf)),
			 rte_eth_dev_get_vlan_offload(r->port));
	assert_int_equal(rte_eth_dev_rss_hash_conf_get(r->port, &rss[0]), 0);
	assert_int_equal(rte_eth_dev_rss_hash_conf_get(octo_port_pf(pf), &rss[1]), 0);
	assert_int_equal(rss[0].rss_hf, rss[1].rss_hf);
	assert_memory_equal(key[0], key[1], KEY_LEN);
}
