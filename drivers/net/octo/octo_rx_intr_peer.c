/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_interrupts.h>

#include "octo_ask.h"
#include "octo_clock.h"
#include "octo_private.h"
#include "octo_rx_intr.h"

#define ASK "net_octo_rx_intr"
#define GIVE "net_octo_rx_intr_fds"

enum what {
	GET_FDS, /* of this queue and of those that follow, as many as go into a message */
	ARM,
	DISARM,
	WAKE, /* the pollers of all queues */
};

struct ask {
	struct octo_ask_head head;
	uint64_t owner_id; /* identifies the octo port: owner ids are unique */
	uint16_t port_id;
	uint16_t queue_id;
	uint16_t what;
	uint16_t lacking; /* legs */
};

static_assert(OCTO_MAX_PFS <= 16, "a bit for each leg");

struct answer {
	struct octo_ask_head head;
	int32_t ret;
};

/* The primary's message to the others: descriptors of this queue and of those that follow. */
struct give {
	struct octo_ask_head head;
	uint64_t owner_id;
	uint16_t port_id;
	uint16_t queue_id;
	uint32_t waits; /* for an answer */
};

/* Descriptors come to who attaches the port, and to EAL's thread for messages when it starts. */
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;

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
	case DISARM:
		return octo_rx_intr_switch(octo, ask->queue_id, ask->what == ARM, ask->lacking);
	case WAKE:
		octo_rx_intr_wake_all(octo);
		return 0;
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
	struct rte_mp_msg reply = {.name = ASK, .len_param = sizeof(struct answer)};
	struct answer answer;
	struct ask ask;

	octo_ask_close_fds(msg);
	if (msg->len_param != sizeof(ask))
		return -EINVAL;
	memcpy(&ask, msg->param, sizeof(ask));
	answer = (struct answer){.head = ask.head, .ret = serve(&ask, &reply)};
	memcpy(reply.param, &answer, sizeof(answer));
	return rte_mp_reply(&reply, peer);
}

/* A queue that is being set up again is not live. */
static uint16_t
lacking_legs(const struct octo_dev *octo, uint16_t queue_id)
{
	struct octo_rxq *q = octo_data(octo)->rx_queues[queue_id];
	uint32_t lacking;

	if (q == NULL)
		return 0;
	octo_askers_enter(octo_legs_askers(q->askers));
	lacking = octo_legs_lacking(octo,
				    rte_atomic_load_explicit(&q->live, rte_memory_order_acquire));
	octo_askers_leave(octo_legs_askers(q->askers));
	return (uint16_t)lacking;
}

static struct ask
ask_for(const struct octo_dev *octo, uint16_t queue_id, enum what what)
{
	return (struct ask){
		.owner_id = octo->owner_id,
		.port_id = octo->port_id,
		.queue_id = queue_id,
		.what = (uint16_t)what,
	};
}

/* Returns what the primary does, or -ETIMEDOUT if it does not answer. */
static int
ask_primary(const struct ask *ask, struct rte_mp_msg *msg)
{
	struct rte_mp_msg question = {.name = ASK, .len_param = sizeof(*ask)};
	struct answer answer = {.ret = -ETIMEDOUT};
	struct rte_mp_reply reply;

	memcpy(question.param, ask, sizeof(*ask));
	if (octo_ask(&question, &reply) && reply.nb_received == 1) {
		*msg = reply.msgs[0];
		memcpy(&answer, msg->param, sizeof(answer));
	}
	free(reply.msgs);
	return answer.ret;
}

/* A queue without a descriptor has -1, and EAL refuses to use it. */
static int
make_handle(struct rte_eth_dev *dev)
{
	int ret = octo_rx_intr_make_handle(dev);

	if (ret != 0 || rte_intr_nb_efd_get(dev->intr_handle) > 0)
		return ret;
	ret = rte_intr_vec_list_alloc(dev->intr_handle, "octo_rx_intr", RTE_MAX_RXTX_INTR_VEC_ID);
	for (uint16_t i = 0; ret == 0 && i < RTE_MAX_RXTX_INTR_VEC_ID; i++)
		ret = octo_rx_intr_add_fd(dev->intr_handle, i, -1);
	rte_intr_nb_efd_set(dev->intr_handle, 0);
	return ret;
}

/* Those of queues that have one already are closed: the descriptors of a port do not change. */
static int
take_fds(struct rte_eth_dev *dev, uint16_t first, const struct rte_mp_msg *msg)
{
	int ret;

	pthread_mutex_lock(&taking);
	ret = make_handle(dev);
	for (int i = 0; i < msg->num_fds; i++)
		if (ret != 0 || first + i != rte_intr_nb_efd_get(dev->intr_handle) ||
		    octo_rx_intr_add_fd(dev->intr_handle, first + i, msg->fds[i]) != 0)
			close(msg->fds[i]);
	pthread_mutex_unlock(&taking);
	return ret;
}

static int
borrow(struct rte_eth_dev *dev, const struct octo_dev *octo)
{
	struct ask ask = ask_for(octo, 0, GET_FDS);
	struct rte_mp_msg answer = {0};
	int ret;

	do {
		ret = ask_primary(&ask, &answer);
		if (ret != 0 || answer.num_fds == 0)
			return ret;
		ret = take_fds(dev, ask.queue_id, &answer);
		ask.queue_id += answer.num_fds;
	} while (ret == 0 && ask.queue_id < dev->data->nb_rx_queues);
	return ret;
}

static void
complain(uint16_t port_id, int ret)
{
	if (ret != 0)
		OCTO_LOG(WARNING,
			 "port %u: this process cannot get the Rx interrupts of the primary "
			 "process (%s), so poll the queues",
			 port_id, rte_strerror(-ret));
}

void
octo_rx_intr_borrow(struct rte_eth_dev *dev, const struct octo_dev *octo)
{
	if (dev->data->dev_conf.intr_conf.rxq && dev->data->nb_rx_queues > 0)
		complain(octo->port_id, borrow(dev, octo));
}

/* The registry is held while the port is used: whoever releases the port waits for that. */
static void
take_given(const struct give *give, const struct rte_mp_msg *msg)
{
	struct octo_dev *octo = octo_registry_get_any(give->port_id);

	if (octo != NULL && octo->owner_id == give->owner_id)
		complain(octo->port_id,
			 take_fds(&rte_eth_devices[octo->port_id], give->queue_id, msg));
	else
		octo_ask_close_fds(msg);
	if (octo != NULL)
		octo_registry_put();
}

static int
on_give(const struct rte_mp_msg *msg, const void *peer)
{
	struct rte_mp_msg answer = {.name = GIVE, .len_param = sizeof(struct octo_ask_head)};
	struct give give;

	if (msg->len_param != sizeof(give)) {
		octo_ask_close_fds(msg);
		return -EINVAL;
	}
	memcpy(&give, msg->param, sizeof(give));
	take_given(&give, msg);
	memcpy(answer.param, &give.head, sizeof(give.head));
	return give.waits ? rte_mp_reply(&answer, peer) : 0;
}

int
octo_rx_intr_serve(void)
{
	const bool gives = rte_eal_process_type() == RTE_PROC_PRIMARY;

	if (rte_mp_action_register(gives ? ASK : GIVE, gives ? on_ask : on_give) == 0 ||
	    rte_errno == EEXIST || rte_errno == ENOTSUP)
		return 0;
	OCTO_LOG(ERR, "the processes cannot share Rx interrupts: %s", rte_strerror(rte_errno));
	return -rte_errno;
}

static bool
all_have(struct rte_mp_msg *msg)
{
	struct rte_mp_reply reply;
	const bool all = octo_ask(msg, &reply);

	free(reply.msgs);
	return all;
}

/* EAL asks one process after the other, and none after one that does not answer. */
static void
give_fds(const struct octo_dev *octo, struct give *give, struct rte_mp_msg *msg)
{
	memcpy(msg->param, give, sizeof(*give));
	if (give->waits && all_have(msg))
		return;
	if (give->waits)
		OCTO_LOG(WARNING,
			 "port %u: a secondary process does not answer: it may have no Rx "
			 "interrupts yet",
			 octo->port_id);
	give->waits = false;
	memcpy(msg->param, give, sizeof(*give));
	rte_mp_sendmsg(msg);
}

void
octo_rx_intr_give(struct octo_dev *octo)
{
	struct give give = {.owner_id = octo->owner_id, .port_id = octo->port_id, .waits = true};

	for (;; give.queue_id += RTE_MP_MAX_FD_NUM) {
		struct rte_mp_msg msg = {.name = GIVE, .len_param = sizeof(give)};

		/* a process that is not noted yet asks for them: the fence pairs with serve() */
		octo_askers_enter(&octo->walkers);
		get_fds(octo, give.queue_id, &msg);
		octo_askers_leave(&octo->walkers);
		if (msg.num_fds == 0 || !octo_legs_is_lent(octo))
			return;
		give_fds(octo, &give, &msg);
	}
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

/*
 * Arming is asked for once more if the process has got a leg meanwhile: WAKE for it may have come
 * before the answer.
 */
static int
ask_to_switch(const struct octo_dev *octo, uint16_t queue_id, enum what what)
{
	struct ask ask = ask_for(octo, queue_id, what);
	struct rte_mp_msg answer;
	int ret;

	do {
		ask.lacking = what == ARM ? lacking_legs(octo, queue_id) : 0;
		ret = ask_primary(&ask, &answer);
	} while (ret == 0 && ask.lacking != 0 &&
		 (ask.lacking & ~lacking_legs(octo, queue_id)) != 0);
	return ret;
}

static int
call_primary(struct rte_eth_dev *dev, uint16_t queue_id, enum what what)
{
	int ret;

	if (dev->intr_handle == NULL || queue_id >= rte_intr_nb_efd_get(dev->intr_handle)) {
		OCTO_LOG(ERR,
			 "port %u: this process has no interrupt of Rx queue %u: start the port "
			 "with intr_conf.rxq in the primary process, or poll the queue",
			 dev->data->port_id, queue_id);
		return -ENOTSUP;
	}
	ret = ask_to_switch(octo_of(dev), queue_id, what);
	if (ret != 0)
		OCTO_LOG(ERR,
			 "port %u: the primary process does not %s the interrupt of Rx queue %u "
			 "(%s), so poll it",
			 dev->data->port_id, what == ARM ? "enable" : "disable", queue_id,
			 rte_strerror(-ret));
	return ret;
}

/* The registry is not held while the primary is asked. */
static void
wake_all(uint16_t port_id)
{
	const struct octo_dev *octo = octo_registry_get_any(port_id);
	struct rte_mp_msg answer;
	struct ask ask;
	bool waits;

	if (octo == NULL)
		return;
	ask = ask_for(octo, 0, WAKE);
	waits = rte_eth_devices[octo->port_id].intr_handle != NULL;
	octo_registry_put();
	if (waits)
		ask_primary(&ask, &answer);
}

static void
gain(void *arg)
{
	RTE_SET_USED(arg);
	for (uint16_t port_id = 0; port_id < RTE_MAX_ETHPORTS; port_id++)
		wake_all(port_id);
}

void
octo_rx_intr_gain(void)
{
	octo_alarm_set(1, gain, NULL);
}

static int
switch_intr(struct rte_eth_dev *dev, uint16_t queue_id, enum what what)
{
	struct octo_dev *octo = octo_of(dev);
	int ret;

	if (octo_legs_borrowed)
		return call_primary(dev, queue_id, what);
	/* as in serve(): a setup of the queue waits for that, too */
	octo_askers_enter(&octo->walkers);
	ret = octo_rx_intr_switch(octo, queue_id, what == ARM, 0);
	octo_askers_leave(&octo->walkers);
	return ret;
}

int
octo_rx_queue_intr_enable(struct rte_eth_dev *dev, uint16_t queue_id)
{
	return switch_intr(dev, queue_id, ARM);
}

int
octo_rx_queue_intr_disable(struct rte_eth_dev *dev, uint16_t queue_id)
{
	return switch_intr(dev, queue_id, DISARM);
}
