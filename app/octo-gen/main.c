/* SPDX-License-Identifier: BSD-3-Clause */

/*
 *   octo-gen EAL... -- --dst-mac MAC ...
 *
 * For one trial, or for one trial after the other as they come by standard input.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "gen.h"

#define NB_MBUFS 8191
#define NB_DESC 1024

const char app_name[] = "octo-gen";

volatile sig_atomic_t gen_stopping;

static void
stop(int number)
{
	(void)number;
	gen_stopping = 1;
}

static void
report(const struct gen_result *result)
{
	printf("{\"sent\": %" PRIu64 ", \"received\": %" PRIu64 ", \"foreign\": %" PRIu64
	       ", \"seconds\": %.6f}\n",
	       result->sent, result->received, result->foreign, result->seconds);
	fflush(stdout);
}

static int
start(struct gen *gen)
{
	const struct rte_eth_conf conf = {.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE};
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_ether_addr mac;
	int ret;

	ret = rte_eth_dev_get_name_by_port((uint16_t)gen->options->port, name);
	if (ret != 0) {
		fprintf(stderr, "%s: --port %" PRIu64 ": there is no such port\n", app_name,
			gen->options->port);
		return ret;
	}
	gen->pool = app_pool_create("gen", NB_MBUFS);
	if (gen->pool == NULL)
		return -rte_errno;
	ret = app_port_start_as(name, &conf, 1, NB_DESC, gen->pool, &gen->port);
	if (ret == 0)
		ret = rte_eth_macaddr_get(gen->port, &mac);
	if (ret != 0) {
		fprintf(stderr, "%s: port %s does not start: %s\n", app_name, name,
			rte_strerror(-ret));
		return ret;
	}
	/* where it cannot be, what comes back must bear the port's address */
	rte_eth_promiscuous_enable(gen->port);
	gen->packets = gen_packets_make(gen->options, &mac);
	return gen->packets == NULL ? -ENOMEM : 0;
}

static int
run_trial(struct gen *gen, double rate, double seconds)
{
	struct gen_result result;
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	rte_eth_dev_get_name_by_port(gen->port, name);
	if (app_port_await_link(gen->port, name) != 0)
		return -ENETDOWN;
	gen_trial_run(gen, rate, seconds, &result);
	report(&result);
	return 0;
}

/* Each line is a trial; one that is none is told of, and the next one is read. */
static int
run_lines(struct gen *gen)
{
	char line[256], rate_text[64], seconds_text[64];
	double rate, seconds;
	int ret = 0;

	fprintf(stderr, "%s: ready\n", app_name);
	while (ret == 0 && !gen_stopping && fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "%63s %63s", rate_text, seconds_text) == 2 &&
		    gen_number_read(rate_text, GEN_MAX_RATE, &rate) &&
		    gen_number_read(seconds_text, GEN_MAX_SECONDS, &seconds)) {
			ret = run_trial(gen, rate, seconds);
		} else {
			line[strcspn(line, "\n")] = '\0';
			fprintf(stderr, "%s: '%s' is no RATE SECONDS\n", app_name, line);
		}
	}
	return ret;
}

static int
run(const struct gen_options *options)
{
	struct gen gen = {.options = options};
	int ret = start(&gen);

	if (ret == 0 && options->seconds > 0)
		ret = run_trial(&gen, options->rate, options->seconds);
	else if (ret == 0)
		ret = run_lines(&gen);
	if (gen.packets != NULL)
		app_port_stop(gen.port);
	free(gen.packets);
	return ret;
}

int
main(int argc, char *argv[])
{
	const struct sigaction action = {.sa_handler = stop};
	struct gen_options options;
	int used, ret, failed = APP_WRONG_USE;

	used = rte_eal_init(argc, argv);
	if (used < 0) {
		fprintf(stderr, "%s: DPDK could not start: %s\n", app_name,
			rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ret = gen_options_read(&options, argc - used, argv + used);
	if (ret == 0) {
		failed = EXIT_FAILURE;
		ret = run(&options);
	}
	rte_eal_cleanup();
	return ret < 0 ? failed : EXIT_SUCCESS;
}
