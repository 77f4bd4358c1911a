/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_interrupts.h>

#include "octo_private.h"
#include "octo_rx_intr.h"
#include "octo_rx_intr_peer.h"

#define ASK "net_octo_rx_intr"
#define ANSWER_S 5

enum what {
	GET_FDS, /* of this queue and of those that follow, as many as go into a message */
	ARM,
	DISARM,
};

struct ask {
	uint64_t owner_id; /* identifies the octo port: owner ids are unique */
	uint16_t port_id;
	uint16_t queue_id;
	uint32_t what;
};

/* EAL admits one request of a name at a time, and pollers are several. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

static void
get_fds(const struct octo_dev *octo, uint16_t first, struct rte_mp_msg *answer)
{
	for (int i = 0; i < RTE_MP_MAX_FD_NUM; i++) {
		const int fd = octo_rx_intr_get_fd(octo, first + i);

		if (fd < 0)
			break;
		answer->fds[answer->num_fds++] = fd;
	}
}

static int
serve_port(struct octo_dev *octo, const struct ask *ask, struct rte_mp_msg *answer)
{
	switch (ask->what) {
	case GET_FDS:
		get_fds(octo, ask->queue_id, answer);
		return 0;
	case ARM:
		return octo_rx_intr_arm(octo, ask->queue_id);
	case DISARM:
		return octo_rx_intr_disarm(octo, ask->queue_id);
	default:
		return -EINVAL;
	}
}

/* Takes no mutex: whoever holds it may wait for a message, which this thread receives. */
static int
serve(const struct ask *ask, struct rte_mp_msg *answer)
{
	struct octo_dev *octo = octo_registry_get(ask->port_id);
	int ret = -ENODEV;

	if (octo == NULL)
		return ret;
	if (octo->owner_id == ask->owner_id) {
		/* the stop of the port waits for that */
		octo_askers_enter(&octo->walkers);
		ret = serve_port(octo, ask, answer);
		octo_askers_leave(&octo->walkers);
	}
	octo_registry_put();
	return ret;
}

static int
on_ask(const struct rte_mp_msg *msg, const void *peer)
{
	struct rte_mp_msg answer = {.name = ASK};
	struct ask ask;
	int32_t ret;

	if (msg->len_param != sizeof(ask))
		return -EINVAL;
	memcpy(&ask, msg->param, sizeof(ask));
	ret = serve(&ask, &answer);
	answer.len_param = sizeof(ret);
	memcpy(answer.param, &ret, sizeof(ret));
	return rte_mp_reply(&answer, peer);
}

int
octo_rx_intr_serve(void)
{
	if (rte_mp_action_register(ASK, on_ask) == 0 || rte_errno == EEXIST || rte_errno == ENOTSUP)
		return 0;
	OCTO_LOG(ERR, "secondary processes cannot be given Rx interrupts: %s",
		 rte_strerror(rte_errno));
	return -rte_errno;
}

/* Returns what the primary does, or -ETIMEDOUT if it does not answer. */
static int
ask_primary(const struct octo_dev *octo, uint16_t queue_id, enum what what,
	    struct rte_mp_msg *answer)
{
	const struct timespec wait = {.tv_sec = ANSWER_S};
	const struct ask ask = {
		.owner_id = octo->owner_id,
		.port_id = octo->port_id,
		.queue_id = queue_id,
		.what = what,
	};
	struct rte_mp_msg msg = {.name = ASK, .len_param = sizeof(ask)};
	struct rte_mp_reply reply = {0};
	int32_t ret = -ETIMEDOUT;

	memcpy(msg.param, &ask, sizeof(ask));
	pthread_mutex_lock(&asking);
	if (rte_mp_request_sync(&msg, &reply, &wait) == 0 && reply.nb_received == 1) {
		*answer = reply.msgs[0];
		memcpy(&ret, answer->param, sizeof(ret));
	}
	pthread_mutex_unlock(&asking);
	free(reply.msgs);
	return ret;
}

/* Returns how many queues have a descriptor now. */
static uint16_t
take_fds(struct rte_eth_dev *dev, uint16_t nb, const struct rte_mp_msg *answer)
{
	for (int i = 0; i < answer->num_fds; i++)
		if (nb < dev->data->nb_rx_queues &&
		    octo_rx_intr_add_fd(dev->intr_handle, nb, answer->fds[i]) == 0)
			nb++;
		else
			close(answer->fds[i]);
	return nb;
}

static int
borrow(struct rte_eth_dev *dev)
{
	struct rte_mp_msg answer = {0};
	uint16_t nb = 0;
	int ret = octo_rx_intr_make_handle(dev);

	if (ret == 0)
		ret = rte_intr_vec_list_alloc(dev->intr_handle, "octo_rx_intr",
					      dev->data->nb_rx_queues);
	do {
		if (ret == 0)
			ret = ask_primary(octo_of(dev), nb, GET_FDS, &answer);
		if (ret == 0)
			nb = take_fds(dev, nb, &answer);
	} while (ret == 0 && answer.num_fds > 0 && nb < dev->data->nb_rx_queues);
	return ret;
}

void
octo_rx_intr_borrow(struct rte_eth_dev *dev)
{
	int ret;

	if (!dev->data->dev_conf.intr_conf.rxq || dev->data->nb_rx_queues == 0)
		return;
	ret = borrow(dev);
	if (ret != 0)
		OCTO_LOG(WARNING,
			 "port %u: this process cannot get the Rx interrupts of the primary "
			 "process (%s), so poll the queues",
			 dev->data->port_id, rte_strerror(-ret));
	if (ret != 0 || rte_intr_nb_efd_get(dev->intr_handle) == 0)
		octo_rx_intr_return(dev);
}

void
octo_rx_intr_return(struct rte_eth_dev *dev)
{
	struct rte_intr_handle *handle = dev->intr_handle;

	if (handle == NULL)
		return;
	dev->intr_handle = NULL;
	rte_intr_free_epoll_fd(handle);
	for (int i = 0; i < rte_intr_nb_efd_get(handle); i++)
		close(rte_intr_efds_index_get(handle, i));
	rte_intr_vec_list_free(handle);
	rte_intr_instance_free(handle);
}

static int
call_primary(struct rte_eth_dev *dev, uint16_t queue_id, enum what what)
{
	struct rte_mp_msg answer;
	int ret;

	if (dev->intr_handle == NULL || queue_id >= rte_intr_nb_efd_get(dev->intr_handle)) {
		OCTO_LOG(ERR,
			 "port %u: this process has no interrupt of Rx queue %u, as the port had "
			 "none when it was attached: start the port with intr_conf.rxq before, or "
			 "poll the queue",
			 dev->data->port_id, queue_id);
		return -ENOTSUP;
	}
	ret = ask_primary(octo_of(dev), queue_id, what, &answer);
	if (ret != 0)
		OCTO_LOG(ERR,
			 "port %u: the primary process does not %s the interrupt of Rx queue %u "
			 "(%s), so poll it",
			 dev->data->port_id, what == ARM ? "enable" : "disable", queue_id,
			 rte_strerror(-ret));
	return ret;
}

int
octo_rx_queue_intr_enable(struct rte_eth_dev *dev, uint16_t queue_id)
{
	if (octo_legs_borrowed)
		return call_primary(dev, queue_id, ARM);
	return octo_rx_intr_arm(octo_of(dev), queue_id);
}

int
octo_rx_queue_intr_disable(struct rte_eth_dev *dev, uint16_t queue_id)
{
	if (octo_legs_borrowed)
		return call_primary(dev, queue_id, DISARM);
	return octo_rx_intr_disarm(octo_of(dev), queue_id);
}
