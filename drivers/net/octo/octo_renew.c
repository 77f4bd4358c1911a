/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A port that was ours before, as one that has recovered by itself, is prepared for its next life:
 * it still has the rules and objects of its last one.
 */

#include <errno.h>

#include "octo_private.h"

/* The objects of a port that are destroyed. */
struct renewal {
	const struct octo_port *port;
	uint32_t life; /* of now */
	int ret;       /* the first error */
};

/*
 * The object, if the port has it from its last life. The port may be lost in each call, after which
 * its life is another; its objects are destroyed next time then.
 */
static void *
take(const struct renewal *r, struct octo_handle *handle)
{
	if (r->ret != 0 || r->port->fsm.life != r->life)
		return NULL;
	return octo_handle_take(handle, r->port->past.life);
}

static void
end_tables(struct renewal *r, const struct octo_async *async, uint8_t pf)
{
	struct rte_flow_template_table *table;
	struct octo_pf_template *t;
	void *on;

	LIST_FOREACH(table, &async->tables, next) {
		on = take(r, &table->on[pf]);
		if (on != NULL)
			r->ret = rte_flow_template_table_destroy(r->port->port_id, on, NULL);
	}
	LIST_FOREACH(t, &async->templates, next) {
		on = take(r, &t->on[pf]);
		if (on != NULL && t->common.pattern != NULL)
			r->ret = rte_flow_pattern_template_destroy(r->port->port_id, on, NULL);
		else if (on != NULL)
			r->ret = rte_flow_actions_template_destroy(r->port->port_id, on, NULL);
	}
}

static void
end_action(struct renewal *r, struct octo_handle *handle)
{
	void *on = take(r, handle);

	if (on != NULL)
		r->ret = rte_flow_action_handle_destroy(r->port->port_id, on, NULL);
}

/*
 * Destroy what the port has of its last life. It has nothing without the capability: its driver has
 * dropped all when it recovered (RTE_ETH_EVENT_RECOVERY_SUCCESS).
 */
static int
end_objects(struct octo_dev *octo, uint8_t pf, uint32_t life)
{
	struct renewal r = {.port = &octo->port[pf], .life = life};
	struct octo_handle *of_queues = octo->queue_actions[pf];
	struct rte_flow_action_handle *handle;

	if ((r.port->past.info.dev_capa & RTE_ETH_DEV_CAPA_FLOW_SHARED_OBJECT_KEEP) == 0)
		return 0;
	/* their handles are not known any more */
	if (r.port->past.orphans)
		return -EBUSY;
	octo_port_nic(r.port)->flush(r.port);
	if (octo->async != NULL)
		end_tables(&r, octo->async, pf);
	TAILQ_FOREACH(handle, &octo->indirects, next)
		end_action(&r, &handle->on[pf]);
	for (uint16_t q = 0; of_queues != NULL && q < octo_data(octo)->nb_rx_queues; q++)
		end_action(&r, &of_queues[q]);
	return r.ret;
}

/* A device of which another port exists is not removed: what is left there takes room. */
static bool
can_be_probed_again(const struct octo_port *port)
{
	return !octo_lower_is_shared(port->port_id, port->past.bus, port->past.device);
}

/* The driver may find out in each call that the port is lost, after which its life is another. */
static int
renew(struct octo_dev *octo, uint8_t i, uint32_t life)
{
	const struct octo_port *port = &octo->port[i];
	int ret;

	/* a reset leaves no objects */
	if (port->todo & OCTO_PORT_DO_RESET)
		ret = rte_eth_dev_reset(port->port_id);
	else
		ret = end_objects(octo, i, life);
	if (port->fsm.life != life)
		return 0;
	if (ret != 0 && ((port->todo & OCTO_PORT_DO_RESET) || can_be_probed_again(port))) {
		OCTO_LOG(ERR, "PF %s cannot be %s, and is probed again: %s", port->name,
			 port->todo & OCTO_PORT_DO_RESET ? "reset" : "cleared", rte_strerror(-ret));
		return ret;
	}
	rte_eth_dev_stop(port->port_id);
	if (port->fsm.life == life)
		octo_port_nic(port)->flush(port);
	if (port->fsm.life == life)
		octo_filter_clear_locked(port);
	if (port->fsm.life == life)
		octo_encap_clear(octo, port);
	return 0;
}

/* Reset the port if it asked for that, stop it, clear it. 0 also if it is lost. */
int
octo_renew_locked(struct octo_dev *octo, uint8_t i, uint32_t life)
{
	struct octo_port *port = &octo->port[i];
	int ret = 0;

	octo_assert_locked(octo);
	if ((port->todo & OCTO_PORT_DO_RENEW) && octo_attach_is_ours(octo->owner_id, port))
		ret = renew(octo, i, life);
	if (ret == 0 && port->fsm.life == life)
		port->past.orphans = false;
	return ret;
}
