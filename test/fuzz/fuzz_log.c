/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>

#include <rte_log.h>
#include <rte_spinlock.h>

#include "fuzz.h"

/* The control threads of ports write, too. */
static struct {
	rte_spinlock_t lock;
	size_t len;
	unsigned int lines;
	char text[16384];
} log_kept;

static void
add(const char *text, size_t len, unsigned int lines)
{
	rte_spinlock_lock(&log_kept.lock);
	log_kept.lines += lines;
	if (log_kept.len + len < sizeof(log_kept.text)) {
		memcpy(log_kept.text + log_kept.len, text, len);
		log_kept.len += len;
	}
	rte_spinlock_unlock(&log_kept.lock);
}

static ssize_t
keep(void *cookie, const char *text, size_t len)
{
	RTE_SET_USED(cookie);
	add(text, len, 1);
	return (ssize_t)len;
}

void
fuzz_log_note(const char *what, const char *type, const void *ptr)
{
	char text[128];
	int len = snprintf(text, sizeof(text), "%s %s %p\n", what, type, ptr);

	add(text, RTE_MIN((size_t)len, sizeof(text) - 1), 0);
}

void
fuzz_log_open(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep});

	if (stream == NULL || rte_openlog_stream(stream) != 0)
		abort();
}

void
fuzz_log_forget(void)
{
	rte_spinlock_lock(&log_kept.lock);
	log_kept.len = 0;
	log_kept.lines = 0;
	rte_spinlock_unlock(&log_kept.lock);
}

unsigned int
fuzz_log_lines(void)
{
	return log_kept.lines;
}

const char *
fuzz_log_text(void)
{
	log_kept.text[log_kept.len] = '\0';
	return log_kept.text;
}
