/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * DPDK 25.07 marks exported symbols in the sources and does not install the header for it. Out
 * of tree, a driver's version.map lists its exported symbols.
 */

#ifndef OCTO_COMPAT_EXPORT_H
#define OCTO_COMPAT_EXPORT_H

#define RTE_EXPORT_EXPERIMENTAL_SYMBOL(name, release)
#define RTE_EXPORT_INTERNAL_SYMBOL(name)

#endif /* OCTO_COMPAT_EXPORT_H */
