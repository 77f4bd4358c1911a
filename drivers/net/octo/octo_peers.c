/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "octo_ask.h"
#include "octo_clock.h"
#include "octo_peers.h"
#include "octo_private.h"
#include "octo_rx_intr.h"

#define LET_GO "net_octo_let_go"

struct let_go {
	struct octo_ask_head head;
	uint64_t owner_id; /* identifies the octo port: owner ids are unique */
	uint16_t port_id;
};

struct request {
	struct let_go what;
	char peer[];
};

/* EAL attaches devices in the thread that starts it, and releases ports in another. */
static pthread_mutex_t attaching = PTHREAD_MUTEX_INITIALIZER;

void
octo_peers_begin_attach(void)
{
	pthread_mutex_lock(&attaching);
}

void
octo_peers_end_attach(void)
{
	pthread_mutex_unlock(&attaching);
}

/*
 * The release tells this process's application by RTE_ETH_EVENT_DESTROY. If the primary has
 * given up waiting, dev->data may belong to another port by now: then ethdev would take the
 * port id from it, so the port is only marked as unused.
 */
static void
release(struct rte_eth_dev *dev, const struct octo_dev *octo)
{
	if (octo_of(dev) == octo)
		rte_eth_dev_release_port(dev);
	else
		dev->state = RTE_ETH_DEV_UNUSED;
}

static void
let_go(void *arg)
{
	struct request *r = arg;
	struct rte_mp_msg reply = {.name = LET_GO, .len_param = sizeof(r->what.head)};
	const struct octo_dev *octo;

	octo_peers_begin_attach();
	octo = octo_legs_return(r->what.port_id, r->what.owner_id);
	if (octo != NULL) {
		octo_rx_intr_return(&rte_eth_devices[r->what.port_id]);
		release(&rte_eth_devices[r->what.port_id], octo);
	}
	octo_peers_end_attach();
	memcpy(reply.param, &r->what.head, sizeof(r->what.head));
	if (rte_mp_reply(&reply, r->peer) != 0)
		OCTO_LOG(ERR, "port %u: the primary process cannot be told that it is released",
			 r->what.port_id);
	free(r);
}

/*
 * Done in EAL's interrupt thread, where devices are detached, too: a listener for the release
 * may send messages and wait for answers, which would block in this thread.
 */
static int
on_let_go(const struct rte_mp_msg *msg, const void *peer)
{
	const size_t len = strlen(peer) + 1;
	struct request *r;
	int ret;

	octo_ask_close_fds(msg);
	if (msg->len_param != sizeof(r->what))
		return -EINVAL;
	r = malloc(sizeof(*r) + len);
	if (r == NULL)
		return -ENOMEM;
	memcpy(&r->what, msg->param, sizeof(r->what));
	memcpy(r->peer, peer, len);
	ret = octo_alarm_set(1, let_go, r);
	if (ret != 0)
		free(r);
	return ret;
}

int
octo_peers_init(void)
{
	if (rte_mp_action_register(LET_GO, on_let_go) == 0 || rte_errno == EEXIST)
		return 0;
	OCTO_LOG(ERR, "the primary process cannot tell that it closes a port: %s",
		 rte_strerror(rte_errno));
	return -rte_errno;
}

bool
octo_peers_let_go(const struct octo_dev *octo)
{
	const struct let_go what = {.owner_id = octo->owner_id, .port_id = octo->port_id};
	struct rte_mp_msg msg = {.name = LET_GO, .len_param = sizeof(what)};
	struct rte_mp_reply reply;
	bool all;

	/* rte_mp would ask processes without this driver, too, which do not answer */
	if (!octo_legs_is_lent(octo))
		return true;
	memcpy(msg.param, &what, sizeof(what));
	all = octo_ask(&msg, &reply);
	free(reply.msgs);
	if (!all)
		OCTO_LOG(WARNING,
			 "port %u: a secondary process does not answer: it must not use the port "
			 "any more, which is closed",
			 octo->port_id);
	return all;
}

/* Wait for bursts of the port's PF, also of one that is shut: the primary may await them yet. */
static void
await_bursts(struct octo_dev *octo, const void *port)
{
	const uint16_t pf_port_id = *(const uint16_t *)port;
	bool found = false;

	octo_lock(octo);
	for (uint8_t i = 0; i < octo->nb_ports; i++)
		found |= octo->port[i].port_id == pf_port_id;
	if (found)
		octo_poll_await_all(octo);
	octo_unlock(octo);
}

void
octo_peers_lose_pf(uint16_t pf_port_id)
{
	if (!octo_legs_borrowed)
		return;
	octo_users_lose(pf_port_id);
	octo_registry_foreach(await_bursts, &pf_port_id);
}
