/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SOURCE_H
#define OCTO_SOURCE_H

#include "octo_measure.h"

/**
 * @file
 * An octo port of this process as a source of measurements: what ethdev does not provide is
 * read from the port's views. Not part of the PMD, but of programs and plugins that
 * measure.
 */

/* Functions for a struct octo_measure_source. */
int
octo_source_names(const struct octo_measured *port, struct octo_measure_names *names, char *why);
uint64_t octo_source_hits(const struct octo_measured *port, uint64_t nb_rules);

#endif /* OCTO_SOURCE_H */
