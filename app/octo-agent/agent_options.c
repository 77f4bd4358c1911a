/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <net/if.h>

#include <rte_common.h>
#include <rte_string_fns.h>

#include "agent_audit.h"
#include "agent_options.h"
#include "octo_ethtool_client.h"

#define MAX_NODE 63
#define PF_TEXT_MAX 512

static const char usage[] =
	"usage: octo-agent [EAL options] -- OPTIONS\n"
	"\n"
	"The firmware of a multi-PF NIC whose PFs belong to a virtual machine or another process, or\n"
	"the steering of a NIC's switch for an octo port on another CPU, or that of a netdev for an\n"
	"octo port over net_af_xdp whose process has no CAP_NET_ADMIN.\n"
	"\n"
	"  --pf ETHDEV,KEY=VALUE...  a PF; may be given several times, and PFs count in this order\n"
	"         vhost=SOCKET       connects it to this vhost-user socket\n"
	"         mode=server        makes the socket (default); mode=client: the other side does\n"
	"         queues=N           queue pairs, 1 to 64 (default 1)\n"
	"         node=N             NUMA node that the PF is on, for the auditor\n"
	"         rep=ETHDEV         represents the PF to the switch\n"
	"         vf=ADDRESS         the PF is this VF, or vf=PF/NUMBER: finds its representor\n"
	"  --uplink ETHDEV           represents the wire to the switch: each PF needs rep= or vf=\n"
	"                            then, and no vhost= if it belongs to another machine\n"
	"  --root DIR                vf= looks for sys/ in this directory (default /)\n"
	"  --listen ADDRESS          steer for the octo port that connects to unix:PATH,\n"
	"                            tcp:ADDRESS:PORT or dev:PATH; the PFs are its, in its order\n"
	"  --secret FILE             serve only a port that has the same secret: 16 to 64 bytes in\n"
	"                            a file of mode 0600; sent in clear\n"
	"  --no-secret               serve by TCP without one: all who reach the address can steer\n"
	"  --allow-remote            listen on an address that other machines can reach\n"
	"  --ethtool NETDEV          steer the flows of this netdev by the kernel, for the octo port that\n"
	"                            connects to --listen unix:PATH; no --pf then\n"
	"  --group GROUP             with --ethtool: its members can connect, too\n"
	"  --memory NODE=FILE        memory in this file is on this NUMA node; several times\n"
	"  --audit                   print the auditor's table at the end (SIGUSR1: now)\n"
	"  -h, --help                this text\n"
	"\n"
	"Exit code: 0 if it was ended by a signal, 1 if it cannot run, 2 for wrong OPTIONS.\n";

void
agent_options_usage(const char *program)
{
	RTE_SET_USED(program);
	fputs(usage, stdout);
}

static int
read_number(const char *text, unsigned long min, unsigned long max, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return isdigit((unsigned char)*text) && *end == '\0' && errno == 0 && *number >= min &&
			       *number <= max ?
		       0 :
		       -EINVAL;
}

static int
read_vhost(const char *value, struct agent_pf_options *pf)
{
	if (value[0] != '\0' && strlcpy(pf->vhost, value, sizeof(pf->vhost)) < sizeof(pf->vhost))
		return 0;
	fprintf(stderr, "octo-agent: --pf %s: vhost=%s: a path of 1 to %zu bytes is needed\n",
		pf->name, value, sizeof(pf->vhost) - 1);
	return -EINVAL;
}

static int
read_rep(const char *value, struct agent_pf_options *pf)
{
	if (value[0] != '\0' && strlcpy(pf->rep, value, sizeof(pf->rep)) < sizeof(pf->rep))
		return 0;
	fprintf(stderr, "octo-agent: --pf %s: rep=%s: the name of an ethdev is needed\n", pf->name,
		value);
	return -EINVAL;
}

static int
read_vf(const char *value, struct agent_pf_options *pf)
{
	if (agent_rep_read_vf(value, &pf->vf) == 0)
		return 0;
	fprintf(stderr,
		"octo-agent: --pf %s: vf=%s: the address of a VF, as 0000:16:00.2, or of a PF and "
		"a number, as 0000:16:00.0/0, is needed\n",
		pf->name, value);
	return -EINVAL;
}

static int
read_mode(const char *value, struct agent_pf_options *pf)
{
	pf->client = strcmp(value, "client") == 0;
	if (pf->client || strcmp(value, "server") == 0)
		return 0;
	fprintf(stderr, "octo-agent: --pf %s: mode=%s: server or client is needed\n", pf->name,
		value);
	return -EINVAL;
}

static int
read_queues(const char *value, struct agent_pf_options *pf)
{
	unsigned long number;

	if (read_number(value, 1, AGENT_MAX_QUEUES, &number) == 0) {
		pf->queues = number;
		return 0;
	}
	fprintf(stderr, "octo-agent: --pf %s: queues=%s: a number from 1 to %d is needed\n",
		pf->name, value, AGENT_MAX_QUEUES);
	return -EINVAL;
}

static int
read_node(const char *value, struct agent_pf_options *pf)
{
	unsigned long number;

	if (read_number(value, 0, MAX_NODE, &number) == 0) {
		pf->node = number;
		return 0;
	}
	fprintf(stderr, "octo-agent: --pf %s: node=%s: a number from 0 to %d is needed\n", pf->name,
		value, MAX_NODE);
	return -EINVAL;
}

static const struct {
	const char *name;
	int (*read)(const char *value, struct agent_pf_options *pf);
} pf_keys[] = {
	{"vhost", read_vhost}, {"mode", read_mode}, {"queues", read_queues},
	{"node", read_node},   {"rep", read_rep},   {"vf", read_vf},
};

static int
read_pf_pair(char *pair, struct agent_pf_options *pf, uint32_t *seen)
{
	const char *key = strsep(&pair, "=");

	for (unsigned int i = 0; i < RTE_DIM(pf_keys); i++) {
		if (strcmp(key, pf_keys[i].name) != 0)
			continue;
		if (*seen & RTE_BIT32(i)) {
			fprintf(stderr, "octo-agent: --pf %s: %s= is given twice: once is enough\n",
				pf->name, key);
			return -EINVAL;
		}
		*seen |= RTE_BIT32(i);
		return pf_keys[i].read(pair == NULL ? "" : pair, pf);
	}
	fprintf(stderr,
		"octo-agent: --pf %s: '%s' is not known: vhost=, mode=, queues=, node=, rep= "
		"and vf= are\n",
		pf->name, key);
	return -EINVAL;
}

/* Is a representor named, by either key? */
static bool
is_behind_switch(const struct agent_pf_options *pf)
{
	return pf->rep[0] != '\0' || pf->vf.address[0] != '\0';
}

/* A PF that fits in with those before it? */
static int
check_pf(const struct agent_options *options, const struct agent_pf_options *pf)
{
	if (pf->vhost[0] == '\0' && !is_behind_switch(pf)) {
		fprintf(stderr,
			"octo-agent: --pf %s: vhost=SOCKET is needed, or rep=ETHDEV or vf=ADDRESS "
			"with --uplink\n",
			pf->name);
		return -EINVAL;
	}
	if (pf->rep[0] != '\0' && pf->vf.address[0] != '\0') {
		fprintf(stderr,
			"octo-agent: --pf %s: rep= and vf= are given: one of them is enough\n",
			pf->name);
		return -EINVAL;
	}
	for (uint16_t i = 0; i < options->nb_pfs; i++) {
		const struct agent_pf_options *other = &options->pf[i];

		if (strcmp(other->name, pf->name) == 0) {
			fprintf(stderr, "octo-agent: --pf %s is given twice: once is enough\n",
				pf->name);
			return -EINVAL;
		}
		if (pf->vhost[0] != '\0' && strcmp(other->vhost, pf->vhost) == 0) {
			fprintf(stderr,
				"octo-agent: --pf %s: vhost=%s is the socket of %s: each PF needs "
				"its own\n",
				pf->name, pf->vhost, other->name);
			return -EINVAL;
		}
	}
	return 0;
}

static int
read_pf(const char *text, struct agent_options *options)
{
	struct agent_pf_options pf = {.option = "--pf", .queues = 1, .node = AGENT_NODE_UNKNOWN};
	char copy[PF_TEXT_MAX];
	char *rest = copy, *name;
	uint32_t seen = 0;

	if (options->nb_pfs == AGENT_MAX_PFS) {
		fprintf(stderr, "octo-agent: --pf %s: a NIC has %d PFs at most\n", text,
			AGENT_MAX_PFS);
		return -EINVAL;
	}
	if (strlcpy(copy, text, sizeof(copy)) >= sizeof(copy))
		rest = NULL;
	name = strsep(&rest, ",");
	if (name == NULL || name[0] == '\0' ||
	    strlcpy(pf.name, name, sizeof(pf.name)) >= sizeof(pf.name)) {
		fprintf(stderr,
			"octo-agent: --pf %s: ETHDEV,vhost=SOCKET is needed, or rep=ETHDEV or "
			"vf=ADDRESS with --uplink\n",
			text);
		return -EINVAL;
	}
	while (rest != NULL)
		if (read_pf_pair(strsep(&rest, ","), &pf, &seen) != 0)
			return -EINVAL;
	if (check_pf(options, &pf) != 0)
		return -EINVAL;
	options->pf[options->nb_pfs++] = pf;
	return 0;
}

static int
read_memory(char *text, struct agent_options *options)
{
	char *path = text;
	const char *node = strsep(&path, "=");
	unsigned long number;

	if (path == NULL || path[0] == '\0' || read_number(node, 0, MAX_NODE, &number) != 0) {
		fprintf(stderr,
			"octo-agent: --memory %s%s%s: NODE=FILE is needed, with NODE from 0 to "
			"%d\n",
			node, path == NULL ? "" : "=", path == NULL ? "" : path, MAX_NODE);
		return -EINVAL;
	}
	if (options->nb_files == AGENT_MAX_FILES) {
		fprintf(stderr, "octo-agent: --memory %s=%s: %d files at most\n", node, path,
			AGENT_MAX_FILES);
		return -EINVAL;
	}
	options->file[options->nb_files++] = (struct agent_memory_file){
		.node = number,
		.path = path,
	};
	return 0;
}

/* An option that is given once. */
static int
read_text(const char *option, const char *value, const char **text)
{
	if (*text != NULL && **text != '\0') {
		fprintf(stderr, "octo-agent: %s %s: it is given twice: once is enough\n", option,
			value);
		return -EINVAL;
	}
	*text = value;
	return 0;
}

static int
read_option(int option, char *value, struct agent_options *options)
{
	switch (option) {
	case 'p':
		return read_pf(value, options);
	case 'm':
		return read_memory(value, options);
	case 'u':
		return read_text("--uplink", value, &options->uplink);
	case 'R':
		return read_text("--root", value, &options->root);
	case 'l':
		return read_text("--listen", value, &options->listen);
	case 'r':
		options->remote = true;
		return 0;
	case 's':
		return read_text("--secret", value, &options->secret);
	case 'n':
		options->anyone = true;
		return 0;
	case 'e':
		return read_text("--ethtool", value, &options->netdev);
	case 'g':
		return read_text("--group", value, &options->group);
	case 'a':
		options->audit = true;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1;
	default:
		fprintf(stderr, "octo-agent: try -- --help\n");
		return -EINVAL;
	}
}

/* All PFs are behind the switch, or none is. */
static int
check_switch(const struct agent_options *options)
{
	for (uint16_t i = 0; i < options->nb_pfs; i++) {
		const struct agent_pf_options *pf = &options->pf[i];

		if (options->uplink != NULL && !is_behind_switch(pf)) {
			fprintf(stderr,
				"octo-agent: --pf %s: rep=ETHDEV or vf=ADDRESS is needed with "
				"--uplink\n",
				pf->name);
			return -EINVAL;
		}
		if (options->uplink == NULL && is_behind_switch(pf)) {
			fprintf(stderr, "octo-agent: --pf %s: %s%s: --uplink is needed with it\n",
				pf->name, pf->rep[0] != '\0' ? "rep=" : "vf=",
				pf->rep[0] != '\0' ? pf->rep : pf->vf.address);
			return -EINVAL;
		}
	}
	return 0;
}

static int
check_listen(const struct agent_options *options)
{
	const char *lonely = options->listen != NULL ? NULL :
			     options->remote         ? "--allow-remote" :
			     options->secret != NULL ? "--secret" :
			     options->anyone         ? "--no-secret" :
			     options->uplink != NULL ? "--uplink" :
						       NULL;

	if (lonely != NULL) {
		fprintf(stderr, "octo-agent: %s: --listen is needed with it\n", lonely);
		return -EINVAL;
	}
	if (options->secret != NULL && options->anyone) {
		fprintf(stderr, "octo-agent: --no-secret: --secret is given as well\n");
		return -EINVAL;
	}
	return 0;
}

/* The agent of a netdev has no PFs. */
static int
check_ethtool(const struct agent_options *options)
{
	const char *other = options->nb_pfs > 0     ? "--pf" :
			    options->uplink != NULL ? "--uplink" :
			    options->nb_files > 0   ? "--memory" :
			    options->audit          ? "--audit" :
			    options->remote         ? "--allow-remote" :
			    options->secret != NULL ? "--secret" :
			    options->anyone         ? "--no-secret" :
			    options->root[0] != 0   ? "--root" :
						      NULL;
	char why[128];

	if (other != NULL) {
		fprintf(stderr, "octo-agent: %s: it is for PFs, and --ethtool is given\n", other);
		return -EINVAL;
	}
	if (strlen(options->netdev) >= IF_NAMESIZE) {
		fprintf(stderr, "octo-agent: --ethtool %s: a name of at most %d bytes is needed\n",
			options->netdev, IF_NAMESIZE - 1);
		return -EINVAL;
	}
	if (options->listen == NULL) {
		fprintf(stderr, "octo-agent: --ethtool %s: --listen unix:PATH is needed with it\n",
			options->netdev);
		return -EINVAL;
	}
	if (!octo_ethtool_client_is_addr(options->listen, why, sizeof(why))) {
		fprintf(stderr, "octo-agent: --listen %s: %s with --ethtool\n", options->listen,
			why);
		return -EINVAL;
	}
	return 0;
}

int
agent_options_read(struct agent_options *options, int argc, char *argv[])
{
	static const struct option known[] = {
		{"pf", required_argument, NULL, 'p'},
		{"memory", required_argument, NULL, 'm'},
		{"uplink", required_argument, NULL, 'u'},
		{"listen", required_argument, NULL, 'l'},
		{"secret", required_argument, NULL, 's'},
		{"no-secret", no_argument, NULL, 'n'},
		{"allow-remote", no_argument, NULL, 'r'},
		{"audit", no_argument, NULL, 'a'},
		{"root", required_argument, NULL, 'R'},
		{"ethtool", required_argument, NULL, 'e'},
		{"group", required_argument, NULL, 'g'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, ret;

	*options = (struct agent_options){.root = ""};
	while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		ret = read_option(option, optarg, options);
		if (ret != 0)
			return ret;
	}
	if (optind < argc) {
		fprintf(stderr, "octo-agent: '%s' is not an option; try -- --help\n", argv[optind]);
		return -EINVAL;
	}
	if (options->netdev != NULL)
		return check_ethtool(options);
	if (options->group != NULL) {
		fprintf(stderr, "octo-agent: --group %s: --ethtool is needed with it\n",
			options->group);
		return -EINVAL;
	}
	if (options->nb_pfs == 0) {
		fprintf(stderr, "octo-agent: --pf ETHDEV,vhost=SOCKET is needed, or rep=ETHDEV or "
				"vf=ADDRESS with --uplink\n");
		return -EINVAL;
	}
	ret = check_switch(options);
	return ret != 0 ? ret : check_listen(options);
}
