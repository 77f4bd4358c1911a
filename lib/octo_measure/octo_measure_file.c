/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "octo_measure_file.h"

/* O_NONBLOCK: no kind of file may keep the thread from ending. */
#define FLAGS (O_WRONLY | O_CLOEXEC | O_NONBLOCK)

static int
open_new_or_old(const char *path, bool *is_new)
{
	int fd = open(path, FLAGS | O_CREAT | O_EXCL, 0644);

	*is_new = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, FLAGS);
	return fd < 0 ? -errno : fd;
}

/* Refuse pipes: writing to one without a reader raises SIGPIPE. */
static int
check_kind(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	return S_ISREG(st.st_mode) || S_ISCHR(st.st_mode) ? 0 : -EPERM;
}

static int
refuse(struct octo_measure_file *file, int ret, const char *why_not, char *why)
{
	octo_measure_file_undo(file);
	snprintf(why, OCTO_MEASURE_WHY_MAX, "cannot open %s: %s", file->path, why_not);
	return ret;
}

int
octo_measure_file_open(struct octo_measure_file *file, const char *path, char *why)
{
	*file = (struct octo_measure_file){.fd = -1, .path = path};
	if (path == NULL)
		return 0;
	file->fd = open_new_or_old(path, &file->is_new);
	if (file->fd < 0)
		return refuse(file, file->fd, strerror(-file->fd), why);
	if (check_kind(file->fd) != 0)
		return refuse(file, -EPERM, "it is neither a file nor a device", why);
	if (flock(file->fd, LOCK_EX | LOCK_NB) != 0)
		return refuse(file, -EBUSY, "another measurement writes to it", why);
	file->can_seek = lseek(file->fd, 0, SEEK_CUR) >= 0;
	return 0;
}

void
octo_measure_file_close(struct octo_measure_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void
octo_measure_file_undo(struct octo_measure_file *file)
{
	if (file->fd >= 0 && file->is_new)
		unlink(file->path);
	octo_measure_file_close(file);
}

/* Write after the last sample; the next sample is written after the first `stays` bytes of text. */
static int
put(struct octo_measure_file *file, const char *text, size_t len, size_t stays)
{
	size_t done = 0;

	while (done < len) {
		const ssize_t n = file->can_seek ? pwrite(file->fd, text + done, len - done,
							  file->end + (off_t)done) :
						   write(file->fd, text + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	/* EINVAL: a device can seek, but has no length */
	if (file->can_seek && ftruncate(file->fd, file->end + (off_t)len) != 0 && errno != EINVAL)
		return -errno;
	file->end += (off_t)stays;
	return 0;
}

/* Text that is composed in memory and written in one call. */
struct draft {
	FILE *text;
	char *chars;
	size_t len;
	bool first; /* no member of the list so far */
};

static int
begin_draft(struct draft *d)
{
	*d = (struct draft){.first = true};
	d->text = open_memstream(&d->chars, &d->len);
	return d->text == NULL ? -ENOMEM : 0;
}

/* Write the draft; the next sample overwrites its last `goes` bytes. */
static int
end_draft(struct draft *d, struct octo_measure_file *file, size_t goes)
{
	int ret = -ENOMEM;

	if (fclose(d->text) == 0)
		ret = put(file, d->chars, d->len, d->len - goes);
	free(d->chars);
	return ret;
}

static void
draft_number(FILE *text, double value)
{
	if (value == (double)(int64_t)value)
		fprintf(text, "%.0f", value);
	else
		fprintf(text, "%.3f", value);
}

static void
add_name(void *to, const char *name, double value)
{
	struct draft *d = to;

	RTE_SET_USED(value);
	fprintf(d->text, ",%s", name);
}

static void
add_value(void *to, const char *name, double value)
{
	struct draft *d = to;

	RTE_SET_USED(name);
	fputc(',', d->text);
	if (!isnan(value))
		draft_number(d->text, value);
}

static void
add_member(void *to, const char *name, double value)
{
	struct draft *d = to;

	fprintf(d->text, "%s\"%s\":", d->first ? "" : ",", name);
	d->first = false;
	if (isnan(value))
		fputs("null", d->text);
	else
		draft_number(d->text, value);
}

/* Add a JSON string. The texts are our own, or error messages: no other escapes are needed. */
static void
add_text(struct draft *d, const char *name, const char *text)
{
	fprintf(d->text, "%s\"%s\":\"", d->first ? "" : ",", name);
	d->first = false;
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', d->text);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, d->text);
	}
	fputc('"', d->text);
}

/* Output the fields of the port, and of each queue. */
static void
tell_all(const struct octo_counts *counts, bool totals, octo_field_fn tell, void *to)
{
	if (totals)
		octo_counts_tell_totals(counts, tell, to);
	else
		octo_counts_tell_port(counts, tell, to);
	for (uint16_t i = 0; i < counts->nb_queues; i++) {
		char prefix[16];

		snprintf(prefix, sizeof(prefix), "q%u_", i);
		if (totals)
			octo_counts_tell_queue_totals(counts, i, prefix, tell, to);
		else
			octo_counts_tell_queue(counts, i, prefix, tell, to);
	}
}

int
octo_measure_csv_begin(struct octo_measure_file *file, const struct octo_measure_view *view)
{
	struct draft d;

	if (file->fd < 0)
		return 0;
	if (begin_draft(&d) != 0)
		return -ENOMEM;
	fputs("time_s", d.text);
	tell_all(&view->last, false, add_name, &d);
	fputc('\n', d.text);
	return end_draft(&d, file, 0);
}

int
octo_measure_csv_add(struct octo_measure_file *file, const struct octo_measure_view *view)
{
	struct draft d;

	if (file->fd < 0)
		return 0;
	if (begin_draft(&d) != 0)
		return -ENOMEM;
	draft_number(d.text, view->seconds);
	tell_all(&view->last, false, add_value, &d);
	fputc('\n', d.text);
	return end_draft(&d, file, 0);
}

static void
draft_lacks(struct draft *d, const struct octo_measure_lacks *lacks)
{
	fputs("\"unavailable\":{", d->text);
	d->first = true;
	if (lacks->work[0] != '\0')
		add_text(d, "busy_cycles_per_packet", lacks->work);
	if (lacks->latency[0] != '\0')
		add_text(d, "latency", lacks->latency);
	if (lacks->link[0] != '\0')
		add_text(d, "link", lacks->link);
	if (lacks->dram[0] != '\0')
		add_text(d, "dram", lacks->dram);
	fputc('}', d->text);
}

/* Compose all that follows the samples. */
static void
draft_tail(struct draft *d, const struct octo_measure_view *view, const char *ended)
{
	fputs("\n],", d->text);
	draft_lacks(d, &view->lacks);
	fputs(",\"summary\":{", d->text);
	d->first = true;
	add_text(d, "ended", ended);
	add_member(d, "samples", (double)view->samples);
	tell_all(&view->sum, false, add_member, d);
	tell_all(&view->sum, true, add_member, d);
	fputs("}}\n", d->text);
}

int
octo_measure_json_begin(struct octo_measure_file *file, const struct octo_measure_view *view)
{
	struct draft d;

	if (file->fd < 0)
		return 0;
	if (begin_draft(&d) != 0)
		return -ENOMEM;
	fputc('{', d.text);
	add_member(&d, "port", view->port_id);
	add_text(&d, "name", view->names.port);
	for (uint16_t i = 0; i < view->last.nb_pfs; i++) {
		char key[16];

		snprintf(key, sizeof(key), "pf%u", i);
		add_text(&d, key, view->names.pf[i]);
	}
	add_member(&d, "interval_ms", view->interval_ms);
	fputs(",\"samples\":[", d.text);
	return end_draft(&d, file, 0);
}

int
octo_measure_json_add(struct octo_measure_file *file, const struct octo_measure_view *view)
{
	struct draft d;
	long sample;

	if (file->fd < 0)
		return 0;
	if (begin_draft(&d) != 0)
		return -ENOMEM;
	fputs(view->samples > 1 ? ",\n{" : "\n{", d.text);
	add_member(&d, "time_s", view->seconds);
	tell_all(&view->last, false, add_member, &d);
	fputc('}', d.text);
	sample = ftell(d.text);
	if (file->can_seek)
		draft_tail(&d, view, "no");
	return end_draft(&d, file, (size_t)(ftell(d.text) - sample));
}

int
octo_measure_json_end(struct octo_measure_file *file, const struct octo_measure_view *view,
		      const char *ended)
{
	struct draft d;

	if (file->fd < 0)
		return 0;
	if (begin_draft(&d) != 0)
		return -ENOMEM;
	draft_tail(&d, view, ended);
	return end_draft(&d, file, 0);
}
