/* SPDX-License-Identifier: BSD-3-Clause */

/* Which pool a leg has its buffers from; and that MBUF_FAST_FREE and several pools do not meet. */

#include <errno.h>
#include <stdio.h>

#include <ethdev_driver.h>
#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_private.h"
#include "octo_port_fault.h"

#define MBUFS 1023
#define CACHE 32
#define PRIVATE 64
#define FLOW 7
#define QUEUES 2

static const struct octo_port_conf two_nodes = {.two_nodes = true};
static const struct octo_port_conf cloning = {.two_nodes = true, .octo = "pools=local"};
static const struct octo_port_conf four_cloning = {.two_nodes = true,
						   .nb_pfs = 4,
						   .octo = "pools=local"};

static struct rte_mempool *pools[2];

static struct rte_mempool *
make_pool(const char *name, uint16_t room)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(name, MBUFS, CACHE, PRIVATE, room,
							   SOCKET_ID_ANY);

	assert_non_null(pool);
	return pool;
}

static int
setup(void **state)
{
	pools[0] = make_pool("of_node_0", RTE_MBUF_DEFAULT_BUF_SIZE);
	pools[1] = make_pool("of_node_1", RTE_MBUF_DEFAULT_BUF_SIZE);
	return octo_port_setup(state);
}

static void
count_clone(struct rte_mempool *pool, void *arg)
{
	unsigned int port, nr;
	int node;

	if (sscanf(pool->name, "octo_p%u_n%d_%u", &port, &node, &nr) == 3)
		++*(unsigned int *)arg;
}

static unsigned int
nb_clones(void)
{
	unsigned int nb = 0;

	rte_mempool_walk(count_clone, &nb);
	return nb;
}

struct named {
	const struct rte_mempool *pool;
	bool is_there;
};

static void
find_pool(struct rte_mempool *pool, void *arg)
{
	struct named *find = arg;

	find->is_there |= pool == find->pool;
}

static int
teardown(void **state)
{
	int ret = octo_port_teardown(state);

	rte_mempool_free(pools[0]);
	rte_mempool_free(pools[1]);
	if (nb_clones() == 0)
		return ret;
	print_error("%u clones are left\n", nb_clones());
	return -1;
}

static void
configure(uint16_t port, uint64_t tx_offloads)
{
	const struct rte_eth_conf conf = {.txmode = {.offloads = tx_offloads}};

	assert_int_equal(rte_eth_dev_configure(port, QUEUES, QUEUES, &conf), 0);
}

static int
setup_rx(uint16_t port, uint16_t queue, struct rte_mempool **list, uint16_t nb)
{
	struct rte_eth_rxconf conf = {.rx_mempools = list, .rx_nmempool = nb};

	if (nb == 1)
		return rte_eth_rx_queue_setup(port, queue, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL,
					      list[0]);
	return rte_eth_rx_queue_setup(port, queue, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, &conf, NULL);
}

static int
setup_tx(uint16_t port, uint16_t queue, uint64_t offloads)
{
	const struct rte_eth_txconf conf = {.offloads = offloads};

	return rte_eth_tx_queue_setup(port, queue, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, &conf);
}

static uint16_t
create_configured(const struct octo_port_conf *conf)
{
	uint16_t port = octo_port_create(conf);

	configure(port, 0);
	return port;
}

/* All queues with these pools, started. */
static void
up(uint16_t port, uint16_t nb_pools)
{
	for (uint16_t q = 0; q < QUEUES; q++) {
		assert_int_equal(setup_rx(port, q, pools, nb_pools), 0);
		assert_int_equal(setup_tx(port, q, 0), 0);
	}
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static struct rte_mempool *
pool_of_leg(unsigned int pf, uint16_t queue)
{
	struct rte_eth_rxq_info info;
	struct octo_leg leg;
	uint16_t port;

	assert_int_equal(rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &port), 0);
	leg = octo_pf_leg(&octo_of(&rte_eth_devices[port])->pf[pf], queue);
	assert_int_equal(rte_eth_rx_queue_info_get(leg.port, leg.queue, &info), 0);
	return info.mp;
}

static void
test_one_pool_is_for_every_leg(void **state)
{
	uint16_t port = create_configured(&two_nodes);

	(void)state;
	assert_int_equal(setup_rx(port, 0, pools, 1), 0);
	assert_ptr_equal(pool_of_leg(0, 0), pools[0]);
	assert_ptr_equal(pool_of_leg(1, 0), pools[0]);
	assert_int_equal(nb_clones(), 0);
}

static void
test_a_pool_for_each_pf_is_offered(void **state)
{
	static const struct octo_port_conf three = {.nb_pfs = 3};
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(octo_port_create(&three), &info), 0);
	assert_int_equal(info.max_rx_mempools, 3);
}

static void
test_each_leg_has_the_pool_of_its_node(void **state)
{
	static const struct octo_port_conf four = {.two_nodes = true, .nb_pfs = 4};
	uint16_t port = create_configured(&four);

	(void)state;
	assert_int_equal(setup_rx(port, 1, pools, 2), 0);
	for (unsigned int pf = 0; pf < 4; pf++)
		assert_ptr_equal(pool_of_leg(pf, 1), pools[pf % 2]);
}

static void
test_packets_are_in_the_pool_of_their_pf(void **state)
{
	uint16_t port = create_configured(&two_nodes);
	struct rte_flow_error error;
	struct rte_mbuf *pkt;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	up(port, 2);
	octo_port_run_on(1);
	assert_int_equal(rte_eth_rx_burst(port, 1, &pkt, 1), 0); /* at home where this runs */
	assert_non_null(octo_port_steer(port, FLOW, 1, &error));
	octo_port_await(octo_port_rule_pf(port, FLOW) == 1);
	octo_port_send(port, 0, FLOW, 1);
	pkt = octo_port_receive_one(port, 1);
	assert_ptr_equal(pkt->pool, pools[1]);
	rte_pktmbuf_free(pkt);
}

static void
test_the_queue_tells_its_pools(void **state)
{
	struct rte_mempool *list[2] = {pools[0], pools[1]};
	uint16_t port = create_configured(&two_nodes);
	struct rte_eth_rxq_info info;

	(void)state;
	assert_int_equal(setup_rx(port, 0, list, 2), 0);
	list[0] = list[1] = NULL;
	assert_int_equal(rte_eth_rx_queue_info_get(port, 0, &info), 0);
	assert_ptr_equal(info.mp, pools[0]);
	assert_int_equal(info.conf.rx_nmempool, 2);
	assert_ptr_equal(info.conf.rx_mempools[1], pools[1]);
}

static void
test_pools_must_be_on_several_nodes(void **state)
{
	static const struct octo_port_conf one_node = {0};
	uint16_t port = create_configured(&one_node);

	(void)state;
	assert_int_equal(setup_rx(port, 0, pools, 2), -EINVAL);
	assert_int_equal(setup_rx(port, 0, pools, 1), 0);
}

static void
test_pools_must_have_equal_rooms(void **state)
{
	uint16_t port = create_configured(&two_nodes);
	struct rte_mempool *list[2] = {pools[0], make_pool("larger", 4096)};

	(void)state;
	assert_int_equal(setup_rx(port, 0, list, 2), -EINVAL);
	assert_int_equal(setup_rx(port, 0, pools, 2), 0);
	rte_mempool_free(list[1]);
}

static void
test_several_pools_and_a_port_of_fast_free(void **state)
{
	uint16_t port = octo_port_create(&two_nodes);

	(void)state;
	configure(port, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	assert_int_equal(setup_rx(port, 0, pools, 2), -EINVAL);
	assert_int_equal(setup_rx(port, 0, pools, 1), 0);
}

static void
test_several_pools_and_a_queue_of_fast_free(void **state)
{
	uint16_t port = create_configured(&two_nodes);

	(void)state;
	assert_int_equal(setup_rx(port, 0, pools, 2), 0);
	assert_int_equal(setup_tx(port, 1, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE), -EINVAL);
	assert_int_equal(setup_rx(port, 0, pools, 1), 0);
	assert_int_equal(setup_tx(port, 1, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE), 0);
	assert_int_equal(setup_rx(port, 0, pools, 2), -EINVAL);
}

/* Queues of the configuration before are no reason to refuse those of the new one. */
static void
test_fast_free_after_several_pools(void **state)
{
	uint16_t port = create_configured(&two_nodes);

	(void)state;
	for (uint16_t q = 0; q < QUEUES; q++)
		assert_int_equal(setup_rx(port, q, pools, 2), 0);
	configure(port, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	for (uint16_t q = 0; q < QUEUES; q++)
		assert_int_equal(setup_tx(port, q, 0), 0);
	assert_int_equal(rte_eth_dev_start(port), -EINVAL);
	for (uint16_t q = 0; q < QUEUES; q++)
		assert_int_equal(setup_rx(port, q, pools, 1), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static void
test_a_cloning_port_has_no_fast_free(void **state)
{
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(octo_port_create(&cloning), &info), 0);
	assert_int_equal(
		(info.tx_offload_capa | info.tx_queue_offload_capa | info.default_txconf.offloads) &
			RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE,
		0);
	octo_port_destroy();
	assert_int_equal(rte_eth_dev_info_get(octo_port_create(&two_nodes), &info), 0);
	assert_int_not_equal(info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, 0);
}

static void
test_a_clone_is_like_its_pool(void **state)
{
	uint16_t port = create_configured(&cloning);
	struct rte_mempool *clone;

	(void)state;
	assert_int_equal(setup_rx(port, 0, pools, 1), 0);
	assert_ptr_equal(pool_of_leg(0, 0), pools[0]);
	clone = pool_of_leg(1, 0);
	assert_ptr_not_equal(clone, pools[0]);
	assert_int_equal(clone->size, MBUFS);
	assert_int_equal(clone->cache_size, CACHE);
	assert_int_equal(clone->elt_size, pools[0]->elt_size);
	assert_int_equal(rte_pktmbuf_priv_size(clone), PRIVATE);
	assert_int_equal(rte_pktmbuf_data_room_size(clone), RTE_MBUF_DEFAULT_BUF_SIZE);
}

static void
test_a_clone_is_for_all_legs_of_its_node(void **state)
{
	uint16_t port = create_configured(&four_cloning);

	(void)state;
	for (uint16_t q = 0; q < QUEUES; q++)
		assert_int_equal(setup_rx(port, q, pools, 1), 0);
	assert_int_equal(nb_clones(), 1);
	assert_ptr_equal(pool_of_leg(0, 1), pools[0]);
	assert_ptr_equal(pool_of_leg(2, 1), pools[0]);
	assert_ptr_equal(pool_of_leg(1, 0), pool_of_leg(3, 1));
}

static void
test_a_pool_that_is_there_is_not_cloned(void **state)
{
	uint16_t port = create_configured(&cloning);

	(void)state;
	assert_int_equal(setup_rx(port, 0, pools, 2), 0);
	assert_int_equal(nb_clones(), 0);
	assert_ptr_equal(pool_of_leg(1, 0), pools[1]);
}

static void
test_a_clone_that_nobody_has_goes(void **state)
{
	uint16_t port = create_configured(&cloning);

	(void)state;
	for (uint16_t q = 0; q < QUEUES; q++)
		assert_int_equal(setup_rx(port, q, pools, 1), 0);
	assert_int_equal(setup_rx(port, 0, &pools[1], 1), 0);
	assert_int_equal(nb_clones(), 2);
	assert_int_equal(setup_rx(port, 1, &pools[1], 1), 0);
	assert_int_equal(nb_clones(), 1);
	rte_eth_dev_close(port);
	assert_int_equal(nb_clones(), 0);
}

static bool
is_there(const struct rte_mempool *pool)
{
	struct named find = {.pool = pool};

	rte_mempool_walk(find_pool, &find);
	return find.is_there;
}

/*
 * ethdev can take a queue from no PF: those that had it, or got it first, name its pool yet, or
 * have it without saying so.
 */
static void
test_a_clone_stays_while_a_pf_names_it(void **state)
{
	uint16_t port = create_configured(&four_cloning);
	struct octo_port_faults *second, *faults;

	(void)state;
	second = octo_port_faults_on(1);
	faults = octo_port_faults_on(2);
	faults->rx_setup = ENOMEM;
	for (int i = 0; i < 2; i++) {
		second->hides_pool = i == 1;
		assert_int_equal(setup_rx(port, 0, pools, 1), -ENOMEM);
		second->hides_pool = false;
		assert_true(is_there(pool_of_leg(1, 0)));
	}
	faults->rx_setup = 0;
	assert_int_equal(setup_rx(port, 0, pools, 1), 0);
	assert_int_equal(nb_clones(), 1);
	faults->rx_setup = ENOMEM;
	assert_int_equal(setup_rx(port, 0, &pools[1], 1), -ENOMEM);
	assert_true(is_there(pool_of_leg(1, 0)));
	assert_true(is_there(pool_of_leg(3, 0)));
	faults->rx_setup = 0;
	assert_int_equal(setup_rx(port, 0, pools, 2), 0);
	assert_int_equal(nb_clones(), 0);
}

/* A PF refused its configuration, and that of the others was forgotten. Their queues are left. */
static void
test_a_clone_stays_while_an_idle_pf_names_it(void **state)
{
	const struct rte_eth_conf conf = {0};
	uint16_t port = create_configured(&four_cloning);
	struct octo_port_faults *faults;
	struct rte_eth_rxq_info info;

	(void)state;
	for (uint16_t q = 0; q < QUEUES; q++)
		assert_int_equal(setup_rx(port, q, pools, 1), 0);
	faults = octo_port_faults_on(2);
	faults->configure = EIO;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rte_eth_dev_configure(port, QUEUES, QUEUES, &conf), -EIO);
		assert_true(is_there(pool_of_leg(1, 0)));
	}
	faults->configure = 0;
	octo_port_close_and_remove(port);
	assert_int_not_equal(rte_eth_rx_queue_info_get(octo_port_pf(1), 0, &info), 0);
	assert_int_equal(nb_clones(), 0);
}

/* One packet of the clone, for the application to keep. */
static struct rte_mbuf *
take_a_packet(uint16_t port)
{
	struct rte_mbuf *pkt;

	up(port, 1);
	pkt = rte_pktmbuf_alloc(pool_of_leg(1, 0));
	assert_non_null(pkt);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	return pkt;
}

static void
test_a_clone_with_packets_out_stays_until_they_are_back(void **state)
{
	uint16_t port = create_configured(&cloning);
	struct rte_mbuf *pkt = take_a_packet(port);
	struct rte_mempool *clone = pkt->pool;

	(void)state;
	for (uint16_t q = 0; q < QUEUES; q++)
		assert_int_equal(setup_rx(port, q, pools, 2), 0);
	assert_int_equal(nb_clones(), 1);
	/* and is used again, for what it was made for */
	assert_int_equal(setup_rx(port, 0, &pools[1], 1), 0);
	assert_ptr_equal(pool_of_leg(1, 0), clone);
	rte_pktmbuf_free(pkt);
	assert_int_equal(setup_rx(port, 0, pools, 2), 0);
	assert_int_equal(nb_clones(), 0);
}

static void
test_a_clone_with_packets_out_survives_the_port(void **state)
{
	uint16_t port = create_configured(&cloning);
	struct rte_mbuf *pkt = take_a_packet(port);
	struct rte_mempool *clone = pkt->pool;

	(void)state;
	rte_eth_dev_close(port);
	assert_int_equal(nb_clones(), 1);
	rte_pktmbuf_free(pkt);
	rte_mempool_free(clone);
}

/* What is given back must not lead to a pool that is gone. */
static void
test_pfs_forget_clones(void **state)
{
	struct rte_eth_rxq_info info;
	uint16_t port = create_configured(&cloning);

	(void)state;
	up(port, 1);
	octo_port_close_and_remove(port);
	assert_int_not_equal(rte_eth_rx_queue_info_get(octo_port_pf(1), 0, &info), 0);
}

static void
test_a_pool_of_external_buffers_is_not_cloned(void **state)
{
	uint16_t port = create_configured(&cloning);
	struct rte_pktmbuf_pool_private *priv = rte_mempool_get_priv(pools[0]);

	(void)state;
	priv->flags |= RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF;
	assert_int_equal(setup_rx(port, 0, pools, 1), -EINVAL);
	priv->flags = 0;
	assert_int_equal(nb_clones(), 0);
	assert_int_equal(setup_rx(port, 0, pools, 1), 0);
}

static void
test_a_pool_with_data_of_the_application_is_not_cloned(void **state)
{
	uint16_t port = create_configured(&cloning);

	(void)state;
	pools[0]->private_data_size += RTE_MEMPOOL_ALIGN;
	assert_int_equal(setup_rx(port, 0, pools, 1), -EINVAL);
	pools[0]->private_data_size -= RTE_MEMPOOL_ALIGN;
	assert_int_equal(nb_clones(), 0);
	assert_int_equal(setup_rx(port, 0, pools, 1), 0);
}

static int (*real_setup)(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc,
			 unsigned int socket, const struct rte_eth_rxconf *conf,
			 struct rte_mempool *pool);
static uint16_t thresholds[2];

/* As iavf, ice and others check it. */
static int
check_threshold(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	thresholds[queue] = conf->rx_free_thresh;
	if (conf->rx_free_thresh >= nb_desc)
		return -EINVAL;
	return real_setup(dev, queue, nb_desc, socket, conf, pool);
}

/* The application's was right for the descriptors that it asked for. */
static void
test_a_threshold_fits_smaller_rings(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 4, .octo = "rx_rings=shared"};
	const uint16_t port = octo_port_create(&conf);
	const struct eth_dev_ops *real = rte_eth_devices[octo_port_pf(0)].dev_ops;
	const struct rte_eth_conf none = {0};
	struct eth_dev_ops ops = *real;
	struct rte_eth_rxq_info info;
	struct rte_eth_rxconf rx = {.rx_free_thresh = 128};

	(void)state;
	real_setup = ops.rx_queue_setup;
	ops.rx_queue_setup = check_threshold;
	for (unsigned int pf = 0; pf < 4; pf++)
		rte_eth_devices[octo_port_pf(pf)].dev_ops = &ops;
	assert_int_equal(rte_eth_dev_configure(port, 2, 1, &none), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port, 0, 256, 0, &rx, octo_port_pool), 0);
	/* the thresholds that fit stay */
	rx.rx_free_thresh = 32;
	assert_int_equal(rte_eth_rx_queue_setup(port, 1, 256, 0, &rx, octo_port_pool), 0);
	for (unsigned int pf = 0; pf < 4; pf++)
		rte_eth_devices[octo_port_pf(pf)].dev_ops = real;
	assert_int_equal(thresholds[0], 32);
	assert_int_equal(thresholds[1], 32);
	assert_int_equal(rte_eth_rx_queue_info_get(port, 0, &info), 0);
	assert_int_equal(info.nb_desc, 64);
}

#define pools_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pools_test(test_one_pool_is_for_every_leg),
		pools_test(test_a_pool_for_each_pf_is_offered),
		pools_test(test_each_leg_has_the_pool_of_its_node),
		pools_test(test_packets_are_in_the_pool_of_their_pf),
		pools_test(test_the_queue_tells_its_pools),
		pools_test(test_pools_must_be_on_several_nodes),
		pools_test(test_pools_must_have_equal_rooms),
		pools_test(test_several_pools_and_a_port_of_fast_free),
		pools_test(test_several_pools_and_a_queue_of_fast_free),
		pools_test(test_fast_free_after_several_pools),
		pools_test(test_a_cloning_port_has_no_fast_free),
		pools_test(test_a_clone_is_like_its_pool),
		pools_test(test_a_clone_is_for_all_legs_of_its_node),
		pools_test(test_a_pool_that_is_there_is_not_cloned),
		pools_test(test_a_clone_that_nobody_has_goes),
		pools_test(test_a_clone_stays_while_a_pf_names_it),
		pools_test(test_a_clone_stays_while_an_idle_pf_names_it),
		pools_test(test_a_clone_with_packets_out_stays_until_they_are_back),
		pools_test(test_a_clone_with_packets_out_survives_the_port),
		pools_test(test_pfs_forget_clones),
		pools_test(test_a_pool_of_external_buffers_is_not_cloned),
		pools_test(test_a_pool_with_data_of_the_application_is_not_cloned),
		pools_test(test_a_threshold_fits_smaller_rings),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
