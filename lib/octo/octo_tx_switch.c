/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_elapsed.h"
#include "octo_tx_switch.h"

/* Usual number of descriptors of which hardware reports one. */
#define REPORT_STEP 32

/* The probes: offsets from the next descriptor to be used. */
enum {
	NEWEST, /* for PMDs that check the descriptor itself: in use unless all is sent */
	NEWER,  /* the same, if the PMD rounds up past the newest */
	NEW,
	OLDEST,       /* for PMDs that count used ones: in use unless all is sent */
	NOT_A_REMNANT /* in use if there are more than hardware may leave unreported */
};

static_assert(NOT_A_REMNANT + 1 == OCTO_TX_PROBES, "one offset for each");

RTE_EXPORT_INTERNAL_SYMBOL(octo_tx_switch_probe)
uint16_t
octo_tx_switch_probe(unsigned int i, uint16_t nb_desc)
{
	const uint16_t step = RTE_MIN(REPORT_STEP, nb_desc / 4);
	const uint16_t offsets[OCTO_TX_PROBES] = {
		[NEWEST] = nb_desc - 1,         [NEWER] = nb_desc - 1 - step,
		[NEW] = nb_desc - 1 - 2 * step, [OLDEST] = 0,
		[NOT_A_REMNANT] = 2 * step,
	};

	return offsets[i];
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tx_switch_report)
enum octo_tx_report
octo_tx_switch_report(uint32_t full, bool coarse)
{
	if (full &
	    (RTE_BIT32(NEWEST) | RTE_BIT32(NEWER) | RTE_BIT32(NEW) | RTE_BIT32(NOT_A_REMNANT)))
		return OCTO_TX_BUSY;
	/* the newest descriptors are never reported unless others follow */
	return coarse || (full & RTE_BIT32(OLDEST)) ? OCTO_TX_QUIET : OCTO_TX_EMPTY;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tx_switch_begin)
void
octo_tx_switch_begin(struct octo_tx_switch *s, uint64_t now)
{
	*s = (struct octo_tx_switch){.since = now, .quiet = now};
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tx_switch_step)
enum octo_tx_step
octo_tx_switch_step(struct octo_tx_switch *s, enum octo_tx_report report, uint64_t now,
		    const struct octo_tx_limits *limits)
{
	const uint64_t under_way = octo_elapsed(s->since, now);
	const bool was_quiet = octo_elapsed(s->quiet, now) >= limits->grace;

	if (report == OCTO_TX_EMPTY || (report == OCTO_TX_QUIET && was_quiet))
		return OCTO_TX_GO;
	if (report == OCTO_TX_BUSY)
		s->quiet = now;
	if (under_way >= limits->stuck)
		return OCTO_TX_FORCE;
	if (!s->held && under_way < limits->grace)
		return OCTO_TX_FEED;
	s->held = true;
	return OCTO_TX_HOLD;
}
