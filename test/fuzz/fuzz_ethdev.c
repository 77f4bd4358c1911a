/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Calls of ethdev, right and wrong ones, in the same order to an octo port over PFs, or over slices
 * of one, and to a PF: all return the same, and both ports say the same of themselves afterwards.
 * What the octo port was told holds on all its PFs. PFs of the octo port are lost and come back
 * meanwhile.
 */

#include <errno.h>

#include <ethdev_driver.h>
#include <rte_flow.h>

#include "fuzz_pair.h"
#include "fuzz_ethdev.h"

#define MAX_OPS 48

/* Differences by design: see doc/guides/nics/octo.rst. */
static const struct exemption {
	const char *call;
	int octo, bare;
	const char *why;
} exemptions[] = {
	{"reta_query", -ENOTSUP, 0, "the port has a RETA when it is configured"},
	{"reta_query", -ENOTSUP, -EINVAL, "the same, and the size is wrong"},
	{"get_monitor_addr, stopped", -EBUSY, 0, "no leg can get a packet"},
	{"rx_metadata_negotiate", -ENOTSUP, 0, "no PF is asked that was configured before"},
	{"timesync_enable, stopped", -EINVAL, 0, "it needs a rule, and so a started port"},
};

static bool
is_exempt(const char *call, const int *ret)
{
	for (unsigned int i = 0; i < RTE_DIM(exemptions); i++) {
		const struct exemption *e = &exemptions[i];

		if (strcmp(e->call, call) == 0 && e->octo == ret[FUZZ_OCTO] &&
		    e->bare == ret[FUZZ_BARE])
			return true;
	}
	return false;
}

void
fuzz_ethdev_check(const char *call, const int *ret)
{
	fuzz_log_note("called:", call, (const void *)(intptr_t)ret[FUZZ_OCTO]);
	FUZZ_CHECK(ret[FUZZ_OCTO] == ret[FUZZ_BARE] || is_exempt(call, ret),
		   "%s: the octo port: %d, a PF: %d", call, ret[FUZZ_OCTO], ret[FUZZ_BARE]);
}

static const uint64_t rx_offloads[] = {
	RTE_ETH_RX_OFFLOAD_VLAN_STRIP, RTE_ETH_RX_OFFLOAD_VLAN_FILTER, RTE_ETH_RX_OFFLOAD_SCATTER,
	RTE_ETH_RX_OFFLOAD_RSS_HASH,   RTE_ETH_RX_OFFLOAD_CHECKSUM,    RTE_ETH_RX_OFFLOAD_TCP_LRO,
};
static const uint64_t tx_offloads[] = {
	RTE_ETH_TX_OFFLOAD_VLAN_INSERT,    RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
	RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, RTE_ETH_TX_OFFLOAD_IPV4_CKSUM,
	RTE_ETH_TX_OFFLOAD_UDP_CKSUM,      RTE_ETH_TX_OFFLOAD_SECURITY,
};

static uint64_t
choose(const uint64_t *offloads, uint8_t bits)
{
	uint64_t chosen = 0;

	for (unsigned int i = 0; i < 6; i++)
		chosen |= bits >> i & 1 ? offloads[i] : 0;
	return chosen;
}

static void
read_conf(struct fuzz_input *in, struct rte_eth_conf *conf, uint8_t *key)
{
	static const uint16_t mtus[] = {0, 1500, 68, 67, 1400, 9000, 2000, 65535};
	static const uint64_t types[] = {0, RTE_ETH_RSS_IP,
					 RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP,
					 RTE_ETH_RSS_ESP};
	const uint8_t how = fuzz_u8(in);

	*conf = (struct rte_eth_conf){
		.rxmode = {.mq_mode = how & 1 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE,
			   .mtu = mtus[how >> 5]},
		.intr_conf.rxq = (how & 2) != 0,
		.intr_conf.lsc = (how & 4) != 0,
	};
	if (how & 8) {
		conf->rxmode.offloads = choose(rx_offloads, fuzz_u8(in));
		conf->txmode.offloads = choose(tx_offloads, fuzz_u8(in));
	}
	if (how & 1) {
		const uint8_t rss = fuzz_u8(in);

		conf->rx_adv_conf.rss_conf.rss_hf = types[rss & 3];
		if (rss & 4) {
			memset(key, rss, FUZZ_ETHDEV_KEY);
			conf->rx_adv_conf.rss_conf.rss_key = key;
			conf->rx_adv_conf.rss_conf.rss_key_len = rss & 8 ? 40 : rss >> 4;
		}
	}
}

static void
op_configure(struct fuzz_input *in)
{
	const uint8_t nb = fuzz_u8(in);
	uint8_t key[FUZZ_ETHDEV_KEY];
	struct rte_eth_conf conf;

	read_conf(in, &conf, key);
	FUZZ_BOTH_RETURN("configure",
			 rte_eth_dev_configure(port, (nb & 7) % 6, (nb >> 3 & 7) % 6, &conf));
}

/* 0: of the driver's choice */
static uint16_t
descriptors(uint8_t choice)
{
	static const uint16_t nb[] = {64, 0, 31, 32, 100, 8192, 8193, 512};

	return nb[choice & 7];
}

static void
op_rx_setup(struct fuzz_input *in)
{
	const uint8_t how = fuzz_u8(in), more = fuzz_u8(in);
	struct rte_eth_rxconf conf = {.rx_deferred_start = more & 1, .rx_drop_en = 1};
	const uint16_t nb = descriptors(how >> 3);

	if (more & 2)
		conf.offloads = choose(rx_offloads, fuzz_u8(in));
	FUZZ_BOTH_RETURN("rx_queue_setup",
			 rte_eth_rx_queue_setup(port, how & 7, nb, 0, more & 4 ? NULL : &conf,
						more >> 4 == 15 ? fuzz_pair.narrow[who] :
								  fuzz_pair.pool[who]));
}

static void
op_tx_setup(struct fuzz_input *in)
{
	const uint8_t how = fuzz_u8(in), more = fuzz_u8(in);
	struct rte_eth_txconf conf = {.tx_deferred_start = more & 1};
	const uint16_t nb = descriptors(how >> 3);

	if (more & 2)
		conf.offloads = choose(tx_offloads, fuzz_u8(in));
	FUZZ_BOTH_RETURN("tx_queue_setup",
			 rte_eth_tx_queue_setup(port, how & 7, nb, 0, more & 4 ? NULL : &conf));
}

/* A start sets the link of an octo port up, as many drivers do and the simulator does not. */
static void
op_start(void)
{
	if (!rte_eth_devices[fuzz_pair.port[FUZZ_BARE]].data->dev_started)
		rte_eth_dev_set_link_up(fuzz_pair.port[FUZZ_BARE]);
	FUZZ_BOTH_RETURN("start", rte_eth_dev_start(port));
}

static void
op_stop(void)
{
	fuzz_pair.counted = true;
	FUZZ_BOTH_RETURN("stop", rte_eth_dev_stop(port));
	for (unsigned int who = 0; who < FUZZ_BOTH; who++)
		FUZZ_CHECK(rte_mempool_in_use_count(fuzz_pair.pool[who]) == 0,
			   "port %u is stopped and has %u mbufs", who,
			   rte_mempool_in_use_count(fuzz_pair.pool[who]));
}

/* A reset empties the VLAN filter of an octo port and ends isolation; a simulated PF keeps both. */
static void
op_reset(void)
{
	const uint16_t bare = fuzz_pair.port[FUZZ_BARE];
	const struct rte_vlan_filter_conf vlans = rte_eth_devices[bare].data->vlan_filter_conf;
	struct rte_flow_error error;

	rte_eth_dev_stop(bare);
	rte_flow_isolate(bare, 0, &error);
	rte_eth_dev_set_vlan_offload(bare, RTE_ETH_VLAN_FILTER_OFFLOAD);
	for (uint16_t id = 0; id <= RTE_ETHER_MAX_VLAN_ID; id++)
		if (vlans.ids[id / 64] >> (id % 64) & 1)
			rte_eth_dev_vlan_filter(bare, id, 0);
	FUZZ_BOTH_RETURN("reset", rte_eth_dev_reset(port));
}

/* Everything that traffic needs, in one step. */
static void
op_bring_up(uint8_t queues)
{
	struct rte_eth_conf conf = {
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
	};
	const uint16_t nb = 1 + (queues & 3);

	FUZZ_BOTH_RETURN("stop", rte_eth_dev_stop(port));
	FUZZ_BOTH_RETURN("configure", rte_eth_dev_configure(port, nb, nb, &conf));
	for (uint16_t q = 0; q < nb; q++) {
		FUZZ_BOTH_RETURN("rx_queue_setup",
				 rte_eth_rx_queue_setup(port, q, 64, 0, NULL, fuzz_pair.pool[who]));
		FUZZ_BOTH_RETURN("tx_queue_setup", rte_eth_tx_queue_setup(port, q, 64, 0, NULL));
	}
	op_start();
}

/* Only the first call finds the port as it was: both must refuse and be as after a failure. */
static void
op_modes(uint8_t how)
{
	static const enum rte_eth_rx_mq_mode modes[] = {RTE_ETH_MQ_RX_VMDQ_ONLY, RTE_ETH_MQ_RX_DCB};
	struct rte_eth_conf conf = {.rxmode.mq_mode = modes[how & 1]};
	const uint16_t port = fuzz_pair.port[FUZZ_OCTO];
	int ret;

	if (rte_eth_devices[port].data->dev_started)
		return;
	ret = rte_eth_dev_configure(port, 1, 1, &conf);
	FUZZ_CHECK(ret == -ENOTSUP, "mode %u: %d", modes[how & 1], ret);
	op_bring_up(how >> 4);
}

static const struct {
	const char *name;
	void (*run)(struct fuzz_input *in);
} calls[] = {
	{"configure", op_configure},     {"rx_queue_setup", op_rx_setup},
	{"tx_queue_setup", op_tx_setup}, {"settings", fuzz_ethdev_setting},
	{"filters", fuzz_ethdev_filter}, {"RSS", fuzz_ethdev_rss},
	{"a queue", fuzz_ethdev_queue},  {"a question", fuzz_ethdev_question},
	{"packets", fuzz_pair_traffic},
};

/* Returns what was called. */
static const char *
run_op(struct fuzz_input *in)
{
	const uint8_t op = fuzz_u8(in);

	switch (op & 15) {
	case 9:
		op_start();
		return "start";
	case 10:
		op_stop();
		return "stop";
	case 11:
		op_bring_up(op >> 4);
		return "bring-up";
	case 12:
		fuzz_pair_fault(fuzz_u8(in));
		return "a fault";
	case 13:
		if (op & 16)
			op_reset();
		else
			op_modes(op);
		return "reset";
	case 15:
		if (op & 128)
			return fuzz_ethdev_rare(in);
		/* fall through */
	case 14:
		fuzz_pair_traffic(in);
		return "packets";
	default:
		calls[op & 15].run(in);
		return calls[op & 15].name;
	}
}

/* The first byte, if it is that of a fault with bits that mean nothing there. */
static enum fuzz_kind
read_kind(struct fuzz_input *in)
{
	if (in->left == 0 || (in->at[0] & 15) != 12)
		return FUZZ_PFS;
	return fuzz_u8(in) >> 4 & 3;
}

static void
run(struct fuzz_input *in)
{
	const char *after = "begin";

	fuzz_log_forget();
	fuzz_pair_open(read_kind(in));
	fuzz_pair_compare(after);
	for (int op = 0; op < MAX_OPS && in->left > 0; op++) {
		after = run_op(in);
		fuzz_pair_compare(after);
	}
	fuzz_pair_close();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	fuzz_pair_init();
	fuzz_heap_guard(true);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run(&(struct fuzz_input){.at = data, .left = size});
	FUZZ_CHECK(fuzz_heap_live() == 0, "%d objects are left", fuzz_heap_live());
	return 0;
}
