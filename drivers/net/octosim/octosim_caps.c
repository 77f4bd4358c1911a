/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "octosim_caps.h"
#include "octosim_flow.h"

static const struct {
	const char *name;
	enum rte_flow_error_type culprit;
	const char *what; /* is not there */
} caps[OCTOSIM_NB_CAPS] = {
	[OCTOSIM_CAP_MPFS] = {"mpfs", RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, "transfer rules"},
	[OCTOSIM_CAP_MASKED] = {"masked", RTE_FLOW_ERROR_TYPE_ITEM,
				"transfer rules but those of exact 5-tuples"},
	[OCTOSIM_CAP_ARFS] = {"arfs", RTE_FLOW_ERROR_TYPE_ATTR_INGRESS,
			      "ingress rules of exact 5-tuples"},
	[OCTOSIM_CAP_GENERIC] = {"generic", RTE_FLOW_ERROR_TYPE_ITEM,
				 "ingress rules but those of exact 5-tuples"},
	[OCTOSIM_CAP_COUNT] = {"count", RTE_FLOW_ERROR_TYPE_ACTION, "count actions"},
	[OCTOSIM_CAP_AGE] = {"age", RTE_FLOW_ERROR_TYPE_ACTION, "age actions"},
	[OCTOSIM_CAP_RSS] = {"rss", RTE_FLOW_ERROR_TYPE_ACTION, "rss actions"},
	[OCTOSIM_CAP_MARK] = {"mark", RTE_FLOW_ERROR_TYPE_ACTION, "mark and flag actions"},
	[OCTOSIM_CAP_RETA] = {"reta", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "redirection tables"},
	[OCTOSIM_CAP_INDIRECT] = {"indirect", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "indirect actions"},
	[OCTOSIM_CAP_UPDATE] = {"update", RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				"updates of a rule's actions"},
	[OCTOSIM_CAP_ASYNC] = {"async", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "flow queues"},
	[OCTOSIM_CAP_TXSTATUS] = {"txstatus", RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				  "status of Tx descriptors"},
	[OCTOSIM_CAP_TXDONE] = {"txdone", RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				"count of what was sent"},
};

/* The capability that this word of so many letters names, or OCTOSIM_NB_CAPS. */
static unsigned int
find_cap(const char *word, size_t len)
{
	unsigned int i = 0;

	while (i < OCTOSIM_NB_CAPS &&
	       (strlen(caps[i].name) != len || strncmp(caps[i].name, word, len) != 0))
		i++;
	return i;
}

int
octosim_caps_parse(const char *who, const char *text, uint32_t *lacks)
{
	const char *at = text;
	uint32_t bits = 0;

	for (;;) {
		const size_t len = strcspn(at, "/");
		unsigned int i = OCTOSIM_NB_CAPS;

		if (at[0] == '-')
			i = find_cap(at + 1, len - 1);
		if (i == OCTOSIM_NB_CAPS) {
			OCTOSIM_LOG(ERR, who,
				    "caps=%s: '%.*s' is not known; -mpfs, -masked, -arfs, "
				    "-generic, -count, -age, -rss, -mark, -reta, -indirect, "
				    "-update, -async, -txstatus and -txdone are, with '/' between",
				    text, (int)len, at);
			return -EINVAL;
		}
		bits |= 1u << i;
		if (at[len] == '\0')
			break;
		at += len + 1;
	}
	*lacks = bits;
	return 0;
}

bool
octosim_caps_has(const struct octosim_pf *pf, enum octosim_cap cap)
{
	return (pf->args.lacks >> cap & 1) == 0;
}

int
octosim_caps_need(const struct octosim_pf *pf, enum octosim_cap cap, struct rte_flow_error *error)
{
	if (octosim_caps_has(pf, cap))
		return 0;
	return octosim_flow_refuse(error, ENOTSUP, caps[cap].culprit,
				   "port %s has no %s (caps=-%s)", pf->data->name, caps[cap].what,
				   caps[cap].name);
}

/* The table that the rule needs. */
static enum octosim_cap
table_of(const struct octosim_reading *r)
{
	if (r->transfer)
		return octosim_reading_is_exact(r) || r->whole_way ? OCTOSIM_CAP_MPFS :
								     OCTOSIM_CAP_MASKED;
	return octosim_reading_is_exact(r) ? OCTOSIM_CAP_ARFS : OCTOSIM_CAP_GENERIC;
}

int
octosim_caps_check_actions(const struct octosim_pf *pf, const struct octosim_orders *orders,
			   struct rte_flow_error *error)
{
	const uint32_t flags = orders->fate.flags;
	int ret = 0;

	if ((flags & OCTOSIM_FATE_COUNT) != 0)
		ret = octosim_caps_need(pf, OCTOSIM_CAP_COUNT, error);
	if (ret == 0 && (flags & OCTOSIM_FATE_AGE) != 0)
		ret = octosim_caps_need(pf, OCTOSIM_CAP_AGE, error);
	if (ret == 0 && (flags & (OCTOSIM_FATE_MARK | OCTOSIM_FATE_FLAG)) != 0)
		ret = octosim_caps_need(pf, OCTOSIM_CAP_MARK, error);
	if (ret == 0 && orders->rss != NULL)
		ret = octosim_caps_need(pf, OCTOSIM_CAP_RSS, error);
	return ret;
}

int
octosim_caps_check_rule(const struct octosim_pf *pf, const struct octosim_reading *r,
			struct rte_flow_error *error)
{
	int ret = 0;

	if (r->transfer)
		ret = octosim_caps_need(pf, OCTOSIM_CAP_MPFS, error);
	if (ret == 0)
		ret = octosim_caps_need(pf, table_of(r), error);
	return ret != 0 ? ret : octosim_caps_check_actions(pf, &r->orders, error);
}
