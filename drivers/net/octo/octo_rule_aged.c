/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A flow is aged when it is so on every PF: by which of them it comes may change.
 * PFs age at different times, and some name an aged rule once only. So what they
 * named is kept, and they are asked again before the application is told.
 */

#include <errno.h>
#include <stdlib.h>

#include "octo_private.h"

/* A context that a PF named and that is no rule of ours: of an indirect action. */
struct foreign {
	void *context;
	uint8_t pf;
};

struct search {
	struct rte_flow **rules; /* with AGE, by address */
	uint32_t nb_rules;
	struct foreign *foreign;
	uint32_t nb_foreign;
	uint32_t pfs; /* mask of those that were asked */
};

static int
refuse_memory(struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "no memory for the aged flows");
}

static int
compare_addresses(uintptr_t a, uintptr_t b)
{
	return a < b ? -1 : a > b;
}

static int
compare_rules(const void *a, const void *b)
{
	struct rte_flow *const *x = a;
	struct rte_flow *const *y = b;

	return compare_addresses((uintptr_t)*x, (uintptr_t)*y);
}

static int
compare_foreign(const void *a, const void *b)
{
	const struct foreign *x = a;
	const struct foreign *y = b;

	return compare_addresses((uintptr_t)x->context, (uintptr_t)y->context);
}

/* Our rules that age, so that contexts can be told from those of others. */
static int
list_rules(const struct octo_dev *octo, struct search *s)
{
	const struct octo_notes *notes;
	uint32_t nb = 0;

	TAILQ_FOREACH(notes, &octo->notes, next)
		nb += notes->words.ages;
	if (nb == 0)
		return 0;
	s->rules = calloc(nb, sizeof(struct rte_flow *));
	if (s->rules == NULL)
		return -ENOMEM;
	TAILQ_FOREACH(notes, &octo->notes, next)
		if (notes->words.ages)
			s->rules[s->nb_rules++] = notes->rule;
	qsort(s->rules, nb, sizeof(struct rte_flow *), compare_rules);
	return 0;
}

static int
keep_foreign(struct search *s, void *context, uint8_t pf)
{
	struct foreign *more = realloc(s->foreign, (s->nb_foreign + 1) * sizeof(*more));

	if (more == NULL)
		return -ENOMEM;
	more[s->nb_foreign++] = (struct foreign){.context = context, .pf = pf};
	s->foreign = more;
	return 0;
}

static int
keep_named(struct search *s, void *const *contexts, int nb, uint8_t pf)
{
	int ret = 0;

	for (int i = 0; i < nb && ret == 0; i++) {
		struct rte_flow **found = s->nb_rules == 0 ?
						  NULL :
						  bsearch(&contexts[i], s->rules, s->nb_rules,
							  sizeof(struct rte_flow *), compare_rules);

		if (found == NULL) {
			ret = keep_foreign(s, contexts[i], pf);
			continue;
		}
		(*found)->notes->words.aged_on |= RTE_BIT32(pf);
		(*found)->notes->words.aged_told = false;
	}
	return ret;
}

/* More may age between the two calls: they are told the next time. */
static int
ask_pf(const struct octo_dev *octo, uint8_t pf, struct search *s, struct rte_flow_error *error)
{
	const uint16_t port = octo->pf[pf].port_id;
	int nb = rte_flow_get_aged_flows(port, NULL, 0, error);
	void **contexts;
	int ret = 0;

	s->pfs |= RTE_BIT32(pf);
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
	else if (keep_named(s, contexts, nb, pf) != 0)
		ret = refuse_memory(error);
	free(contexts);
	return ret;
}

/* It may have been hit since: a PF that cannot be asked is taken at its word. */
static bool
is_aged(const struct octo_dev *octo, struct rte_flow *rule)
{
	static const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_AGE},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_words *words = &rule->notes->words;
	int pf;

	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED) {
		struct rte_flow_query_age age = {0};

		if (rule->arfs[pf] != NULL && (words->aged_on & RTE_BIT32(pf)) == 0)
			return false;
		if (rule->arfs[pf] == NULL ||
		    rte_flow_query(octo->pf[pf].port_id, rule->arfs[pf], actions, &age, NULL) != 0)
			continue;
		if (!age.aged) {
			words->aged_on &= ~RTE_BIT32(pf);
			return false;
		}
	}
	return words->aged_on != 0;
}

static uint32_t
tell_rules(const struct octo_dev *octo, const struct search *s, void **contexts, uint32_t nb)
{
	uint32_t aged = 0;

	for (uint32_t i = 0; i < s->nb_rules && (nb == 0 || aged < nb); i++) {
		struct octo_words *words = &s->rules[i]->notes->words;

		if (words->aged_told || !is_aged(octo, s->rules[i]))
			continue;
		if (nb > 0) {
			contexts[aged] = words->age_context;
			words->aged_told = true;
		}
		aged++;
	}
	return aged;
}

/* Whoever has it in an indirect action has it on every PF: all must name it. */
static uint32_t
tell_foreign(struct search *s, void **contexts, uint32_t nb, uint32_t aged)
{
	uint32_t end;

	if (s->nb_foreign == 0)
		return aged;
	qsort(s->foreign, s->nb_foreign, sizeof(*s->foreign), compare_foreign);
	for (uint32_t i = 0; i < s->nb_foreign && (nb == 0 || aged < nb); i = end) {
		void *const context = s->foreign[i].context;
		uint32_t by = 0;

		for (end = i; end < s->nb_foreign && s->foreign[end].context == context; end++)
			by |= RTE_BIT32(s->foreign[end].pf);
		if (by != s->pfs)
			continue;
		if (nb > 0)
			contexts[aged] = context;
		aged++;
	}
	return aged;
}

int
octo_rule_aged_locked(struct octo_dev *octo, void **contexts, uint32_t nb,
		      struct rte_flow_error *error)
{
	struct search s = {0};
	int ret = list_rules(octo, &s) == 0 ? 0 : refuse_memory(error);
	int pf;

	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED) {
		if (ret != 0)
			break;
		ret = ask_pf(octo, (uint8_t)pf, &s, error);
	}
	if (ret == 0)
		ret = (int)tell_foreign(&s, contexts, nb, tell_rules(octo, &s, contexts, nb));
	free(s.rules);
	free(s.foreign);
	return ret;
}
