/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_common.h>

#include "octo_test.h"

#include "octo_mbufs.h"

#define NB 12
#define PORT 7

static struct rte_mbuf mbufs[NB];
static struct rte_mbuf *pkts[NB];

/* Each length has bits of its own. */
static void
set_up(void)
{
	for (uint16_t i = 0; i < NB; i++) {
		mbufs[i].pkt_len = UINT32_C(1) << i;
		mbufs[i].port = RTE_MBUF_PORT_INVALID;
		pkts[i] = &mbufs[i];
	}
}

/* Every packet counts once, whatever is left over of the steps. */
static void
test_bytes_of_bursts_of_all_sizes(void **state)
{
	RTE_SET_USED(state);
	for (uint16_t nb = 0; nb <= NB; nb++) {
		set_up();
		assert_int_equal(octo_mbufs_adopt(pkts, nb, PORT), (1 << nb) - 1);
	}
}

/* And no packet behind the burst is touched. */
static void
test_all_packets_of_a_burst_are_adopted(void **state)
{
	RTE_SET_USED(state);
	for (uint16_t nb = 0; nb <= NB; nb++) {
		set_up();
		octo_mbufs_adopt(pkts, nb, PORT);
		for (uint16_t i = 0; i < NB; i++)
			assert_int_equal(mbufs[i].port, i < nb ? PORT : RTE_MBUF_PORT_INVALID);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_of_bursts_of_all_sizes),
		cmocka_unit_test(test_all_packets_of_a_burst_are_adopted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
