/* SPDX-License-Identifier: BSD-3-Clause */

/* Wake the control thread before its next tick. */

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "octo_private.h"

int
octo_wake_init(struct octo_dev *octo)
{
	octo->ctrl.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return octo->ctrl.wake_fd < 0 ? -errno : 0;
}

void
octo_wake_fini(struct octo_dev *octo)
{
	close(octo->ctrl.wake_fd);
}

/* Wake the control thread; from any thread. */
void
octo_wake(struct octo_dev *octo)
{
	const uint64_t one = 1;

	if (write(octo->ctrl.wake_fd, &one, sizeof(one)) < 0)
		OCTO_LOG(DEBUG, "port %u: the control thread is awake already", octo->port_id);
}

/* A PF's link may have changed; from any thread. */
void
octo_wake_link(struct octo_dev *octo)
{
	rte_atomic_store_explicit(&octo->ctrl.link_changed, true, rte_memory_order_release);
	octo_wake(octo);
}

/*
 * Called by a poller that gave its queue a new home, so that rehome begins before the next
 * tick. A secondary cannot wake the thread, which then sees the change in its next tick.
 */
void
octo_wake_home(struct octo_dev *octo)
{
	const uint64_t one = 1;

	/* a failed write means that the thread is awake; no log in the data path */
	if (rte_eal_process_type() == RTE_PROC_PRIMARY &&
	    write(octo->ctrl.wake_fd, &one, sizeof(one)) < 0)
		return;
}
