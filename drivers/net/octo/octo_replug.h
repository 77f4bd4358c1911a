/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_REPLUG_H
#define OCTO_REPLUG_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_stdatomic.h>

#include "octo_drain.h"
#include "octo_encap.h"
#include "octo_wire.h"

struct octo_args;
struct octo_dev;
struct octo_port;

/* Counters of a PF: the basic statistics, and bytes sent per queue. */
struct octo_pf_counts {
	struct rte_eth_stats all;
	uint64_t q_obytes[RTE_ETHDEV_QUEUE_STAT_CNTRS];
};

/*
 * State of a PF that outlives its port, needed to find the device again. Written by the
 * thread that attaches the PF.
 */
struct octo_pf_past {
	char device[64];            /* device name; empty: the PF was never present */
	char bus[16];               /* bus name */
	char *args;                 /* devargs it was probed with, NULL: none; primary only */
	uint64_t log_at;            /* TSC; when to log that it is gone, 0: logged */
	uint8_t exists;             /* successive tries that found the device, but no port of it */
	RTE_ATOMIC(bool) under_way; /* a hotplug request runs */
	uint32_t life;              /* in which it was owned last */
	bool orphans;               /* it has objects of that life whose owners are freed */
	uint64_t patient_until;     /* TSC; until then it waits for open fences, 0: no wait */
	struct rte_eth_dev_info info; /* capabilities */
	bool counted;                 /* its counts since base are not in octo_dev.gone */
	struct octo_pf_counts last;   /* counters when it was last read */
	struct octo_pf_counts base;   /* what is not the port's of them */
	bool unbased;                 /* base is what is read next: nothing is counted before */
	/* control mutex: base was read before the PF began to recover; it is the same device yet */
	bool recovers;
};

/* The search for PFs that are gone or were never present; by the control thread. */
struct octo_replug {
	bool on;
	uint64_t next_stats; /* TSC; next reading of the PFs' counters */
	uint64_t replugs;    /* PFs that came back, or came late */
};

/*
 * Settings of the PFs that ethdev does not keep, or keeps too early. Under the control
 * mutex.
 */
struct octo_settings {
	bool promiscuous;
	bool all_multicast;
	uint64_t vlan_offloads; /* mask of RTE_ETH_RX_OFFLOAD_VLAN */
	uint64_t rss_hf;
	uint8_t rss_key[64];
	uint8_t rss_key_len;
	bool link_set;  /* rte_eth_dev_set_link_down() or _up() was called */
	bool link_down; /* by the last of these calls */
	bool ptypes_set;
	uint32_t ptypes;
	struct octo_wire wire;
	struct octo_encap encap;
	uint64_t rx_metadata; /* promised; 0: not negotiated */
	uint32_t nb_mc;
	struct rte_ether_addr *mc; /* multicast list; primary only */
};

/* octo_replug.c */
void octo_replug_tick(struct octo_dev *octo, uint64_t now);
bool octo_replug_resync_slice(struct octo_dev *octo);
void octo_replug_look_at_once(struct octo_dev *octo);
void octo_replug_log_gone_locked(struct octo_dev *octo, uint64_t now);

/* octo_hotplug.c: hotplug requests */
void octo_hotplug_send(struct octo_dev *octo, uint8_t port, uint32_t action, bool wait);
void octo_hotplug_await(const struct octo_dev *octo);

/* octo_resync.c: a port that came back, or came late; under the control mutex */
int octo_resync_settings_locked(struct octo_dev *octo, uint8_t port);
bool octo_resync_must_wait_locked(struct octo_dev *octo, uint8_t port);
int octo_resync_start_locked(struct octo_dev *octo, uint8_t port);

/* octo_attach.c: the PFs' ports, found or probed, owned, given back */
bool octo_attach_would_be_octo(const char *name);
bool octo_attach_is_real_node(int node);
int octo_attach_probe_missing(const char *port, struct octo_args *args);
void octo_attach_unprobe(const struct octo_args *args);
int octo_attach_all(struct octo_dev *octo, const struct octo_args *args);
void octo_attach_undo_all(struct octo_dev *octo, bool remove_probed);
bool octo_attach_is_on_bus(const struct octo_port *port);
bool octo_attach_is_probed(uint16_t port_id);
bool octo_attach_find(const struct octo_port *port, uint16_t *port_id);
int octo_attach_probe_again(const struct octo_port *port);
void octo_attach_abandon(const struct octo_port *port);
int octo_attach_again_locked(struct octo_dev *octo, uint8_t port, uint32_t life);
bool octo_attach_is_ours(uint64_t owner_id, const struct octo_port *port);

/* octo_info.c */
bool octo_info_can_replace(struct octo_dev *octo, const struct octo_port *port,
			   const struct rte_eth_dev_info *info);

/* octo_filter.c, octo_rss.c */
void octo_filter_clear_locked(const struct octo_port *port);
int octo_filter_resync_locked(struct octo_dev *octo, struct octo_port *port);
int octo_rss_resync_locked(struct octo_dev *octo, uint8_t port);

/* octo_pf_config.c */
int octo_pf_config_again_locked(struct octo_dev *octo, struct octo_port *port);

/* octo_renew.c */
int octo_renew_locked(struct octo_dev *octo, uint8_t i, uint32_t life);

/* octo_indirect.c; all under the control mutex */
int octo_indirect_join_locked(struct octo_dev *octo);
void octo_indirect_keep_pf_locked(struct octo_dev *octo, uint8_t port, uint64_t until);
void octo_indirect_leave_locked(struct octo_dev *octo, uint8_t port);

#endif /* OCTO_REPLUG_H */
