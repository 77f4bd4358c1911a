/* SPDX-License-Identifier: BSD-3-Clause */

#include <stddef.h>

#include <eal_export.h>

#include "nudma_account.h"

#define NB_FIELDS (sizeof(struct nudma_account) / sizeof(uint64_t))

RTE_EXPORT_INTERNAL_SYMBOL(nudma_account_add)
void
nudma_account_add(struct nudma_account *to, const struct nudma_account *from)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	for (size_t i = 0; i < NB_FIELDS; i++)
		t[i] += f[i];
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_account_subtract)
void
nudma_account_subtract(struct nudma_account *from, const struct nudma_account *before)
{
	uint64_t *f = (uint64_t *)from;
	const uint64_t *b = (const uint64_t *)before;

	for (size_t i = 0; i < NB_FIELDS; i++)
		f[i] -= b[i];
}
