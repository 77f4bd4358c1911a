/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ASK_H
#define OCTO_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_eal.h>

/**
 * @file
 * Questions to other processes. EAL takes any reply of a name for the answer to the question of
 * that name that is being asked, also one that comes late, to a question that was given up. So a
 * question begins with a number, which its answer repeats.
 */

/** The first bytes of each question and of each answer. */
struct octo_ask_head {
	uint64_t nr;
};

/**
 * Ask, and wait: five seconds for an answer, and ten in all if late ones come first. Another thread
 * that asks meanwhile waits for its turn. Any thread but EAL's for messages, without a lock.
 *
 * @param question
 *   Its param begins with a struct octo_ask_head, which is filled in.
 * @param reply
 *   The answers; the caller frees reply->msgs.
 * @return
 *   Whether all processes that were asked have answered this question.
 */
bool octo_ask(struct rte_mp_msg *question, struct rte_mp_reply *reply);

/** Of a message that was not to have any, or whose sender is mistaken. */
void octo_ask_close_fds(const struct rte_mp_msg *msg);

#endif /* OCTO_ASK_H */
