/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ZIPF_H
#define OCTO_ZIPF_H

#include <math.h>
#include <stdlib.h>

#include "octo_test.h"

/* Ranks with the probabilities of Zipf's law, by Walker's alias method: in constant time. */
struct zipf {
	uint32_t n;
	double *p; /* of each rank */
	double *cut;
	uint32_t *alias;
};

static inline void
zipf_pair(struct zipf *z, uint32_t *small, uint32_t *large)
{
	uint32_t nb_small = 0, nb_large = 0;

	for (uint32_t i = 0; i < z->n; i++) {
		z->cut[i] = z->p[i] * z->n;
		if (z->cut[i] < 1)
			small[nb_small++] = i;
		else
			large[nb_large++] = i;
	}
	while (nb_small > 0 && nb_large > 0) {
		const uint32_t s = small[--nb_small];
		const uint32_t l = large[nb_large - 1];

		z->alias[s] = l;
		z->cut[l] -= 1 - z->cut[s];
		if (z->cut[l] < 1) {
			nb_large--;
			small[nb_small++] = l;
		}
	}
}

static inline void
zipf_begin(struct zipf *z, uint32_t n, double exponent)
{
	uint32_t *lists = calloc(2 * (size_t)n, sizeof(*lists));
	double sum = 0;

	*z = (struct zipf){.n = n};
	z->p = calloc(n, sizeof(*z->p));
	z->cut = calloc(n, sizeof(*z->cut));
	z->alias = calloc(n, sizeof(*z->alias));
	assert_true(lists != NULL && z->p != NULL && z->cut != NULL && z->alias != NULL);
	for (uint32_t i = 0; i < n; i++)
		sum += pow(i + 1, -exponent);
	for (uint32_t i = 0; i < n; i++)
		z->p[i] = pow(i + 1, -exponent) / sum;
	zipf_pair(z, lists, lists + n);
	free(lists);
}

static inline void
zipf_end(struct zipf *z)
{
	free(z->p);
	free(z->cut);
	free(z->alias);
}

/* The rank for two random numbers. */
static inline uint32_t
zipf_rank(const struct zipf *z, uint32_t which, uint32_t side)
{
	const uint32_t i = which % z->n;

	return side < z->cut[i] * 4294967296. ? i : z->alias[i];
}

#endif /* OCTO_ZIPF_H */
