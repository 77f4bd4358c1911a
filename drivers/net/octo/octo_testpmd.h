/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TESTPMD_H
#define OCTO_TESTPMD_H

#include <stddef.h>
#include <stdint.h>

#include "octo_measure.h"
#include "octo_view.h"

/**
 * @file
 * What the files of the testpmd commands share.
 */

/* "-" for a negative one, which is unknown. */
const char *octo_testpmd_number(int64_t number, char *text, size_t len);
/* The tier, and why it is not a higher one; the text is used if there is a reason. */
#define OCTO_TESTPMD_TIER_MAX 96
const char *octo_testpmd_tier(const struct octo_view_topology *view, char *text);
const char *octo_testpmd_pf_name(const struct octo_view_topology *view, int pf);
void octo_testpmd_not_octo(uint16_t port_id);
void octo_testpmd_show_topology(uint16_t port_id);

/* octo_testpmd_source.c: for measurements */
extern const struct octo_measure_source octo_testpmd_source;

#endif /* OCTO_TESTPMD_H */
