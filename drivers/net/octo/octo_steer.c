/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Steering commands of rte_pmd_octo.h. Their flows are kept apart from those that the
 * application created through rte_flow, whose handles it holds.
 */

#include <errno.h>
#include <string.h>

#include <eal_export.h>

#include "octo_private.h"
#include "octo_tuple.h"
#include "rte_pmd_octo.h"

static_assert(RTE_PMD_OCTO_TUPLE_TEXT_MAX >= OCTO_TUPLE_TEXT_MAX, "room for each tuple");

/* Copy the tuple without padding and unused bytes: tuples are hashed and compared as memory. */
static int
read_tuple(const struct rte_pmd_octo_tuple *from, struct octo_tuple *to,
	   struct rte_flow_error *error)
{
	octo_tuple_clear(to);
	to->family = from->ip_version;
	to->proto = from->proto;
	to->src_port = from->src_port;
	to->dst_port = from->dst_port;
	memcpy(to->src, from->src, octo_tuple_addr_len(to));
	memcpy(to->dst, from->dst, octo_tuple_addr_len(to));
	if ((to->family == OCTO_IPV4 || to->family == OCTO_IPV6) &&
	    octo_tuple_proto_name(to->proto)[0] != '?')
		return 0;
	return octo_flow_fail(error, EINVAL,
			      "this is no 5-tuple of TCP, UDP or SCTP by IPv4 or IPv6");
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_tuple_read, 26.11)
int
rte_pmd_octo_tuple_read(struct rte_pmd_octo_tuple *tuple, const char *proto, const char *src,
			uint16_t src_port, const char *dst, uint16_t dst_port, const char **culprit)
{
	struct octo_tuple t;
	int ret = octo_tuple_read(&t, proto, src, src_port, dst, dst_port, culprit);

	if (ret != 0)
		return ret;
	*tuple = (struct rte_pmd_octo_tuple){
		.ip_version = t.family,
		.proto = t.proto,
		.src_port = t.src_port,
		.dst_port = t.dst_port,
	};
	memcpy(tuple->src, t.src, sizeof(tuple->src));
	memcpy(tuple->dst, t.dst, sizeof(tuple->dst));
	return 0;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_tuple_format, 26.11)
char *
rte_pmd_octo_tuple_format(const struct rte_pmd_octo_tuple *tuple, char *text)
{
	struct octo_tuple t;

	if (read_tuple(tuple, &t, NULL) != 0)
		return strcpy(text, "?");
	return octo_tuple_format(&t, text);
}

/*
 * Get the octo port. Returns NULL with *error set, or the port: then call
 * octo_registry_put().
 */
static struct octo_dev *
enter(uint16_t port_id, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_registry_get(port_id);

	if (octo == NULL)
		octo_flow_fail(error, ENODEV, octo_registry_refusal(port_id));
	return octo;
}

typedef int (*steer_fn)(struct octo_dev *octo, const struct octo_tuple *tuple, uint16_t queue,
			struct rte_flow_error *error);

/* Run a command on a flow under the control mutex. */
static int
do_locked(uint16_t port_id, const struct rte_pmd_octo_tuple *tuple, uint16_t queue, steer_fn fn,
	  struct rte_flow_error *error)
{
	struct octo_dev *octo = enter(port_id, error);
	struct octo_tuple t;
	int ret;

	if (octo == NULL)
		return -ENODEV;
	ret = read_tuple(tuple, &t, error);
	if (ret == 0)
		ret = OCTO_LOCKED(octo, fn(octo, &t, queue, error));
	octo_registry_put();
	return ret;
}

static int
add_locked(struct octo_dev *octo, const struct octo_tuple *tuple, uint16_t queue,
	   struct rte_flow_error *error)
{
	const struct octo_rule_spec spec = {
		.tuple = tuple,
		.origin = OCTO_BY_COMMAND,
		.queue = queue,
	};
	int ret = octo_flow_error_check_queue(octo, queue, error);

	if (ret == 0 && octo_rule_create_locked(octo, &spec, error) == NULL)
		ret = -rte_errno;
	return ret;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_steer_add, 26.11)
int
rte_pmd_octo_steer_add(uint16_t port_id, const struct rte_pmd_octo_tuple *tuple, uint16_t queue,
		       struct rte_flow_error *error)
{
	return do_locked(port_id, tuple, queue, add_locked, error);
}

/* Only a rule that is nothing but a 5-tuple and a queue can be moved. */
static int
move_locked(struct octo_dev *octo, const struct octo_tuple *tuple, uint16_t queue,
	    struct rte_flow_error *error)
{
	struct rte_flow *rule = octo_table_find(octo->table, tuple);
	const char *why = NULL;
	int ret = octo_flow_error_check_queue(octo, queue, error);

	if (ret != 0)
		return ret;
	if (rule == NULL || rule->origin == OCTO_BY_LEARNING)
		return octo_flow_fail(error, ENOENT, "this 5-tuple is not steered: steer it");
	if (!octo->started)
		why = "the port is stopped: start it first";
	else if (rule->generic || rule->by_table)
		why = "this rule says more than its queue: change it through rte_flow";
	else if (octo->agent_queues)
		why = "an agent chooses the queue: unsteer the flow and steer it again";
	if (why != NULL)
		return octo_flow_fail(error, ENOTSUP, why);
	return octo_move_exact_locked(octo, rule, queue, error);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_steer_move, 26.11)
int
rte_pmd_octo_steer_move(uint16_t port_id, const struct rte_pmd_octo_tuple *tuple, uint16_t queue,
			struct rte_flow_error *error)
{
	return do_locked(port_id, tuple, queue, move_locked, error);
}

static int
remove_locked(struct octo_dev *octo, const struct octo_tuple *tuple, uint16_t queue,
	      struct rte_flow_error *error)
{
	struct rte_flow *rule = octo_table_find(octo->table, tuple);

	RTE_SET_USED(queue);
	if (rule == NULL || rule->origin == OCTO_BY_LEARNING)
		return octo_flow_fail(error, ENOENT, "this 5-tuple is not steered");
	if (rule->origin == OCTO_BY_APP)
		return octo_flow_fail(error, EPERM,
				      "this rule was made through rte_flow: destroy it there");
	return octo_rule_retire_locked(octo, rule, error);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_steer_remove, 26.11)
int
rte_pmd_octo_steer_remove(uint16_t port_id, const struct rte_pmd_octo_tuple *tuple,
			  struct rte_flow_error *error)
{
	return do_locked(port_id, tuple, 0, remove_locked, error);
}

static int
remove_all_locked(struct octo_dev *octo, struct rte_flow_error *error)
{
	struct rte_flow *rule = TAILQ_FIRST(&octo->rules);
	int first_error = 0;
	int removed = 0;

	while (rule != NULL) {
		struct rte_flow *next = TAILQ_NEXT(rule, next);

		if (rule->origin == OCTO_BY_COMMAND) {
			int ret = octo_rule_retire_locked(octo, rule,
							  first_error == 0 ? error : NULL);

			if (first_error == 0)
				first_error = ret;
			removed += ret == 0;
		}
		rule = next;
	}
	return first_error != 0 ? first_error : removed;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_steer_remove_all, 26.11)
int
rte_pmd_octo_steer_remove_all(uint16_t port_id, struct rte_flow_error *error)
{
	struct octo_dev *octo = enter(port_id, error);
	int ret;

	if (octo == NULL)
		return -ENODEV;
	ret = OCTO_LOCKED(octo, remove_all_locked(octo, error));
	octo_registry_put();
	return ret;
}
