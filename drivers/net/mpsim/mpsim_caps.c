/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "mpsim_caps.h"
#include "mpsim_flow.h"

static const struct {
	const char *name;
	enum rte_flow_error_type culprit;
	const char *what; /* that is missing */
} caps[MPSIM_NB_CAPS] = {
	[MPSIM_CAP_MPFS] = {"mpfs", RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, "transfer rules"},
	[MPSIM_CAP_MASKED] = {"masked", RTE_FLOW_ERROR_TYPE_ITEM,
			      "transfer rules but those of exact 5-tuples"},
	[MPSIM_CAP_ARFS] = {"arfs", RTE_FLOW_ERROR_TYPE_ATTR_INGRESS,
			    "ingress rules of exact 5-tuples"},
	[MPSIM_CAP_GENERIC] = {"generic", RTE_FLOW_ERROR_TYPE_ITEM,
			       "ingress rules but those of exact 5-tuples"},
	[MPSIM_CAP_COUNT] = {"count", RTE_FLOW_ERROR_TYPE_ACTION, "count actions"},
	[MPSIM_CAP_AGE] = {"age", RTE_FLOW_ERROR_TYPE_ACTION, "age actions"},
	[MPSIM_CAP_RSS] = {"rss", RTE_FLOW_ERROR_TYPE_ACTION, "rss actions"},
	[MPSIM_CAP_MARK] = {"mark", RTE_FLOW_ERROR_TYPE_ACTION, "mark and flag actions"},
	[MPSIM_CAP_RETA] = {"reta", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "redirection tables"},
	[MPSIM_CAP_INDIRECT] = {"indirect", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "indirect actions"},
	[MPSIM_CAP_INDIRECT_QUEUE] = {"indirect_queue", RTE_FLOW_ERROR_TYPE_ACTION,
				      "indirect queue actions, but rss"},
	[MPSIM_CAP_UPDATE] = {"update", RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
			      "updates of a rule's actions"},
	[MPSIM_CAP_ASYNC] = {"async", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "flow queues"},
	[MPSIM_CAP_TXSTATUS] = {"txstatus", RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				"status of Tx descriptors"},
	[MPSIM_CAP_TXDONE] = {"txdone", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "count of what was sent"},
	[MPSIM_CAP_RXINTR] = {"rxintr", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "Rx interrupts"},
	[MPSIM_CAP_TIMESYNC] = {"timesync", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "clock"},
	[MPSIM_CAP_RUNTIME] = {"runtime", RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
			       "setup of queues while it runs"},
	[MPSIM_CAP_SPLIT] = {"split", RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "buffer split"},
	[MPSIM_CAP_SELECTIVE] = {"selective", RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				 "segments that are discarded"},
};

/* The capability with this name of len bytes, or MPSIM_NB_CAPS. */
static unsigned int
find_cap(const char *word, size_t len)
{
	unsigned int i = 0;

	while (i < MPSIM_NB_CAPS &&
	       (strlen(caps[i].name) != len || strncmp(caps[i].name, word, len) != 0))
		i++;
	return i;
}

int
mpsim_caps_parse(const char *who, const char *text, uint32_t *lacks)
{
	const char *at = text;
	uint32_t bits = 0;

	for (;;) {
		const size_t len = strcspn(at, "/");
		unsigned int i = MPSIM_NB_CAPS;

		if (at[0] == '-')
			i = find_cap(at + 1, len - 1);
		if (i == MPSIM_NB_CAPS) {
			MPSIM_LOG(ERR, who,
				  "caps=%s: '%.*s' is not known; -mpfs, -masked, -arfs, "
				  "-generic, -count, -age, -rss, -mark, -reta, -indirect, "
				  "-indirect_queue, -update, -async, -txstatus, -txdone, "
				  "-rxintr, -timesync, -runtime, -split and -selective are, "
				  "with '/' between",
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
mpsim_caps_has(const struct mpsim_pf *pf, enum mpsim_cap cap)
{
	return (pf->args.lacks >> cap & 1) == 0;
}

int
mpsim_caps_need(const struct mpsim_pf *pf, enum mpsim_cap cap, struct rte_flow_error *error)
{
	if (mpsim_caps_has(pf, cap))
		return 0;
	return mpsim_flow_refuse(error, ENOTSUP, caps[cap].culprit, "port %s has no %s (caps=-%s)",
				 pf->data->name, caps[cap].what, caps[cap].name);
}

/* The table that the rule needs, as a capability. */
static enum mpsim_cap
table_of(const struct mpsim_reading *r)
{
	if (r->transfer)
		return mpsim_reading_is_exact(r) || r->whole_way ? MPSIM_CAP_MPFS :
								   MPSIM_CAP_MASKED;
	return mpsim_reading_is_exact(r) ? MPSIM_CAP_ARFS : MPSIM_CAP_GENERIC;
}

int
mpsim_caps_check_actions(const struct mpsim_pf *pf, const struct mpsim_orders *orders,
			 struct rte_flow_error *error)
{
	const uint32_t flags = orders->fate.flags;
	int ret = 0;

	if ((flags & MPSIM_FATE_COUNT) != 0)
		ret = mpsim_caps_need(pf, MPSIM_CAP_COUNT, error);
	if (ret == 0 && (flags & MPSIM_FATE_AGE) != 0)
		ret = mpsim_caps_need(pf, MPSIM_CAP_AGE, error);
	if (ret == 0 && (flags & (MPSIM_FATE_MARK | MPSIM_FATE_FLAG)) != 0)
		ret = mpsim_caps_need(pf, MPSIM_CAP_MARK, error);
	if (ret == 0 && orders->rss != NULL)
		ret = mpsim_caps_need(pf, MPSIM_CAP_RSS, error);
	return ret;
}

int
mpsim_caps_check_rule(const struct mpsim_pf *pf, const struct mpsim_reading *r,
		      struct rte_flow_error *error)
{
	int ret = 0;

	if (r->transfer && pf->nic->sorts_by_mac)
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER,
					 "the switch of NIC %s sorts by addresses (switch=mac): it "
					 "takes no transfer rules",
					 pf->nic->name);
	if (r->transfer)
		ret = mpsim_caps_need(pf, MPSIM_CAP_MPFS, error);
	if (ret == 0)
		ret = mpsim_caps_need(pf, table_of(r), error);
	return ret != 0 ? ret : mpsim_caps_check_actions(pf, &r->orders, error);
}
