/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <eal_export.h>
#include <rte_atomic.h>

#include "octo_ethtool_table.h"

#define TOEPLITZ 1

/* RETA and key as they are. The caller frees the answer. */
static int
read_rss(struct octo_ethtool *et, struct ethtool_rxfh **answer)
{
	struct ethtool_rxfh sizes, *rxfh;
	int ret;

	octo_ethtool_ask_rss(&sizes, 0, 0);
	ret = octo_ethtool_ask(et, &sizes);
	if (ret != 0)
		return ret;
	if (sizes.indir_size == 0 || sizes.indir_size > OCTO_ETHTOOL_MAX_RETA)
		return -EOPNOTSUPP;
	rxfh = malloc(octo_ethtool_rss_len(sizes.indir_size, sizes.key_size));
	if (rxfh == NULL)
		return -ENOMEM;
	octo_ethtool_ask_rss(rxfh, sizes.indir_size, sizes.key_size);
	ret = octo_ethtool_ask(et, rxfh);
	if (ret != 0) {
		free(rxfh);
		return ret;
	}
	et->xfrm = octo_ethtool_xfrm(rxfh);
	et->reta_size = rxfh->indir_size;
	*answer = rxfh;
	return 0;
}

static uint64_t
read_hash_types(const struct octo_ethtool *et)
{
	uint64_t fields[OCTO_ETHTOOL_NB_HASHED] = {0};
	struct ethtool_rxnfc nfc;

	for (unsigned int i = 0; i < OCTO_ETHTOOL_NB_HASHED; i++) {
		octo_ethtool_ask_hash(&nfc, i);
		if (octo_ethtool_ask(et, &nfc) == 0)
			fields[i] = nfc.data;
	}
	return octo_ethtool_hash_types(fields);
}

void
octo_ethtool_reta_find(struct octo_ethtool *et)
{
	struct ethtool_rxfh *rxfh;

	et->reta_refused = -read_rss(et, &rxfh);
	if (et->reta_refused != 0)
		return;
	if (rxfh->hfunc == TOEPLITZ && rxfh->key_size <= sizeof(et->key)) {
		et->key_size = rxfh->key_size;
		memcpy(et->key, &rxfh->rss_config[rxfh->indir_size], rxfh->key_size);
		et->hash_types = read_hash_types(et);
	}
	free(rxfh);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_get_reta)
int
octo_ethtool_get_reta(struct octo_ethtool *et, uint32_t *reta)
{
	struct ethtool_rxfh *rxfh;
	int ret = read_rss(et, &rxfh);

	if (ret != 0)
		return ret;
	memcpy(reta, rxfh->rss_config, rxfh->indir_size * sizeof(reta[0]));
	free(rxfh);
	return 0;
}

/* Write a RETA of this size, which divides the netdev's, as often as there is room for it. */
static int
write_reta(struct octo_ethtool *et, const uint32_t *reta, uint32_t size)
{
	struct ethtool_rxfh *rxfh;
	int ret;

	rxfh = malloc(octo_ethtool_rss_len(et->reta_size, 0));
	if (rxfh == NULL)
		return -ENOMEM;
	octo_ethtool_fill_reta(rxfh, et->reta_size, reta, size, et->xfrm);
	ret = octo_ethtool_ask(et, rxfh);
	free(rxfh);
	return ret;
}

static int
give_default(const struct octo_ethtool *et)
{
	struct ethtool_rxfh rxfh;

	octo_ethtool_fill_default_reta(&rxfh, et->xfrm);
	return octo_ethtool_ask(et, &rxfh);
}

/*
 * Is it the kernel's default for the channels that there are? Only one that is set as the default
 * follows the channels: any other one counts as configured by a user, also if it is the same. A
 * user who has set the same has the default afterwards. The default of an agent is what it found.
 */
static bool
is_default(const struct octo_ethtool *et, const uint32_t *reta)
{
	struct ethtool_rxnfc nfc = {.cmd = ETHTOOL_GRXRINGS};

	if (et->client != NULL)
		return true;
	if (octo_ethtool_ask(et, &nfc) != 0 || nfc.data == 0)
		return false;
	for (uint32_t i = 0; i < et->reta_size; i++)
		if (reta[i] != i % nfc.data)
			return false;
	return true;
}

int
octo_ethtool_reta_try(struct octo_ethtool *et)
{
	uint32_t reta[OCTO_ETHTOOL_MAX_RETA];
	int ret = octo_ethtool_get_reta(et, reta);

	if (ret != 0)
		return ret;
	return is_default(et, reta) ? give_default(et) : write_reta(et, reta, et->reta_size);
}

static bool
is_any_set(const struct octo_ethtool_reta *r)
{
	return r->size[0] != 0 || r->size[1] != 0;
}

/* Write down what is to be set, and, with the first one, the RETA that the netdev has now. */
static void
note(struct octo_ethtool *et, const uint32_t *now, const uint32_t *reta, uint32_t size)
{
	struct octo_ethtool_reta *r = &et->journal.record->reta;
	const uint32_t i = !r->now;

	if (!is_any_set(r)) {
		memcpy(r->before, now, et->reta_size * sizeof(now[0]));
		r->size_before = is_default(et, now) ? 0 : et->reta_size;
	}
	r->size[i] = 0;
	rte_compiler_barrier();
	memcpy(r->ours[i], reta, size * sizeof(reta[0]));
	rte_compiler_barrier();
	r->size[i] = size;
	rte_compiler_barrier();
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_set_reta)
int
octo_ethtool_set_reta(struct octo_ethtool *et, const uint32_t *reta, uint32_t size)
{
	uint32_t now[OCTO_ETHTOOL_MAX_RETA];
	int ret = -et->reta_refused;

	/* its size changes with the channels, and the request says again how fields are hashed */
	if (ret == 0)
		ret = octo_ethtool_get_reta(et, now);
	if (ret == 0 && et->reta_size % size != 0)
		ret = -ERANGE;
	if (ret != 0)
		return ret;
	note(et, now, reta, size);
	ret = write_reta(et, reta, size);
	if (ret == 0)
		et->journal.record->reta.now ^= 1;
	return ret;
}

static bool
is_ours(const struct octo_ethtool_reta *r, const struct ethtool_rxfh *rxfh, unsigned int i)
{
	if (r->size[i] == 0 || rxfh->indir_size % r->size[i] != 0)
		return false;
	for (uint32_t e = 0; e < rxfh->indir_size; e++)
		if (rxfh->rss_config[e] != r->ours[i][e % r->size[i]])
			return false;
	return true;
}

/* The default if it was that, or has another size, or names channels that are gone. */
static int
write_before(struct octo_ethtool *et)
{
	const struct octo_ethtool_reta *r = &et->journal.record->reta;
	int ret = -EINVAL;

	if (et->reta_size == r->size_before)
		ret = write_reta(et, r->before, r->size_before);
	return ret == -EINVAL ? give_default(et) : ret;
}

int
octo_ethtool_reta_give_back(struct octo_ethtool *et)
{
	struct octo_ethtool_reta *r = &et->journal.record->reta;
	struct ethtool_rxfh *rxfh;
	int ret;

	if (!is_any_set(r))
		return 0;
	ret = read_rss(et, &rxfh);
	/* with the netdev its RETA is gone */
	if (ret == -ENODEV)
		return 0;
	if (ret != 0)
		return ret;
	/* somebody who has set another one wants that */
	if (is_ours(r, rxfh, 0) || is_ours(r, rxfh, 1))
		ret = write_before(et);
	free(rxfh);
	if (ret == 0)
		memset(r->size, 0, sizeof(r->size));
	return ret;
}
