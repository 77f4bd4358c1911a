/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "octosim.h"
#include "octosim_caps.h"

static int
check_key(const struct octosim_pf *pf, const struct rte_eth_rss_conf *conf)
{
	if (conf->rss_key == NULL || conf->rss_key_len == 0 ||
	    conf->rss_key_len == OCTOSIM_RSS_KEY_LEN)
		return 0;
	OCTOSIM_LOG(ERR, pf->data->name, "the RSS key has %u bytes: %u are needed",
		    conf->rss_key_len, OCTOSIM_RSS_KEY_LEN);
	return -EINVAL;
}

static void
apply_locked(struct octosim_pf *pf, const struct rte_eth_rss_conf *conf)
{
	if (conf->rss_key != NULL)
		octosim_rss_set_key(&pf->rss_state, conf->rss_key);
	octosim_rss_set_hf(&pf->rss_state, conf->rss_hf);
}

int
octosim_rss_configure(struct octosim_pf *pf, const struct rte_eth_conf *conf)
{
	const struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;
	const bool on = (conf->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) != 0;
	int ret = on ? check_key(pf, rss) : 0;

	if (ret != 0)
		return ret;
	octosim_nic_lock(pf->nic);
	pf->rss = on;
	octosim_rss_set_key(&pf->rss_state, octosim_rss_default_key);
	octosim_rss_set_default_reta(&pf->rss_state, pf->nb_rxq);
	if (on)
		apply_locked(pf, rss);
	octosim_nic_unlock(pf->nic);
	return 0;
}

int
octosim_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct octosim_pf *pf = dev->data->dev_private;
	int ret = check_key(pf, conf);

	if (ret != 0)
		return ret;
	octosim_nic_lock(pf->nic);
	apply_locked(pf, conf);
	octosim_nic_unlock(pf->nic);
	return 0;
}

int
octosim_rss_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct octosim_pf *pf = dev->data->dev_private;

	octosim_nic_lock(pf->nic);
	if (conf->rss_key != NULL && conf->rss_key_len >= OCTOSIM_RSS_KEY_LEN)
		memcpy(conf->rss_key, pf->rss_state.key, OCTOSIM_RSS_KEY_LEN);
	conf->rss_key_len = OCTOSIM_RSS_KEY_LEN;
	conf->rss_hf = pf->rss ? pf->rss_state.hf : 0;
	octosim_nic_unlock(pf->nic);
	return 0;
}

/* Is the entry asked for in the mask of its group? */
static bool
reta_selected(const struct rte_eth_rss_reta_entry64 *reta, uint16_t i)
{
	return (reta[i / RTE_ETH_RETA_GROUP_SIZE].mask >> (i % RTE_ETH_RETA_GROUP_SIZE) & 1) != 0;
}

static int
check_reta_size(const struct rte_eth_dev *dev, uint16_t size)
{
	if (!octosim_caps_has(dev->data->dev_private, OCTOSIM_CAP_RETA)) {
		OCTOSIM_LOG(ERR, dev->data->name, "there is no redirection table (caps=-reta)");
		return -ENOTSUP;
	}
	if (size == OCTOSIM_RSS_RETA_SIZE)
		return 0;
	OCTOSIM_LOG(ERR, dev->data->name, "the redirection table has %u entries, not %u",
		    OCTOSIM_RSS_RETA_SIZE, size);
	return -EINVAL;
}

int
octosim_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct octosim_pf *pf = dev->data->dev_private;
	int ret = check_reta_size(dev, size);

	for (uint16_t i = 0; ret == 0 && i < size; i++) {
		uint16_t q = reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];

		if (!reta_selected(reta, i) || q < pf->nb_rxq)
			continue;
		OCTOSIM_LOG(ERR, dev->data->name, "redirection entry %u: there is no Rx queue %u",
			    i, q);
		ret = -EINVAL;
	}
	if (ret != 0)
		return ret;
	octosim_nic_lock(pf->nic);
	for (uint16_t i = 0; i < size; i++)
		if (reta_selected(reta, i))
			pf->rss_state.reta[i] = reta[i / RTE_ETH_RETA_GROUP_SIZE]
							.reta[i % RTE_ETH_RETA_GROUP_SIZE];
	octosim_nic_unlock(pf->nic);
	return 0;
}

int
octosim_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct octosim_pf *pf = dev->data->dev_private;
	int ret = check_reta_size(dev, size);

	if (ret != 0)
		return ret;
	octosim_nic_lock(pf->nic);
	for (uint16_t i = 0; i < size; i++)
		if (reta_selected(reta, i))
			reta[i / RTE_ETH_RETA_GROUP_SIZE]
				.reta[i % RTE_ETH_RETA_GROUP_SIZE] = pf->rss_state.reta[i];
	octosim_nic_unlock(pf->nic);
	return 0;
}
