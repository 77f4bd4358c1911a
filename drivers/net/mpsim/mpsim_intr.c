/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_interrupts.h>

#include "octo_clock.h"
#include "mpsim.h"
#include "mpsim_caps.h"
#include "mpsim_intr.h"
#include "mpsim_tx_ring.h"

/* Bursts that are moved from a wire at a time: more arrive with the next alarm. */
#define MAX_BURSTS 16

/* Is the alarm set? Under the control lock. */
static bool ticking;

static void
signal_queue(const struct rte_eth_dev *dev, uint16_t queue)
{
	const uint64_t one = 1;

	if (write(rte_intr_efds_index_get(dev->intr_handle, queue), &one, sizeof(one)) < 0)
		MPSIM_LOG(DEBUG, dev->data->name, "Rx queue %u has been signalled already", queue);
}

/* Move what arrives by itself on a NIC, to the queues of all its PFs. Under the NIC's lock. */
static void
move_locked(struct mpsim_nic *nic)
{
	uint64_t before;
	int n = 0;

	do {
		before = nic->stats.wire_packets;
		mpsim_pump(nic);
	} while (nic->stats.wire_packets != before && ++n < MAX_BURSTS);
}

static void
signal_armed_locked(struct mpsim_pf *pf)
{
	for (uint16_t i = 0; i < pf->nb_rxq; i++) {
		struct mpsim_rxq *q = pf->rxq[i];

		if (q == NULL || !q->armed || q->stats->packets == q->armed_at)
			continue;
		q->armed = false;
		signal_queue(&rte_eth_devices[pf->port_id], i);
	}
}

static void
tick_pf(struct mpsim_pf *pf)
{
	mpsim_tx_ring_move_all(pf->nic);
	mpsim_nic_lock(pf->nic);
	if (mpsim_pipe_is_due(&pf->pipe))
		mpsim_pipe_leave(pf);
	move_locked(pf->nic);
	signal_armed_locked(pf);
	mpsim_nic_unlock(pf->nic);
}

static void tick(void *arg);

static void
tick_later_locked(void)
{
	ticking = ticking || octo_alarm_set(MPSIM_INTR_US, tick, NULL) == 0;
}

/* In the interrupt thread. */
static void
tick(void *arg)
{
	uint64_t ports[MPSIM_PORT_WORDS] = {0};

	RTE_SET_USED(arg);
	mpsim_control_lock();
	ticking = false;
	mpsim_nic_get_ports(ports);
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		struct mpsim_pf *pf;

		if ((ports[p / 64] >> (p % 64) & 1) == 0)
			continue;
		pf = rte_eth_devices[p].data->dev_private;
		if (!pf->interrupts)
			continue;
		tick_pf(pf);
		tick_later_locked();
	}
	mpsim_control_unlock();
}

static void
free_handle(struct rte_eth_dev *dev)
{
	struct rte_intr_handle *handle = dev->intr_handle;

	dev->intr_handle = NULL;
	rte_intr_free_epoll_fd(handle);
	for (int i = 0; i < rte_intr_nb_efd_get(handle); i++)
		close(rte_intr_efds_index_get(handle, i));
	rte_intr_vec_list_free(handle);
	rte_intr_instance_free(handle);
}

static int
add_eventfd(struct rte_intr_handle *handle, uint16_t queue)
{
	const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (rte_intr_efds_index_set(handle, queue, fd) != 0 ||
	    rte_intr_vec_list_index_set(handle, queue, RTE_INTR_VEC_RXTX_OFFSET + queue) != 0) {
		close(fd);
		return -ENOSPC;
	}
	return rte_intr_nb_efd_set(handle, queue + 1);
}

static int
make_handle(struct rte_eth_dev *dev)
{
	struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	int ret;

	if (handle == NULL)
		return -ENOMEM;
	dev->intr_handle = handle;
	ret = rte_intr_type_set(handle, RTE_INTR_HANDLE_VDEV);
	if (ret == 0)
		ret = rte_intr_efd_counter_size_set(handle, sizeof(uint64_t));
	if (ret == 0)
		ret = rte_intr_vec_list_alloc(handle, "mpsim_intr", dev->data->nb_rx_queues);
	for (uint16_t i = 0; ret == 0 && i < dev->data->nb_rx_queues; i++)
		ret = add_eventfd(handle, i);
	if (ret != 0)
		free_handle(dev);
	return ret;
}

static void
set_interrupts(struct mpsim_pf *pf, bool on)
{
	mpsim_control_lock();
	pf->interrupts = on;
	if (on)
		tick_later_locked();
	mpsim_control_unlock();
}

int
mpsim_intr_start(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	int ret;

	if (!dev->data->dev_conf.intr_conf.rxq || dev->data->nb_rx_queues == 0 ||
	    !mpsim_caps_has(pf, MPSIM_CAP_RXINTR))
		return 0;
	ret = make_handle(dev);
	if (ret != 0) {
		MPSIM_LOG(ERR, dev->data->name, "no Rx interrupts: %s", rte_strerror(-ret));
		return ret;
	}
	set_interrupts(pf, true);
	return 0;
}

void
mpsim_intr_stop(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	if (!pf->interrupts)
		return;
	/* the alarm uses the handle under the control lock only */
	set_interrupts(pf, false);
	free_handle(dev);
}

static int
set_armed(struct rte_eth_dev *dev, uint16_t queue, bool on)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_rxq *q;

	if (!pf->interrupts)
		return -ENOTSUP;
	mpsim_nic_lock(pf->nic);
	q = pf->rxq[queue];
	q->armed = on;
	q->armed_at = q->stats->packets;
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_rx_queue_intr_enable(struct rte_eth_dev *dev, uint16_t queue)
{
	return set_armed(dev, queue, true);
}

int
mpsim_rx_queue_intr_disable(struct rte_eth_dev *dev, uint16_t queue)
{
	return set_armed(dev, queue, false);
}
