/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_DEFAULT_PF_H
#define OCTO_DEFAULT_PF_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_pf_way.h"

struct octo_dev;

/* The switch rule that leads unmatched packets past unusable PFs; under the control mutex. */
struct octo_default_pf {
	bool on;     /* there is such a PF */
	bool logged; /* its refusal was logged */
	struct octo_pf_way rule;
	uint64_t retry_at;      /* TSC at which a refused rule is tried again */
	uint64_t patient_until; /* TSC until which it waits for fences, 0: it does not wait */
	uint64_t installed;     /* rules installed so far */
	uint64_t refused;       /* rules refused so far */
};

/* octo_default_pf.c */
void octo_default_pf_follow_locked(struct octo_dev *octo, bool flows_go);
uint8_t octo_default_pf_target(const struct octo_dev *octo);
bool octo_default_pf_is_due_locked(const struct octo_dev *octo);
void octo_default_pf_stop_locked(struct octo_dev *octo);

#endif /* OCTO_DEFAULT_PF_H */
