/* SPDX-License-Identifier: BSD-3-Clause */

/* What PFs have and the port passes on, seen by what becomes of packets and buffers. */

#include <errno.h>

#include <ethdev_driver.h>
#include <rte_ip.h>
#include <rte_mtr.h>
#include <rte_tm.h>
#include <rte_udp.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#define FLOW 7
/* a queue goes to the other PF after a few bursts; more would be never */
#define MAX_SENT 100000
#define VLAN 77
#define LAST (OCTO_PORT_NB_DESC - 1)
/* longer than any test */
#define FOR_EVER "tx_delay_us=60000000"

static const struct octo_port_conf two_pfs;

/* One queue with these offloads. */
static uint16_t
up_with(uint64_t rx_offloads, uint64_t tx_offloads)
{
	const struct rte_eth_conf conf = {
		.rxmode = {.offloads = rx_offloads},
		.txmode = {.offloads = tx_offloads},
	};
	uint16_t port = octo_port_create(&two_pfs);

	octo_port_up_as(port, 1, &conf);
	return port;
}

static struct rte_mbuf *
make(uint16_t port)
{
	struct rte_mbuf *m;

	octo_port_make(port, FLOW, &m, 1);
	m->l2_len = RTE_ETHER_HDR_LEN;
	m->l3_len = sizeof(struct rte_ipv4_hdr);
	return m;
}

/* What came last; where a test fails, the next one is not to miss a buffer. */
static struct rte_mbuf *came;

static int
teardown(void **state)
{
	rte_pktmbuf_free(came);
	came = NULL;
	return octo_port_teardown(state);
}

/* The frame as it comes back by the wire; it may be the one that came last. */
static struct rte_mbuf *
send_and_receive(uint16_t port, struct rte_mbuf *m)
{
	if (m != came)
		rte_pktmbuf_free(came);
	came = NULL;
	assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
	octo_port_await(came != NULL || rte_eth_rx_burst(port, 0, &came, 1) == 1);
	return came;
}

/* The table "Not offered" of the guide, on a port that is up. */
static void
test_what_is_not_offered_is_refused(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev_module_info module;
	struct rte_eth_hairpin_cap hairpin;
	struct rte_mtr_capabilities meters;
	struct rte_tm_capabilities traffic;
	struct rte_eth_dcb_info dcb;
	struct rte_dev_reg_info regs = {0};
	struct rte_eth_fc_conf fc;
	uint32_t fec;

	(void)state;
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_dev_get_eeprom_length(port), -ENOTSUP);
	assert_int_equal(rte_eth_dev_get_module_info(port, &module), -ENOTSUP);
	assert_int_equal(rte_eth_dev_get_reg_info(port, &regs), -ENOTSUP);
	assert_int_equal(rte_eth_led_on(port), -ENOTSUP);
	assert_int_equal(rte_eth_dev_flow_ctrl_get(port, &fc), -ENOTSUP);
	assert_int_equal(rte_eth_fec_get(port, &fec), -ENOTSUP);
	assert_int_equal(rte_eth_dev_get_dcb_info(port, &dcb), -ENOTSUP);
	assert_int_equal(rte_eth_set_queue_rate_limit(port, 0, 1), -ENOTSUP);
	assert_int_equal(rte_eth_dev_hairpin_capability_get(port, &hairpin), -ENOTSUP);
	assert_int_equal(rte_tm_capabilities_get(port, &traffic, NULL), -ENOSYS);
	assert_int_equal(rte_mtr_capabilities_get(port, &meters, NULL), -ENOSYS);
	assert_null(rte_eth_dev_get_sec_ctx(port));
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), -ENOTSUP);
	assert_int_equal(rte_eth_dev_set_vlan_ether_type(port, RTE_ETH_VLAN_TYPE_OUTER, 0x9100),
			 -ENOTSUP);
	assert_int_equal(rte_eth_dev_uc_all_hash_table_set(port, 1), -ENOTSUP);
	/* its functions are deprecated */
	assert_null(rte_eth_devices[port].dev_ops->queue_stats_mapping_set);
}

/* What the PFs had before is set again where one refuses. */
static void
test_packet_types_are_those_of_before(void **state)
{
	struct octo_port_faults *first, *second;
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	first = octo_port_faults_on(0);
	second = octo_port_faults_on(1);
	assert_int_equal(rte_eth_dev_set_ptypes(port, RTE_PTYPE_L3_MASK, NULL, 0), 0);
	assert_int_equal(first->ptypes, RTE_PTYPE_L3_MASK);
	assert_int_equal(second->ptypes, RTE_PTYPE_L3_MASK);
	second->ptypes_set = EIO;
	assert_int_equal(rte_eth_dev_set_ptypes(port, RTE_PTYPE_L4_MASK, NULL, 0), -EIO);
	assert_int_equal(first->ptypes, RTE_PTYPE_L3_MASK);
	assert_int_equal(second->ptypes, RTE_PTYPE_L3_MASK);
}

/* And at its configuration, which is refused. */
static void
test_multi_queue_modes_but_rss_are_refused(void **state)
{
	const enum rte_eth_rx_mq_mode modes[] = {RTE_ETH_MQ_RX_DCB, RTE_ETH_MQ_RX_DCB_RSS,
						 RTE_ETH_MQ_RX_VMDQ_ONLY, RTE_ETH_MQ_RX_VMDQ_RSS};
	uint16_t port = octo_port_create(&two_pfs);
	uint64_t metadata = RTE_ETH_RX_METADATA_USER_MARK;

	(void)state;
	assert_int_equal(rte_eth_rx_metadata_negotiate(port, &metadata), -ENOTSUP);
	for (unsigned int i = 0; i < RTE_DIM(modes); i++) {
		const struct rte_eth_conf conf = {.rxmode = {.mq_mode = modes[i]}};

		assert_int_equal(rte_eth_dev_configure(port, 1, 1, &conf), -ENOTSUP);
	}
}

static void
test_speeds_are_those_of_the_pfs(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 1);
	octo_port_assert_full_speed(port);
}

/* The size that one PF prefers is too large for the other. */
static void
test_queues_of_no_size_have_one_that_all_pfs_take(void **state)
{
	const struct rte_eth_conf conf = {0};
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev_info info;

	(void)state;
	octo_port_faults_on(1)->max_desc = 256;
	assert_int_equal(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port, 0, 0, SOCKET_ID_ANY, NULL, octo_port_pool),
			 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, 0, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.default_rxportconf.ring_size, 256);
	assert_int_equal(info.default_txportconf.ring_size, 256);
}

static bool
is_supported(uint16_t port, uint32_t ptype)
{
	uint32_t list[64];
	int n = rte_eth_dev_get_supported_ptypes(port, RTE_PTYPE_ALL_MASK, list, RTE_DIM(list));

	for (int i = 0; i < n; i++)
		if (list[i] == ptype)
			return true;
	return false;
}

static void
test_packets_have_the_types_that_are_told(void **state)
{
	uint16_t port = up_with(0, 0);
	struct rte_mbuf *m = send_and_receive(port, make(port));

	(void)state;
	assert_int_equal(m->packet_type, RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_UDP);
	assert_true(is_supported(port, RTE_PTYPE_L2_ETHER));
	assert_true(is_supported(port, RTE_PTYPE_L3_IPV4));
	assert_true(is_supported(port, RTE_PTYPE_L4_UDP));
}

static struct rte_ipv4_hdr *
ip_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static uint16_t *
udp_checksum(const struct rte_mbuf *m)
{
	return &((struct rte_udp_hdr *)(ip_of(m) + 1))->dgram_cksum;
}

static void
assert_checksums(const struct rte_mbuf *m, uint64_t ip, uint64_t l4)
{
	assert_int_equal(m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK, ip);
	assert_int_equal(m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK, l4);
}

static void
test_checksums_are_filled_in_and_checked(void **state)
{
	uint16_t port = up_with(RTE_ETH_RX_OFFLOAD_CHECKSUM,
				RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM);
	struct rte_mbuf *m = make(port);
	uint16_t ip, udp;

	(void)state;
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM;
	ip_of(m)->hdr_checksum = 0;
	*udp_checksum(m) = rte_ipv4_phdr_cksum(ip_of(m), m->ol_flags);
	m = send_and_receive(port, m);
	assert_checksums(m, RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	ip = ip_of(m)->hdr_checksum;
	udp = *udp_checksum(m);
	ip_of(m)->hdr_checksum = 0;
	*udp_checksum(m) = 0;
	assert_int_equal(ip, rte_ipv4_cksum(ip_of(m)));
	assert_int_equal(udp, rte_ipv4_udptcp_cksum(ip_of(m), ip_of(m) + 1));
	/* left as they are, and wrong */
	m->ol_flags = 0;
	ip_of(m)->hdr_checksum = ip ^ 1;
	*udp_checksum(m) = udp;
	m = send_and_receive(port, m);
	assert_checksums(m, RTE_MBUF_F_RX_IP_CKSUM_BAD, RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	ip_of(m)->hdr_checksum = ip;
	*udp_checksum(m) = udp ^ 1;
	m->ol_flags = 0;
	m = send_and_receive(port, m);
	assert_checksums(m, RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_BAD);
}

static struct rte_mbuf *
send_tagged(uint16_t port)
{
	struct rte_mbuf *m = make(port);

	m->ol_flags = RTE_MBUF_F_TX_VLAN;
	m->vlan_tci = VLAN;
	return send_and_receive(port, m);
}

static void
test_tags_are_inserted_and_stripped(void **state)
{
	uint16_t port = up_with(RTE_ETH_RX_OFFLOAD_VLAN_STRIP, RTE_ETH_TX_OFFLOAD_VLAN_INSERT);
	struct rte_mbuf *m = send_tagged(port);

	(void)state;
	assert_int_not_equal(m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED, 0);
	assert_int_equal(m->vlan_tci, VLAN);
	assert_int_equal(m->pkt_len, OCTO_PORT_FRAME_LEN);
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, 0), 0);
	m = send_tagged(port);
	assert_int_equal(m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED, 0);
	assert_int_equal(m->pkt_len, OCTO_PORT_FRAME_LEN + sizeof(struct rte_vlan_hdr));
	assert_int_equal(rte_pktmbuf_mtod(m, struct rte_ether_hdr *)->ether_type,
			 RTE_BE16(RTE_ETHER_TYPE_VLAN));
	assert_int_equal(
		rte_pktmbuf_mtod_offset(m, struct rte_vlan_hdr *, RTE_ETHER_HDR_LEN)->vlan_tci,
		RTE_BE16(VLAN));
}

static void
test_buffers_are_freed_fast(void **state)
{
	uint16_t port = up_with(0, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	const unsigned int before = rte_mempool_in_use_count(octo_port_pool);
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, FLOW, 100);
	octo_port_receive(port, 0, 100, &tally);
	assert_int_equal(tally.packets, 100);
	assert_int_equal(rte_mempool_in_use_count(octo_port_pool), before);
}

static void
test_rx_descriptors_are_done_when_packets_came(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_tally tally = {0};

	(void)state;
	/* the second queue is for pumping only */
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 0, NULL));
	assert_int_equal(rte_eth_rx_descriptor_status(port, 0, 0), RTE_ETH_RX_DESC_AVAIL);
	octo_port_send(port, 0, FLOW, 3);
	octo_port_pump(1);
	assert_int_equal(rte_eth_rx_queue_count(port, 0), 3);
	assert_int_equal(rte_eth_rx_descriptor_status(port, 0, 0), RTE_ETH_RX_DESC_DONE);
	assert_int_equal(rte_eth_rx_descriptor_status(port, 0, 2), RTE_ETH_RX_DESC_DONE);
	assert_int_equal(rte_eth_rx_descriptor_status(port, 0, 3), RTE_ETH_RX_DESC_AVAIL);
	assert_int_equal(rte_eth_rx_descriptor_status(port, 0, LAST + 1), -EINVAL);
	octo_port_receive(port, 0, 3, &tally);
	assert_int_equal(tally.packets, 3);
	assert_int_equal(rte_eth_rx_descriptor_status(port, 0, 0), RTE_ETH_RX_DESC_AVAIL);
}

static void
test_tx_descriptors_are_full_until_packets_went(void **state)
{
	const struct octo_port_conf conf = {.all = FOR_EVER};
	uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST), RTE_ETH_TX_DESC_DONE);
	octo_port_send(port, 0, FLOW, 3);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST), RTE_ETH_TX_DESC_FULL);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST - 2), RTE_ETH_TX_DESC_FULL);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST - 3), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST + 1), -EINVAL);
}

/* A queue goes from PF 0 to PF 1. Either PF frees what it has sent when it sends next. */
static uint16_t
start_and_switch(void)
{
	const struct octo_port_conf conf = {.two_nodes = true, .all = "tx_delay_us=100"};
	struct octo_port_tally tally = {0};
	unsigned int sent;
	uint16_t port;

	if (!octo_port_has_two_nodes())
		skip();
	octo_port_run_on(0);
	port = octo_port_create(&conf);
	octo_port_up(port, 1);
	octo_port_send(port, 0, FLOW, 1);
	octo_port_run_on(1);
	for (sent = 1; octo_port_xstat(port, "tx_q0_pf1_packets") == 0; sent++) {
		assert_true(sent < MAX_SENT);
		octo_port_send(port, 0, FLOW, 1);
		octo_port_poll(port, 0, 32, &tally);
	}
	octo_port_receive(port, 0, sent - tally.packets, &tally);
	assert_int_equal(tally.packets, sent);
	return port;
}

/* The queue may never send by PF 0 again, and the application's pool have no room for its ring. */
static void
test_buffers_are_freed_after_a_switch(void **state)
{
	start_and_switch();
	(void)state;
	assert_int_equal(rte_eth_tx_done_cleanup(octo_port_pf(0), 0, 0), 0);
}

/* Of both PFs. */
static void
test_buffers_are_freed_on_demand(void **state)
{
	const uint16_t port = start_and_switch();
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(octo_port_pf(0), 0, FLOW, 3);
	octo_port_send(port, 0, FLOW, 3);
	octo_port_receive(port, 0, 6, &tally);
	assert_int_equal(tally.packets, 6);
	/* one, as was asked for, and then all */
	assert_int_equal(rte_eth_tx_done_cleanup(port, 0, 1), 1);
	assert_int_equal(rte_eth_tx_done_cleanup(port, 0, 0), 5);
	for (unsigned int pf = 0; pf < 2; pf++)
		assert_int_equal(rte_eth_tx_done_cleanup(octo_port_pf(pf), 0, 0), 0);
}

#define features_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		features_test(test_what_is_not_offered_is_refused),
		features_test(test_packet_types_are_those_of_before),
		features_test(test_multi_queue_modes_but_rss_are_refused),
		features_test(test_speeds_are_those_of_the_pfs),
		features_test(test_queues_of_no_size_have_one_that_all_pfs_take),
		features_test(test_packets_have_the_types_that_are_told),
		features_test(test_checksums_are_filled_in_and_checked),
		features_test(test_tags_are_inserted_and_stripped),
		features_test(test_buffers_are_freed_fast),
		features_test(test_rx_descriptors_are_done_when_packets_came),
		features_test(test_tx_descriptors_are_full_until_packets_went),
		features_test(test_buffers_are_freed_after_a_switch),
		features_test(test_buffers_are_freed_on_demand),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
