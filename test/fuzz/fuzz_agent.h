/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_AGENT_H
#define FUZZ_AGENT_H

#include "fuzz.h"
#include "octo_agent_msg.h"

/**
 * @file
 * Both sides of the agent's protocol, each with a peer that says what the input says.
 */

#define FUZZ_AGENT_PFS 2

/** A device of vdev, started with two queues. */
uint16_t fuzz_agent_port(const char *name, const char *args);

/** A path in this run's own directory. */
const char *fuzz_agent_path(const char *name);

/** Bytes that may be a message, and a valid one more often than chance would have it. */
size_t fuzz_agent_message(struct fuzz_input *in, uint32_t session, uint32_t seq, uint8_t *bytes);

/** The secret that the agent wants to hear. */
extern const struct octo_agent_secret fuzz_agent_secret;

/** Send to a peer that may be gone, or not listen. */
void fuzz_agent_send(int fd, const uint8_t *bytes, size_t len);

void fuzz_agent_port_init(void);
void fuzz_agent_port_run(struct fuzz_input *in);

void fuzz_agent_server_init(void);
void fuzz_agent_server_run(struct fuzz_input *in);

#endif /* FUZZ_AGENT_H */
