/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>

#include "agent_rules.h"
#include "agent_session.h"

void
agent_session_init(struct agent_session *session, struct agent_rules *rules, uint8_t nb_pfs,
		   const struct octo_agent_secret *secret)
{
	*session = (struct agent_session){.rules = rules, .nb_pfs = nb_pfs, .secret = secret};
}

void
agent_session_end(struct agent_session *session)
{
	session->greeted = false;
}

void
agent_session_refuse(const struct octo_agent_msg *msg, int error, const char *text,
		     struct octo_agent_msg *answer)
{
	*answer = (struct octo_agent_msg){
		.type = OCTO_AGENT_RESULT,
		.session = msg->session,
		.seq = msg->seq,
		.result = {.error = error},
	};
	snprintf(answer->result.text, sizeof(answer->result.text), "%s", text);
}

static void
answer_result(const struct octo_agent_msg *msg, int ret, const char *why,
	      struct octo_agent_msg *answer)
{
	agent_session_refuse(msg, -ret, ret == 0 ? "" : why, answer);
}

static bool
knows_secret(const struct agent_session *session, const struct octo_agent_hello *said)
{
	return session->secret == NULL || octo_agent_secret_equal(session->secret, &said->secret);
}

/* A stranger is told nothing but that it is one. */
bool
agent_session_may_begin(const struct agent_session *session, const struct octo_agent_msg *msg,
			struct octo_agent_msg *answer)
{
	char why[OCTO_AGENT_TEXT_MAX];

	if (msg->type != OCTO_AGENT_HELLO) {
		agent_session_refuse(msg, ESTALE, "no such session: begin with hello", answer);
		return false;
	}
	if (!knows_secret(session, &msg->hello)) {
		agent_session_refuse(msg, EACCES,
				     msg->hello.secret.len == 0 ?
					     "it wants a secret, which agent_secret= gives" :
					     "its secret is another one",
				     answer);
		return false;
	}
	if (msg->hello.min_version > OCTO_AGENT_VERSION ||
	    msg->hello.max_version < OCTO_AGENT_VERSION) {
		snprintf(why, sizeof(why), "the agent speaks version %u, the port %u to %u",
			 OCTO_AGENT_VERSION, msg->hello.min_version, msg->hello.max_version);
		agent_session_refuse(msg, EPROTONOSUPPORT, why, answer);
		return false;
	}
	if (msg->hello.nb_pfs != session->nb_pfs) {
		snprintf(why, sizeof(why), "the agent's NIC has %u PFs, the port %u",
			 session->nb_pfs, msg->hello.nb_pfs);
		agent_session_refuse(msg, EINVAL, why, answer);
		return false;
	}
	return true;
}

static void
hello(struct agent_session *session, const struct octo_agent_msg *msg,
      struct octo_agent_msg *answer)
{
	session->greeted = false;
	if (!agent_session_may_begin(session, msg, answer))
		return;
	session->greeted = true;
	session->id = msg->session;
	agent_rules_mark(session->rules);
	*answer = (struct octo_agent_msg){
		.type = OCTO_AGENT_WELCOME,
		.session = msg->session,
		.seq = msg->seq,
		.welcome = {.version = OCTO_AGENT_VERSION,
			    .nb_pfs = session->nb_pfs,
			    .rules = agent_rules_count(session->rules)},
	};
	if (agent_rules_chooses_queues(session->rules))
		answer->welcome.flags |= OCTO_AGENT_PLACES_QUEUES;
	if (agent_rules_counts(session->rules))
		answer->welcome.flags |= OCTO_AGENT_COUNTS;
	if (agent_rules_sets_default(session->rules))
		answer->welcome.flags |= OCTO_AGENT_DEFAULTS;
}

static void
put(struct agent_session *session, const struct octo_agent_msg *msg, struct octo_agent_msg *answer)
{
	char why[OCTO_AGENT_TEXT_MAX];
	int ret = -EINVAL;

	if (msg->rule.pf >= session->nb_pfs)
		snprintf(why, sizeof(why), "PF %u: the agent's NIC has %u PFs", msg->rule.pf,
			 session->nb_pfs);
	else
		ret = agent_rules_put(session->rules, &msg->rule.tuple, msg->rule.pf,
				      msg->rule.queue, why);
	answer_result(msg, ret, why, answer);
}

static void
query(struct agent_session *session, const struct octo_agent_msg *msg,
      struct octo_agent_msg *answer)
{
	struct octo_agent_count count = {0};
	int ret = agent_rules_query(session->rules, &msg->rule.tuple, &count.hits, &count.bytes);

	if (ret != 0) {
		answer_result(msg, ret, "there is no such rule, or it is not counted", answer);
		return;
	}
	*answer = (struct octo_agent_msg){
		.type = OCTO_AGENT_COUNT,
		.session = msg->session,
		.seq = msg->seq,
		.count = count,
	};
}

static void
handle_in_session(struct agent_session *session, const struct octo_agent_msg *msg,
		  struct octo_agent_msg *answer)
{
	char why[OCTO_AGENT_TEXT_MAX] = "";

	switch (msg->type) {
	case OCTO_AGENT_PUT:
		put(session, msg, answer);
		break;
	case OCTO_AGENT_REMOVE:
		answer_result(msg, agent_rules_remove(session->rules, &msg->rule.tuple, why), why,
			      answer);
		break;
	case OCTO_AGENT_SYNCED:
		agent_rules_sweep(session->rules);
		answer_result(msg, 0, why, answer);
		break;
	case OCTO_AGENT_QUERY:
		query(session, msg, answer);
		break;
	case OCTO_AGENT_DEFAULT:
		answer_result(msg, agent_rules_set_default(session->rules, msg->default_pf, why),
			      why, answer);
		break;
	case OCTO_AGENT_PING:
		answer_result(msg, 0, why, answer);
		break;
	default:
		agent_session_refuse(msg, EPROTO, "only an agent says this", answer);
	}
}

bool
agent_session_handle(struct agent_session *session, const struct octo_agent_msg *msg,
		     struct octo_agent_msg *answer)
{
	if (msg->type == OCTO_AGENT_HELLO) {
		hello(session, msg, answer);
		return session->greeted;
	}
	if (!session->greeted || msg->session != session->id) {
		agent_session_refuse(msg, ESTALE, "no such session: begin with hello", answer);
		return false;
	}
	handle_in_session(session, msg, answer);
	return true;
}
