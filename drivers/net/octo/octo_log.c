/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_log.h>

#include "octo_log.h"

RTE_LOG_REGISTER_DEFAULT(octo_logtype, NOTICE);
