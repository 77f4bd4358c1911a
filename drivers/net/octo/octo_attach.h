/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ATTACH_H
#define OCTO_ATTACH_H

#include <stdbool.h>

struct octo_args;
struct octo_dev;

/* octo_attach.c: the PFs' ports, found or probed, owned, given back */
bool octo_attach_would_be_octo(const char *name);
int octo_attach_probe_missing(const char *port, struct octo_args *args);
void octo_attach_unprobe(const struct octo_args *args);
int octo_attach_all(struct octo_dev *octo, const struct octo_args *args);
void octo_attach_undo_all(struct octo_dev *octo, bool remove_probed);

#endif /* OCTO_ATTACH_H */
