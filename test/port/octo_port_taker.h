/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_TAKER_H
#define OCTO_PORT_TAKER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/**
 * @file
 * PFs that take rules of any kind and do nothing: an mpsim port of this process
 * that keeps the rules of priority OCTO_PORT_TAKEN and lower to itself. What has
 * a higher priority is mpsim's as ever. Indirect actions are all its own. It reads
 * whatever it is given, and fails the test for a handle that is not its own.
 */

#define OCTO_PORT_TAKEN 10
#define OCTO_PORT_TAKER_ROOM 16

struct octo_port_taken {
	bool used;
	bool aged;
	bool told; /* of it */
	struct rte_flow_attr attr;
	unsigned int nb_items;
	unsigned int nb_actions;
	void *age_context;
	uint32_t mark; /* id of its MARK action */
	uint64_t sum;  /* of all that is in it: see rule_reader.h */
};

/* An indirect action. */
struct octo_port_taken_handle {
	bool used;
	uint64_t sum;
};

struct octo_port_taker {
	unsigned int nb; /* rules that it has now */
	struct octo_port_taken rule[OCTO_PORT_TAKER_ROOM];
	struct octo_port_taken_handle handle[OCTO_PORT_TAKER_ROOM];
	int refuse;                        /* errno of a refusal, 0: none */
	int refuse_proxy;                  /* the same, to name the transfer proxy */
	int refuse_count;                  /* the same, to query a COUNT */
	struct rte_flow_query_count count; /* of each rule */
	uint32_t idle;                     /* seconds since the last hit of each rule */
	bool reset;                        /* what the last query asked for */
	void (*on_aged)(void);             /* called once, in get_aged_flows() */
	unsigned int nb_asked;             /* calls of get_aged_flows() */
	bool tells_once;                   /* get_aged_flows() names a rule once */
	bool tells_no_age;                 /* a query of AGE is refused */
	unsigned int nb_dumps;
};

/** Put it in place of the operations of this PF. */
struct octo_port_taker *octo_port_taker_on(unsigned int pf);
/** The same of every PF that is probed from now on, as soon as it is there. */
void octo_port_takers_stay(void);
/** What is there of this PF. */
struct octo_port_taker *octo_port_taker_of(unsigned int pf);
/** The PF says that a rule has aged. */
void octo_port_taker_tell_aged(unsigned int pf);

/** All PFs are as they were; their rules must be gone. */
void octo_port_takers_off(void);

#endif /* OCTO_PORT_TAKER_H */
