/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_OPTIONS_H
#define AGENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include <rte_ethdev.h>

#include "agent_rep.h"

#define AGENT_MAX_PFS 8
#define AGENT_MAX_QUEUES 64
#define AGENT_MAX_FILES 64
#define AGENT_PATH_MAX sizeof(((struct sockaddr_un *)NULL)->sun_path)

/** One --pf. PFs count in the order of the command line. */
struct agent_pf_options {
	const char *option; /**< that named it */
	char name[RTE_ETH_NAME_MAX_LEN];
	char vhost[AGENT_PATH_MAX];     /**< its socket; "": another program has the PF */
	char rep[RTE_ETH_NAME_MAX_LEN]; /**< the ethdev that represents it to the switch, or "" */
	struct agent_vf vf;             /**< the VF that it is, to find rep by, or none */
	bool client;                    /**< the socket is the other side's */
	uint16_t queues;
	int node; /**< that the PF is on, or AGENT_NODE_UNKNOWN */
};

/** One --memory: the pages of the file are on the node. */
struct agent_memory_file {
	int node;
	const char *path;
};

struct agent_options {
	uint16_t nb_pfs;
	uint16_t nb_files;
	bool audit;         /**< print the auditor's table at the end */
	const char *uplink; /**< the ethdev of the switch's wire, or NULL */
	const char *root;   /**< the directory that has sys/, "" for / */
	const char *listen; /**< where a port that wants flows steered connects, or NULL */
	bool remote;        /**< from other machines, too */
	const char *secret; /**< the file of what the port must say, or NULL */
	bool anyone;        /**< nobody must, also by TCP */
	const char *netdev; /**< to steer in place of a switch, or NULL */
	const char *group;  /**< that may connect for that, or NULL */
	struct agent_pf_options pf[AGENT_MAX_PFS];
	struct agent_memory_file file[AGENT_MAX_FILES];
};

/** @return 0 to go on, 1 if all is done (help), or -EINVAL after a message. */
int agent_options_read(struct agent_options *options, int argc, char *argv[]);

/** For EAL, which prints its own options before. */
void agent_options_usage(const char *program);

#endif /* AGENT_OPTIONS_H */
