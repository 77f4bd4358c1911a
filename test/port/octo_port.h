/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_H
#define OCTO_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mempool.h>
#include <rte_stdatomic.h>

#include "octo_test.h"

#include "octo_flow_build.h"
#include "octo_port_time.h"
#include "octo_view.h"

/**
 * @file
 * A net_octo port over mpsim PFs, all in this process: what the tests of the
 * port share. Whatever goes wrong fails the test that runs.
 */

#define OCTO_PORT_MAX_PFS 8
#define OCTO_PORT_NAME "net_octo0"
#define OCTO_PORT_NB_DESC 512
#define OCTO_PORT_MBUFS 16383
#define OCTO_PORT_FRAME_LEN 60

/** Zeroed: two PFs on node 0, so that queue Q is at home on PF Q % 2, on a looped wire. */
struct octo_port_conf {
	unsigned int nb_pfs;    /**< 0 means 2 */
	bool two_nodes;         /**< PF P is on node P % 2 */
	bool sliced;            /**< PF P is queues P::nb_pfs of one simulated port, on that node */
	bool contiguous;        /**< the same, but 8 queues from 8 * P on */
	bool learn;             /**< strays teach steering */
	bool replug;            /**< PFs that are gone are looked for */
	unsigned int wire_ring; /**< frames that the wire holds, 0 means more than any test sends */
	const char *nic;        /**< more devargs of the NIC */
	const char *all;        /**< more devargs of every PF */
	const char *pf[OCTO_PORT_MAX_PFS]; /**< more devargs of this PF */
	const char *octo;                  /**< more devargs of the octo port */
};

/** What came in. */
struct octo_port_tally {
	uint64_t packets;
	uint64_t bytes;
	uint64_t wrong_port; /**< mbuf->port was not the octo port */
	uint64_t wrong_flow; /**< was not sent by octo_port_send() */
};

extern struct rte_mempool *octo_port_pool;

/* cmocka fixtures: of the group (EAL), of a test (nothing stays behind it) */
int octo_port_group_setup(void **state);
int octo_port_group_teardown(void **state);
int octo_port_setup(void **state);
int octo_port_teardown(void **state);

#define octo_port_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, octo_port_teardown)

/* the devices */
const char *octo_port_pf_name(unsigned int pf);
uint16_t octo_port_pf(unsigned int pf);
/** Is there a port of that name, whoever has it? */
bool octo_port_pf_is_there(unsigned int pf);
/** The queues in its RETA of 128 entries, as a bit mask. */
uint32_t octo_port_reta_of(unsigned int pf);
/** Is it in this state of struct octo_view_topology? */
bool octo_port_pf_is(uint16_t port, unsigned int pf, const char *state);
/** Does the octo port use it? */
bool octo_port_pf_is_started(uint16_t port, unsigned int pf);
/** Does the octo port take it for the transfer proxy? */
bool octo_port_is_proxy(uint16_t port, unsigned int pf);
void octo_port_add_pf(const struct octo_port_conf *conf, unsigned int pf);
void octo_port_remove_pf(unsigned int pf);
/** Removed, and off its bus too: since DPDK 26.07 EAL else knows how to probe it again. */
void octo_port_forget_pf(unsigned int pf);
void octo_port_add_pfs(const struct octo_port_conf *conf);
uint16_t octo_port_add(const struct octo_port_conf *conf);
void octo_port_close_and_remove(uint16_t port);
/** PFs and the octo port over them; @return its port id. */
uint16_t octo_port_create(const struct octo_port_conf *conf);
/** Remove whatever of it is there. */
void octo_port_destroy(void);

/** Set up the queues of a port that is configured; a negative errno on failure. */
int octo_port_setup_queues(uint16_t port, uint16_t nb_queues);
/** Configure and set up; a negative errno on failure. */
int octo_port_configure(uint16_t port, uint16_t nb_queues);
/** octo_port_configure() and start, which must succeed. */
void octo_port_up(uint16_t port, uint16_t nb_queues);
/** The same with a configuration of its own. */
void octo_port_up_as(uint16_t port, uint16_t nb_queues, const struct rte_eth_conf *conf);

/** Set a RETA that has this queue only. */
void octo_port_lead_all_to(uint16_t port, uint16_t queue);

/* CPUs: socket_map makes the first allowed CPU node 0 and the second node 1 */
bool octo_port_has_two_nodes(void);
/** Have the drivers believe so of this thread; those that it starts go along. */
void octo_port_run_on(int node);

/** The rule that sends UDP 10.0.0.1:src_port > 10.0.0.2:9 to a queue. */
void octo_port_build(struct octo_flow_rule *r, uint16_t src_port, uint16_t queue);
/** The rule that makes the switch send it to a PF. */
void octo_port_build_mpfs(struct octo_flow_rule *r, uint16_t src_port, unsigned int pf);
/** Steer UDP 10.0.0.1:src_port > 10.0.0.2:9 to a queue; *error is cleared first. */
struct rte_flow *
octo_port_steer(uint16_t port, uint16_t src_port, uint16_t queue, struct rte_flow_error *error);
/** The same, with *error as it is. */
struct rte_flow *octo_port_steer_again(uint16_t port, uint16_t src_port, uint16_t queue,
				       struct rte_flow_error *error);
int octo_port_validate(uint16_t port, uint16_t src_port, uint16_t queue);
/** Have the NIC's switch lead the 5-tuple to a PF, whatever octo tells it; a rule of PF 0. */
struct rte_flow *octo_port_overrule(uint16_t src_port, unsigned int pf);
/** The PF that the rule leads to; -1 if it has no MPFS rule, -2 if there is no rule. */
int octo_port_rule_pf(uint16_t port, uint16_t src_port);
/** Is it this one, once its queue was polled? Who polls sees that a PF is back, or is to go. */
bool octo_port_leads_to(uint16_t port, uint16_t src_port, uint16_t queue, int pf);

/** Make n frames of the 5-tuple with this source port. */
void octo_port_make(uint16_t port, uint16_t src_port, struct rte_mbuf **pkts, uint16_t n);
/** Send n frames of the 5-tuple with this source port. */
void octo_port_send(uint16_t port, uint16_t queue, uint16_t src_port, unsigned int n);
/** Packets that the simulated NIC has lost or dropped. */
uint64_t octo_port_lost(void);
/** One burst of up to nb; @return what it got. */
uint16_t octo_port_poll(uint16_t port, uint16_t queue, uint16_t nb, struct octo_port_tally *tally);
/** Poll until this many came, or until nothing has come for long. */
void
octo_port_receive(uint16_t port, uint16_t queue, uint64_t packets, struct octo_port_tally *tally);
/** The next packet, which must come alone. */
struct rte_mbuf *octo_port_receive_one(uint16_t port, uint16_t queue);
/** In however many buffers: it is the frame of octo_port_make_numbered(), to this port. */
void octo_port_assert_intact(const struct rte_mbuf *m, uint16_t port, uint16_t src_port,
			     uint32_t number);
/** So many frames, sent by queue 0 with this source port, all come in by this queue. */
void
octo_port_assert_arrives(uint16_t port, uint16_t src_port, uint16_t queue, unsigned int packets);

/**
 * octo_port_make(), and number the frames from `first` on; then the number of one that
 * came back. The number is behind all headers.
 */
void octo_port_make_numbered(uint16_t port, uint16_t src_port, uint32_t first,
			     struct rte_mbuf **pkts, uint16_t n);
uint32_t octo_port_number(const struct rte_mbuf *m);
/** A burst of such frames, at most 32. @return how many were taken; the rest is dropped. */
uint16_t octo_port_send_numbered(uint16_t port, uint16_t queue, uint16_t src_port, uint32_t first,
				 uint16_t n);
/** Let the NIC move all that is on its wire into the rings of the PFs. */
void octo_port_pump(uint16_t idle_queue);

/**
 * Run fn(arg) beside the test; arg is not on the stack of the test, which may end early.
 * Where it goes around while !octo_port_thread_must_stop(), time does not pass without it.
 */
void octo_port_thread_start(void *(*fn)(void *), void *arg);
bool octo_port_thread_must_stop(void);
/** The same, but not at the end of a round. */
bool octo_port_thread_is_to_stop(void);
bool octo_port_thread_runs(void);
/** Wait until the thread, if there is one that goes around, has done so once. */
void octo_port_thread_go_around(void);
/** Does the teardown, too. */
void octo_port_thread_stop(void);

/** Its link is up, and as fast as the port can be. */
void octo_port_assert_full_speed(uint16_t port);

uint64_t octo_port_xstat(uint16_t port, const char *format, ...) __rte_format_printf(2, 3);
/** Packets that came by a leg that is not at home. */
uint64_t octo_port_strays(uint16_t port);

#endif /* OCTO_PORT_H */
