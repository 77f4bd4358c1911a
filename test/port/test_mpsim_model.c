/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs of mpsim whose DMA is charged to a model, in virtual time. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>

#include "octo_port.h"
#include "mpsim_control.h"

#define FLOW 7
#define PACKETS 50
#define NS 1000

/* What PFs were charged until the last time in this test. */
static struct nudma_account before[2];

static const char model_args[] = "model=e5-2660v4,socket_map=0-1023:0";

/* Two PFs, on both sockets; the packets that PF 0 sends come in by PF 0, or by rule by PF 1. */
static uint16_t
start_pfs(const char *args)
{
	const struct octo_port_conf conf = {.two_nodes = true, .all = args};

	memset(before, 0, sizeof(before));
	octo_port_add_pfs(&conf);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(octo_port_configure(octo_port_pf(i), 1), 0);
		assert_int_equal(rte_eth_dev_start(octo_port_pf(i)), 0);
	}
	return octo_port_pf(0);
}

static void
receive_by(unsigned int pf)
{
	struct octo_port_tally tally = {0};

	octo_port_send(octo_port_pf(0), 0, FLOW, PACKETS);
	octo_port_await(
		(octo_port_poll(octo_port_pf(pf), 0, 32, &tally), tally.packets == PACKETS));
}

static struct nudma_account
take(unsigned int pf)
{
	struct nudma_account account, now;

	assert_int_equal(rte_pmd_mpsim_model_account(octo_port_pf(pf), &now), 0);
	account = now;
	nudma_account_subtract(&account, &before[pf]);
	before[pf] = now;
	return account;
}

static void
test_local_pf_costs_nothing(void **state)
{
	struct nudma_account a;

	(void)state;
	start_pfs(model_args);
	receive_by(0);
	a = take(0);
	assert_int_equal(a.cpu_ps, 0);
	assert_int_equal(a.path_ps, 0);
	assert_int_equal(a.remote, 0);
	/* packet and completion on Rx, a completion on Tx */
	assert_int_equal(a.dma_writes, 3 * PACKETS);
	/* a descriptor on Rx, descriptor and packet on Tx */
	assert_int_equal(a.dma_reads, 3 * PACKETS);
	assert_int_equal(a.completions, 2 * PACKETS);
	assert_int_equal(a.dram_read[0] + a.dram_write[0], 0);
	assert_true(a.doorbells >= 2);
}

static void
test_remote_pf_costs_a_miss_for_each_packet(void **state)
{
	struct nudma_account a;

	(void)state;
	start_pfs(model_args);
	assert_non_null(octo_port_overrule(FLOW, 1));
	receive_by(1);
	a = take(1);
	assert_int_equal(a.cpu_ps, PACKETS * 80 * NS);
	assert_int_equal(a.misses, PACKETS);
	assert_int_equal(a.remote, 3 * PACKETS);
	/* packet and completion: ownership and data; the completion is read, and the descriptor */
	assert_int_equal(a.dram_write[0], PACKETS * 2 * 64);
	assert_int_equal(a.dram_read[0], PACKETS * 4 * 64);
	assert_int_equal(a.dram_write[1] + a.dram_read[1], 0);
	assert_true(a.path_ps > 0);
}

static void
test_socket_of_the_poller_counts(void **state)
{
	(void)state;
	start_pfs("model=e5-2660v4,socket_map=0-1023:1");
	receive_by(0);
	assert_int_equal(take(0).misses, 2 * PACKETS);
}

static void
test_packets_say_where_they_are(void **state)
{
	const struct nudma_model *model;
	struct rte_mbuf *pkt;
	int offset;

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		uint16_t got = 0;

		start_pfs(model_args);
		assert_int_equal(rte_pmd_mpsim_model_get(octo_port_pf(pf), &model, &offset), 0);
		assert_string_equal(model->machine.name, "e5-2660v4");
		assert_non_null(octo_port_overrule(FLOW, pf));
		octo_port_send(octo_port_pf(0), 0, FLOW, 1);
		octo_port_await((got += rte_eth_rx_burst(octo_port_pf(pf), 0, &pkt, 1)) == 1);
		assert_int_equal(*RTE_MBUF_DYNFIELD(pkt, offset, uint8_t *),
				 pf == 0 ? NUDMA_IN_LLC : NUDMA_IN_FOREIGN);
		rte_pktmbuf_free(pkt);
		octo_port_destroy();
	}
}

static void
test_state_is_set(void **state)
{
	const struct nudma_load load = {.link_wait_ns = {500, 500}};
	const struct mpsim_model_state loaded = {.load = &load};
	const struct nudma_load idle = {0};
	const struct mpsim_model_state on_pf = {.load = &idle, .rings_on_pf = true};
	const struct mpsim_model_state few = {.load = &idle, .tx_frames = PACKETS / 2};
	uint64_t cpu_ps;

	(void)state;
	start_pfs(model_args);
	assert_non_null(octo_port_overrule(FLOW, 1));
	assert_int_equal(rte_pmd_mpsim_model_set(octo_port_pf(0), &loaded), 0);
	receive_by(1);
	/* 1,000 ns for waits, 49.6 for hops, instead of 80 */
	assert_int_equal(take(1).cpu_ps, PACKETS * UINT64_C(1049600));
	/* a ring beside the PF is in its LLC, and that is far */
	assert_int_equal(rte_pmd_mpsim_model_set(octo_port_pf(0), &on_pf), 0);
	receive_by(1);
	cpu_ps = take(1).cpu_ps;
	assert_true(cpu_ps < PACKETS * 80 * NS && cpu_ps > PACKETS * 70 * NS);
	assert_int_equal(rte_pmd_mpsim_model_set(octo_port_pf(0), &few), 0);
	take(0);
	receive_by(1);
	assert_int_equal(take(0).completions, 2);
}

static void
test_statistics_tell_it(void **state)
{
	uint16_t port;

	(void)state;
	start_pfs(model_args);
	port = octo_port_pf(1);
	assert_non_null(octo_port_overrule(FLOW, 1));
	receive_by(1);
	assert_int_equal(octo_port_xstat(port, "model_misses"), PACKETS);
	assert_int_equal(octo_port_xstat(port, "model_cpu_ps"), PACKETS * 80 * NS);
	assert_int_equal(octo_port_xstat(port, "model_node0_dram_write_bytes"), PACKETS * 2 * 64);
	assert_int_equal(octo_port_xstat(port, "model_node1_dram_write_bytes"), 0);
	assert_int_equal(rte_eth_xstats_reset(port), 0);
	assert_int_equal(octo_port_xstat(port, "model_misses"), 0);
	receive_by(1);
	assert_int_equal(octo_port_xstat(port, "model_misses"), PACKETS);
}

static void
test_without_model_there_is_none(void **state)
{
	const struct nudma_load idle = {0};
	const struct mpsim_model_state nothing = {.load = &idle};
	const struct nudma_model *model;
	struct nudma_account account;
	int offset;

	(void)state;
	start_pfs(NULL);
	assert_int_equal(rte_pmd_mpsim_model_get(octo_port_pf(0), &model, &offset), -ENODEV);
	assert_int_equal(rte_pmd_mpsim_model_set(octo_port_pf(0), &nothing), -ENODEV);
	assert_int_equal(rte_pmd_mpsim_model_account(octo_port_pf(0), &account), -ENODEV);
	assert_int_equal(rte_pmd_mpsim_model_account(RTE_MAX_ETHPORTS, &account), -ENODEV);
	receive_by(0);
}

static void
test_wrong_devargs_make_no_port(void **state)
{
	static const char *const wrong[] = {
		"model=",
		"model=nosuchmachine",
		"model=/nowhere/at/all.ini",
		"socket_map=0:0",
		"rings=pf",
		"model=e5-2660v4,rings=here",
		"model=e5-2660v4,socket_map=zero:0",
	};
	char args[128];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		snprintf(args, sizeof(args), "nic=W,%s", wrong[i]);
		assert_true(rte_eal_hotplug_add("vdev", "net_mpsim7", args) < 0);
		assert_int_equal(rte_eth_dev_count_avail(), 0);
	}
}

static int
add(const char *name, const char *args)
{
	return rte_eal_hotplug_add("vdev", name, args);
}

/* They are all of one NIC, which has one model. */
static void
test_pfs_must_agree(void **state)
{
	(void)state;
	assert_int_equal(add("net_mpsim6", "nic=W"), 0);
	assert_true(add("net_mpsim7", "nic=W,model=e5-2660v4") < 0);
	rte_eal_hotplug_remove("vdev", "net_mpsim6");
	assert_int_equal(add("net_mpsim6", "nic=W,model=e5-2660v4"), 0);
	assert_true(add("net_mpsim7", "nic=W,model=r740-snapio") < 0);
	assert_true(add("net_mpsim7", "nic=W,model=e5-2660v4,rings=pf") < 0);
	assert_true(add("net_mpsim7", "nic=W,model=e5-2660v4,socket_map=0:1") < 0);
	assert_int_equal(add("net_mpsim7", "nic=W"), 0);
	rte_eal_hotplug_remove("vdev", "net_mpsim7");
	assert_int_equal(add("net_mpsim7", "nic=W,model=e5-2660v4"), 0);
	rte_eal_hotplug_remove("vdev", "net_mpsim7");
	rte_eal_hotplug_remove("vdev", "net_mpsim6");
	/* and it went with them */
	assert_int_equal(add("net_mpsim6", "nic=W,model=r740-snapio"), 0);
	rte_eal_hotplug_remove("vdev", "net_mpsim6");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_local_pf_costs_nothing),
		octo_port_test(test_remote_pf_costs_a_miss_for_each_packet),
		octo_port_test(test_socket_of_the_poller_counts),
		octo_port_test(test_packets_say_where_they_are),
		octo_port_test(test_state_is_set),
		octo_port_test(test_statistics_tell_it),
		octo_port_test(test_without_model_there_is_none),
		octo_port_test(test_wrong_devargs_make_no_port),
		octo_port_test(test_pfs_must_agree),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
