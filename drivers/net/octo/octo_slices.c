/* SPDX-License-Identifier: BSD-3-Clause */

/* Geometry of slices: which queue of the one port is a leg of which queue and PF. */

#include <errno.h>

#include "octo_private.h"

void
octo_pf_format(const struct octo_dev *octo, uint8_t pf, char *text, size_t size)
{
	char slice[OCTO_SLICE_TEXT_MAX];

	if (pf >= octo->nb_pfs) {
		snprintf(text, size, "none");
	} else if (octo->sliced) {
		octo_slice_format(&octo->pf[pf].slice, slice);
		snprintf(text, size, "%s[%s]", octo->pf[pf].port->name, slice);
	} else {
		snprintf(text, size, "%s", octo->pf[pf].port->name);
	}
}

/* Queues that a port can have: some drivers want as many Tx queues as Rx queues. */
static uint16_t
room_of(const struct rte_eth_dev_info *info)
{
	const uint16_t nb = RTE_MIN(info->max_rx_queues, info->max_tx_queues);

	return RTE_MIN(nb, (uint16_t)RTE_MAX_QUEUES_PER_PORT);
}

/* Parts of a port that has few queues may share some with a range. */
static int
check_overlaps(const struct octo_dev *octo, const struct octo_slice *slices, uint8_t pf,
	       uint16_t nb)
{
	char name[OCTO_PF_NAME_MAX], other[OCTO_PF_NAME_MAX];

	for (uint8_t i = 0; i < pf; i++) {
		if (!octo_slice_overlaps(&slices[i], &slices[pf]))
			continue;
		if (octo->port[0].fsm.logged)
			return -EINVAL;
		octo_pf_format(octo, i, other, sizeof(other));
		octo_pf_format(octo, pf, name, sizeof(name));
		OCTO_LOG(ERR, "%s: pf=%s: it shares a queue with %s, as the port has %u",
			 octo_data(octo)->name, name, other, nb);
		return -EINVAL;
	}
	return 0;
}

static int
check_slices(const struct octo_dev *octo, const struct octo_slice *slices, uint16_t nb)
{
	char name[OCTO_PF_NAME_MAX];

	for (uint8_t i = 0; i < octo->nb_pfs; i++) {
		if (check_overlaps(octo, slices, i, nb) != 0)
			return -EINVAL;
		if (octo_slice_room(&slices[i], nb) > 0)
			continue;
		if (octo->port[0].fsm.logged)
			return -EINVAL;
		octo_pf_format(octo, i, name, sizeof(name));
		OCTO_LOG(ERR, "%s: pf=%s: the port has %u queues, and none of them is in the slice",
			 octo_data(octo)->name, name, nb);
		return -EINVAL;
	}
	return 0;
}

static bool
is_same(const struct octo_slice *a, const struct octo_slice *b)
{
	return a->first == b->first && a->last == b->last;
}

static int
stay_out(const struct octo_dev *octo, uint16_t nb)
{
	const struct octo_port *port = &octo->port[0];

	if (!port->fsm.logged)
		OCTO_LOG(ERR,
			 "port %u: PF %s stays out: it has %u queues, so that other ones are in "
			 "the slices: stop the octo port and start it again",
			 octo->port_id, port->name, nb);
	return -EBUSY;
}

int
octo_slices_fit(struct octo_dev *octo, const struct rte_eth_dev_info *info)
{
	const uint16_t nb = room_of(info);
	struct octo_slice slices[OCTO_MAX_PFS];
	bool same = true;

	for (uint8_t i = 0; i < octo->nb_pfs; i++) {
		slices[i] = octo->pf[i].slice;
		octo_slice_fit(&slices[i], nb);
		same &= is_same(&slices[i], &octo->pf[i].slice);
	}
	if (octo->started && !same)
		return stay_out(octo, nb);
	if (check_slices(octo, slices, nb) != 0)
		return -EINVAL;
	for (uint8_t i = 0; i < octo->nb_pfs; i++)
		octo->pf[i].slice = slices[i];
	return 0;
}

uint16_t
octo_slices_total(const struct octo_dev *octo, uint16_t nb)
{
	uint16_t total = 0;

	if (nb == 0)
		return 0;
	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		total = RTE_MAX(total, octo_slice_queue(&octo->pf[i].slice, nb - 1) + 1);
	return total;
}

void
octo_slices_narrow(const struct octo_dev *octo, struct rte_eth_dev_info *info)
{
	const uint16_t all = room_of(info);
	uint16_t nb = all;

	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		nb = RTE_MIN(nb, octo_slice_room(&octo->pf[i].slice, all));
	info->max_rx_queues = nb;
	info->max_tx_queues = nb;
}

int
octo_slices_queue_of(const struct octo_dev *octo, const struct octo_port *port, uint16_t queue)
{
	for (uint16_t i = 0; i < octo->nb_pfs; i++) {
		const int found = octo->pf[i].port == port ?
					  octo_slice_find(&octo->pf[i].slice, queue) :
					  -1;

		if (found >= 0)
			return found;
	}
	return -1;
}

uint8_t
octo_slices_pf_of(const struct octo_dev *octo, uint16_t queue)
{
	for (uint8_t i = 0; i < octo->nb_pfs; i++)
		if (octo_slice_find(&octo->pf[i].slice, queue) >= 0)
			return i;
	return OCTO_NO_PF;
}

static bool
is_leg(const struct octo_dev *octo, const struct octo_port *port, uint16_t queue, uint16_t nb)
{
	const int found = octo_slices_queue_of(octo, port, queue);

	return found >= 0 && found < nb;
}

uint16_t
octo_slices_nb_idle(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	if (!octo->sliced || data->nb_rx_queues == 0)
		return 0;
	return octo_slices_total(octo, RTE_MAX(data->nb_rx_queues, data->nb_tx_queues)) -
	       octo->nb_pfs * data->nb_rx_queues;
}

/* An Rx queue that no packet is sent to: its ring takes mbufs all the same. */
static int
set_up_idle_rx(const struct octo_dev *octo, const struct octo_port *port, uint16_t queue)
{
	const struct octo_rxq *like = octo_data(octo)->rx_queues[0];
	const struct octo_leg idle = {port->port_id, queue};
	const bool running = octo_port_is(port, OCTO_PORT_RUNNING);
	int ret = running ? rte_eth_dev_rx_queue_stop(port->port_id, queue) : 0;

	/* it is not there if its last setup was refused */
	if (ret == 0 || ret == -EINVAL)
		ret = octo_segments_setup_locked(like, 0, idle, octo->pf[0].alloc_socket, false);
	return ret == 0 && running ? rte_eth_dev_rx_queue_start(port->port_id, queue) : ret;
}

static int
set_up_idle_tx(const struct octo_dev *octo, const struct octo_port *port, uint16_t queue)
{
	const struct octo_txq *like = octo_data(octo)->tx_queues[0];
	struct rte_eth_txconf conf = {0};

	/* NULL if the application failed to set it up again on the running port */
	if (like != NULL)
		conf = like->conf;
	conf.tx_deferred_start = 0;
	return rte_eth_tx_queue_setup(port->port_id, queue, like != NULL ? like->nb_desc : 0,
				      octo->pf[0].alloc_socket, &conf);
}

static bool
has_first(void *const *queues, uint16_t nb)
{
	return nb > 0 && queues[0] != NULL;
}

int
octo_slices_set_up_idle_locked(const struct octo_dev *octo, const struct octo_port *port)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint16_t total = octo_slices_total(octo,
						 RTE_MAX(data->nb_rx_queues, data->nb_tx_queues));
	int ret = 0;

	if (!octo->sliced)
		return 0;
	for (uint16_t i = 0; i < total && ret == 0; i++) {
		if (has_first(data->rx_queues, data->nb_rx_queues) &&
		    !is_leg(octo, port, i, data->nb_rx_queues))
			ret = set_up_idle_rx(octo, port, i);
		/* idle Tx queues of a running port stay as they are */
		if (ret == 0 && !octo_port_is(port, OCTO_PORT_RUNNING) && data->nb_tx_queues > 0 &&
		    (octo->started || data->tx_queues[0] != NULL) &&
		    !is_leg(octo, port, i, data->nb_tx_queues))
			ret = set_up_idle_tx(octo, port, i);
	}
	return ret;
}
