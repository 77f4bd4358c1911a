/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "mpsim.h"
#include "mpsim_caps.h"

static int
check_key(const struct mpsim_pf *pf, const struct rte_eth_rss_conf *conf)
{
	if (conf->rss_key == NULL || conf->rss_key_len == 0 ||
	    conf->rss_key_len == MPSIM_RSS_KEY_LEN)
		return 0;
	MPSIM_LOG(ERR, pf->data->name, "the RSS key has %u bytes: %u are needed", conf->rss_key_len,
		  MPSIM_RSS_KEY_LEN);
	return -EINVAL;
}

static void
apply_locked(struct mpsim_pf *pf, const struct rte_eth_rss_conf *conf)
{
	if (conf->rss_key != NULL)
		mpsim_rss_set_key(&pf->rss_state, conf->rss_key);
	mpsim_rss_set_hf(&pf->rss_state, conf->rss_hf);
}

int
mpsim_rss_configure(struct mpsim_pf *pf, const struct rte_eth_conf *conf)
{
	const struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;
	const bool on = (conf->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) != 0;
	int ret = on ? check_key(pf, rss) : 0;

	if (ret != 0)
		return ret;
	mpsim_nic_lock(pf->nic);
	pf->rss = on;
	mpsim_rss_set_key(&pf->rss_state, mpsim_rss_default_key);
	mpsim_rss_set_default_reta(&pf->rss_state, pf->nb_rxq);
	if (on)
		apply_locked(pf, rss);
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	int ret = check_key(pf, conf);

	if (ret != 0)
		return ret;
	mpsim_nic_lock(pf->nic);
	apply_locked(pf, conf);
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_rss_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	mpsim_nic_lock(pf->nic);
	if (conf->rss_key != NULL && conf->rss_key_len >= MPSIM_RSS_KEY_LEN)
		memcpy(conf->rss_key, pf->rss_state.key, MPSIM_RSS_KEY_LEN);
	conf->rss_key_len = MPSIM_RSS_KEY_LEN;
	conf->rss_hf = pf->rss ? pf->rss_state.hf : 0;
	mpsim_nic_unlock(pf->nic);
	return 0;
}

/* Is the entry selected by the mask of its group? */
static bool
reta_selected(const struct rte_eth_rss_reta_entry64 *reta, uint16_t i)
{
	return (reta[i / RTE_ETH_RETA_GROUP_SIZE].mask >> (i % RTE_ETH_RETA_GROUP_SIZE) & 1) != 0;
}

static int
check_reta_size(const struct rte_eth_dev *dev, uint16_t size)
{
	if (!mpsim_caps_has(dev->data->dev_private, MPSIM_CAP_RETA)) {
		MPSIM_LOG(ERR, dev->data->name, "there is no redirection table (caps=-reta)");
		return -ENOTSUP;
	}
	if (size == MPSIM_RSS_RETA_SIZE)
		return 0;
	MPSIM_LOG(ERR, dev->data->name, "the redirection table has %u entries, not %u",
		  MPSIM_RSS_RETA_SIZE, size);
	return -EINVAL;
}

int
mpsim_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	int ret = check_reta_size(dev, size);

	for (uint16_t i = 0; ret == 0 && i < size; i++) {
		uint16_t q = reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];

		if (!reta_selected(reta, i) || q < pf->nb_rxq)
			continue;
		MPSIM_LOG(ERR, dev->data->name, "redirection entry %u: there is no Rx queue %u", i,
			  q);
		ret = -EINVAL;
	}
	if (ret != 0)
		return ret;
	mpsim_nic_lock(pf->nic);
	for (uint16_t i = 0; i < size; i++)
		if (reta_selected(reta, i))
			pf->rss_state.reta[i] = reta[i / RTE_ETH_RETA_GROUP_SIZE]
							.reta[i % RTE_ETH_RETA_GROUP_SIZE];
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	int ret = check_reta_size(dev, size);

	if (ret != 0)
		return ret;
	mpsim_nic_lock(pf->nic);
	for (uint16_t i = 0; i < size; i++)
		if (reta_selected(reta, i))
			reta[i / RTE_ETH_RETA_GROUP_SIZE]
				.reta[i % RTE_ETH_RETA_GROUP_SIZE] = pf->rss_state.reta[i];
	mpsim_nic_unlock(pf->nic);
	return 0;
}
