/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "agent_log.h"
#include "agent_netdev.h"
#include "octo_ethtool_io.h"
#include "octo_ethtool_table.h"

int
agent_netdev_take(struct agent_netdev *netdev)
{
	const struct octo_ethtool *et;
	int ret;

	netdev->ifindex = if_nametoindex(netdev->name);
	if (netdev->ifindex == 0)
		return -ENODEV;
	netdev->et = octo_ethtool_open(netdev->dir, netdev->ifindex);
	et = netdev->et;
	if (et == NULL)
		return -ENOMEM;
	if (et->nb_swept > 0)
		AGENT_LOG(NOTICE, netdev->name, "%u ntuple rules of a previous run are removed",
			  et->nb_swept);
	if (et->rules_refused == 0 || et->reta_refused == 0)
		return 0;
	ret = -et->rules_refused;
	agent_netdev_give_back(netdev);
	return ret;
}

int
agent_netdev_give_back(struct agent_netdev *netdev)
{
	const int ret = octo_ethtool_close(netdev->et);

	netdev->et = NULL;
	return ret;
}

int
agent_netdev_check_hello(const struct agent_netdev *netdev, const struct octo_ethtool_hello *hello)
{
	if (hello->version != OCTO_ETHTOOL_MSG_VERSION)
		return -EPROTONOSUPPORT;
	if (hello->netns != octo_ethtool_io_netns() ||
	    hello->ifindex != if_nametoindex(netdev->name))
		return -EXDEV;
	return 0;
}

static int
ask_kernel(const struct agent_netdev *netdev, void *request)
{
	return octo_ethtool_io(netdev->et->fd, netdev->ifindex, request);
}

/* The kernel knows other flow types. */
static int
read_hash(const struct agent_netdev *netdev, struct ethtool_rxnfc *nfc)
{
	struct ethtool_rxnfc question;
	int ret;

	for (unsigned int i = 0; i < OCTO_ETHTOOL_NB_HASHED; i++) {
		octo_ethtool_ask_hash(&question, i);
		if (question.flow_type != nfc->flow_type)
			continue;
		ret = ask_kernel(netdev, &question);
		if (ret == 0)
			*nfc = question;
		return ret;
	}
	return -EINVAL;
}

static int
read_room(const struct agent_netdev *netdev, struct ethtool_rxnfc *nfc)
{
	if (netdev->et->rules_refused != 0)
		return -netdev->et->rules_refused;
	*nfc = (struct ethtool_rxnfc){
		.cmd = ETHTOOL_GRXCLSRLCNT,
		.data = netdev->et->room.size | RX_CLS_LOC_SPECIAL,
	};
	return 0;
}

/* The port's rule at a location. The rules of others are none to it. */
static struct octo_ethtool_note *
rule_at(const struct agent_netdev *netdev, uint32_t location)
{
	struct octo_ethtool_record *record = netdev->et->journal.record;

	for (uint32_t i = 0; record != NULL && i < record->nb_notes; i++)
		if (record->notes[i].used && record->notes[i].fs.location == location)
			return &record->notes[i];
	return NULL;
}

static struct octo_ethtool_note *
rule_of(const struct agent_netdev *netdev, const struct ethtool_rx_flow_spec *fs)
{
	struct octo_ethtool_record *record = netdev->et->journal.record;

	for (uint32_t i = 0; record != NULL && i < record->nb_notes; i++)
		if (record->notes[i].used && record->notes[i].used != OCTO_ETHTOOL_LEFT &&
		    octo_ethtool_same_flow(&record->notes[i].fs, fs))
			return &record->notes[i];
	return NULL;
}

static int
read_rule(const struct agent_netdev *netdev, struct ethtool_rxnfc *nfc)
{
	struct octo_ethtool_note *rule = rule_at(netdev, nfc->fs.location);
	struct ethtool_rxnfc question = {
		.cmd = ETHTOOL_GRXCLSRULE,
		.fs.location = nfc->fs.location,
	};
	int ret;

	if (rule == NULL)
		return -ENOENT;
	ret = ask_kernel(netdev, &question);
	if (ret == 0 && octo_ethtool_is_noted(rule, &question.fs)) {
		*nfc = question;
		return 0;
	}
	/* the port does not remove what is gone */
	if (ret == 0 || octo_ethtool_is_free(ret)) {
		octo_ethtool_remove(netdev->et, rule);
		ret = -ENOENT;
	}
	return ret;
}

/* More than a channel would be a VF, or what drops packets. */
static int
read_nb_channels(const struct agent_netdev *netdev, uint64_t *nb)
{
	struct ethtool_rxnfc nfc = {.cmd = ETHTOOL_GRXRINGS};
	const int ret = ask_kernel(netdev, &nfc);

	*nb = nfc.data;
	return ret;
}

/* A rule is where others were: somebody has removed them. */
static void
strike_others(const struct agent_netdev *netdev, const struct octo_ethtool_note *rule)
{
	struct octo_ethtool_record *record = netdev->et->journal.record;

	for (uint32_t i = 0; i < record->nb_notes; i++)
		if (record->notes[i].used && &record->notes[i] != rule &&
		    record->notes[i].fs.location == rule->fs.location)
			octo_ethtool_journal_strike(&record->notes[i]);
}

static int
put_rule(const struct agent_netdev *netdev, struct ethtool_rxnfc *nfc)
{
	struct octo_ethtool_note *rule;
	struct octo_tuple tuple;
	uint64_t nb_channels;
	int ret;

	if (!octo_ethtool_read_tuple(&nfc->fs, &tuple) || nfc->fs.location != RX_CLS_LOC_ANY)
		return -EINVAL;
	ret = read_nb_channels(netdev, &nb_channels);
	if (ret == 0 && nfc->fs.ring_cookie >= nb_channels)
		ret = -EINVAL;
	if (ret != 0)
		return ret;
	rule = rule_of(netdev, &nfc->fs);
	if (rule != NULL)
		ret = octo_ethtool_update(netdev->et, rule, (uint32_t)nfc->fs.ring_cookie);
	else
		ret = octo_ethtool_insert(netdev->et, &tuple, (uint32_t)nfc->fs.ring_cookie, &rule);
	if (ret != 0)
		return ret;
	strike_others(netdev, rule);
	nfc->fs.location = rule->fs.location;
	return 0;
}

static int
remove_rule(const struct agent_netdev *netdev, const struct ethtool_rxnfc *nfc)
{
	struct octo_ethtool_note *rule = rule_at(netdev, nfc->fs.location);

	return rule == NULL ? -ENOENT : octo_ethtool_remove(netdev->et, rule);
}

static int
read_rss(const struct agent_netdev *netdev, struct ethtool_rxfh *rxfh)
{
	int ret = -netdev->et->reta_refused;

	octo_ethtool_ask_rss(rxfh, rxfh->indir_size, rxfh->key_size);
	if (ret == 0)
		ret = ask_kernel(netdev, rxfh);
	if (ret == 0 &&
	    (rxfh->indir_size > OCTO_ETHTOOL_MAX_RETA || rxfh->key_size > OCTO_ETHTOOL_MSG_MAX_KEY))
		ret = -EOPNOTSUPP;
	return ret;
}

/* The kernel refuses channels that the netdev does not have. */
static int
set_reta(const struct agent_netdev *netdev, const struct ethtool_rxfh *rxfh)
{
	if (rxfh->rss_context != 0 || rxfh->key_size != 0 || rxfh->hfunc != 0)
		return -EINVAL;
	if (netdev->et->reta_refused != 0)
		return -netdev->et->reta_refused;
	if (rxfh->indir_size == 0)
		return octo_ethtool_reta_give_back(netdev->et);
	return octo_ethtool_set_reta(netdev->et, rxfh->rss_config, rxfh->indir_size);
}

int
agent_netdev_execute(struct agent_netdev *netdev, struct octo_ethtool_msg *msg)
{
	switch (msg->cmd) {
	case ETHTOOL_GRXFH:
		return read_hash(netdev, &msg->nfc);
	case ETHTOOL_GRXCLSRLCNT:
		return read_room(netdev, &msg->nfc);
	case ETHTOOL_GRXCLSRULE:
		return read_rule(netdev, &msg->nfc);
	case ETHTOOL_SRXCLSRLINS:
		return put_rule(netdev, &msg->nfc);
	case ETHTOOL_SRXCLSRLDEL:
		return remove_rule(netdev, &msg->nfc);
	case ETHTOOL_GRSSH:
		return read_rss(netdev, &msg->rxfh);
	case ETHTOOL_SRSSH:
		return set_reta(netdev, &msg->rxfh);
	default:
		return -EOPNOTSUPP;
	}
}
