/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LOG_H
#define OCTO_LOG_H

#include <rte_log.h>

extern int octo_logtype;
#define RTE_LOGTYPE_OCTO octo_logtype
#define OCTO_LOG(level, ...) RTE_LOG_LINE_PREFIX(level, OCTO, "%s", "", __VA_ARGS__)

#endif /* OCTO_LOG_H */
