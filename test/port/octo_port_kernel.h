/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_KERNEL_H
#define OCTO_PORT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/ethtool.h>

#include "octo_ethtool_table.h"
#include "octo_tuple.h"

/**
 * @file
 * A kernel of the test: a netdev with ntuple rules and a RETA, behind the port of PF 0. Its rules
 * are made on that port, too, if there is one, so that packets follow them.
 */

#define OCTO_PORT_KERNEL_RULES 1024
#define OCTO_PORT_KERNEL_RETA 256
#define OCTO_PORT_KERNEL_KEY 40

struct octo_port_kernel {
	/* what there is */
	uint32_t size;  /* of the table */
	bool special;   /* the driver chooses locations, and refuses any other */
	bool late_size; /* as with mlx5: the list tells it, and is asked for with its own length */
	bool doubles;   /* if it chooses: a rule of the same flow is made beside the first */
	bool used[OCTO_PORT_KERNEL_RULES];
	struct ethtool_rx_flow_spec rule[OCTO_PORT_KERNEL_RULES];
	struct rte_flow *flow[OCTO_PORT_KERNEL_RULES]; /* of PF 0 */
	uint32_t channels;
	uint32_t reta_size;
	uint32_t reta[OCTO_PORT_KERNEL_RETA];
	bool is_default; /* the RETA is the driver's own */
	uint8_t key[OCTO_PORT_KERNEL_KEY];
	uint8_t hfunc;
	uint8_t xfrm; /* RXH_XFRM_... of kernels from 6.8 on */
	/* errno of a refusal, 0: none */
	int no_rules;   /* of all that has to do with rules */
	int no_reta;    /* of all that has to do with the RETA */
	int insert;     /* of a rule */
	int remove;     /* of a rule */
	uint32_t stays; /* EBUSY of the removal of the rule at this location less one, 0: none */
	int read;       /* of a rule */
	int set_reta;   /* of a RETA */
	int change;     /* of everything that changes something */
	int everything; /* the netdev is gone, or the like */
	bool removes_first; /* a rule that is replaced is gone even if the new one is refused */
	/* what was asked for and done */
	unsigned int inserted;
	unsigned int removed;
	unsigned int reta_set;
	uint64_t waited_us; /* for an agent that has not answered */
	bool follows;       /* PF 0 has the rules, too */
};

extern struct octo_port_kernel octo_port_kernel;

/** Called when a port begins to wait for the agent of its netdev; NULL: it is another process. */
extern void (*octo_port_kernel_waits)(void);

/** From now on octo ports find it, until octo_port_kernel_off(). Rules are of the test's begin. */
void octo_port_kernel_on(void);
void octo_port_kernel_off(void);

/** The index of its netdev. */
uint32_t octo_port_kernel_ifindex(void);
/** The netdev as octo opens it, which must succeed. */
struct octo_ethtool *octo_port_kernel_open(void);

/** A rule of somebody else. */
void octo_port_kernel_add(uint32_t location, const struct octo_tuple *tuple, uint32_t channel);

/** Rules that there are, of anybody. */
unsigned int octo_port_kernel_count(void);

/** The channel that a rule of the tuple leads to; -1 if there is none, -2 if there are several. */
int octo_port_kernel_channel(const struct octo_tuple *tuple);

/** Channels that the RETA has, as a bit mask. */
uint64_t octo_port_kernel_channels(void);

/** Another RETA, of the driver's choice, as after a change of the channels. */
void octo_port_kernel_resize(uint32_t reta_size);

/** cmocka fixtures of a test whose octo port finds it; a netdev that is there has its RETA back. */
int octo_port_kernel_setup(void **state);
int octo_port_kernel_teardown(void **state);

/** Of tests without a port: a directory for journals. Whatever has been closed leaves no file. */
extern char octo_port_kernel_dir[64];
int octo_port_kernel_dir_setup(void **state);
int octo_port_kernel_dir_teardown(void **state);

/** The process dies that has the netdev: its journal stays, and the lock of that ends. */
void octo_port_kernel_die(struct octo_ethtool *et);

/** The flow of octo_port_send(), and the channel that a rule of it leads to. */
struct octo_tuple octo_port_kernel_tuple(uint16_t src_port);
int octo_port_kernel_channel_of(uint16_t src_port);

/** A frame of each of so many flows, and as many that come, by any queue. */
#define OCTO_PORT_KERNEL_FLOWS 64
void octo_port_kernel_send_flows(uint16_t port, uint16_t nb_queues);

#endif /* OCTO_PORT_KERNEL_H */
