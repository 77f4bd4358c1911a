/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_DEVARGS_H
#define FUZZ_DEVARGS_H

#include "fuzz.h"

/**
 * Read the devargs as the driver does; what it returned. *harmless becomes false
 * when they ask for much memory, for the network or for devices of others.
 */
int fuzz_read_octo(const char *name, const char *text, bool *harmless);
int fuzz_read_mpsim(const char *name, const char *text, bool *harmless);

/** The driver's name and digits: no other driver of DPDK feels meant. */
bool fuzz_is_device(const char *name, const char *driver);

#endif /* FUZZ_DEVARGS_H */
