/* SPDX-License-Identifier: BSD-3-Clause */

/* What the benchmark of changes counts: a fault that it cannot see would be denied. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench_order.h"

#define FLOWS 3

const char app_name[] = "test";

static struct bench_order order;
static struct rte_mbuf bufs[APP_BURST];
static struct bench_frame frames[APP_BURST];
static uint64_t seen;

static void
count(void *arg, const struct bench_burst *burst)
{
	assert_ptr_equal(arg, &seen);
	seen += burst->nb;
}

static int
setup(void **state)
{
	*state = NULL;
	seen = 0;
	return bench_order_open(&order, FLOWS, count, &seen);
}

static int
teardown(void **state)
{
	*state = NULL;
	bench_order_close(&order);
	return 0;
}

static struct rte_mbuf *
packet(unsigned int i, uint32_t flow, uint32_t number)
{
	const struct bench_mark mark = {.magic = BENCH_MAGIC, .flow = flow};
	struct rte_mbuf *m = &bufs[i];

	m->buf_addr = frames[i].data;
	m->data_off = 0;
	m->data_len = BENCH_FRAME_LEN;
	memcpy(frames[i].data + BENCH_FRAME_LEN - sizeof(mark), &mark, sizeof(mark));
	bench_label_of(m)->number = number;
	return m;
}

/* A burst of packets of one flow, with these numbers. */
static void
receive(uint32_t flow, const uint32_t *numbers, uint16_t nb)
{
	struct rte_mbuf *pkts[APP_BURST];

	for (uint16_t i = 0; i < nb; i++)
		pkts[i] = packet(i, flow, numbers[i]);
	bench_order_receive(&order, 0, 0, pkts, nb);
	bench_order_look(&order);
}

#define RECEIVE(flow, ...)                                                                         \
	do {                                                                                       \
		const uint32_t numbers[] = {__VA_ARGS__};                                          \
                                                                                                   \
		receive(flow, numbers, RTE_DIM(numbers));                                          \
	} while (0)

static void
assert_counts(uint64_t delivered, uint64_t duplicated, uint64_t reordered)
{
	assert_int_equal(bench_order_delivered(&order), delivered);
	assert_int_equal(order.duplicated, duplicated);
	assert_int_equal(order.reordered, reordered);
}

static void
test_packets_in_order(void **state)
{
	*state = NULL;
	RECEIVE(0, 0, 1, 2);
	RECEIVE(1, 0, 1);
	RECEIVE(0, 3);
	assert_counts(6, 0, 0);
	assert_int_equal(seen, 6);
}

static void
test_a_gap_is_no_reordering(void **state)
{
	*state = NULL;
	RECEIVE(0, 0, 1, 5, 6);
	assert_counts(4, 0, 0);
}

static void
test_each_packet_behind_a_later_one_is_reordered(void **state)
{
	*state = NULL;
	RECEIVE(0, 0, 3);
	RECEIVE(0, 1, 2, 4);
	assert_counts(5, 0, 2);
}

static void
test_other_flows_do_not_matter(void **state)
{
	*state = NULL;
	RECEIVE(2, 7);
	RECEIVE(1, 3);
	RECEIVE(2, 8);
	assert_counts(3, 0, 0);
}

static void
test_doubles_count_once(void **state)
{
	*state = NULL;
	RECEIVE(0, 0, 1, 1, 2, 0);
	assert_counts(3, 2, 0);
}

static void
test_a_late_packet_has_doubles_too(void **state)
{
	*state = NULL;
	RECEIVE(0, 0, 2, 1, 1);
	assert_counts(3, 1, 1);
}

/* The place of its number was another's, a window ago. */
static void
test_numbers_of_long_ago_are_forgotten(void **state)
{
	*state = NULL;
	RECEIVE(0, 0, 1, 2);
	RECEIVE(0, BENCH_ORDER_WINDOW + 2);
	RECEIVE(0, BENCH_ORDER_WINDOW + 1);
	assert_counts(5, 0, 1);
	RECEIVE(0, 3 * BENCH_ORDER_WINDOW, 2 * BENCH_ORDER_WINDOW + 1);
	assert_counts(7, 0, 2);
}

static void
test_damaged_packets_are_nobodys(void **state)
{
	struct rte_mbuf *m = packet(0, FLOWS, 0);

	*state = NULL;
	bench_order_receive(&order, 0, 0, &m, 1);
	m = packet(0, 0, 0);
	m->data_len--;
	bench_order_receive(&order, 0, 0, &m, 1);
	bench_order_look(&order);
	assert_counts(0, 0, 0);
	assert_int_equal(order.foreign, 2);
}

static void
test_more_bursts_than_have_room(void **state)
{
	*state = NULL;
	for (uint32_t i = 0; i < 2 * BENCH_ORDER_BURSTS; i++) {
		struct rte_mbuf *m = packet(0, 0, i);

		bench_order_receive(&order, 0, 0, &m, 1);
	}
	bench_order_look(&order);
	assert_counts(2 * BENCH_ORDER_BURSTS, 0, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_packets_in_order),
		TEST(test_a_gap_is_no_reordering),
		TEST(test_each_packet_behind_a_later_one_is_reordered),
		TEST(test_other_flows_do_not_matter),
		TEST(test_doubles_count_once),
		TEST(test_a_late_packet_has_doubles_too),
		TEST(test_numbers_of_long_ago_are_forgotten),
		TEST(test_damaged_packets_are_nobodys),
		TEST(test_more_bursts_than_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
