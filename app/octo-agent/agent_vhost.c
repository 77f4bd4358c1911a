/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_string_fns.h>
#include <rte_vhost.h>

#include "agent_log.h"
#include "agent_listen.h"
#include "agent_vhost.h"

/*
 * Split rings only: the auditor reads them. The hardware does not cut segments,
 * so that clients must not ask for it.
 */
#define NO_FEATURES                                                                                \
	(RTE_BIT64(VIRTIO_F_RING_PACKED) | RTE_BIT64(VIRTIO_NET_F_GSO) |                           \
	 RTE_BIT64(VIRTIO_NET_F_HOST_TSO4) | RTE_BIT64(VIRTIO_NET_F_HOST_TSO6) |                   \
	 RTE_BIT64(VIRTIO_NET_F_HOST_UFO) | RTE_BIT64(VIRTIO_NET_F_HOST_ECN))

/* vhost would invent a packet that no client sent. */
#define NO_PROTOCOL_FEATURES RTE_BIT64(VHOST_USER_PROTOCOL_F_RARP)

static struct agent *the_agent; /* vhost's callbacks bring nothing along */

static struct agent_pf *
find_pf(int vid)
{
	char path[AGENT_PATH_MAX];

	if (rte_vhost_get_ifname(vid, path, sizeof(path)) != 0)
		return NULL;
	for (uint16_t i = 0; i < the_agent->options.nb_pfs; i++)
		if (strcmp(the_agent->options.pf[i].vhost, path) == 0)
			return &the_agent->pf[i];
	return NULL;
}

/* Pairs with the acquire in agent_forward.c: what was left before is seen. */
static void
notify_poller(struct agent_pf *pf)
{
	rte_atomic_store_explicit(&pf->changed, true, rte_memory_order_release);
}

static void
disable_all(struct agent_pf *pf)
{
	for (uint16_t i = 0; i < AGENT_MAX_RINGS; i++)
		rte_atomic_store_explicit(&pf->enabled[i], false, rte_memory_order_relaxed);
	notify_poller(pf);
}

/* Between two messages the view is what vhost itself uses. */
static enum rte_vhost_msg_result
after_message(int vid, void *msg)
{
	struct agent_pf *pf = find_pf(vid);
	struct agent_view *view;

	RTE_SET_USED(msg);
	if (pf == NULL || pf->vid != vid)
		return RTE_VHOST_MSG_RESULT_NOT_HANDLED;
	view = agent_view_create(vid, pf->options);
	if (view != NULL) {
		view = rte_atomic_exchange_explicit(&pf->next, view, rte_memory_order_acq_rel);
		agent_view_free(view);
		notify_poller(pf);
	}
	return RTE_VHOST_MSG_RESULT_NOT_HANDLED;
}

static int
new_connection(int vid)
{
	static const struct rte_vhost_user_extern_ops hooks = {.post_msg_handle = after_message};
	struct agent_pf *pf = find_pf(vid);

	if (pf == NULL)
		return -1;
	if (rte_atomic_load_explicit(&pf->connection, rte_memory_order_relaxed) >= 0) {
		AGENT_LOG(WARNING, pf->own->name, "a second client of %s is refused",
			  pf->own->vhost);
		return -1;
	}
	disable_all(pf);
	if (rte_vhost_extern_callback_register(vid, &hooks, NULL) != 0)
		return -1;
	rte_atomic_store_explicit(&pf->connection, vid, rte_memory_order_relaxed);
	return 0;
}

static void
destroy_connection(int vid)
{
	struct agent_pf *pf = find_pf(vid);

	if (pf == NULL ||
	    rte_atomic_load_explicit(&pf->connection, rte_memory_order_relaxed) != vid)
		return;
	disable_all(pf);
	rte_atomic_store_explicit(&pf->connection, -1, rte_memory_order_relaxed);
}

/* With the lock held, or when nobody polls. */
static void
replace_view(struct agent_pf *pf, struct agent_view *view)
{
	struct agent_view *next;

	next = rte_atomic_exchange_explicit(&pf->next, NULL, rte_memory_order_acq_rel);
	agent_view_free(next);
	agent_view_free(pf->view);
	pf->view = view;
}

static int
new_device(int vid)
{
	struct agent_pf *pf = find_pf(vid);
	struct agent_view *view;

	if (pf == NULL)
		return -1;
	view = agent_view_create(vid, pf->options);
	if (view == NULL)
		return -1;
	rte_ticketlock_lock(&pf->lock);
	replace_view(pf, view);
	pf->vid = vid;
	rte_ticketlock_unlock(&pf->lock);
	notify_poller(pf);
	AGENT_LOG(INFO, pf->own->name, "a client drives the PF by %s", pf->own->vhost);
	return 0;
}

static void
destroy_device(int vid)
{
	struct agent_pf *pf = find_pf(vid);

	if (pf == NULL || pf->vid != vid)
		return;
	rte_ticketlock_lock(&pf->lock);
	pf->vid = -1;
	memset(pf->on, 0, sizeof(pf->on));
	replace_view(pf, NULL);
	rte_ticketlock_unlock(&pf->lock);
	AGENT_LOG(INFO, pf->own->name, "the client let go of the PF");
}

/* vhost holds the locks of all rings: the PF's lock would be a deadlock. */
static int
vring_state_changed(int vid, uint16_t ring, int enable)
{
	struct agent_pf *pf = find_pf(vid);

	if (pf == NULL)
		return -1;
	if (ring >= AGENT_RXQ(pf->own->queues)) {
		if (enable && ring % 2 == 0)
			AGENT_LOG(WARNING, pf->own->name,
				  "the client uses queue pair %u, but the PF has %u: queues= "
				  "gives it more",
				  ring / 2, pf->own->queues);
		return 0;
	}
	rte_atomic_store_explicit(&pf->enabled[ring], enable != 0, rte_memory_order_relaxed);
	notify_poller(pf);
	return 0;
}

static const struct rte_vhost_device_ops callbacks = {
	.new_connection = new_connection,
	.destroy_connection = destroy_connection,
	.new_device = new_device,
	.destroy_device = destroy_device,
	.vring_state_changed = vring_state_changed,
};

/* A socket that nobody listens on is what a killed agent left. */
static int
remove_stale(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat st;
	int fd, ret;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	/* a listener whose queue is full is not waited for: it is there */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	strlcpy(address.sun_path, path, sizeof(address.sun_path));
	ret = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : -errno;
	close(fd);
	if (ret == 0 || ret == -EWOULDBLOCK)
		return -EADDRINUSE;
	if (ret != -ECONNREFUSED)
		return ret;
	return unlink(path) == 0 ? 0 : -errno;
}

static int
set_features(const char *path)
{
	uint64_t features;

	if (rte_vhost_driver_disable_features(path, NO_FEATURES) != 0 ||
	    rte_vhost_driver_get_protocol_features(path, &features) != 0 ||
	    rte_vhost_driver_set_protocol_features(path, features & ~NO_PROTOCOL_FEATURES) != 0 ||
	    rte_vhost_driver_callback_register(path, &callbacks) != 0)
		return -EIO;
	return 0;
}

static int
register_socket(const struct agent_pf_options *pf)
{
	const char *path = pf->vhost;
	int ret;

	if (rte_vhost_driver_register(path, pf->client ? RTE_VHOST_USER_CLIENT : 0) != 0)
		return -EIO;
	ret = set_features(path);
	errno = 0;
	if (ret == 0 && rte_vhost_driver_start(path) != 0)
		ret = errno > 0 ? -errno : -EIO;
	if (ret != 0)
		rte_vhost_driver_unregister(path);
	return ret;
}

/* Two agents that find the same socket stale must not both replace it. */
static int
open_socket(const struct agent_pf_options *pf)
{
	int lock, ret;

	if (pf->client)
		return register_socket(pf);
	lock = agent_listen_lock(pf->vhost);
	if (lock < 0)
		return lock;
	ret = remove_stale(pf->vhost);
	if (ret == 0)
		ret = register_socket(pf);
	agent_listen_unlock(lock);
	return ret;
}

static void
init_pf(struct agent *agent, uint16_t index)
{
	struct agent_pf *pf = &agent->pf[index];

	pf->connection = -1;
	pf->vid = -1;
	rte_ticketlock_init(&pf->lock);
}

int
agent_vhost_start(struct agent *agent)
{
	the_agent = agent;
	for (uint16_t i = 0; i < agent->options.nb_pfs; i++) {
		const struct agent_pf_options *pf = &agent->options.pf[i];
		int ret;

		init_pf(agent, i);
		if (pf->vhost[0] == '\0')
			continue;
		ret = open_socket(pf);
		if (ret != 0) {
			fprintf(stderr, "octo-agent: --pf %s: vhost=%s cannot be used: %s\n",
				pf->name, pf->vhost, strerror(-ret));
			agent_vhost_stop(agent);
			return ret;
		}
	}
	return 0;
}

void
agent_vhost_stop(struct agent *agent)
{
	for (uint16_t i = 0; i < agent->options.nb_pfs; i++) {
		const char *path = agent->options.pf[i].vhost;
		int lock;

		if (path[0] == '\0')
			continue;
		/* vhost closes the socket before it removes it: nobody may replace it in between */
		lock = agent_listen_lock(path);
		rte_vhost_driver_unregister(path);
		if (lock >= 0)
			agent_listen_unlock(lock);
	}
}
