/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <eal_export.h>
#include <rte_cfgfile.h>
#include <rte_common.h>
#include <rte_string_fns.h>

#include "nudma_machine.h"

#ifndef NUDMA_MACHINES_DIR
#define NUDMA_MACHINES_DIR "/usr/share/octo/machines"
#endif

struct key {
	const char *section;
	const char *name;
	size_t offset;
	double min;
	double max;
};

#define KEY(part, member, low, high)                                                               \
	{                                                                                          \
#part, #member, offsetof(struct nudma_machine, part.member), low, high             \
	}

static const struct key keys[] = {
	KEY(cpu, cores, 1, 1024),
	KEY(cpu, llc_mib, 1, 4096),
	KEY(cpu, llc_hit_ns, 1, 1000),
	KEY(cpu, llc_miss_ns, 1, 10000),
	KEY(cpu, llc_gb, 0.1, 10000),
	KEY(cpu, lines, 1, 1024),
	KEY(ddio, ways, 0, 64),
	KEY(ddio, of_ways, 1, 64),
	{"dram", "gb", offsetof(struct nudma_machine, dram_gb), 1, 100000},
	KEY(link, hop_ns, 0, 10000),
	KEY(link, gb, 1, 10000),
	KEY(link, data_flits, 1, 64),
	KEY(link, control_flits, 0.01, 64),
	KEY(link, directory, 0, 1),
	KEY(pcie, gt, 0.1, 1000),
	KEY(pcie, lanes, 1, 64),
	KEY(pcie, encoding, 0.1, 1),
	KEY(pcie, max_payload, 64, 4096),
	KEY(pcie, tlp_bytes, 0, 64),
	KEY(pcie, remote_read_ns, 0, 10000),
	KEY(nic, gbps, 0.1, 10000),
	KEY(nic, completion_bytes, 1, 256),
	KEY(nic, rx_descriptor_bytes, 1, 256),
	KEY(nic, tx_descriptor_bytes, 1, 256),
	KEY(work, tcp_rx_gbps, 0.01, 10000),
	KEY(work, tcp_tx_gbps, 0.01, 10000),
	KEY(work, pktgen_mpps, 0.001, 10000),
	KEY(work, rtt_us, 0.01, 100000),
	KEY(work, window_mib, 0.001, 10000),
	KEY(work, pagerank_lines, 0.1, 1024),
};

/* The profile being read, and a buffer for the error. */
struct reader {
	const char *path;
	struct rte_cfgfile *file;
	struct nudma_machine machine;
	char *why;
	size_t why_size;
};

RTE_EXPORT_INTERNAL_SYMBOL(nudma_machine_path)
int
nudma_machine_path(const char *text, char *path, size_t size)
{
	const char *dir = getenv("NUDMA_MACHINES");
	int len;

	if (strchr(text, '/') != NULL)
		len = snprintf(path, size, "%s", text);
	else
		len = snprintf(path, size, "%s/%s.ini", dir != NULL ? dir : NUDMA_MACHINES_DIR,
			       text);
	return len >= 0 && (size_t)len < size ? 0 : -ENAMETOOLONG;
}

static __rte_format_printf(2, 3) int refuse(struct reader *r, const char *format, ...)
{
	const int len = snprintf(r->why, r->why_size, "%s: ", r->path);
	va_list ap;

	va_start(ap, format);
	if (len >= 0 && (size_t)len < r->why_size)
		vsnprintf(r->why + len, r->why_size - (size_t)len, format, ap);
	va_end(ap);
	return -EINVAL;
}

static const struct key *
find_key(const char *section, const char *name)
{
	for (unsigned int i = 0; i < RTE_DIM(keys); i++)
		if (strcmp(keys[i].section, section) == 0 &&
		    (name == NULL || strcmp(keys[i].name, name) == 0))
			return &keys[i];
	return NULL;
}

static int
read_key(struct reader *r, const struct key *key)
{
	const char *text = rte_cfgfile_get_entry(r->file, key->section, key->name);
	double value;
	char *end;

	if (text == NULL)
		return refuse(r, "[%s] %s is missing: a number from %g to %g is needed",
			      key->section, key->name, key->min, key->max);
	value = strtod(text, &end);
	/* written so that NaN is refused, too */
	if (end == text || *end != '\0' || !(value >= key->min && value <= key->max))
		return refuse(r, "[%s] %s=%s: a number from %g to %g is needed", key->section,
			      key->name, text, key->min, key->max);
	memcpy(RTE_PTR_ADD(&r->machine, key->offset), &value, sizeof(value));
	return 0;
}

static int
check_entries(struct reader *r, const char *section)
{
	struct rte_cfgfile_entry entries[RTE_DIM(keys) + 1];
	const int nb = rte_cfgfile_section_entries(r->file, section, entries, RTE_DIM(entries));

	for (int i = 0; i < nb; i++) {
		if (find_key(section, entries[i].name) == NULL)
			return refuse(r, "[%s] %s is not a known key", section, entries[i].name);
		for (int k = 0; k < i; k++)
			if (strcmp(entries[i].name, entries[k].name) == 0)
				return refuse(r, "[%s] %s is there twice: once is enough", section,
					      entries[i].name);
	}
	return 0;
}

/* Refuse unknown sections and keys: a misspelt key would otherwise have no effect. */
static int
check_known(struct reader *r)
{
	char names[RTE_DIM(keys)][CFG_NAME_LEN];
	char *sections[RTE_DIM(keys)];
	int nb, ret = 0;

	for (unsigned int i = 0; i < RTE_DIM(keys); i++)
		sections[i] = names[i];
	nb = rte_cfgfile_sections(r->file, sections, RTE_DIM(keys));
	for (int i = 0; i < nb && ret == 0; i++) {
		if (find_key(sections[i], NULL) == NULL)
			ret = refuse(r,
				     "[%s] is not a known section: cpu, ddio, dram, link, pcie, "
				     "nic and work are",
				     sections[i]);
		else
			ret = check_entries(r, sections[i]);
	}
	return ret;
}

/* Check values against each other. */
static int
check_together(struct reader *r)
{
	if (r->machine.ddio.ways > r->machine.ddio.of_ways)
		return refuse(r, "[ddio] ways=%g: there are %g (of_ways)", r->machine.ddio.ways,
			      r->machine.ddio.of_ways);
	return 0;
}

static void
set_name(struct reader *r)
{
	const char *slash = strrchr(r->path, '/');
	char *dot;

	strlcpy(r->machine.name, slash == NULL ? r->path : slash + 1, sizeof(r->machine.name));
	dot = strrchr(r->machine.name, '.');
	if (dot != NULL)
		*dot = '\0';
}

static int
read_all(struct reader *r)
{
	int ret = check_known(r);

	for (unsigned int i = 0; i < RTE_DIM(keys) && ret == 0; i++)
		ret = read_key(r, &keys[i]);
	if (ret == 0)
		ret = check_together(r);
	set_name(r);
	return ret;
}

static int
open_file(struct reader *r)
{
	const struct rte_cfgfile_parameters params = {.comment_character = '#'};
	FILE *f = fopen(r->path, "re");

	/* rte_cfgfile_load() does not return the cause of a failure */
	if (f == NULL) {
		const int error = errno;

		refuse(r, "cannot be read: %s", strerror(error));
		return -error;
	}
	fclose(f);
	r->file = rte_cfgfile_load_with_params(r->path, 0, &params);
	if (r->file == NULL)
		return refuse(r, "is not made of [section], key=value and # comment");
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_machine_read)
int
nudma_machine_read(struct nudma_machine *machine, const char *path, char *why, size_t why_size)
{
	struct reader r = {.path = path, .why = why, .why_size = why_size};
	int ret = open_file(&r);

	if (ret != 0)
		return ret;
	ret = read_all(&r);
	rte_cfgfile_close(r.file);
	if (ret == 0)
		*machine = r.machine;
	return ret;
}
