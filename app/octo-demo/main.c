/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include <rte_eal.h>

#include "demo_traffic.h"

enum {
	UNSTEERED,
	STEERED,
	NB_PHASES,
};

const char app_name[] = "octo demo";

static struct demo_traffic traffic;

/* Each flow to the queue of the lcore that is to consume it. */
static int
steer_all(uint16_t port)
{
	int ret = 0;

	for (unsigned int i = 0; i < DEMO_NB_FLOWS && ret == 0; i++) {
		const struct demo_flow_id id = demo_flow_id(i);

		ret = demo_flow_steer(port, &id, demo_flow_queue(i));
	}
	return ret;
}

static int
run_phases(const struct demo_ports *ports, uint64_t packets, struct demo_result *results)
{
	int ret = demo_traffic_init(&traffic, ports);

	if (ret == 0)
		ret = demo_phase_run(&traffic, ports, "unsteered", packets, &results[UNSTEERED]);
	/* nothing is under way now, and the sequence numbers go on */
	if (ret == 0)
		ret = steer_all(ports->octo);
	if (ret == 0)
		ret = demo_phase_run(&traffic, ports, "steered", packets, &results[STEERED]);
	return ret;
}

static int
run(const struct demo_machine *machine, uint64_t packets, FILE *json)
{
	struct demo_result results[NB_PHASES];
	struct demo_ports ports = {0};
	double mpps = 0;
	int ret = demo_speed_measure(&mpps);

	if (ret == 0)
		ret = demo_ports_start(&ports);
	if (ret != 0)
		return ret;
	ret = run_phases(&ports, packets, results);
	demo_ports_stop(&ports);
	if (ret != 0)
		return ret;
	demo_report_table(machine, results, NB_PHASES, mpps);
	if (json != NULL)
		demo_report_json(json, machine, results, NB_PHASES, mpps);
	return demo_report_status(results, NB_PHASES) == 0 ? 0 : -EPROTO;
}

static int
start_and_run(const struct demo_options *options, FILE *json)
{
	struct demo_machine machine = {
		.pf_name = {"net_mpsim0", "net_mpsim1"},
		.pf_socket = {0, 1},
	};
	int ret = demo_eal_start(&machine, options);

	if (ret != 0)
		return ret;
	demo_report_intro(&machine);
	ret = run(&machine, options->packets, json);
	rte_eal_cleanup();
	return ret;
}

int
main(int argc, char *argv[])
{
	struct demo_options options;
	int ret = demo_options_read(&options, argc, argv);
	FILE *json;

	if (ret != 0)
		return ret > 0 ? EXIT_SUCCESS : APP_WRONG_USE;
	if (app_file_open(options.json, &json) != 0)
		return APP_WRONG_USE;
	ret = start_and_run(&options, json);
	if (app_file_close(options.json, json) != 0)
		ret = -EIO;
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
