/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_string_fns.h>

#include "agent_ethtool.h"
#include "agent_log.h"
#include "agent_port.h"
#include "agent_steer.h"
#include "agent_vf.h"
#include "agent_vhost.h"

RTE_LOG_REGISTER(agent_logtype, octo.agent, INFO)

#define POOL_CACHE 256
#define POOL_SPARE 4096 /* on the wire, and in the caches of the lcores */

/* Rounds without a packet before a pause: the machine may have other work to do. */
#define IDLE_ROUNDS 1000
#define IDLE_US 50

/* A signal may come just before the agent of a netdev waits for messages. */
#define STOP_LOOK_MS 200
#define WHY_MAX 200

/* The exit status for wrong options. */
#define WRONG_USE 2

static RTE_ATOMIC(bool) stop_asked;
static RTE_ATOMIC(bool) report_asked;
static struct agent the_agent;

static void
on_signal(int number)
{
	rte_atomic_store_explicit(number == SIGUSR1 ? &report_asked : &stop_asked, true,
				  rte_memory_order_relaxed);
}

static void
catch_signals(void)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

static int
create_pool(struct agent *agent)
{
	uint32_t nb = POOL_SPARE;

	for (uint16_t i = 0; i < agent->options.nb_pfs; i++)
		nb += agent_port_buffers(&agent->options.pf[i]);
	agent->pool = rte_pktmbuf_pool_create("octo_agent", nb, POOL_CACHE, 0,
					      RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (agent->pool != NULL)
		return 0;
	fprintf(stderr, "octo-agent: no memory for %u buffers: %s; EAL's -m gives more\n", nb,
		rte_strerror(rte_errno));
	return -rte_errno;
}

static void
stop_ports(struct agent *agent)
{
	for (uint16_t i = 0; i < agent->nb_started; i++)
		if (agent->options.pf[i].vhost[0] != '\0')
			agent_port_stop(agent->pf[i].port);
}

static int
start_ports(struct agent *agent)
{
	int ret = 0;

	for (uint16_t i = 0; i < agent->options.nb_pfs && ret == 0; i++) {
		struct agent_pf *pf = &agent->pf[i];

		pf->own = &agent->options.pf[i];
		pf->options = &agent->options;
		pf->pool = agent->pool;
		pf->index = i;
		pf->port = RTE_MAX_ETHPORTS;
		if (pf->own->vhost[0] != '\0')
			ret = agent_port_start(pf->own, agent->pool, &pf->port);
		if (ret == 0)
			agent->nb_started++;
	}
	return ret;
}

static void
poll_until_stopped(struct agent *agent)
{
	unsigned int idle = 0;

	while (!rte_atomic_load_explicit(&stop_asked, rte_memory_order_relaxed)) {
		if (agent_forward_poll(agent) > 0)
			idle = 0;
		else if (++idle > IDLE_ROUNDS)
			rte_delay_us_sleep(IDLE_US);
		if (rte_atomic_exchange_explicit(&report_asked, false, rte_memory_order_relaxed))
			agent_report_print(agent);
	}
}

static int
start_steering(struct agent *agent, struct agent_steer *steer)
{
	uint16_t port[AGENT_MAX_PFS];

	for (uint16_t i = 0; i < agent->options.nb_pfs; i++)
		port[i] = agent->pf[i].port;
	return agent_steer_start(steer, &agent->options, port, agent->pool);
}

static int
run(struct agent *agent)
{
	struct agent_steer steer = {0};
	int ret = create_pool(agent);

	if (ret == 0)
		ret = start_ports(agent);
	if (ret == 0)
		ret = start_steering(agent, &steer);
	if (ret == 0)
		ret = agent_vhost_start(agent);
	if (ret == 0) {
		agent_telemetry_start(agent);
		AGENT_LOG(INFO, "octo-agent", "%u PFs", agent->options.nb_pfs);
		poll_until_stopped(agent);
		if (agent->options.audit)
			agent_report_print(agent);
		agent_vhost_stop(agent);
	}
	agent_steer_stop(&steer);
	stop_ports(agent);
	return ret;
}

static int
find_group(const char *name, gid_t *group)
{
	const struct group *entry = getgrnam(name);

	if (entry == NULL) {
		fprintf(stderr, "octo-agent: --group %s: there is no such group\n", name);
		return -EINVAL;
	}
	*group = entry->gr_gid;
	return 0;
}

/* Processes of all file prefixes share the directory of the journal, as they share the netdev. */
static void
find_journal(char *dir, size_t size)
{
	char *slash;

	rte_strscpy(dir, rte_eal_get_runtime_dir(), size);
	slash = strrchr(dir, '/');
	if (slash != NULL)
		*slash = '\0';
}

static int
run_ethtool(const struct agent_options *options)
{
	char dir[PATH_MAX], why[WHY_MAX];
	gid_t group;
	const struct agent_ethtool_config config = {
		.netdev = options->netdev,
		.listen = options->listen,
		.dir = dir,
		.group = options->group != NULL ? &group : NULL,
	};
	struct agent_ethtool *agent;
	int ret = 0;

	find_journal(dir, sizeof(dir));
	if (options->group != NULL)
		ret = find_group(options->group, &group);
	if (ret != 0)
		return ret;
	ret = agent_ethtool_open(&config, &agent, why, sizeof(why));
	if (ret != 0) {
		fprintf(stderr, "octo-agent: --ethtool %s: %s\n", options->netdev, why);
		return ret;
	}
	AGENT_LOG(INFO, "octo-agent", "netdev %s", options->netdev);
	while (!rte_atomic_load_explicit(&stop_asked, rte_memory_order_relaxed))
		agent_ethtool_step(agent, STOP_LOOK_MS);
	agent_ethtool_close(agent);
	return 0;
}

int
main(int argc, char *argv[])
{
	int ret, failed = WRONG_USE;

	rte_set_application_usage_hook(agent_options_usage);
	/* every message otherwise; EAL's --log-level has the last word */
	rte_log_set_level_pattern("lib.vhost.config", RTE_LOG_WARNING);
	ret = rte_eal_init(argc, argv);
	if (ret < 0) {
		fprintf(stderr, "octo-agent: DPDK could not start: %s\n", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	catch_signals();
	ret = agent_options_read(&the_agent.options, argc - ret, argv + ret);
	if (ret == 0) {
		ret = agent_vf_find_reps(&the_agent.options);
		failed = ret == -EEXIST ? WRONG_USE : EXIT_FAILURE;
	}
	if (ret == 0)
		ret = the_agent.options.netdev != NULL ? run_ethtool(&the_agent.options) :
							 run(&the_agent);
	rte_eal_cleanup();
	return ret >= 0 ? EXIT_SUCCESS : failed;
}
