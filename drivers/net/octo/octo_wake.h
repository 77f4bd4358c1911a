/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_WAKE_H
#define OCTO_WAKE_H

struct octo_dev;

int octo_wake_init(struct octo_dev *octo);
void octo_wake_fini(struct octo_dev *octo);
void octo_wake(struct octo_dev *octo);
void octo_wake_link(struct octo_dev *octo);
void octo_wake_home(struct octo_dev *octo);

#endif /* OCTO_WAKE_H */
