/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_hooks.h"

/* set before there is a port */
const struct octo_hooks *octo_hooks;
