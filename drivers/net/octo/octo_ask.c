/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "octo_ask.h"
#include "octo_clock.h"
#include "octo_gate.h"

/* As long as EAL gives a process to detach a device. */
#define ANSWER_S 5

/* EAL admits one request of a name at a time, and pollers and ports are several. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_nr;

void
octo_ask_close_fds(const struct rte_mp_msg *msg)
{
	for (int i = 0; i < msg->num_fds; i++)
		close(msg->fds[i]);
}

static bool
is_answer(const struct rte_mp_msg *msg, uint64_t nr)
{
	struct octo_ask_head head;

	if (msg->len_param < (int)sizeof(head))
		return false;
	memcpy(&head, msg->param, sizeof(head));
	return head.nr == nr;
}

static bool
are_answers(const struct rte_mp_reply *reply, uint64_t nr)
{
	for (int i = 0; i < reply->nb_received; i++)
		if (!is_answer(&reply->msgs[i], nr))
			return false;
	return true;
}

static void
discard(struct rte_mp_reply *reply)
{
	for (int i = 0; i < reply->nb_received; i++)
		octo_ask_close_fds(&reply->msgs[i]);
	free(reply->msgs);
	*reply = (struct rte_mp_reply){0};
}

/* Returns whether to ask once more: each time one late answer at least is out of the way. */
static bool
ask_once(struct rte_mp_msg *question, uint64_t nr, struct rte_mp_reply *reply, bool *answered)
{
	const struct timespec wait = {.tv_sec = ANSWER_S};

	if (rte_mp_request_sync(question, reply, &wait) != 0 ||
	    reply->nb_received != reply->nb_sent)
		return false;
	*answered = are_answers(reply, nr);
	return !*answered;
}

bool
octo_ask(struct rte_mp_msg *question, struct rte_mp_reply *reply)
{
	const uint64_t end = octo_deadline(ANSWER_S * US_PER_S);
	struct octo_ask_head head;
	bool answered = false;
	bool again;

	*reply = (struct rte_mp_reply){0};
	pthread_mutex_lock(&asking);
	head.nr = ++last_nr;
	memcpy(question->param, &head, sizeof(head));
	do {
		again = ask_once(question, head.nr, reply, &answered);
		if (!answered)
			discard(reply);
	} while (again && octo_gate_before(octo_now(), end));
	pthread_mutex_unlock(&asking);
	return answered;
}
