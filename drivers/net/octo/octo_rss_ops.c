/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * RETA and hash operations. The application sees one RETA for all PFs, so tiers partition and
 * mac end when it uses them.
 */

#include <errno.h>

#include "octo_private.h"

static void
entries_to_reta(const struct rte_eth_rss_reta_entry64 *entries, uint16_t size, uint16_t *reta)
{
	for (uint16_t i = 0; i < size; i++)
		if (entries[i / RTE_ETH_RETA_GROUP_SIZE].mask &
		    RTE_BIT64(i % RTE_ETH_RETA_GROUP_SIZE))
			reta[i] = entries[i / RTE_ETH_RETA_GROUP_SIZE]
					  .reta[i % RTE_ETH_RETA_GROUP_SIZE];
}

static int
reta_update_locked(struct octo_dev *octo, const struct rte_eth_rss_reta_entry64 *conf,
		   uint16_t size)
{
	uint16_t reta[OCTO_MAX_RETA];
	int ret;

	if (size != octo->reta_size) {
		OCTO_LOG(ERR, "port %u: the RETA has %u entries, not %u", octo->port_id,
			 octo->reta_size, size);
		return -EINVAL;
	}
	ret = octo_tier_partition_leave_locked(octo, "sets a RETA");
	if (ret != 0)
		return ret;
	memcpy(reta, octo->reta, sizeof(reta));
	entries_to_reta(conf, size, reta);
	ret = octo_rss_apply_reta_locked(octo, reta);
	if (ret == 0) {
		memcpy(octo->reta, reta, sizeof(reta));
		if (octo->sliced)
			octo_rule_list_drop_learned_locked(octo);
	}
	return ret;
}

int
octo_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf, uint16_t size)
{
	return OCTO_CALL_LOCKED(dev, reta_update_locked, conf, size);
}

/* The RETA of octo queues, where the port's is of slices. */
static int
fill_reta(struct octo_dev *octo, struct rte_eth_rss_reta_entry64 *conf, uint16_t size)
{
	if (size != octo->reta_size)
		return -EINVAL;
	for (uint16_t i = 0; i < size; i++)
		if (conf[i / RTE_ETH_RETA_GROUP_SIZE].mask & RTE_BIT64(i % RTE_ETH_RETA_GROUP_SIZE))
			conf[i / RTE_ETH_RETA_GROUP_SIZE]
				.reta[i % RTE_ETH_RETA_GROUP_SIZE] = octo->reta[i];
	return 0;
}

static int
reta_query_locked(struct octo_dev *octo, struct rte_eth_rss_reta_entry64 *conf, uint16_t size)
{
	const int first = octo_port_first(octo, OCTO_PORT_IDLE);
	int ret;

	if (first < 0 || octo->reta_size == 0)
		return -ENOTSUP;
	ret = octo_tier_partition_leave_locked(octo, "asks for the RETA");
	if (ret != 0)
		return ret;
	if (octo->sliced)
		return fill_reta(octo, conf, size);
	return rte_eth_dev_rss_reta_query(octo->port[first].port_id, conf, size);
}

int
octo_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf, uint16_t size)
{
	return OCTO_CALL_LOCKED(dev, reta_query_locked, conf, size);
}

static int
pf_hash_update(struct octo_port *port, const void *arg)
{
	struct rte_eth_rss_conf conf = *(const struct rte_eth_rss_conf *)arg;

	return octo_port_nic(port)->hash_update(port, &conf);
}

static int
hash_update_locked(struct octo_dev *octo, const struct rte_eth_rss_conf *wanted)
{
	uint8_t key[OCTO_MAX_RSS_KEY];
	struct rte_eth_rss_conf before = {.rss_key = key, .rss_key_len = sizeof(key)};
	const int first = octo_port_first(octo, OCTO_PORT_IDLE);
	struct rte_eth_rss_conf conf = *wanted;
	int ret;

	if (first < 0)
		return -ENODEV;
	octo_rss_set_length(&conf, octo->port[first].past.info.hash_key_size);
	ret = octo_tier_partition_leave_locked(octo, "sets the RSS hash");
	if (ret != 0)
		return ret;
	ret = octo_port_nic(&octo->port[first])->hash_get(&octo->port[first], &before);
	if (ret != 0)
		return ret;
	ret = octo_port_apply(octo, OCTO_PORT_IDLE, "update the RSS hash", pf_hash_update,
			      pf_hash_update, &conf, &before);
	if (ret == 0)
		octo_rss_keep_hash(octo, &conf);
	if (ret == 0 && octo->sliced)
		octo_rule_list_drop_learned_locked(octo);
	return ret;
}

int
octo_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	return OCTO_CALL_LOCKED(dev, hash_update_locked, conf);
}

/* Only a query of the key ends tier partition: the hash types are the same on all PFs. */
static int
hash_get_locked(struct octo_dev *octo, struct rte_eth_rss_conf *conf)
{
	const int first = octo_port_first(octo, OCTO_PORT_IDLE);
	int ret = 0;

	if (first < 0)
		return -ENODEV;
	if (conf->rss_key != NULL)
		ret = octo_tier_partition_leave_locked(octo, "asks for the RSS key");
	return ret != 0 ? ret :
			  octo_port_nic(&octo->port[first])->hash_get(&octo->port[first], conf);
}

int
octo_rss_hash_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	return OCTO_CALL_LOCKED(dev, hash_get_locked, conf);
}
