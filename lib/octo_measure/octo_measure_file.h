/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MEASURE_FILE_H
#define OCTO_MEASURE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "octo_counts.h"
#include "octo_measure.h"

/**
 * @file
 * Files of a measurement: CSV, a line for each sample; JSON, all samples and a summary. If the
 * JSON file can seek, it is complete after each sample. Functions return 0 or a negative errno.
 */

struct octo_measure_file {
	int fd; /**< -1: none */
	bool is_new;
	bool can_seek;
	off_t end; /**< offset after the last sample */
	const char *path;
};

/**
 * Open a file that no other measurement writes to; its content is not changed.
 *
 * @param path
 *   Must stay valid; NULL for no file, then all functions do nothing.
 */
int octo_measure_file_open(struct octo_measure_file *file, const char *path, char *why);
/** Close the file as if it had not been opened: a new one is removed. */
void octo_measure_file_undo(struct octo_measure_file *file);
void octo_measure_file_close(struct octo_measure_file *file);

int octo_measure_csv_begin(struct octo_measure_file *file, const struct octo_measure_view *view);
int octo_measure_csv_add(struct octo_measure_file *file, const struct octo_measure_view *view);

int octo_measure_json_begin(struct octo_measure_file *file, const struct octo_measure_view *view);
int octo_measure_json_add(struct octo_measure_file *file, const struct octo_measure_view *view);
/** End the samples, for this reason. */
int octo_measure_json_end(struct octo_measure_file *file, const struct octo_measure_view *view,
			  const char *ended);

#endif /* OCTO_MEASURE_FILE_H */
