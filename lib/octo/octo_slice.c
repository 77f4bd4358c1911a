/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <eal_export.h>
#include <rte_common.h>

#include "octo_slice.h"

/* A number of a queue, in decimal digits only. Returns the text behind it, or NULL. */
static const char *
read_queue(const char *text, uint16_t *queue)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return NULL;
	n = strtoul(text, &end, 10);
	if (n >= RTE_MAX_QUEUES_PER_PORT)
		return NULL;
	*queue = (uint16_t)n;
	return end;
}

static bool
read_interleaved(const char *text, struct octo_slice *slice)
{
	const char *end;

	if (strncmp(text, "::", 2) != 0)
		return false;
	end = read_queue(text + 2, &slice->stride);
	slice->last = UINT16_MAX;
	return end != NULL && *end == '\0' && slice->stride > 0;
}

static bool
read_contiguous(const char *text, struct octo_slice *slice)
{
	const char *end;

	if (text[0] != '-')
		return false;
	end = read_queue(text + 1, &slice->last);
	slice->stride = 1;
	return end != NULL && *end == '\0' && slice->first <= slice->last;
}

static bool
read_part(const char *text, struct octo_slice *slice)
{
	const char *end;

	if (text[0] != '/')
		return false;
	slice->part = slice->first;
	end = read_queue(text + 1, &slice->parts);
	if (end == NULL || *end != '\0' || slice->part >= slice->parts)
		return false;
	octo_slice_fit(slice, RTE_MAX_QUEUES_PER_PORT);
	return true;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slice_fit)
void
octo_slice_fit(struct octo_slice *slice, uint16_t nb)
{
	const uint32_t n = slice->parts;
	const uint32_t before = slice->part * (uint32_t)nb;

	if (n == 0)
		return;
	slice->stride = 1;
	slice->first = (uint16_t)((before + n - 1) / n);
	/* of an empty range this is the queue before the first one */
	slice->last = (uint16_t)((before + nb + n - 1) / n - 1);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slice_read)
int
octo_slice_read(struct octo_slice *slice, const char *text, char *why, size_t why_len)
{
	struct octo_slice s = {0};
	const char *end = read_queue(text, &s.first);

	if (end == NULL ||
	    (!read_interleaved(end, &s) && !read_contiguous(end, &s) && !read_part(end, &s))) {
		snprintf(why, why_len,
			 "queues below %u are expected, like 0::2 (every second one from 0 on), "
			 "0-7 or 0/2 (the first half)",
			 RTE_MAX_QUEUES_PER_PORT);
		return -EINVAL;
	}
	*slice = s;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slice_format)
void
octo_slice_format(const struct octo_slice *slice, char text[OCTO_SLICE_TEXT_MAX])
{
	if (slice->parts != 0)
		snprintf(text, OCTO_SLICE_TEXT_MAX, "%u/%u", slice->part, slice->parts);
	else if (slice->last == UINT16_MAX)
		snprintf(text, OCTO_SLICE_TEXT_MAX, "%u::%u", slice->first, slice->stride);
	else
		snprintf(text, OCTO_SLICE_TEXT_MAX, "%u-%u", slice->first, slice->last);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slice_room)
uint16_t
octo_slice_room(const struct octo_slice *slice, uint16_t nb)
{
	const uint32_t end = RTE_MIN((uint32_t)nb, slice->last + 1u);

	if (slice->first >= end)
		return 0;
	return (uint16_t)((end - slice->first - 1) / slice->stride + 1);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slice_find)
int
octo_slice_find(const struct octo_slice *slice, uint16_t queue)
{
	if (queue < slice->first || queue > slice->last ||
	    (queue - slice->first) % slice->stride != 0)
		return -1;
	return (queue - slice->first) / slice->stride;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slice_overlaps)
bool
octo_slice_overlaps(const struct octo_slice *a, const struct octo_slice *b)
{
	const uint16_t nb = octo_slice_room(a, RTE_MAX_QUEUES_PER_PORT);

	for (uint16_t i = 0; i < nb; i++)
		if (octo_slice_find(b, octo_slice_queue(a, i)) >= 0)
			return true;
	return false;
}
