/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef DEMO_H
#define DEMO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_mempool.h>

#include "app.h"

/**
 * @file
 * The demo: an application with one lcore per socket echoes the packets of its
 * port, which is made of two PFs. It knows ethdev and rte_flow and nothing else.
 */

#define DEMO_NB_LCORES APP_NB_WORKERS
#define DEMO_NB_PFS 2
#define DEMO_NB_FLOWS 64
#define DEMO_BURST APP_BURST

/** Packets that one lcore has under way at most: all of them fit in any ring. */
#define DEMO_WINDOW 256
#define DEMO_RING 1024
#define DEMO_POOL_SIZE 8191

#define DEMO_PORT "net_octo0"
#define DEMO_PEER "net_mpsim2"
#define DEMO_SPEED_PORT "net_mpsim3"

struct demo_options {
	const char *json; /**< file to write, or NULL */
	uint64_t packets; /**< per phase */
	bool verbose;     /**< show what EAL and the drivers log */
};

/** The machine as the demo uses it. */
struct demo_machine {
	struct app_machine real; /**< CPU of each working lcore */
	const char *pf_name[DEMO_NB_PFS];
	int pf_socket[DEMO_NB_PFS];
};

struct demo_ports {
	uint16_t octo;
	uint16_t peer;
	struct rte_mempool *octo_pool;
	struct rte_mempool *peer_pool;
};

struct demo_pf_result {
	uint64_t rx_packets;
	uint64_t tx_packets;
};

/** What one phase came to. */
struct demo_result {
	const char *name;
	uint64_t packets; /**< that the application received on its port */
	uint64_t home_packets;
	uint64_t stray_packets;
	uint64_t lost;
	uint64_t reordered;
	uint64_t duplicated;
	uint64_t elsewhere; /**< received by another lcore than the flow's rule says or would say */
	struct demo_pf_result pf[DEMO_NB_PFS];
};

/* demo_options.c */

/** @return 0 to go on, 1 if all is done (help), or -EINVAL after a message. */
int demo_options_read(struct demo_options *options, int argc, char *argv[]);

/* demo_eal.c */

/** Choose CPUs and memory, start EAL with the simulated NICs. Says what is wrong. */
int demo_eal_start(struct demo_machine *machine, const struct demo_options *options);

/* demo_port.c */
int demo_ports_start(struct demo_ports *ports);
void demo_ports_stop(const struct demo_ports *ports);

/* demo_speed.c */

/** Measure a simulated NIC by itself: Mpps from wire to queue on one core. */
int demo_speed_measure(double *mpps);

/* demo_report.c */
void demo_report_intro(const struct demo_machine *machine);
void demo_report_table(const struct demo_machine *machine, const struct demo_result results[],
		       unsigned int nb, double mpps);

/** Name the claims that do not hold. @return their number. */
unsigned int demo_report_status(const struct demo_result results[], unsigned int nb);
void demo_report_json(FILE *f, const struct demo_machine *machine,
		      const struct demo_result results[], unsigned int nb, double mpps);

#endif /* DEMO_H */
