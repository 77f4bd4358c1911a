/* SPDX-License-Identifier: BSD-3-Clause */

#include "demo_traffic.h"

static inline uint64_t *
word_of(struct demo_check *check, uint64_t seq)
{
	return &check->seen[seq % DEMO_HISTORY / 64];
}

static inline uint64_t
bit_of(uint64_t seq)
{
	return UINT64_C(1) << (seq % 64);
}

/* The numbers between were not seen, nor were those whose bits they take over. */
static void
skip_to(struct demo_check *check, uint64_t seq)
{
	for (; check->next < seq; check->next++)
		*word_of(check, check->next) &= ~bit_of(check->next);
}

void
demo_check_packet(struct demo_check *check, uint64_t seq, struct demo_check_count *count)
{
	if (seq >= check->next) {
		skip_to(check, seq);
		check->next = seq + 1;
	} else if (check->next - seq > DEMO_HISTORY || (*word_of(check, seq) & bit_of(seq))) {
		count->duplicated++;
		return;
	} else {
		count->reordered++;
	}
	*word_of(check, seq) |= bit_of(seq);
	count->received++;
}
