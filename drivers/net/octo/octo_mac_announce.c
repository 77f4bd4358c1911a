/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tier mac: when an address moves to another PF, a frame with this source address tells bridges
 * where it is: a broadcast RARP request, as hypervisors send one after a migration. The PFs have
 * one Tx queue more for that, which nothing else uses, so that no sender is disturbed.
 */

#include <rte_arp.h>
#include <rte_mbuf.h>

#include "octo_private.h"

/* Frames that may be in the PFs' rings at the same time, and the size of a ring. */
#define FRAMES 127
#define NB_DESC 64
#define FRAME_ROOM (RTE_PKTMBUF_HEADROOM + RTE_ETHER_MIN_LEN)

static bool
have_a_queue_left(const struct octo_dev *octo)
{
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		if (octo->port[i].past.info.max_tx_queues <= octo_data(octo)->nb_tx_queues)
			return false;
	return true;
}

/*
 * virtio starts as many pairs of queues as it has of the larger kind, and its device spreads
 * received packets over all of them unless a RETA says which.
 */
static bool
receive_by_the_rx_queues(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	return data->nb_tx_queues < data->nb_rx_queues ||
	       (octo_rss_is_on(octo) && octo->reta_size != 0);
}

static int
make_pool(struct octo_dev *octo)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	if (octo->macs.announce != NULL)
		return 0;
	snprintf(name, sizeof(name), "octo_mac_%u_%u", octo->port_id, octo->clones_made++);
	octo->macs.announce = rte_pktmbuf_pool_create(name, FRAMES, 0, 0, FRAME_ROOM,
						      SOCKET_ID_ANY);
	return octo->macs.announce == NULL ? -rte_errno : 0;
}

void
octo_mac_announce_configure_locked(struct octo_dev *octo)
{
	const char *why = "the PFs have no Tx queue left for that";

	octo->macs.announces = false;
	if (!octo->macs.reserved)
		return;
	if (!receive_by_the_rx_queues(octo)) {
		why = "without RSS a PF may also receive by the queue for that: configure RSS, or "
		      "fewer Tx queues than Rx queues";
	} else if (have_a_queue_left(octo)) {
		octo->macs.announces = make_pool(octo) == 0;
		why = "there is no memory for that";
	}
	if (!octo->macs.announces)
		OCTO_LOG(WARNING,
			 "port %u: the moves of MAC addresses to other PFs (tier=mac) are not "
			 "announced: %s",
			 octo->port_id, why);
}

int
octo_mac_announce_set_up_locked(const struct octo_dev *octo, uint8_t port)
{
	const uint16_t port_id = octo->port[port].port_id;
	uint16_t nb_desc = NB_DESC;
	int ret;

	if (!octo->macs.announces)
		return 0;
	ret = rte_eth_dev_adjust_nb_rx_tx_desc(port_id, NULL, &nb_desc);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port_id, octo_data(octo)->nb_tx_queues, nb_desc,
					     octo->pf[port].alloc_socket, NULL);
	return ret;
}

/* Has the PF that has the address sent the frame? */
static bool
announce(struct octo_dev *octo, uint8_t address)
{
	const struct octo_port *port = &octo->port[octo->macs.plan.holder[address]];
	const struct rte_ether_addr mac = octo_mac_entry(octo, address);
	struct rte_mbuf *m;

	if (!octo_port_is(port, OCTO_PORT_RUNNING))
		return false;
	m = rte_net_make_rarp_packet(octo->macs.announce, &mac);
	if (m == NULL)
		return false;
	if (rte_eth_tx_burst(port->port_id, octo_data(octo)->nb_tx_queues, &m, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

/* A frame that cannot be sent now is sent later. */
void
octo_mac_announce_tick_locked(struct octo_dev *octo)
{
	struct octo_macs *m = &octo->macs;

	octo_assert_locked(octo);
	if (!m->announces)
		m->due = 0;
	for (uint8_t i = 0; m->due >> i != 0; i++) {
		if (!(m->due & RTE_BIT32(i)) || !announce(octo, i))
			continue;
		m->due &= ~RTE_BIT32(i);
		m->announced++;
	}
}

void
octo_mac_announce_fini_locked(struct octo_dev *octo)
{
	struct rte_mempool *pool = octo->macs.announce;

	octo->macs.announce = NULL;
	if (pool == NULL)
		return;
	/* freed by the PFs when they stopped, or by their next configuration */
	if (!rte_mempool_full(pool))
		octo_pools_take_from_pfs_locked(octo);
	if (rte_mempool_full(pool))
		rte_mempool_free(pool);
	else
		OCTO_LOG(WARNING, "port %u: pool %s stays: the PFs have %u packets of it",
			 octo->port_id, pool->name, rte_mempool_in_use_count(pool));
}
