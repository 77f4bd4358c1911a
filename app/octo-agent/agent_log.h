/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_LOG_H
#define AGENT_LOG_H

#include <rte_log.h>

extern int agent_logtype;
#define RTE_LOGTYPE_AGENT agent_logtype

/** What happens while the agent runs; what is wrong with its command line goes to stderr. */
#define AGENT_LOG(level, who, ...) RTE_LOG_LINE_PREFIX(level, AGENT, "%s: ", who, __VA_ARGS__)

#endif /* AGENT_LOG_H */
