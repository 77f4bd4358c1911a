/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_interrupts.h>

#include "octo_private.h"
#include "octo_rx_intr.h"

#define NO_FD (-1)
/* The eventfd, among the legs in the data of events. */
#define WAKE_BIT RTE_BIT32(OCTO_MAX_PFS)

/* The descriptors of a queue in this process, and what its poller knows. */
struct queue_intr {
	int epfd;
	int wake;                          /* eventfd */
	RTE_ATOMIC(int) leg[OCTO_MAX_PFS]; /* those in epfd; they belong to the PFs */
	RTE_ATOMIC(uint32_t) joined;       /* legs that were not armed since they were added */
	/* by the poller */
	uint32_t blind;    /* legs of PMDs that cannot say whether there are packets */
	uint64_t received; /* packets until the queue was last armed */
	uint8_t looks;     /* bursts until the blind legs are known to be empty */
};

struct port_intr {
	uint16_t nb_queues; /* since the start */
	uint16_t nb_made;   /* those of earlier starts, too */
	struct queue_intr queue[];
};

/* By octo port. Kept over stops, as other processes have the descriptors, too. */
static struct port_intr *made[RTE_MAX_ETHPORTS];

/* The same while the port has interrupts, else NULL. */
static RTE_ATOMIC(struct port_intr *) ports[RTE_MAX_ETHPORTS];

static struct port_intr *
port_of(const struct octo_dev *octo)
{
	/* pairs with the release in octo_rx_intr_start_locked() */
	return rte_atomic_load_explicit(&ports[octo->port_id], rte_memory_order_acquire);
}

static void
wake(const struct queue_intr *intr)
{
	const uint64_t one = 1;

	/* only a count of 2^64 - 1 is refused, and makes the descriptor readable, too */
	if (write(intr->wake, &one, sizeof(one)) < 0)
		OCTO_LOG(DEBUG, "a poller has been woken already");
}

void
octo_rx_intr_wake(const struct octo_dev *octo, uint16_t queue_id)
{
	const struct port_intr *p = port_of(octo);

	if (p != NULL && queue_id < p->nb_queues)
		wake(&p->queue[queue_id]);
}

void
octo_rx_intr_wake_all(const struct octo_dev *octo)
{
	const struct port_intr *p = port_of(octo);

	for (uint16_t i = 0; p != NULL && i < p->nb_queues; i++)
		wake(&p->queue[i]);
}

static int
add_fd(const struct queue_intr *intr, int fd, uint32_t bit)
{
	/* edge-triggered: that a descriptor is read, or by whom, makes no difference */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = bit};

	/* queues of a port may share a descriptor */
	if (epoll_ctl(intr->epfd, EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST)
		return 0;
	return -errno;
}

static int
add_leg(const struct octo_dev *octo, struct queue_intr *intr, uint8_t pf, uint16_t queue)
{
	const struct octo_leg leg = octo_pf_leg(&octo->pf[pf], queue);
	const int fd = rte_eth_dev_rx_intr_ctl_q_get_fd(leg.port, leg.queue);
	int ret = fd < 0 ? -ENOTSUP : add_fd(intr, fd, RTE_BIT32(pf));

	if (ret != 0)
		return ret;
	rte_atomic_store_explicit(&intr->leg[pf], fd, rte_memory_order_relaxed);
	/* the poller takes it when the leg is live, which is published later with release */
	rte_atomic_fetch_or_explicit(&intr->joined, RTE_BIT32(pf), rte_memory_order_relaxed);
	return 0;
}

/* Returns 0, or a negative errno, with the queue for which it failed. */
static int
add_port(const struct octo_dev *octo, struct port_intr *p, uint8_t port, uint16_t *queue)
{
	int ret = 0;

	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++) {
		if (octo_port_index(octo, pf) != port)
			continue;
		for (*queue = 0; *queue < p->nb_queues; (*queue)++) {
			ret = add_leg(octo, &p->queue[*queue], pf, *queue);
			if (ret != 0)
				return ret;
		}
	}
	return ret;
}

int
octo_rx_intr_add_port_locked(struct octo_dev *octo, uint8_t port)
{
	struct port_intr *p = port_of(octo);
	uint16_t queue;
	int ret;

	if (p == NULL)
		return 0;
	ret = add_port(octo, p, port, &queue);
	if (ret == 0)
		return 0;
	octo_rx_intr_drop(octo, octo_port_pfs(octo, port));
	/* lost meanwhile, which is why its descriptor is not there */
	if (!octo_port_is(&octo->port[port], OCTO_PORT_READY))
		return -ENODEV;
	if (octo->port[port].fsm.logged)
		return ret;
	OCTO_LOG(ERR, "port %u: PF %s has no Rx interrupt for Rx queue %u, and the others have: %s",
		 octo->port_id, octo->port[port].name, queue, rte_strerror(-ret));
	return ret;
}

static void
drop_leg(struct queue_intr *intr, uint8_t pf)
{
	/* two threads may drop it: one as its event is handled, one with the mutex */
	const int fd = rte_atomic_exchange_explicit(&intr->leg[pf], NO_FD,
						    rte_memory_order_relaxed);

	/* fails if the PF has closed it, which removes it as well */
	if (fd != NO_FD)
		epoll_ctl(intr->epfd, EPOLL_CTL_DEL, fd, NULL);
}

static void
drop_legs(const struct octo_dev *octo, struct port_intr *p, uint32_t pfs)
{
	for (uint16_t i = 0; i < p->nb_queues; i++)
		for (uint8_t pf = 0; pf < octo->nb_pfs; pf++)
			if (pfs & RTE_BIT32(pf))
				drop_leg(&p->queue[i], pf);
}

int
octo_rx_intr_renew_locked(struct octo_dev *octo, uint16_t queue)
{
	struct port_intr *p = port_of(octo);
	int ret = 0;
	int pf;

	if (p == NULL)
		return 0;
	OCTO_FOREACH_PF(octo, pf, OCTO_PORT_RUNNING) {
		drop_leg(&p->queue[queue], (uint8_t)pf);
		ret = ret != 0 ? ret : add_leg(octo, &p->queue[queue], (uint8_t)pf, queue);
	}
	return ret;
}

void
octo_rx_intr_drop(const struct octo_dev *octo, uint32_t pfs)
{
	struct port_intr *p = port_of(octo);

	if (p != NULL)
		drop_legs(octo, p, pfs);
}

/* Which descriptors have been signalled since the last call? */
static uint32_t
take_signals(const struct queue_intr *intr)
{
	struct epoll_event event[OCTO_MAX_PFS + 1];
	const int n = epoll_wait(intr->epfd, event, RTE_DIM(event), 0);
	uint32_t signalled = 0;

	for (int i = 0; i < n; i++)
		signalled |= event[i].data.u32;
	return signalled;
}

static void
close_queue(const struct queue_intr *intr)
{
	if (intr->wake != NO_FD)
		close(intr->wake);
	if (intr->epfd != NO_FD)
		close(intr->epfd);
}

static int
make_queue(struct queue_intr *intr)
{
	int ret;

	intr->epfd = epoll_create1(EPOLL_CLOEXEC);
	intr->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++)
		intr->leg[pf] = NO_FD;
	ret = intr->epfd < 0 || intr->wake < 0 ? -errno : add_fd(intr, intr->wake, WAKE_BIT);
	if (ret != 0)
		close_queue(intr);
	return ret;
}

/* Forget what was known and signalled before the start. */
static void
reset_queue(struct queue_intr *intr)
{
	take_signals(intr);
	intr->joined = 0;
	intr->blind = 0;
	intr->looks = 0;
	/* not the count at any time: packets may have come before the queue is armed */
	intr->received = UINT64_MAX;
}

static int
make_port(uint16_t port_id, uint16_t nb_queues, struct port_intr **port)
{
	struct port_intr *p = made[port_id];
	const uint16_t nb_made = p == NULL ? 0 : p->nb_made;
	int ret = 0;

	p = realloc(p, sizeof(*p) + RTE_MAX(nb_made, nb_queues) * sizeof(p->queue[0]));
	if (p == NULL)
		return -ENOMEM;
	made[port_id] = p;
	p->nb_queues = nb_queues;
	for (p->nb_made = nb_made; ret == 0 && p->nb_made < nb_queues; p->nb_made += ret == 0)
		ret = make_queue(&p->queue[p->nb_made]);
	for (uint16_t i = 0; ret == 0 && i < nb_queues; i++)
		reset_queue(&p->queue[i]);
	if (ret == 0)
		*port = p;
	return ret;
}

/* The legs of all PFs; a PF that has none is named. */
static int
add_all(struct octo_dev *octo, struct port_intr *p)
{
	uint16_t queue;
	int ret = 0;
	int i;

	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_RUNNING) {
		ret = add_port(octo, p, (uint8_t)i, &queue);
		if (ret == 0)
			continue;
		/* not an error: the application polls if it cannot enable an interrupt */
		OCTO_LOG(WARNING,
			 "port %u: Rx interrupts (intr_conf.rxq) are not supported: PF %s has none "
			 "for Rx queue %u (%s): rte_eth_dev_rx_intr_enable() will fail, so poll "
			 "the queues",
			 octo->port_id, octo->port[i].name, queue, rte_strerror(-ret));
		return ret;
	}
	return ret;
}

int
octo_rx_intr_make_handle(struct rte_eth_dev *dev)
{
	if (dev->intr_handle == NULL)
		dev->intr_handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (dev->intr_handle == NULL)
		return -ENOMEM;
	/* EAL does not read descriptors of this type */
	return rte_intr_type_set(dev->intr_handle, RTE_INTR_HANDLE_EXT);
}

int
octo_rx_intr_add_fd(struct rte_intr_handle *handle, uint16_t queue_id, int fd)
{
	int ret = rte_intr_efds_index_set(handle, queue_id, fd);

	if (ret == 0)
		ret = rte_intr_vec_list_index_set(handle, queue_id,
						  RTE_INTR_VEC_RXTX_OFFSET + queue_id);
	return ret == 0 ? rte_intr_nb_efd_set(handle, queue_id + 1) : ret;
}

static int
fill_handle(struct rte_intr_handle *handle, const struct port_intr *p)
{
	int ret = rte_intr_vec_list_alloc(handle, "octo_rx_intr", p->nb_queues);

	for (uint16_t i = 0; ret == 0 && i < p->nb_queues; i++)
		ret = octo_rx_intr_add_fd(handle, i, p->queue[i].epfd);
	return ret;
}

static void
clear_handle(struct rte_intr_handle *handle)
{
	rte_intr_free_epoll_fd(handle);
	rte_intr_nb_efd_set(handle, 0);
	rte_intr_vec_list_free(handle);
}

static void
free_handle(struct rte_eth_dev *dev)
{
	rte_intr_instance_free(dev->intr_handle);
	dev->intr_handle = NULL;
}

static int
make_descriptors(struct octo_dev *octo, struct rte_eth_dev *dev, struct port_intr **port)
{
	const uint16_t nb_queues = dev->data->nb_rx_queues;
	int ret = nb_queues > RTE_MAX_RXTX_INTR_VEC_ID ? -ENOSPC : octo_rx_intr_make_handle(dev);

	if (ret == 0)
		ret = make_port(octo->port_id, nb_queues, port);
	if (ret == 0)
		ret = fill_handle(dev->intr_handle, *port);
	if (ret != 0)
		OCTO_LOG(ERR, "port %u: no Rx interrupts for %u Rx queues, %u at most: %s",
			 octo->port_id, nb_queues, RTE_MAX_RXTX_INTR_VEC_ID, rte_strerror(-ret));
	return ret;
}

void
octo_rx_intr_start_locked(struct octo_dev *octo)
{
	struct rte_eth_dev *dev = &rte_eth_devices[octo->port_id];
	struct port_intr *p = NULL;
	int ret;

	if (!dev->data->dev_conf.intr_conf.rxq || dev->data->nb_rx_queues == 0)
		return;
	ret = make_descriptors(octo, dev, &p);
	if (ret == 0)
		ret = add_all(octo, p);
	if (ret == 0) {
		/* pairs with the acquire in port_of() */
		rte_atomic_store_explicit(&ports[octo->port_id], p, rte_memory_order_release);
		return;
	}
	if (p != NULL) {
		clear_handle(dev->intr_handle);
		drop_legs(octo, p, UINT32_MAX);
	}
	/* ethdev then refuses what an application asks of it */
	free_handle(dev);
}

void
octo_rx_intr_stop_locked(struct octo_dev *octo)
{
	struct port_intr *p = port_of(octo);

	if (p == NULL)
		return;
	clear_handle(rte_eth_devices[octo->port_id].intr_handle);
	rte_atomic_store_explicit(&ports[octo->port_id], NULL, rte_memory_order_relaxed);
	/* twice the stall timeout, as octo_rx_queue_release() */
	octo_askers_await(&octo->walkers, 2 * OCTO_STALL_TIMEOUT_US);
	/* who sleeps in another process must notice */
	for (uint16_t i = 0; i < p->nb_queues; i++)
		wake(&p->queue[i]);
}

void
octo_rx_intr_fini(struct rte_eth_dev *dev)
{
	const uint16_t port_id = octo_of(dev)->port_id;
	struct port_intr *p = made[port_id];

	free_handle(dev);
	for (uint16_t i = 0; p != NULL && i < p->nb_made; i++)
		close_queue(&p->queue[i]);
	free(p);
	made[port_id] = NULL;
}

int
octo_rx_intr_get_fd(const struct octo_dev *octo, uint16_t queue_id)
{
	const struct port_intr *p = port_of(octo);

	return p == NULL || queue_id >= p->nb_queues ? NO_FD : p->queue[queue_id].epfd;
}

int
octo_rx_intr_count(uint16_t port_id, uint16_t queue)
{
	int n = rte_eth_rx_queue_count(port_id, queue);

	if (n != -ENOTSUP)
		return n;
	n = rte_eth_rx_descriptor_status(port_id, queue, 0);
	return n < 0 ? n : n == RTE_ETH_RX_DESC_DONE;
}

/*
 * Arm a leg, then look whether it has packets. That of a PF that is about to go is not armed: its
 * poller goes on until the leg is unpublished, or can be armed because the PF stays.
 */
static int
arm_leg(struct octo_rxq *q, struct queue_intr *intr, uint8_t pf, bool signalled, bool *waits)
{
	const struct octo_port *port = q->octo->pf[pf].port;
	const uint16_t queue = q->leg[pf].queue;
	struct octo_use use;
	int ret, n;

	if (!octo_users_enter(port, &use)) {
		*waits = true;
		return 0;
	}
	/* some drivers keep an event until then, which was put off */
	if (signalled)
		rte_eth_dev_rx_intr_disable(use.port_id, queue);
	ret = rte_eth_dev_rx_intr_enable(use.port_id, queue);
	n = octo_rx_intr_count(use.port_id, queue);
	octo_users_leave(&use);
	if (n == -ENOTSUP)
		intr->blind |= RTE_BIT32(pf);
	*waits |= n > 0;
	/* without the operation a descriptor is always armed, as of net_tap */
	if (ret == 0 || ret == -ENOTSUP || ret == -EIO || ret == -ENODEV)
		return 0;
	OCTO_LOG(ERR, "port %u: PF %s cannot enable the interrupt of Rx queue %u: %s", q->port_id,
		 port->name, q->queue_id, rte_strerror(-ret));
	return ret;
}

bool
octo_rx_intr_is_fenced(const struct octo_rxq *q)
{
	/* pairs with the release in octo_gate_arm() */
	return (rte_atomic_load_explicit(&q->gate.word, rte_memory_order_acquire) &
		OCTO_GATE_OPEN) != 0;
}

/* Copies that tier mac dropped are packets of the ring, too. */
static uint64_t
received(const struct octo_rxq *q)
{
	return q->home_count.packets + q->stray_count.packets + q->copies.foreign +
	       q->copies.groups;
}

/*
 * May a leg whose driver cannot count have packets? They may have come before it was armed if it
 * has joined, or if the queue was armed anew after a signal or packets; from then on it has been
 * armed all along. An empty burst polls one idle stray leg, so it takes as many as there are legs.
 */
static bool
may_wait(const struct octo_rxq *q, struct queue_intr *intr, uint32_t live, uint32_t signalled)
{
	const uint64_t before = intr->received;
	const uint32_t joined = rte_atomic_fetch_and_explicit(&intr->joined, ~live,
							      rte_memory_order_relaxed);

	intr->received = received(q);
	if (intr->received != before || ((signalled | (joined & live)) & intr->blind) != 0)
		intr->looks = (uint8_t)__builtin_popcount(live);
	if (intr->blind == 0 || intr->looks == 0)
		return false;
	intr->looks--;
	return true;
}

static int
arm(struct octo_rxq *q, struct queue_intr *intr, uint32_t lacking)
{
	/* first, so that all that comes from now on makes the descriptor readable again */
	const uint32_t signalled = take_signals(intr);
	/* pairs with the release in octo_topo_publish_live() */
	const uint32_t live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire) &
			      ~lacking;
	bool waits = false;
	int ret = 0;

	for (uint8_t pf = 0; ret == 0 && pf < OCTO_MAX_PFS; pf++)
		if (live & RTE_BIT32(pf))
			ret = arm_leg(q, intr, pf, (signalled & RTE_BIT32(pf)) != 0, &waits);
	if (may_wait(q, intr, live, signalled) || waits || octo_rx_intr_is_fenced(q))
		wake(intr);
	return ret;
}

/* Legs of drivers that cannot count stay armed: see may_wait(). */
static void
disarm(const struct octo_rxq *q, const struct queue_intr *intr)
{
	/* pairs with the release in octo_topo_publish_live() */
	const uint32_t live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
	struct octo_use use;

	for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++) {
		if (!(live & ~intr->blind & RTE_BIT32(pf)) ||
		    !octo_users_enter(q->octo->pf[pf].port, &use))
			continue;
		/* a driver that cannot, or has no event to take back, has nothing to be undone */
		rte_eth_dev_rx_intr_disable(use.port_id, q->leg[pf].queue);
		octo_users_leave(&use);
	}
}

int
octo_rx_intr_switch(struct octo_dev *octo, uint16_t queue_id, bool on, uint32_t lacking)
{
	struct port_intr *p = port_of(octo);
	struct octo_rxq *q;

	if (p == NULL || queue_id >= p->nb_queues)
		return -ENOTSUP;
	q = rte_eth_devices[octo->port_id].data->rx_queues[queue_id];
	/* it is being set up again on the running port */
	if (q == NULL)
		return -EAGAIN;
	if (on)
		return arm(q, &p->queue[queue_id], lacking);
	disarm(q, &p->queue[queue_id]);
	return 0;
}
