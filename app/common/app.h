/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

/**
 * @file
 * What the programs that run on simulated NICs share: EAL on two CPUs of which
 * each plays a socket, ports, options, files. Failures are said on stderr, where
 * they are found; functions return 0 or a negative errno.
 */

/** The exit status for wrong options, as of ./octo and Python's argparse. */
#define APP_WRONG_USE 2

/** What messages begin with; each program defines its own. */
extern const char app_name[];

/** A working lcore for each socket; the main lcore, 0, shares the first one's CPU. */
#define APP_NB_WORKERS 2

/** Packets of a burst. */
#define APP_BURST 32

/** EAL's id of the lcore that works on app_machine.cpu[index]. */
static inline unsigned int
app_lcore(unsigned int index)
{
	return index + 1;
}

/* app_eal.c */

/** The machine as the programs use it. */
struct app_machine {
	unsigned int cpu[APP_NB_WORKERS];
	bool hugepages;
};

#define APP_MAX_ARGS 24
#define APP_ARG_LEN 160

/** EAL's command line in the making. */
struct app_args {
	int nb;
	char text[APP_MAX_ARGS][APP_ARG_LEN];
};

__rte_format_printf(2, 3) void app_args_add(struct app_args *args, const char *format, ...);

/**
 * Choose CPUs, and begin the command line with them and with memory: hugepages
 * where enough are free, else plain pages.
 */
int app_args_begin(struct app_args *args, struct app_machine *machine, unsigned int memory_mib,
		   bool verbose);

/**
 * The same on plain pages, in a directory of its own where EAL looks for other processes, which
 * app_shared_remove() removes after rte_eal_cleanup().
 */
int app_args_begin_shared(struct app_args *args, struct app_machine *machine,
			  unsigned int memory_mib, bool verbose);
void app_shared_remove(void);
int app_eal_start(struct app_args *args, bool verbose);

/**
 * By a worker that has nothing to do while others may wait for its CPU. Not by
 * sched_yield(): after many of these Linux 6.18 has kept a CPU from everybody else for
 * two minutes.
 */
void app_step_aside(void);

/* app_port.c */
struct rte_mempool *app_pool_create(const char *name, unsigned int size);
int app_port_start(const char *name, uint16_t nb_queues, uint16_t nb_desc, struct rte_mempool *pool,
		   uint16_t *port);

/** The same with another configuration than RSS where there is any, and without a word. */
int app_port_start_as(const char *name, const struct rte_eth_conf *conf, uint16_t nb_queues,
		      uint16_t nb_desc, struct rte_mempool *pool, uint16_t *port);
void app_port_stop(uint16_t port);
int app_port_await_link(uint16_t port, const char *name);

/** Looks again for a while: ethdev fails when the number of xstats changes meanwhile. */
int app_xstat(uint16_t port, const char *name, uint64_t *value);

/** The same of nb xstats whose ids are known. */
int app_xstats_by_id(uint16_t port, const uint64_t *ids, uint64_t *values, unsigned int nb);

/* app_options.c */

/** Read the number that an option is given. */
int
app_read_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* app_file.c */

/** Open a file to be written; without a name, *f is NULL. */
int app_file_open(const char *name, FILE **f);

/** Close it; tells what did not get through. */
int app_file_close(const char *name, FILE *f);

#endif /* APP_H */
