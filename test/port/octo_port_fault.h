/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_FAULT_H
#define OCTO_PORT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * @file
 * PFs that refuse: an mpsim port of this process with some of its operations
 * replaced. Everything is as ever while nothing is set.
 */

struct octo_port_faults {
	/* errno of a refusal, 0: none */
	int start;
	int stop;
	int configure;
	int rx_setup; /* of an Rx queue */
	int tx_setup; /* of a Tx queue */
	int isolate;
	int validate_ingress;
	int validate_transfer;
	int create_ingress;
	int create_transfer;
	uint32_t priorities; /* rules of this one or a lower one are refused, 0: none */
	int count;           /* of rules that shall count */
	int destroy;         /* refuse to destroy rules */
	int flow_configure;  /* of flow queues */
	int pick_proxy;      /* refuse to name the transfer proxy */
	int handle_create;   /* of indirect actions */
	int handle_update;
	int handle_destroy;
	int ingresses;      /* ingress rules that were tried and not refused by the faults */
	int transfers;      /* transfer rules that were made */
	int handles;        /* indirect actions that were made and not destroyed */
	unsigned int stops; /* that were tried */
	unsigned int starts;
	unsigned int configures;
	unsigned int vlan_ids;   /* of the filter, that were set or removed */
	void (*on_create)(void); /* called once, before a rule is made */
	bool silent;             /* refuse without a word, as the error structure allows */
	int errno_after;         /* what destroying a rule leaves in rte_errno, 0: as it was */
	int timesync_enable;
	int ptypes_set;     /* of a mask of packet types */
	uint32_t ptypes;    /* the mask that was set last */
	int reta_update;    /* refuse to change the RETA */
	bool hides_pool;    /* of an Rx queue's information */
	uint32_t max_macs;  /* size of the MAC table, 0: as it is */
	uint16_t max_desc;  /**< of a ring; 0: as it is */
	uint16_t max_segs;  /**< of rx_seg_capa; 0: as it is */
	uint16_t reta_size; /* of a RETA that is only kept, 0: as it is; 4096 at most */
	uint16_t reta[4096];
	int isolated;      /* what was last asked for and done */
	int rx_socket[16]; /* on which the last setup of a queue wants its ring */
	int tx_socket[16];
	bool claims_all;   /* says that it has every capability and offload, and takes each */
	uint64_t vlan;     /* RTE_ETH_RX_OFFLOAD_*, as configured and set since, if it claims all */
	int vlan_mask;     /* what was changed last */
	uint64_t metadata; /* RTE_ETH_RX_METADATA_*, what it was asked for last */
	uint64_t rss_hf;   /* RTE_ETH_RSS_*, as configured and updated since, if it claims all */
};

/** Put the faults of this PF in place, none yet. */
struct octo_port_faults *octo_port_faults_on(unsigned int pf);
/** The same of a PF that is just being probed, by its port id. */
struct octo_port_faults *octo_port_faults_on_port(uint16_t port_id);

/** EAL has memory on node 1 as well, or what the test takes for it. */
void octo_port_fake_node_1(void);

/** All PFs are taken for ports of net_af_xdp, for which a fence waits longer. */
void octo_port_claim_af_xdp(void);

/** Take away an operation. */
void octo_port_lack_mac_remove(unsigned int pf);

/** No PF changes the actions of a rule in place, as before DPDK 23.07. */
void octo_port_lack_update(void);

/** The PF says that it reports its removal, as PMDs of hardware do when asked to. */
void octo_port_flag_removal(unsigned int pf);

/** All PFs are as they were, and EAL is. */
void octo_port_faults_off(void);

/** The id of a process that has ended. */
int32_t octo_port_dead_process(void);

#endif /* OCTO_PORT_FAULT_H */
