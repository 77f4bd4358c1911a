/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A session begins with a hello that carries an unused session number; the welcome repeats it.
 * Messages with another number belong to a session that is over: a character device keeps what
 * an earlier peer wrote.
 */

#include <errno.h>

#include <rte_random.h>
#include <rte_string_fns.h>

#include "octo_agent.h"
#include "octo_clock.h"
#include "octo_private.h"

#define RETRY_MS 1000
#define PING_MS 1000
/* An agent that sends nothing for this long is dead or stuck. */
#define ANSWER_MS 1000
/* Limit on messages of other sessions: a device keeps a window of answers or two. */
#define STRANGE_MAX 1024

static bool
is_over(uint64_t when)
{
	return octo_now() >= when;
}

void
octo_agent_init(struct octo_agent *agent, const char *addr, const struct octo_agent_secret *secret,
		uint8_t nb_pfs)
{
	memset(agent, 0, sizeof(*agent));
	octo_agent_stream_init(&agent->stream);
	/* octo_args.c has validated the address */
	octo_agent_addr_read(&agent->addr, addr, agent->why, sizeof(agent->why));
	agent->secret = *secret;
	agent->nb_pfs = nb_pfs;
	agent->session = (uint32_t)rte_rand();
	octo_credit_init(&agent->credit);
}

void
octo_agent_close(struct octo_agent *agent)
{
	struct octo_agent_waiter *waiter;

	octo_agent_stream_close(&agent->stream);
	agent->state = OCTO_AGENT_AWAY;
	agent->nb_asked = 0;
	LIST_FOREACH(waiter, &agent->waiters, next) {
		if (!waiter->done)
			waiter->ret = -ENOTCONN;
		waiter->done = true;
	}
}

/* The warning is logged once per outage. Returns -ENOTCONN. */
static int
lose(struct octo_agent *agent, const char *why)
{
	if (!agent->complained)
		OCTO_LOG(WARNING, "agent %s is away: %s; trying again every second",
			 agent->addr.text, why);
	agent->complained = true;
	rte_strscpy(agent->why, why, sizeof(agent->why));
	octo_agent_close(agent);
	agent->next_try = octo_deadline(RETRY_MS * 1000);
	return -ENOTCONN;
}

static int
lose_for(struct octo_agent *agent, int ret)
{
	return lose(agent, ret == -EPIPE   ? "it closed the connection" :
			   ret == -EBADMSG ? "it says what is no message" :
			   ret == -ENOTTY  ? "it is not a character device" :
					     rte_strerror(-ret));
}

static int
send_msg(struct octo_agent *agent, struct octo_agent_msg *msg)
{
	int ret;

	msg->session = agent->session;
	msg->seq = ++agent->seq;
	ret = octo_agent_stream_send(&agent->stream, msg);
	return ret == 0 ? 0 : lose_for(agent, ret);
}

static void
greet(struct octo_agent *agent)
{
	struct octo_agent_msg hello = {
		.type = OCTO_AGENT_HELLO,
		.hello = {.min_version = OCTO_AGENT_VERSION,
			  .max_version = OCTO_AGENT_VERSION,
			  .nb_pfs = agent->nb_pfs,
			  .secret = agent->secret},
	};

	agent->session++;
	agent->nb_strange = 0;
	agent->deadline = octo_deadline(ANSWER_MS * 1000);
	if (send_msg(agent, &hello) == 0)
		agent->state = OCTO_AGENT_GREETING;
}

/* A peer that is far away or unreachable must not block the caller: the connect has a deadline. */
static void
go_on_connecting(struct octo_agent *agent, int ret)
{
	if (ret == 0)
		greet(agent);
	else if (ret != -EINPROGRESS)
		lose_for(agent, ret);
	else if (agent->state == OCTO_AGENT_CONNECTING && is_over(agent->deadline))
		lose_for(agent, -ETIMEDOUT);
}

static void
begin_to_connect(struct octo_agent *agent)
{
	int ret = octo_agent_stream_connect(&agent->stream, &agent->addr);

	agent->deadline = octo_deadline(ANSWER_MS * 1000);
	if (ret == -EINPROGRESS)
		agent->state = OCTO_AGENT_CONNECTING;
	go_on_connecting(agent, ret);
}

/* Receives the next message of this session. -EAGAIN: none has arrived. */
static int
receive(struct octo_agent *agent, struct octo_agent_msg *msg)
{
	int ret;

	while ((ret = octo_agent_stream_receive(&agent->stream, msg)) == 0) {
		if (msg->session == agent->session) {
			agent->nb_strange = 0;
			return 0;
		}
		if (++agent->nb_strange > STRANGE_MAX)
			return lose(agent, "it talks of other sessions without end");
	}
	return ret == -EAGAIN ? ret : lose_for(agent, ret);
}

static bool
hear_welcome(struct octo_agent *agent)
{
	/* taken before the socket is read: else an answer in time is missed by a late thread */
	const bool is_late = is_over(agent->deadline);
	struct octo_agent_msg msg;
	int ret = receive(agent, &msg);

	if (ret == -EAGAIN && is_late)
		lose(agent, "it does not answer");
	if (ret != 0)
		return false;
	if (msg.type == OCTO_AGENT_RESULT && msg.result.error != 0) {
		lose(agent, msg.result.text);
		return false;
	}
	if (msg.type != OCTO_AGENT_WELCOME) {
		lose(agent, "it answers what was not asked");
		return false;
	}
	agent->state = OCTO_AGENT_READY;
	agent->flags = msg.welcome.flags;
	agent->next_ping = octo_deadline(PING_MS * 1000);
	agent->complained = false;
	OCTO_LOG(NOTICE, "agent %s is there%s", agent->addr.text,
		 (agent->flags & OCTO_AGENT_PLACES_QUEUES) != 0 ? ", and chooses queues, too" : "");
	return true;
}

/* The port itself says these of an agent that was lost, or has not answered so far. */
static bool
is_of_the_port(int error)
{
	return error == ENOTCONN || error == EAGAIN || error == EINPROGRESS;
}

static int
read_answer(struct octo_agent *agent, const struct octo_agent_msg *answer)
{
	if (answer->type != OCTO_AGENT_RESULT || answer->result.error == 0)
		return 0;
	if (answer->result.error == ESTALE) {
		/* the agent was restarted in between: a new session installs all rules again */
		return lose(agent, answer->result.text);
	}
	rte_strscpy(agent->why, answer->result.text, sizeof(agent->why));
	return answer->result.error > 0 && !is_of_the_port(answer->result.error) ?
		       -answer->result.error :
		       -EIO;
}

/* An agent that owes an answer needs no ping: the answer, or its deadline, tells its state. */
static void
keep_alive(struct octo_agent *agent)
{
	struct octo_agent_msg msg = {.type = OCTO_AGENT_PING};
	int ret = octo_agent_stream_flush(&agent->stream);

	if (ret != 0 && ret != -EAGAIN) {
		lose_for(agent, ret);
	} else if (agent->nb_asked == 0 && is_over(agent->next_ping)) {
		agent->next_ping = octo_deadline(PING_MS * 1000);
		octo_agent_say(agent, &msg, NULL);
	}
}

bool
octo_agent_poll(struct octo_agent *agent)
{
	octo_agent_stream_look(&agent->stream);
	switch (agent->state) {
	case OCTO_AGENT_AWAY:
		if (is_over(agent->next_try))
			begin_to_connect(agent);
		return false;
	case OCTO_AGENT_CONNECTING:
		go_on_connecting(agent, octo_agent_stream_connected(&agent->stream));
		return false;
	case OCTO_AGENT_GREETING:
		return hear_welcome(agent);
	case OCTO_AGENT_READY:
		keep_alive(agent);
		return false;
	}
	return false;
}

void
octo_agent_try_now(struct octo_agent *agent)
{
	if (agent->state == OCTO_AGENT_AWAY)
		agent->next_try = 0;
}

int
octo_agent_say(struct octo_agent *agent, struct octo_agent_msg *msg, void *cookie)
{
	struct octo_agent_asked *asked;

	if (agent->state != OCTO_AGENT_READY || send_msg(agent, msg) != 0)
		return -ENOTCONN;
	asked = &agent->asked[(agent->first + agent->nb_asked) % OCTO_AGENT_WINDOW];
	*asked = (struct octo_agent_asked){
		.seq = msg->seq,
		.type = msg->type,
		.pf = msg->type == OCTO_AGENT_DEFAULT ? msg->default_pf : msg->rule.pf,
		.cookie = cookie,
	};
	if (agent->nb_asked++ == 0)
		agent->deadline = octo_deadline(ANSWER_MS * 1000);
	return 0;
}

static void
tell_waiter(struct octo_agent *agent, struct octo_agent_asked *asked,
	    const struct octo_agent_msg *answer, int ret)
{
	struct octo_agent_waiter *waiter;

	LIST_FOREACH(waiter, &agent->waiters, next) {
		if (waiter->done || waiter->seq != asked->seq)
			continue;
		waiter->done = true;
		waiter->ret = ret;
		waiter->answer = *answer;
		asked->awaited = true;
	}
}

int
octo_agent_hear(struct octo_agent *agent, struct octo_agent_asked *asked,
		struct octo_agent_msg *answer, int *answered)
{
	/* taken before the socket is read, as in hear_welcome() */
	const bool is_late = agent->nb_asked > 0 && is_over(agent->deadline);
	int ret = -ENOTCONN;

	if (agent->state != OCTO_AGENT_READY)
		return ret;
	ret = receive(agent, answer);
	if (ret == -EAGAIN && is_late)
		return lose(agent, "it does not answer");
	if (ret != 0)
		return ret;
	if (agent->nb_asked == 0 || agent->asked[agent->first].seq != answer->seq)
		return lose(agent, "it answers what was not asked");
	*asked = agent->asked[agent->first];
	agent->first = (agent->first + 1) % OCTO_AGENT_WINDOW;
	agent->nb_asked--;
	agent->deadline = octo_deadline(ANSWER_MS * 1000);
	agent->slow = false;
	agent->nb_resync -= asked->resync;
	*answered = read_answer(agent, answer);
	if (*answered == -ENOTCONN)
		return -ENOTCONN;
	tell_waiter(agent, asked, answer, *answered);
	return 0;
}

void
octo_agent_mark_resync(struct octo_agent *agent)
{
	const unsigned int last = agent->first + agent->nb_asked - 1;

	agent->asked[last % OCTO_AGENT_WINDOW].resync = true;
	agent->nb_resync++;
}

bool
octo_agent_disown(struct octo_agent *agent, const void *cookie)
{
	bool found = false;

	for (unsigned int i = 0; i < agent->nb_asked; i++) {
		struct octo_agent_asked
			*asked = &agent->asked[(agent->first + i) % OCTO_AGENT_WINDOW];

		if (asked->cookie != cookie)
			continue;
		asked->cookie = NULL;
		found = true;
	}
	return found;
}

const struct octo_agent_asked *
octo_agent_find(const struct octo_agent *agent, const void *cookie)
{
	const struct octo_agent_asked *found = NULL;

	for (unsigned int i = 0; i < agent->nb_asked; i++) {
		const struct octo_agent_asked
			*asked = &agent->asked[(agent->first + i) % OCTO_AGENT_WINDOW];

		if (asked->cookie == cookie)
			found = asked;
	}
	return found;
}

void
octo_agent_await(struct octo_agent *agent, struct octo_agent_waiter *waiter, uint32_t seq)
{
	waiter->seq = seq;
	waiter->done = false;
	LIST_INSERT_HEAD(&agent->waiters, waiter, next);
}

void
octo_agent_forget(struct octo_agent *agent, const struct rte_flow *rule)
{
	struct octo_agent_waiter *waiter;

	octo_agent_disown(agent, rule);
	LIST_FOREACH(waiter, &agent->waiters, next)
		if (waiter->rule == rule)
			waiter->rule = NULL;
}

void
octo_agent_look(struct octo_agent *agent)
{
	octo_agent_stream_flush(&agent->stream);
	octo_agent_stream_look(&agent->stream);
}

/*
 * Sleep until the agent answers: a thread that looks every millisecond next to a polling lcore
 * can keep the CPU from an agent that has to run on it (seen with Linux 6.18).
 */
static void
sleep_for(struct octo_agent *agent, uint64_t cycles)
{
	octo_agent_stream_flush(&agent->stream);
	octo_agent_stream_wait(&agent->stream, (int)(cycles / octo_credit_ms(1)) + 1);
	octo_agent_stream_look(&agent->stream);
}

int
octo_agent_wait(struct octo_agent *agent, uint64_t since)
{
	uint64_t may, waited;

	may = octo_credit_may_wait(&agent->credit);
	waited = octo_now() - since;
	if (waited >= may)
		return lose(agent, "it does not answer");
	sleep_for(agent, may - waited);
	return 0;
}

int
octo_agent_wait_briefly(struct octo_agent *agent, uint64_t since)
{
	const uint64_t waited = octo_now() - since;

	if (agent->slow || waited >= octo_credit_ms(OCTO_CREDIT_FREE_MS)) {
		agent->slow = true;
		return -ETIMEDOUT;
	}
	sleep_for(agent, octo_credit_ms(OCTO_CREDIT_FREE_MS) - waited);
	return 0;
}
