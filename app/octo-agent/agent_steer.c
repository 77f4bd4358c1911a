/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>

#include "agent_port.h"
#include "agent_rules.h"
#include "agent_server.h"
#include "agent_steer.h"
#include "octo_agent_msg.h"

static int
start_port(struct agent_steer *steer, const char *option, const char *name,
	   struct rte_mempool *pool, uint16_t *port)
{
	struct agent_pf_options options = {.option = option, .queues = 1};
	int ret;

	snprintf(options.name, sizeof(options.name), "%s", name);
	ret = agent_port_start(&options, pool, port);
	if (ret == 0)
		steer->port[steer->nb_ports++] = *port;
	return ret;
}

/* A switch takes rules on ports that are started. */
static int
start_switch(struct agent_steer *steer, const struct agent_options *options,
	     struct rte_mempool *pool, struct agent_rules_config *config)
{
	int ret = 0;

	config->uplink = RTE_MAX_ETHPORTS;
	if (options->uplink != NULL)
		ret = start_port(steer, "--uplink", options->uplink, pool, &config->uplink);
	for (uint16_t i = 0; i < options->nb_pfs && ret == 0; i++) {
		config->rep_port[i] = RTE_MAX_ETHPORTS;
		if (options->uplink != NULL)
			ret = start_port(steer, "rep=", options->pf[i].rep, pool,
					 &config->rep_port[i]);
	}
	return ret;
}

static int
start_rules(struct agent_steer *steer, const struct agent_options *options, const uint16_t *pf_port,
	    struct rte_mempool *pool)
{
	struct agent_rules_config config = {.nb_pfs = options->nb_pfs};
	char why[AGENT_WHY_MAX];
	int ret = start_switch(steer, options, pool, &config);

	if (ret != 0)
		return ret;
	for (uint16_t i = 0; i < options->nb_pfs; i++)
		config.pf_port[i] = pf_port[i];
	ret = agent_rules_create(&config, &steer->rules, why);
	if (ret != 0)
		fprintf(stderr, "octo-agent: the switch cannot be steered: %s\n", why);
	return ret;
}

int
agent_steer_start(struct agent_steer *steer, const struct agent_options *options,
		  const uint16_t *pf_port, struct rte_mempool *pool)
{
	struct agent_server_config config = {
		.listen = options->listen,
		.remote = options->remote,
		.anyone = options->anyone,
		.nb_pfs = (uint8_t)options->nb_pfs,
	};
	char why[OCTO_AGENT_TEXT_MAX];
	int ret;

	*steer = (struct agent_steer){0};
	if (options->listen == NULL)
		return 0;
	if (options->secret != NULL &&
	    octo_agent_secret_read(&config.secret, options->secret, why, sizeof(why)) != 0) {
		fprintf(stderr, "octo-agent: --secret %s: %s\n", options->secret, why);
		return -EINVAL;
	}
	ret = start_rules(steer, options, pf_port, pool);
	if (ret == 0) {
		config.rules = steer->rules;
		ret = agent_server_start(&config, &steer->server, why, sizeof(why));
		if (ret != 0)
			fprintf(stderr, "octo-agent: --listen %s: %s\n", options->listen, why);
	}
	if (ret != 0)
		agent_steer_stop(steer);
	return ret;
}

void
agent_steer_stop(struct agent_steer *steer)
{
	if (steer->server != NULL)
		agent_server_stop(steer->server);
	if (steer->rules != NULL)
		agent_rules_destroy(steer->rules);
	while (steer->nb_ports > 0)
		agent_port_stop(steer->port[--steer->nb_ports]);
	*steer = (struct agent_steer){0};
}
