/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_REPLUG_H
#define OCTO_REPLUG_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_stdatomic.h>

#include "octo_leave.h"

struct octo_dev;
struct octo_pf;

/* What a PF has counted: all of it, and bytes that were sent by its queues. */
struct octo_pf_counts {
	struct rte_eth_stats all;
	uint64_t q_obytes[RTE_ETHDEV_QUEUE_STAT_CNTRS];
};

/* What is known of a PF's device, to find it again; written by whoever attaches it. */
struct octo_pf_past {
	char device[64];            /* its name; empty: it was never there */
	char bus[16];               /* the name of its bus */
	char *args;                 /* that it was probed with, NULL: none; primary only */
	bool told;                  /* why it stays out */
	uint64_t tell_at;           /* TSC: when to say that it is gone, 0: that is said */
	bool probed;                /* by octo, when it was gone */
	uint8_t exists;             /* tries in a row that found the device, but no port of it */
	RTE_ATOMIC(bool) ended;     /* its port has, though its name may be there, until NEW */
	RTE_ATOMIC(bool) under_way; /* an errand, which alone changes these meanwhile */
	uint32_t pause;             /* s; until the try after the next */
	uint64_t patient_until;     /* TSC; until then it waits for fences, 0: it need not */
	uint64_t retry_at;          /* TSC; it is left alone until then */
	uint64_t bury_at;           /* TSC: if its dead port is still there then, octo removes it */
	struct rte_eth_dev_info info; /* what it can do */
	bool counted;                 /* what it counts since base is not in octo_dev.gone */
	struct octo_pf_counts last;   /* what it had counted when it was last asked */
	struct octo_pf_counts base;   /* and when it joined the port */
};

/*
 * A PF that came back gets the rules of the others, some at a time. Its legs are polled
 * meanwhile, as the NIC may send it what has no rule, but it is nobody's home.
 */
struct octo_joining {
	bool on;
	uint8_t pf;
	bool others;           /* rules that are not of one flow are next */
	int ret;               /* what it refused, 0: nothing yet */
	struct rte_flow *next; /* NULL: no more of these */
};

/* PFs that are gone, or were never there, are looked for; by the control thread. */
struct octo_replug {
	bool on;
	struct octo_joining joining;
	RTE_ATOMIC(bool) arrived; /* a device that may be one of them */
	uint64_t next;            /* TSC; when to look */
	uint64_t attentive;       /* TSC; until then at ports that may have arrived */
	uint64_t next_stats;      /* TSC; when to ask what PFs have counted */
	uint64_t replugs;         /* PFs that came back, or came late */
};

/* What PFs are set to, where ethdev does not remember it, or too early. Under the control mutex. */
struct octo_settings {
	bool promiscuous;
	bool all_multicast;
	uint64_t vlan_offloads; /* of RTE_ETH_RX_OFFLOAD_VLAN */
	uint64_t rss_hf;
	uint8_t rss_key[64];
	uint8_t rss_key_len;
	bool link_set;  /* by rte_eth_dev_set_link_down() or _up() */
	bool link_down; /* by the last of them */
	bool ptypes_set;
	uint32_t ptypes;
	uint32_t nb_mc;
	struct rte_ether_addr *mc; /* multicast list; primary only */
};

/* octo_replug.c */
bool octo_replug_tick(struct octo_dev *octo, uint64_t now);
void octo_replug_look_at_once(struct octo_dev *octo);
void octo_replug_tell_locked(struct octo_dev *octo, uint64_t now);

/* octo_errand.c */
enum octo_errand_kind {
	OCTO_ERRAND_FETCH,   /* the device is probed */
	OCTO_ERRAND_BURY,    /* its dead port is in the way: it is removed before */
	OCTO_ERRAND_RELEASE, /* whoever ejects the device waits for it to be removed */
};

void octo_errand_send(struct octo_dev *octo, uint8_t pf, enum octo_errand_kind kind, bool wait);
void octo_errand_await(const struct octo_dev *octo);
void octo_errand_put_off(struct octo_pf_past *past);

/* octo_replay.c: a PF gets all that the others have; under the control mutex */
int octo_replay_settings_locked(struct octo_dev *octo, uint8_t pf);
bool octo_replay_must_wait_locked(struct octo_dev *octo, uint8_t pf);
int octo_replay_start_locked(struct octo_dev *octo, uint8_t pf);
int octo_replay_go_on_locked(struct octo_dev *octo);
void octo_replay_skip_locked(struct octo_dev *octo, const struct rte_flow *rule);
void octo_replay_forget_locked(struct octo_dev *octo, uint8_t pf);

/* octo_attach.c */
bool octo_attach_is_on_bus(const struct octo_pf *pf);
bool octo_attach_is_there(const struct octo_pf *pf);
bool octo_attach_is_probed(uint16_t port_id);
int octo_attach_probe_again(const struct octo_pf *pf);
void octo_attach_abandon(const struct octo_pf *pf);
int octo_attach_again_locked(struct octo_dev *octo, uint8_t pf);
bool octo_attach_is_ours(uint64_t owner_id, const struct octo_pf *pf);
void octo_attach_claim(struct octo_dev *octo, const char *name, uint16_t port_id);

/* octo_info.c: what the port offers and a PF lacks, or NULL */
const char *octo_info_lacks(struct octo_dev *octo, const struct rte_eth_dev_info *pf);

/* octo_filter.c, octo_rss.c */
void octo_filter_clear_locked(const struct octo_pf *pf);
int octo_filter_replay_locked(struct octo_dev *octo, struct octo_pf *pf);
int octo_rss_replay_locked(struct octo_dev *octo, uint8_t pf);

/* octo_pf_config.c */
int octo_pf_config_again_locked(struct octo_dev *octo, struct octo_pf *pf);

/* octo_indirect.c; all under the control mutex */
int octo_indirect_join_locked(struct octo_dev *octo, struct rte_flow_error *error);
void octo_indirect_leave_locked(struct octo_dev *octo, uint8_t pf);

#endif /* OCTO_REPLUG_H */
