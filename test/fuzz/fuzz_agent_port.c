/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A port and an agent that says anything. The control thread is stopped: its part is done
 * here, step by step, so that an input means the same each time.
 */

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_ethdev.h>

#include "fuzz_agent.h"
#include "octo_agent.h"
#include "octo_clock.h"
#include "octo_private.h"

/* More than a window. */
#define NB_RULES (OCTO_AGENT_WINDOW + 16)

static struct octo_dev *octo;
static char address[OCTO_AGENT_ADDR_TEXT_MAX];
static int ear;
static int peer;
static uint32_t session; /* of the last hello */
static uint32_t next;    /* number of what is answered next */

static struct rte_flow *
make_rule(uint16_t number)
{
	struct octo_tuple tuple = octo_tuple_example;
	struct rte_flow_error error = {.message = NULL};
	struct octo_flow_rule r;
	struct rte_flow *rule;

	tuple.src_port = number;
	octo_flow_build_queue(&r, &tuple, 0, number % 2, true);
	rule = rte_flow_create(octo->port_id, &r.attr, r.pattern, r.actions, &error);
	FUZZ_CHECK(rule != NULL || error.message != NULL, "refused without a word");
	return rule;
}

static void
listen_for_port(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	unlink(path);
	ear = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	FUZZ_CHECK(bind(ear, (const struct sockaddr *)&un, sizeof(un)) == 0 && listen(ear, 4) == 0,
		   "no socket: %s", strerror(errno));
}

/* The agent is away when rules are made, so that nobody waits for it. */
void
fuzz_agent_port_init(void)
{
	const char *path = fuzz_agent_path("port");
	char args[256];
	uint16_t port;

	snprintf(address, sizeof(address), "unix:%s", path);
	fuzz_agent_port("net_mpsim0", "nic=A,queues=2,wire=loop");
	fuzz_agent_port("net_mpsim1", "nic=A,queues=2");
	snprintf(args, sizeof(args), "learn=off,linger_ms=0,agent=%s,pf=net_mpsim0,pf=net_mpsim1",
		 address);
	port = fuzz_agent_port("net_octo0", args);
	octo = octo_of(&rte_eth_devices[port]);
	for (uint16_t i = 0; i < NB_RULES; i++)
		FUZZ_CHECK(make_rule(i) != NULL, "no rule");
	octo_ctrl_stop(octo);
	listen_for_port(path);
	peer = -1;
}

static void
tick(void)
{
	octo_lock(octo);
	octo_agent_sync_tick_locked(octo);
	octo_fence_flipped_all_locked(octo);
	octo_fence_sweep_locked(octo);
	octo_unlock(octo);
}

static void
check(void)
{
	const struct octo_agent *agent = octo->agent;
	const struct rte_flow *rule;

	FUZZ_CHECK(agent->nb_asked <= OCTO_AGENT_WINDOW, "%u on the way", agent->nb_asked);
	FUZZ_CHECK(agent->state == OCTO_AGENT_READY || agent->nb_asked == 0,
		   "%u on the way to nobody", agent->nb_asked);
	FUZZ_CHECK(agent->state != OCTO_AGENT_READY || agent->nb_flips <= agent->nb_asked,
		   "%u flips of %u", agent->nb_flips, agent->nb_asked);
	FUZZ_CHECK((agent->stream.fd >= 0) == (agent->state != OCTO_AGENT_AWAY), "state %d",
		   agent->state);
	FUZZ_CHECK(strnlen(agent->why, sizeof(agent->why)) < sizeof(agent->why), "no end of why");
	TAILQ_FOREACH(rule, &octo->rules, next)
		FUZZ_CHECK(rule->lead.pf < FUZZ_AGENT_PFS || rule->lead.pf == OCTO_NO_PF, "PF %u",
			   rule->lead.pf);
}

/* A connection, and its hello. */
static void
meet(void)
{
	struct octo_agent_msg hello = {.type = 0};
	uint8_t bytes[OCTO_AGENT_MSG_MAX];
	size_t used;
	ssize_t n;

	octo_agent_try_now(octo->agent);
	tick();
	peer = accept4(ear, NULL, NULL, SOCK_NONBLOCK);
	FUZZ_CHECK(peer >= 0, "no connection: %s", octo->agent->why);
	n = read(peer, bytes, sizeof(bytes));
	FUZZ_CHECK(n > 0 && octo_agent_msg_read(bytes, (size_t)n, &hello, &used) == 0 &&
			   hello.type == OCTO_AGENT_HELLO,
		   "no hello");
	session = hello.session;
	next = hello.seq + 1;
}

static void
hang_up(void)
{
	if (peer >= 0)
		close(peer);
	peer = -1;
}

static void
say(struct octo_agent_msg *msg)
{
	uint8_t bytes[OCTO_AGENT_MSG_MAX];

	fuzz_agent_send(peer, bytes, octo_agent_msg_write(bytes, msg));
}

static void
welcome(uint8_t flags)
{
	struct octo_agent_msg msg = {
		.type = OCTO_AGENT_WELCOME,
		.session = session,
		.welcome = {.version = OCTO_AGENT_VERSION,
			    .nb_pfs = FUZZ_AGENT_PFS,
			    .flags = flags},
	};

	say(&msg);
}

static void
answer(unsigned int nb, int error)
{
	for (unsigned int i = 0; i < nb; i++) {
		struct octo_agent_msg msg = {
			.type = OCTO_AGENT_RESULT,
			.session = session,
			.seq = next++,
			.result = {.error = error, .text = "because"},
		};

		say(&msg);
	}
}

/* The answer is there before, else it would be waited for; without one that is soon over. */
static void
use_rules(struct fuzz_input *in)
{
	struct rte_flow_query_count count = {.reset = 1};
	const struct rte_flow_action what[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
					       {.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_error error;
	struct rte_flow *rule;

	octo->agent->credit = (struct octo_credit){.at = octo_now()};
	answer(octo->agent->nb_asked + fuzz_u8(in) % 4, (int8_t)fuzz_u8(in));
	rule = make_rule(NB_RULES + 1);
	if (rule == NULL)
		return;
	rte_flow_query(octo->port_id, rule, what, &count, &error);
	FUZZ_CHECK(rte_flow_destroy(octo->port_id, rule, &error) == 0 || error.message != NULL,
		   "refused without a word");
}

static void
act(struct fuzz_input *in)
{
	const uint8_t what = fuzz_u8(in);
	uint8_t bytes[OCTO_AGENT_MSG_MAX];
	size_t len;

	switch (what & 7) {
	case 0:
		welcome(what >> 3);
		break;
	case 1:
	case 2:
		answer(what >> 3, 0);
		break;
	case 3:
		answer(1, (int8_t)fuzz_u8(in));
		break;
	case 4:
		for (int i = what >> 3; i >= 0; i--) {
			len = fuzz_agent_message(in, session, next++, bytes);
			fuzz_agent_send(peer, bytes, len);
		}
		break;
	case 5:
		len = RTE_MIN((size_t)fuzz_u8(in), sizeof(bytes));
		fuzz_bytes(in, bytes, len);
		fuzz_agent_send(peer, bytes, len);
		break;
	case 6:
		use_rules(in);
		break;
	default:
		hang_up();
		tick();
		octo_agent_close(octo->agent);
		meet();
	}
	tick();
	check();
}

void
fuzz_agent_port_run(struct fuzz_input *in)
{
	meet();
	while (in->left > 0 && octo->agent->state != OCTO_AGENT_AWAY)
		act(in);
	hang_up();
	/* the next input finds it as it was made */
	octo_lock(octo);
	octo_agent_close(octo->agent);
	octo_agent_init(octo->agent, address, &fuzz_agent_secret, FUZZ_AGENT_PFS);
	octo_unlock(octo);
	tick();
}
