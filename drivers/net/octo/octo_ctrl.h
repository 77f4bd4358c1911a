/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_CTRL_H
#define OCTO_CTRL_H

#include <stdbool.h>
#include <stdint.h>

struct octo_dev;

/* octo_ctrl.c: the control thread */
int octo_ctrl_start(struct octo_dev *octo);
void octo_ctrl_stop(struct octo_dev *octo);
unsigned int octo_ctrl_step(struct octo_dev *octo, uint64_t now);

#endif /* OCTO_CTRL_H */
