/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "octo_test.h"

#include "agent_audit.h"

/*
 * A client with three pieces of memory: two that adjoin, on nodes 0 and 1, and one
 * of which nothing is known. Its rings are ours to write, as if by the client.
 */
#define SIZE 8u
#define PIECE 4096u
#define NODE0 UINT64_C(0x100000)
#define NODE1 (NODE0 + PIECE)
#define NOWHERE UINT64_C(0x900000)
#define UNMAPPED UINT64_C(0x5000000)

static uint8_t memory[3][PIECE];
static struct vring_desc desc[SIZE];
/* flags and index, then the ring that struct vring_avail ends in */
static uint16_t avail_room[2 + SIZE];
static struct vring_avail *const avail = (struct vring_avail *)avail_room;

static const struct agent_memory mem = {
	.nb = 3,
	.region =
		{
			{.gpa = NODE0, .size = PIECE, .va = memory[0], .node = 0},
			{.gpa = NODE1, .size = PIECE, .va = memory[1], .node = 1},
			{.gpa = NOWHERE,
			 .size = PIECE,
			 .va = memory[2],
			 .node = AGENT_NODE_UNKNOWN},
		},
};
static const struct agent_ring ring = {
	.desc = desc,
	.avail = (struct vring_avail *)avail_room,
	.size = SIZE,
	.node = {0, 0, 0},
};
static const struct agent_dma on_node0 = {.mem = &mem, .ring = &ring, .node = 0};
static const struct agent_dma on_node1 = {.mem = &mem, .ring = &ring, .node = 1};
static const struct agent_dma on_no_node = {.mem = &mem, .ring = &ring, .node = AGENT_NODE_UNKNOWN};

/* Every entry offers the descriptor of its number: 256 bytes each, on node 0. */
static int
reset(void **state)
{
	RTE_SET_USED(state);
	memset(memory, 0, sizeof(memory));
	memset(avail_room, 0, sizeof(avail_room));
	for (uint16_t i = 0; i < SIZE; i++) {
		desc[i] = (struct vring_desc){.addr = NODE0 + i * 256u, .len = 256};
		avail->ring[i] = i;
	}
	return 0;
}

static void
assert_bytes(const struct agent_span *span, uint64_t local, uint64_t remote, uint64_t unknown)
{
	assert_int_equal(span->bytes[AGENT_LOCAL], local);
	assert_int_equal(span->bytes[AGENT_REMOTE], remote);
	assert_int_equal(span->bytes[AGENT_UNKNOWN], unknown);
}

static void
test_locality(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(agent_audit_locality(0, 0), AGENT_LOCAL);
	assert_int_equal(agent_audit_locality(1, 1), AGENT_LOCAL);
	assert_int_equal(agent_audit_locality(1, 0), AGENT_REMOTE);
	assert_int_equal(agent_audit_locality(AGENT_NODE_UNKNOWN, 0), AGENT_UNKNOWN);
	assert_int_equal(agent_audit_locality(0, AGENT_NODE_UNKNOWN), AGENT_UNKNOWN);
}

static void
test_node_of_the_pf_decides(void **state)
{
	struct agent_span span;

	RTE_SET_USED(state);
	assert_int_equal(agent_audit_write(&on_node0, 0, 1, 100, true, &span), 0);
	assert_bytes(&span, 100, 0, 0);
	assert_int_equal(agent_audit_span_locality(&span), AGENT_LOCAL);
	assert_int_equal(agent_audit_write(&on_node1, 0, 1, 100, true, &span), 0);
	assert_bytes(&span, 0, 100, 0);
	assert_int_equal(agent_audit_span_locality(&span), AGENT_REMOTE);
	assert_int_equal(agent_audit_write(&on_no_node, 0, 1, 100, true, &span), 0);
	assert_bytes(&span, 0, 0, 100);
	assert_int_equal(agent_audit_span_locality(&span), AGENT_UNKNOWN);
}

static void
test_one_byte_makes_a_packet_remote(void **state)
{
	struct agent_span span;

	RTE_SET_USED(state);
	desc[0].addr = NODE1 - 255; /* across the border: the last byte is on node 1 */
	assert_int_equal(agent_audit_write(&on_node0, 0, 1, 255, true, &span), 0);
	assert_int_equal(agent_audit_span_locality(&span), AGENT_LOCAL);
	assert_int_equal(agent_audit_write(&on_node0, 0, 1, 256, true, &span), 0);
	assert_bytes(&span, 255, 1, 0);
	assert_int_equal(agent_audit_span_locality(&span), AGENT_REMOTE);
	assert_int_equal(agent_audit_fetch(&on_node0, 0, &span), 0);
	assert_int_equal(agent_audit_span_locality(&span), AGENT_REMOTE);
}

static void
test_remote_outweighs_unknown(void **state)
{
	struct agent_span span;

	RTE_SET_USED(state);
	desc[0].flags = VRING_DESC_F_NEXT;
	desc[0].next = 5;
	desc[5] = (struct vring_desc){
		.addr = NOWHERE, .len = 10, .flags = VRING_DESC_F_NEXT, .next = 6};
	desc[6] = (struct vring_desc){.addr = NODE1, .len = 1};
	assert_int_equal(agent_audit_fetch(&on_node0, 0, &span), 0);
	assert_bytes(&span, 256, 1, 10);
	assert_int_equal(agent_audit_span_locality(&span), AGENT_REMOTE);
	desc[6].addr = NODE0;
	assert_int_equal(agent_audit_fetch(&on_node0, 0, &span), 0);
	assert_int_equal(agent_audit_span_locality(&span), AGENT_UNKNOWN);
}

static void
test_bytes_beyond_a_packet_do_not_count(void **state)
{
	struct agent_span span;

	RTE_SET_USED(state);
	desc[0].flags = VRING_DESC_F_NEXT;
	desc[0].next = 5;
	desc[5] = (struct vring_desc){.addr = NODE1, .len = 1000};
	assert_int_equal(agent_audit_write(&on_node0, 0, 1, 256, true, &span), 0);
	assert_bytes(&span, 256, 0, 0);
	assert_int_equal(agent_audit_write(&on_node0, 0, 1, 300, true, &span), 0);
	assert_bytes(&span, 256, 44, 0);
	assert_int_equal(span.nb_heads, 1);
}

static void
test_long_packet_takes_entries_in_order(void **state)
{
	struct agent_span span;

	RTE_SET_USED(state);
	avail->ring[7] = 3;
	avail->ring[0] = 4;
	avail->ring[1] = 5;
	desc[4].addr = NODE1;
	/* the index runs on, the ring wraps */
	assert_int_equal(agent_audit_write(&on_node0, 7, 3, 600, true, &span), 0);
	assert_int_equal(span.nb_heads, 3);
	assert_bytes(&span, 256 + 88, 256, 0);
	assert_int_equal(agent_audit_write(&on_node0, UINT16_MAX, 3, 512, true, &span), 0);
	assert_int_equal(span.nb_heads, 2);
	assert_bytes(&span, 256, 256, 0);
}

static void
test_packet_without_room(void **state)
{
	struct agent_span span;

	RTE_SET_USED(state);
	assert_int_equal(agent_audit_write(&on_node0, 0, 0, 1, true, &span), -ENOBUFS);
	assert_int_equal(agent_audit_write(&on_node0, 0, 2, 513, true, &span), -ENOBUFS);
	assert_int_equal(agent_audit_write(&on_node0, 0, 2, 512, true, &span), 0);
	/* without mergeable buffers one entry must do */
	assert_int_equal(agent_audit_write(&on_node0, 0, 2, 257, false, &span), -ENOBUFS);
	assert_int_equal(agent_audit_write(&on_node0, 0, 2, 256, false, &span), 0);
	/* vhost leaves one entry of a ring alone */
	assert_int_equal(agent_audit_write(&on_node0, 0, 8, 7 * 256 + 1, true, &span), -ENOBUFS);
	assert_int_equal(agent_audit_write(&on_node0, 0, 8, 7 * 256, true, &span), 0);
}

static void
test_indirect_descriptors(void **state)
{
	const struct vring_desc table[] = {
		{.addr = NODE0, .len = 12, .flags = VRING_DESC_F_NEXT, .next = 1},
		{.addr = NODE1, .len = 60},
	};
	struct agent_span span;

	RTE_SET_USED(state);
	/* the table itself lies across the border */
	memcpy(&memory[0][PIECE - 20], table, 20);
	memcpy(memory[1], (const uint8_t *)table + 20, sizeof(table) - 20);
	desc[2] = (struct vring_desc){
		.addr = NODE1 - 20, .len = sizeof(table), .flags = VRING_DESC_F_INDIRECT};
	assert_int_equal(agent_audit_fetch(&on_node0, 2, &span), 0);
	assert_int_equal(span.nb_heads, 1);
	assert_bytes(&span, 12, 60, 0);
}

static void
test_malformed_chains(void **state)
{
	struct agent_span span;

	RTE_SET_USED(state);
	avail->ring[0] = SIZE; /* no such descriptor */
	desc[1].addr = UNMAPPED;
	desc[2].len = 2 * PIECE; /* runs out of node 1 */
	desc[3].flags = VRING_DESC_F_NEXT;
	desc[3].next = 3; /* for ever */
	desc[4].flags = VRING_DESC_F_INDIRECT;
	desc[4].addr = UNMAPPED;
	desc[5].flags = VRING_DESC_F_INDIRECT;
	desc[5].len = (SIZE + 1) * sizeof(struct vring_desc);
	desc[6].flags = VRING_DESC_F_INDIRECT;
	desc[6].len = 15; /* not one descriptor */
	for (uint16_t i = 0; i < 7; i++)
		assert_int_equal(agent_audit_fetch(&on_node0, i, &span), -EFAULT);
	assert_int_equal(agent_audit_write(&on_node0, 1, 3, 64, true, &span), -EFAULT);
	assert_int_equal(agent_audit_fetch(&on_node0, 7, &span), 0);
}

static void
test_posted(void **state)
{
	RTE_SET_USED(state);
	avail->idx = 5;
	assert_int_equal(agent_audit_posted(&ring, 5), 0);
	assert_int_equal(agent_audit_posted(&ring, 2), 3);
	assert_int_equal(agent_audit_posted(&ring, UINT16_MAX - 1), 7);
	assert_int_equal(agent_audit_posted(&ring, UINT16_MAX - 2), 8);
	/* more than there are: the client is out of its mind */
	assert_int_equal(agent_audit_posted(&ring, UINT16_MAX - 3), 0);
	assert_int_equal(agent_audit_posted(&ring, 6), 0);
}

static void
test_waiting_buffers(void **state)
{
	uint64_t buffers[AGENT_NB_LOCALITIES] = {0};

	RTE_SET_USED(state);
	desc[1].addr = NODE1;
	desc[2].addr = NOWHERE;
	desc[3].addr = UNMAPPED;
	agent_audit_waiting(&on_node0, UINT16_MAX - 7, 8, buffers);
	assert_int_equal(buffers[AGENT_LOCAL], 5);
	assert_int_equal(buffers[AGENT_REMOTE], 1);
	assert_int_equal(buffers[AGENT_UNKNOWN], 2);
}

/* A ring as large as they get, whose entries all offer the same chain. */
#define MANY 32768u

static struct vring_desc many_desc[MANY];
static uint16_t many_avail[2 + MANY];
static const struct agent_ring many_ring = {
	.desc = many_desc,
	.avail = (struct vring_avail *)many_avail,
	.size = MANY,
};
static const struct agent_dma of_many = {.mem = &mem, .ring = &many_ring, .node = 0};

static void
chain_of(unsigned int nb, uint32_t len)
{
	for (unsigned int i = 0; i < nb; i++)
		many_desc[i] = (struct vring_desc){.addr = NODE0,
						   .len = len,
						   .flags = i + 1 < nb ? VRING_DESC_F_NEXT : 0,
						   .next = (uint16_t)(i + 1)};
}

static void
test_no_client_keeps_it_busy(void **state)
{
	uint64_t buffers[AGENT_NB_LOCALITIES] = {0};
	struct agent_span span;

	RTE_SET_USED(state);
	/* empty buffers hold no packet, however many there are */
	chain_of(MANY, 0);
	assert_int_equal(agent_audit_write(&of_many, 0, MANY - 1, 1, true, &span), -EFAULT);
	chain_of(100, 0);
	assert_int_equal(agent_audit_write(&of_many, 0, MANY - 1, 1, true, &span), -EFAULT);
	chain_of(MANY, 1);
	assert_int_equal(agent_audit_fetch(&of_many, 0, &span), -EFAULT);
	chain_of(MANY / 2, 1);
	agent_audit_waiting(&of_many, 0, MANY - 1, buffers);
	assert_int_equal(buffers[AGENT_LOCAL] + buffers[AGENT_UNKNOWN], MANY - 1);
	assert_in_range(buffers[AGENT_LOCAL], 1, MANY / 2);
}

/* As many as a packet needs that clients hand over in small pieces, and a full ring. */
static void
test_many_descriptors_are_located(void **state)
{
	uint64_t buffers[AGENT_NB_LOCALITIES] = {0};
	struct agent_span span;

	RTE_SET_USED(state);
	chain_of(1024, 1);
	assert_int_equal(agent_audit_fetch(&of_many, 0, &span), 0);
	assert_bytes(&span, 1024, 0, 0);
	chain_of(1, 64);
	assert_int_equal(agent_audit_write(&of_many, 0, MANY - 1, 65536, true, &span), 0);
	assert_int_equal(span.nb_heads, 1024);
	chain_of(2, 64);
	agent_audit_waiting(&of_many, 0, MANY - 1, buffers);
	assert_int_equal(buffers[AGENT_LOCAL], MANY - 1);
}

static void
test_accounts(void **state)
{
	struct agent_count count = {0};
	const struct agent_span local = {1, {60, 0, 0}};
	const struct agent_span mixed = {2, {60, 40, 0}};

	RTE_SET_USED(state);
	agent_audit_account(&count, &local);
	agent_audit_account(&count, &mixed);
	agent_audit_account_unknown(&count, 3, 300);
	assert_int_equal(count.packets[AGENT_LOCAL], 1);
	assert_int_equal(count.packets[AGENT_REMOTE], 1);
	assert_int_equal(count.packets[AGENT_UNKNOWN], 3);
	assert_int_equal(count.bytes[AGENT_LOCAL], 120);
	assert_int_equal(count.bytes[AGENT_REMOTE], 40);
	assert_int_equal(count.bytes[AGENT_UNKNOWN], 300);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_locality, reset),
		cmocka_unit_test_setup(test_node_of_the_pf_decides, reset),
		cmocka_unit_test_setup(test_one_byte_makes_a_packet_remote, reset),
		cmocka_unit_test_setup(test_remote_outweighs_unknown, reset),
		cmocka_unit_test_setup(test_bytes_beyond_a_packet_do_not_count, reset),
		cmocka_unit_test_setup(test_long_packet_takes_entries_in_order, reset),
		cmocka_unit_test_setup(test_packet_without_room, reset),
		cmocka_unit_test_setup(test_indirect_descriptors, reset),
		cmocka_unit_test_setup(test_malformed_chains, reset),
		cmocka_unit_test_setup(test_posted, reset),
		cmocka_unit_test_setup(test_waiting_buffers, reset),
		cmocka_unit_test_setup(test_no_client_keeps_it_busy, reset),
		cmocka_unit_test_setup(test_many_descriptors_are_located, reset),
		cmocka_unit_test_setup(test_accounts, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
