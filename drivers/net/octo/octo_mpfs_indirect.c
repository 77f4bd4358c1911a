/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The indirect actions for MPFS rules of dialect "indirect": one for each queue of a PF that flows
 * were led to. A rule of another PF may have them if the PMD shares them between ports.
 */

#include <errno.h>

#include <rte_malloc.h>

#include "octo_private.h"

static_assert(OCTO_NB_DIALECTS <= 4, "octo_lead.dialect has 2 bits");
static_assert(OCTO_MPFS_PRIORITIES <= 4, "octo_lead.priority has 2 bits");
static_assert(RTE_MAX_QUEUES_PER_PORT <= 4096, "octo_lead.queue has 12 bits");

/* Some PMDs have RSS as an indirect action, but not QUEUE: RSS of one queue leads there, too. */
static struct rte_flow_action_handle *
create_action(uint16_t port_id, uint16_t queue, struct rte_flow_error *error)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	const struct rte_flow_action_queue to = {.index = queue};
	const struct rte_flow_action_rss rss = {.queue = &queue, .queue_num = 1};
	struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to};
	struct rte_flow_action_handle *h;

	h = rte_flow_action_handle_create(port_id, &conf, &action, error);
	if (h != NULL || (rte_errno != ENOTSUP && rte_errno != EINVAL))
		return h;
	action = (struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss};
	return rte_flow_action_handle_create(port_id, &conf, &action, error);
}

struct rte_flow_action_handle *
octo_mpfs_action_locked(struct octo_dev *octo, uint8_t pf, uint16_t queue,
			struct rte_flow_error *error)
{
	const struct octo_port *port = &octo->port[pf];
	/* read before the PMD's call: the port may be lost inside it */
	const uint32_t life = port->fsm.life;
	struct octo_handle **actions = &octo->queue_actions[pf];
	struct octo_handle *h;

	if (*actions == NULL)
		*actions = rte_calloc("octo_queue_actions", octo_data(octo)->nb_rx_queues,
				      sizeof(**actions), 0);
	if (*actions == NULL) {
		octo_flow_fail(error, ENOMEM, "no memory for the indirect actions");
		return NULL;
	}
	h = &(*actions)[queue];
	if (octo_port_object(port, h) == NULL)
		*h = octo_handle_make(create_action(port->port_id,
						    octo_pf_leg(&octo->pf[pf], queue).queue, error),
				      life);
	return octo_port_object(port, h);
}

static void
end_actions(struct octo_dev *octo, uint8_t pf)
{
	struct octo_port *port = &octo->port[pf];

	for (uint16_t q = 0; q < octo_data(octo)->nb_rx_queues; q++) {
		struct rte_flow_action_handle *h = octo_port_object(port,
								    &octo->queue_actions[pf][q]);

		octo_port_orphan(port, &octo->queue_actions[pf][q]);
		if (h != NULL)
			rte_flow_action_handle_destroy(octo_port_usable_id(port), h, NULL);
	}
	rte_free(octo->queue_actions[pf]);
	octo->queue_actions[pf] = NULL;
}

void
octo_mpfs_actions_end_locked(struct octo_dev *octo)
{
	octo_assert_locked(octo);
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++)
		if (octo->queue_actions[pf] != NULL)
			end_actions(octo, pf);
}
