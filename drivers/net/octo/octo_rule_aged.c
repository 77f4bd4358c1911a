/* SPDX-License-Identifier: BSD-3-Clause */

/* A flow is aged when it is so on every PF: by which of them it comes may change. */

#include <errno.h>
#include <stdlib.h>

#include "octo_private.h"

/* A context that a PF named. */
struct named {
	void *context;
	uint8_t pf;
};

struct names {
	struct named *named;
	uint32_t nb;
	uint32_t pfs; /* mask of those that were asked */
};

static int
compare(const void *a, const void *b)
{
	const uintptr_t x = (uintptr_t)((const struct named *)a)->context;
	const uintptr_t y = (uintptr_t)((const struct named *)b)->context;

	return x < y ? -1 : x > y;
}

static int
refuse_memory(struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "no memory for the aged flows");
}

static int
keep_names(struct names *names, void *const *contexts, uint32_t nb, uint8_t pf)
{
	struct named *more = realloc(names->named,
				     ((size_t)names->nb + nb) * sizeof(*names->named));

	if (more == NULL)
		return -ENOMEM;
	names->named = more;
	for (uint32_t i = 0; i < nb; i++)
		more[names->nb++] = (struct named){.context = contexts[i], .pf = pf};
	return 0;
}

/* More may age between the two calls: they are told the next time. */
static int
ask_pf(const struct octo_dev *octo, uint8_t pf, struct names *names, struct rte_flow_error *error)
{
	const uint16_t port = octo->pf[pf].port_id;
	int nb = rte_flow_get_aged_flows(port, NULL, 0, error);
	void **contexts;
	int ret = 0;

	names->pfs |= RTE_BIT32(pf);
	if (nb == 0)
		return 0;
	if (nb < 0)
		return octo_flow_blame(&octo->pf[pf], nb, error);
	contexts = calloc((size_t)nb, sizeof(*contexts));
	if (contexts == NULL)
		return refuse_memory(error);
	nb = rte_flow_get_aged_flows(port, contexts, (uint32_t)nb, error);
	if (nb < 0)
		ret = octo_flow_blame(&octo->pf[pf], nb, error);
	else if (nb > 0 && keep_names(names, contexts, (uint32_t)nb, pf) != 0)
		ret = refuse_memory(error);
	free(contexts);
	return ret;
}

/* Only the PF with the switch has a transfer rule. */
static bool
is_transfer(const struct octo_dev *octo, const void *context)
{
	const struct octo_notes *notes;

	TAILQ_FOREACH(notes, &octo->notes, next)
		if (notes->words.ages && notes->words.age_context == context &&
		    notes->words.rule->attr->transfer)
			return true;
	return false;
}

/* How many flows of one context, which several may have, are aged on all of their PFs. */
static uint32_t
flows_of(const struct octo_dev *octo, const struct names *names, uint32_t begin, uint32_t end)
{
	const bool transfer = is_transfer(octo, names->named[begin].context);
	uint32_t by_pf[OCTO_MAX_PFS] = {0};
	uint32_t most = 0;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = begin; i < end; i++)
		by_pf[names->named[i].pf]++;
	for (unsigned int pf = 0; pf < OCTO_MAX_PFS; pf++) {
		if ((names->pfs & RTE_BIT32(pf)) == 0)
			continue;
		most = RTE_MAX(most, by_pf[pf]);
		least = RTE_MIN(least, by_pf[pf]);
	}
	return transfer ? most : least;
}

/* Returns how many flows are aged; the first of them go to contexts. */
static uint32_t
merge(const struct octo_dev *octo, struct names *names, void **contexts, uint32_t nb)
{
	uint32_t aged = 0;
	uint32_t end;

	if (names->nb == 0)
		return 0;
	qsort(names->named, names->nb, sizeof(*names->named), compare);
	for (uint32_t i = 0; i < names->nb; i = end) {
		void *const context = names->named[i].context;
		uint32_t flows;

		for (end = i + 1; end < names->nb && names->named[end].context == context;)
			end++;
		flows = flows_of(octo, names, i, end);
		for (; flows > 0; flows--, aged++)
			if (aged < nb)
				contexts[aged] = context;
	}
	return nb == 0 ? aged : RTE_MIN(aged, nb);
}

int
octo_rule_aged_locked(struct octo_dev *octo, void **contexts, uint32_t nb,
		      struct rte_flow_error *error)
{
	struct names names = {0};
	int ret = 0;
	int pf;

	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED) {
		ret = ask_pf(octo, (uint8_t)pf, &names, error);
		if (ret != 0)
			break;
	}
	if (ret == 0)
		ret = (int)merge(octo, &names, contexts, nb);
	free(names.named);
	return ret;
}
