/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "agent_sysfs.h"
#include "agent_vf.h"

#define WHY_MAX 256

/* What was found of each PF; NULL of those with rep=. */
struct search {
	struct agent_netdevs devs;
	const struct agent_netdev *rep[AGENT_MAX_PFS];
	struct agent_vf vf[AGENT_MAX_PFS];
};

static int
complain(const struct agent_pf_options *pf, const char *why, int ret)
{
	char number[16] = "";

	if (pf->vf.number >= 0)
		snprintf(number, sizeof(number), "/%d", pf->vf.number);
	fprintf(stderr, "octo-agent: --pf %s: vf=%s%s: %s\n", pf->name, pf->vf.address, number,
		why);
	return ret;
}

/* Netdevs of the PFs; those of a PF once, whichever of its VFs are named. */
static int
read_netdevs(const struct agent_options *options, struct search *s)
{
	char why[WHY_MAX];

	for (uint16_t i = 0; i < options->nb_pfs; i++) {
		const struct agent_pf_options *pf = &options->pf[i];
		bool known = false;
		int ret;

		if (pf->vf.address[0] == '\0')
			continue;
		ret = agent_sysfs_find_pf(options->root, &pf->vf, &s->vf[i], why, sizeof(why));
		if (ret != 0)
			return complain(pf, why, ret);
		for (uint16_t j = 0; j < i; j++)
			known |= strcmp(s->vf[j].address, s->vf[i].address) == 0;
		if (known)
			continue;
		ret = agent_sysfs_add_netdevs(options->root, s->vf[i].address, &s->devs, why,
					      sizeof(why));
		if (ret != 0)
			return complain(pf, why, ret);
	}
	return 0;
}

/* Compare a VF with those before it. */
static int
check_others(const struct agent_options *options, const struct search *s, uint16_t index)
{
	const struct agent_pf_options *pf = &options->pf[index];
	char why[WHY_MAX];

	for (uint16_t i = 0; i < index; i++) {
		if (s->rep[i] == NULL)
			continue;
		if (s->rep[i] == s->rep[index]) {
			snprintf(why, sizeof(why), "it is the VF of %s: each PF needs its own",
				 options->pf[i].name);
			return complain(pf, why, -EEXIST);
		}
		if (agent_rep_check_fdb(s->rep[i], s->rep[index], why, sizeof(why)) != 0)
			return complain(pf, why, -EXDEV);
	}
	return 0;
}

static int
find_port(const struct agent_netdev *dev, char *name)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		if (dev->ifindex != 0 && rte_eth_dev_info_get(port, &info) == 0 &&
		    info.if_index == dev->ifindex)
			return rte_eth_dev_get_name_by_port(port, name);
	}
	return -ENODEV;
}

/*
 * mlx5 makes the name of an ethdev from phys_port_name, and takes a second netdev with the same one
 * for a port that it has.
 */
static const struct agent_netdev *
find_twin(const struct search *s, const struct agent_netdev *dev)
{
	char name[RTE_ETH_NAME_MAX_LEN];

	for (unsigned int i = 0; i < s->devs.nb; i++) {
		const struct agent_netdev *other = &s->devs.dev[i];

		if (other != dev && strcmp(other->port_name, dev->port_name) == 0 &&
		    find_port(other, name) == 0)
			return other;
	}
	return NULL;
}

static int
blame_eal(const struct agent_pf_options *pf, const struct search *s, const struct agent_netdev *dev)
{
	const struct agent_netdev *twin = find_twin(s, dev);
	char why[WHY_MAX];

	if (twin == NULL)
		snprintf(why, sizeof(why),
			 "its representor %s (%s) is no ethdev: representor= of EAL's -a makes one",
			 dev->name, dev->port_name);
	else
		snprintf(why, sizeof(why),
			 "its representor %s is no ethdev: %s of %s is one, and is called %s as "
			 "well: use VFs of different numbers",
			 dev->name, twin->name, twin->parent, dev->port_name);
	return complain(pf, why, -ENODEV);
}

static int
find_reps(struct agent_options *options, struct search *s)
{
	char why[WHY_MAX];
	int ret = read_netdevs(options, s);

	for (uint16_t i = 0; ret == 0 && i < options->nb_pfs; i++) {
		if (options->pf[i].vf.address[0] == '\0')
			continue;
		s->rep[i] = agent_rep_find(s->devs.dev, s->devs.nb, &s->vf[i], why, sizeof(why));
		if (s->rep[i] == NULL)
			return complain(&options->pf[i], why, -ENODEV);
		ret = check_others(options, s, i);
	}
	for (uint16_t i = 0; ret == 0 && i < options->nb_pfs; i++)
		if (s->rep[i] != NULL && find_port(s->rep[i], options->pf[i].rep) != 0)
			ret = blame_eal(&options->pf[i], s, s->rep[i]);
	return ret;
}

/* The switch that an ethdev is a port of; there are drivers that do not tell. */
static uint16_t
domain_of(const char *name)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	if (rte_eth_dev_get_port_by_name(name, &port) != 0 ||
	    rte_eth_dev_info_get(port, &info) != 0)
		return RTE_ETH_DEV_SWITCH_DOMAIN_ID_INVALID;
	return info.switch_info.domain_id;
}

static int
check_domain(const struct agent_options *options)
{
	const uint16_t domain = domain_of(options->uplink);

	for (uint16_t i = 0; i < options->nb_pfs; i++) {
		const uint16_t other = domain_of(options->pf[i].rep);

		if (other == domain || other == RTE_ETH_DEV_SWITCH_DOMAIN_ID_INVALID ||
		    domain == RTE_ETH_DEV_SWITCH_DOMAIN_ID_INVALID)
			continue;
		fprintf(stderr,
			"octo-agent: --pf %s: its representor %s is no port of the switch of "
			"--uplink %s: the PFs do not share an FDB\n",
			options->pf[i].name, options->pf[i].rep, options->uplink);
		return -EXDEV;
	}
	return 0;
}

static int
refuse_rep(const struct agent_pf_options *pf, const char *option, const char *whose)
{
	fprintf(stderr,
		"octo-agent: --pf %s: its representor %s is that of %s%s: each needs its own\n",
		pf->name, pf->rep, option, whose);
	return -EEXIST;
}

/* Two options may name one ethdev, and it is started once. */
static int
check_once(const struct agent_options *options)
{
	for (uint16_t i = 0; i < options->nb_pfs; i++) {
		const struct agent_pf_options *pf = &options->pf[i];

		if (strcmp(pf->rep, options->uplink) == 0)
			return refuse_rep(pf, "--uplink", "");
		for (uint16_t j = 0; j < i; j++)
			if (strcmp(pf->rep, options->pf[j].rep) == 0)
				return refuse_rep(pf, "--pf ", options->pf[j].name);
	}
	return 0;
}

int
agent_vf_find_reps(struct agent_options *options)
{
	struct search *s;
	int ret;

	if (options->uplink == NULL)
		return 0;
	s = calloc(1, sizeof(*s));
	if (s == NULL) {
		fprintf(stderr, "octo-agent: no memory for the list of netdevs\n");
		return -ENOMEM;
	}
	ret = find_reps(options, s);
	free(s);
	if (ret == 0)
		ret = check_once(options);
	return ret != 0 ? ret : check_domain(options);
}
