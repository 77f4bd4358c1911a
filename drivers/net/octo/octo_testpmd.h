/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TESTPMD_H
#define OCTO_TESTPMD_H

#include <stddef.h>
#include <stdint.h>

#include "octo_measure.h"
#include "octo_view.h"

/**
 * @file
 * Shared by the files of the testpmd commands.
 */

const char *octo_testpmd_pf_name(const struct octo_view_topology *view, int pf);
void octo_testpmd_not_octo(uint16_t port_id);
/* Says why a command failed; of a port that is no octo port, which ports are. */
void octo_testpmd_complain(uint16_t port_id, const char *why);

/* octo_testpmd_source.c: for measurements */
extern const struct octo_measure_source octo_testpmd_source;

#endif /* OCTO_TESTPMD_H */
