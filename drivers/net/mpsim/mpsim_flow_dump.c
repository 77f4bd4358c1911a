/* SPDX-License-Identifier: BSD-3-Clause */

/* rte_flow_dev_dump(): the contents of the tables as text. */

#include <errno.h>

#include "mpsim_flow.h"

static void
dump_dest(const struct mpsim_dest *dest, FILE *file)
{
	static const char *const words[] = {
		[MPSIM_TO_NOTHING] = "nothing", [MPSIM_TO_QUEUE] = "queue",
		[MPSIM_TO_RSS] = "rss",         [MPSIM_TO_DROP] = "drop",
		[MPSIM_TO_NEXT] = "passthru",   [MPSIM_TO_GROUP] = "jump to group",
		[MPSIM_TO_PORT] = "port",
	};

	fprintf(file, "%s", words[dest->kind]);
	if (dest->kind == MPSIM_TO_QUEUE || dest->kind == MPSIM_TO_PORT)
		fprintf(file, " %u", dest->target);
	if (dest->kind == MPSIM_TO_GROUP)
		fprintf(file, " %u", dest->group);
	for (uint16_t i = 0; dest->kind == MPSIM_TO_RSS && i < dest->spread->nb_queues; i++)
		fprintf(file, " %u", dest->spread->queues[i]);
}

static void
dump_entry(const struct mpsim_entry *e, FILE *file)
{
	const struct mpsim_mask *m = e->mask;

	fprintf(file, "    match");
	for (unsigned int i = 0; i < m->nb_words; i++)
		fprintf(file, " %u:%016" PRIx64 "/%016" PRIx64, m->word[i],
			rte_be_to_cpu_64(e->words[i]), rte_be_to_cpu_64(m->bits[i]));
	fprintf(file, "\n");
}

static void
dump_flow(const struct rte_flow *flow, FILE *file)
{
	const struct mpsim_rule *rule = &flow->rule;
	char text[OCTO_TUPLE_TEXT_MAX];

	fprintf(file, "rule %p: %s group %u priority %u%s%s: ", (const void *)flow,
		flow->transfer ? "transfer" : "ingress", flow->group, rule->priority,
		rule->inert ? " ignored" : "", flow->effective ? "" : " not in effect");
	dump_dest(mpsim_fate_dest(&rule->fate), file);
	if (rule->fate.flags & MPSIM_FATE_MARK)
		fprintf(file, ", mark %u", rule->fate.mark);
	if (rule->fate.flags & MPSIM_FATE_FLAG)
		fprintf(file, ", flag");
	fprintf(file, ", hits %" PRIu64 ", bytes %" PRIu64 "\n", rule->hits, rule->bytes);
	if (flow->exact != NULL)
		fprintf(file, "    match %s\n", octo_tuple_format(&rule->tuple, text));
	for (uint32_t i = 0; i < flow->nb_entries; i++)
		dump_entry(flow->entries[i], file);
}

int
mpsim_flow_dump(struct rte_eth_dev *dev, struct rte_flow *flow, FILE *file,
		struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	const struct rte_flow *f;

	RTE_SET_USED(error);
	mpsim_nic_lock(pf->nic);
	TAILQ_FOREACH(f, &pf->flows, list)
		if (flow == NULL || f == flow)
			dump_flow(f, file);
	mpsim_nic_unlock(pf->nic);
	return 0;
}
