/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules as text. */

#include <errno.h>
#include <stdarg.h>

#include "octo_private.h"

struct line {
	char *text;
	size_t used;
};

static void __rte_format_printf(2, 3) put(struct line *line, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line->text + line->used, OCTO_RULE_TEXT_MAX - line->used, format, args);
	va_end(args);
	if (n > 0)
		line->used = RTE_MIN(line->used + (size_t)n, (size_t)OCTO_RULE_TEXT_MAX - 1);
}

static void
put_name(struct line *line, enum rte_flow_conv_op op, int type)
{
	const char *name;

	if (rte_flow_conv(op, &name, sizeof(name), (const void *)(uintptr_t)type, NULL) < 0)
		put(line, "%d", type);
	else
		put(line, "%s", name);
}

/* Write the types of items and actions, without values: the PFs' own dumps have those. */
static void
put_app_spec(struct line *line, const struct rte_flow_conv_rule *app_spec)
{
	const struct rte_flow_action *action = app_spec->actions_ro;
	const struct rte_flow_item *item = app_spec->pattern_ro;
	const struct rte_flow_attr *attr = app_spec->attr_ro;

	put(line, "%s%s%sgroup %u priority %u, pattern", attr->ingress ? "ingress " : "",
	    attr->egress ? "egress " : "", attr->transfer ? "transfer " : "", attr->group,
	    attr->priority);
	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		put(line, " ");
		put_name(line, RTE_FLOW_CONV_OP_ITEM_NAME_PTR, item->type);
	}
	put(line, ", actions");
	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		put(line, " ");
		put_name(line, RTE_FLOW_CONV_OP_ACTION_NAME_PTR, action->type);
	}
}

/* Format a rule into text, which has OCTO_RULE_TEXT_MAX bytes. Returns text. */
char *
octo_rule_dump_format(const struct rte_flow *rule, char *text)
{
	struct line line = {.text = text};
	char tuple[OCTO_TUPLE_TEXT_MAX];

	if (octo_rule_has_tuple(rule))
		put(&line, "%s to queue %u", octo_tuple_format(&rule->tuple, tuple), rule->queue);
	if (octo_rule_has_tuple(rule) && rule->generic)
		put(&line, ": ");
	if (rule->generic)
		put_app_spec(&line, rule->ext->app_spec.rule);
	else if (!octo_rule_has_tuple(rule))
		put(&line, "rejected by a PF");
	return text;
}

static const char *
origin_name(const struct rte_flow *rule)
{
	static const char *const names[] = {
		[OCTO_BY_APP] = "the application",
		[OCTO_BY_COMMAND] = "command",
		[OCTO_BY_LEARNING] = "learning",
	};

	return names[rule->origin];
}

/* Print on which PFs the rule is, and whether it works. */
static void
dump_state(const struct octo_dev *octo, const struct rte_flow *rule, FILE *file)
{
	char text[OCTO_RULE_TEXT_MAX];
	char name[OCTO_PF_NAME_MAX];
	const char *comma = " ";

	fprintf(file, "octo rule %p by %s: %s\n  rules on PFs:", (const void *)rule,
		origin_name(rule), octo_rule_dump_format(rule, text));
	for (uint16_t pf = 0; pf < octo->nb_ports; pf++) {
		if (octo_rule_on(octo, rule, (uint8_t)pf) == NULL)
			continue;
		fprintf(file, "%s%s", comma, octo->port[pf].name);
		comma = ", ";
	}
	fprintf(file, "%s\n", *comma == ' ' ? " none" : "");
	octo_pf_format(octo, octo_rule_pf(octo, rule), name, sizeof(name));
	if (octo_rule_has_tuple(rule))
		fprintf(file, "  MPFS rule to PF: %s\n  status: %s\n", name,
			octo_rule_status_name(octo_rule_ext_status(rule)));
}

/* Append the dumps of the PFs, in their own formats; some have none. */
static int
dump_pfs(const struct octo_dev *octo, const struct rte_flow *rule, FILE *file,
	 struct rte_flow_error *error)
{
	int pf;

	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_RUNNING) {
		struct rte_flow *on = rule == NULL ? NULL : octo_rule_on(octo, rule, (uint8_t)pf);
		int ret = 0;

		if (rule != NULL && on == NULL)
			continue;
		fprintf(file, "PF %s:\n", octo->port[pf].name);
		ret = octo_port_nic(&octo->port[pf])->dump(&octo->port[pf], on, file, error);
		if (ret == -ENOSYS || ret == -ENOTSUP)
			fprintf(file, "  it has no dump of its rules\n");
		else if (ret < 0)
			return octo_flow_blame(&octo->port[pf], ret, error);
	}
	return 0;
}

/* Dump one rule, or all rules if rule is NULL. */
int
octo_rule_dump_locked(struct octo_dev *octo, struct rte_flow *rule, FILE *file,
		      struct rte_flow_error *error)
{
	const struct rte_flow *one;

	if (rule != NULL) {
		dump_state(octo, rule, file);
		return dump_pfs(octo, rule, file, error);
	}
	TAILQ_FOREACH(one, &octo->rules, next)
		dump_state(octo, one, file);
	TAILQ_FOREACH(one, &octo->others, next)
		dump_state(octo, one, file);
	return dump_pfs(octo, NULL, file, error);
}
