/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events, and the bytes per count. UPI and QPI: Intel's uncore performance monitoring guides
 * (TxL_FLITS and RxL_FLITS: a cache line is 9 flits of UPI with data, and a flit of QPI has 8
 * bytes of it). IMC and named QPI events: the kernel (arch/x86/events/intel/uncore_snbep.c)
 * with scale and unit. AMD's data fabric, up to Zen 3: AMD's processor programming references,
 * as in perf's list of events.
 */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>

#include "octo_pmu.h"
#include "octo_uncore.h"

#define DEVICES "/sys/bus/event_source/devices"
#define PATH_LEN 512
#define TEXT_LEN 256
#define MAX_EVENTS 512
#define MAX_WORDS 8

struct octo_uncore_event {
	int fd;
	uint16_t socket;
	uint8_t kind;
	double bytes; /* per count */
	double sum;   /* bytes so far, scaled */
	uint64_t value;
	uint64_t enabled; /* ns */
	uint64_t running; /* ns; less than enabled if events share a counter */
};

/* A way to count something; the first one that the machine has is used. */
struct source {
	const char *pmu;   /* name of PMU, or of PMU_0, PMU_1, ... */
	const char *umask; /* NULL, or the format of umask by which the events are known */
	bool named;        /* events are files of the PMU, with scale and unit */
	struct {
		const char *event; /* NULL: end of the list */
		enum octo_uncore_kind kind;
		double bytes;
	} events[MAX_WORDS + 1];
};

/* clang-format off */
static const struct source link_sources[] = {
	{
		.pmu = "uncore_upi",
		.events = {
			{"event=0x2,umask=0xf", OCTO_UNCORE_LINK_OUT, 64. / 9},
			{"event=0x3,umask=0xf", OCTO_UNCORE_LINK_IN, 64. / 9},
		},
	},
	{
		.pmu = "uncore_qpi",
		.events = {
			{"event=0x0,umask=0x2", OCTO_UNCORE_LINK_OUT, 8},
			{"event=0x102,umask=0x8", OCTO_UNCORE_LINK_IN, 8},
			{"event=0x103,umask=0x4", OCTO_UNCORE_LINK_IN, 8},
		},
	},
	{
		.pmu = "amd_df",
		.umask = "config:8-15",
		.events = {
			{"event=0x7c7,umask=0x2", OCTO_UNCORE_LINK_OUT, 32},
			{"event=0x807,umask=0x2", OCTO_UNCORE_LINK_OUT, 32},
			{"event=0x847,umask=0x2", OCTO_UNCORE_LINK_OUT, 32},
			{"event=0x887,umask=0x2", OCTO_UNCORE_LINK_OUT, 32},
		},
	},
	{.pmu = NULL},
};

static const struct source dram_sources[] = {
	{
		.pmu = "uncore_imc",
		.named = true,
		.events = {
			{"cas_count_read", OCTO_UNCORE_DRAM_READ, 0},
			{"cas_count_write", OCTO_UNCORE_DRAM_WRITE, 0},
		},
	},
	{
		.pmu = "uncore_imc_free_running",
		.named = true,
		.events = {
			{"read", OCTO_UNCORE_DRAM_READ, 0},
			{"write", OCTO_UNCORE_DRAM_WRITE, 0},
		},
	},
	{
		.pmu = "uncore_imc",
		.named = true,
		.events = {
			{"data_reads", OCTO_UNCORE_DRAM_READ, 0},
			{"data_writes", OCTO_UNCORE_DRAM_WRITE, 0},
		},
	},
	{
		.pmu = "amd_df",
		.umask = "config:8-15",
		.events = {
			{"event=0x07,umask=0x38", OCTO_UNCORE_DRAM, 64},
			{"event=0x47,umask=0x38", OCTO_UNCORE_DRAM, 64},
			{"event=0x87,umask=0x38", OCTO_UNCORE_DRAM, 64},
			{"event=0xc7,umask=0x38", OCTO_UNCORE_DRAM, 64},
			{"event=0x107,umask=0x38", OCTO_UNCORE_DRAM, 64},
			{"event=0x147,umask=0x38", OCTO_UNCORE_DRAM, 64},
			{"event=0x187,umask=0x38", OCTO_UNCORE_DRAM, 64},
			{"event=0x1c7,umask=0x38", OCTO_UNCORE_DRAM, 64},
		},
	},
	{.pmu = NULL},
};
/* clang-format on */

/* State while events are opened. */
struct opening {
	struct octo_uncore *uncore;
	octo_uncore_open_fn open_event;
	const char *root;
	const char *pmu; /* name of its directory */
	bool unknown;    /* there is a PMU, but none of its events is known */
	int error;       /* of the first event that failed to open */
};

__rte_format_printf(3, 4) static int read_text(char *text, size_t len, const char *format, ...)
{
	char path[PATH_LEN];
	va_list ap;
	FILE *file;
	size_t got;

	va_start(ap, format);
	vsnprintf(path, sizeof(path), format, ap);
	va_end(ap);
	file = fopen(path, "re");
	if (file == NULL)
		return -errno;
	got = fread(text, 1, len - 1, file);
	text[got] = '\0';
	fclose(file);
	return got > 0 ? 0 : -ENODATA;
}

static int
read_format(void *from, const char *field, char *text, size_t len)
{
	const struct opening *o = from;

	return read_text(text, len, "%s" DEVICES "/%s/format/%s", o->root, o->pmu, field);
}

static int
real_open(const struct perf_event_attr *attr, int cpu)
{
	const long fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/*
 * Is the name that of the PMU, or of one of several? "uncore_imc" and "uncore_imc_0" are, but
 * not "uncore_imc_free_running".
 */
static bool
is_pmu(const char *name, const char *wanted)
{
	const size_t len = strlen(wanted);

	if (strncmp(name, wanted, len) != 0)
		return false;
	if (name[len] == '\0')
		return true;
	if (name[len] != '_' || !isdigit((unsigned char)name[len + 1]))
		return false;
	return strspn(name + len + 1, "0123456789") == strlen(name + len + 1);
}

static uint16_t
socket_of(const struct opening *o, uint16_t cpu)
{
	char text[TEXT_LEN];

	if (read_text(text, sizeof(text),
		      "%s/sys/devices/system/cpu/cpu%u/topology/physical_package_id", o->root,
		      cpu) != 0)
		return 0;
	return (uint16_t)RTE_MIN((unsigned long)OCTO_UNCORE_MAX_SOCKETS - 1,
				 strtoul(text, NULL, 10));
}

static int
open_on_cpu(struct opening *o, const struct perf_event_attr *attr, uint16_t cpu,
	    struct octo_uncore_event event)
{
	struct octo_uncore *u = o->uncore;

	if (u->nb_events == MAX_EVENTS)
		return -E2BIG;
	event.fd = o->open_event(attr, cpu);
	if (event.fd < 0)
		return event.fd;
	event.socket = socket_of(o, cpu);
	u->nb_sockets = RTE_MAX(u->nb_sockets, event.socket + 1);
	u->events[u->nb_events++] = event;
	return 0;
}

static int
read_type(const struct opening *o, struct perf_event_attr *attr)
{
	char text[TEXT_LEN];
	int ret = read_text(text, sizeof(text), "%s" DEVICES "/%s/type", o->root, o->pmu);

	attr->type = ret == 0 ? (uint32_t)strtoul(text, NULL, 10) : 0;
	return ret;
}

/* Open one event of one PMU, on each CPU of its cpumask. */
static int
open_event(struct opening *o, const char *words, struct octo_uncore_event event)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	uint16_t cpus[OCTO_UNCORE_MAX_SOCKETS * 4];
	uint64_t config[OCTO_PMU_CONFIGS];
	char text[TEXT_LEN];
	int nb;
	int ret = read_type(o, &attr);

	if (ret == 0)
		ret = octo_pmu_encode(words, read_format, o, config);
	if (ret == 0)
		ret = read_text(text, sizeof(text), "%s" DEVICES "/%s/cpumask", o->root, o->pmu);
	if (ret != 0)
		return ret;
	attr.config = config[0];
	attr.config1 = config[1];
	attr.config2 = config[2];
	nb = octo_pmu_cpus(text, cpus, RTE_DIM(cpus));
	for (int i = 0; ret == 0 && i < nb; i++)
		ret = open_on_cpu(o, &attr, cpus[i], event);
	return nb < 0 ? nb : ret;
}

static int
read_event(const struct opening *o, const char *name, const char *suffix, char text[TEXT_LEN])
{
	return read_text(text, TEXT_LEN, "%s" DEVICES "/%s/events/%s%s", o->root, o->pmu, name,
			 suffix);
}

/* Open an event by the kernel's name, with its scale and unit. */
static int
open_named(struct opening *o, const char *name, struct octo_uncore_event event)
{
	char words[TEXT_LEN], scale[TEXT_LEN], unit[TEXT_LEN];

	if (read_event(o, name, "", words) != 0 || read_event(o, name, ".scale", scale) != 0 ||
	    read_event(o, name, ".unit", unit) != 0)
		return -ENOENT;
	event.bytes = octo_pmu_bytes(scale, unit);
	return event.bytes > 0 ? open_event(o, words, event) : -ENOENT;
}

static bool
is_known(struct opening *o, const struct source *source)
{
	char text[TEXT_LEN];

	if (source->umask == NULL)
		return true;
	if (read_format(o, "umask", text, sizeof(text)) != 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, source->umask) == 0;
}

static int
open_pmu(struct opening *o, const struct source *source)
{
	int ret = is_known(o, source) ? 0 : -ENOENT;

	for (int i = 0; ret == 0 && source->events[i].event != NULL; i++) {
		const struct octo_uncore_event event = {
			.kind = (uint8_t)source->events[i].kind,
			.bytes = source->events[i].bytes,
		};

		ret = source->named ? open_named(o, source->events[i].event, event) :
				      open_event(o, source->events[i].event, event);
	}
	return ret;
}

static void
close_from(struct octo_uncore *u, uint16_t first)
{
	while (u->nb_events > first)
		close(u->events[--u->nb_events].fd);
}

/* Open all PMUs of a kind or none: with some of them the sum would be too small. */
static bool
open_source(struct opening *o, const struct source *source)
{
	const uint16_t first = o->uncore->nb_events;
	char path[PATH_LEN];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s" DEVICES, o->root);
	dir = opendir(path);
	if (dir == NULL)
		return false;
	for (entry = readdir(dir); ret == 0 && entry != NULL; entry = readdir(dir)) {
		if (!is_pmu(entry->d_name, source->pmu))
			continue;
		o->pmu = entry->d_name;
		ret = open_pmu(o, source);
	}
	closedir(dir);
	if (ret == -ENOENT)
		o->unknown = true;
	else if (ret != 0 && o->error == 0)
		o->error = ret;
	if (ret != 0)
		close_from(o->uncore, first);
	return o->uncore->nb_events > first;
}

static bool
is_virtual(const char *root)
{
	char line[4096];
	char path[PATH_LEN];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), file) != NULL)
		found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor") != NULL;
	fclose(file);
	return found;
}

/* Say why nothing is counted. */
static void
tell_why(const struct opening *o, const char *what, char why[OCTO_UNCORE_REASON_MAX])
{
	char level[TEXT_LEN] = "?";

	read_text(level, sizeof(level), "%s/proc/sys/kernel/perf_event_paranoid", o->root);
	level[strcspn(level, "\n")] = '\0';
	if (o->error == -EACCES || o->error == -EPERM)
		snprintf(why, OCTO_UNCORE_REASON_MAX,
			 "the kernel does not let this process read it: perf_event_paranoid is "
			 "%.8s, and 0 or CAP_PERFMON is needed",
			 level);
	else if (o->error != 0)
		snprintf(why, OCTO_UNCORE_REASON_MAX, "its counters cannot be opened: %s",
			 strerror(-o->error));
	else if (o->unknown)
		snprintf(why, OCTO_UNCORE_REASON_MAX,
			 "which events of this processor count it is not known");
	else if (is_virtual(o->root))
		snprintf(why, OCTO_UNCORE_REASON_MAX,
			 "this is a virtual machine without the counters of %s", what);
	else
		snprintf(why, OCTO_UNCORE_REASON_MAX, "the kernel has no counters of %s here",
			 what);
}

static void
open_any(struct opening *o, const struct source *sources, const char *what,
	 char why[OCTO_UNCORE_REASON_MAX])
{
	o->unknown = false;
	o->error = 0;
	for (; sources->pmu != NULL; sources++)
		if (open_source(o, sources))
			return;
	tell_why(o, what, why);
}

void
octo_uncore_open(struct octo_uncore *uncore, const char *root, octo_uncore_open_fn open_fn)
{
	struct opening o = {
		.uncore = uncore,
		.open_event = open_fn != NULL ? open_fn : real_open,
		.root = root,
	};

	*uncore = (struct octo_uncore){0};
	uncore->events = calloc(MAX_EVENTS, sizeof(uncore->events[0]));
	if (uncore->events == NULL) {
		snprintf(uncore->no_link, sizeof(uncore->no_link), "there is no memory left");
		snprintf(uncore->no_dram, sizeof(uncore->no_dram), "there is no memory left");
		return;
	}
	open_any(&o, link_sources, "the link between sockets", uncore->no_link);
	open_any(&o, dram_sources, "DRAM", uncore->no_dram);
}

void
octo_uncore_close(struct octo_uncore *uncore)
{
	close_from(uncore, 0);
	free(uncore->events);
	*uncore = (struct octo_uncore){0};
}

/* Read an event. If events share a counter, extrapolate to the time that it was not counted. */
static void
follow_event(struct octo_uncore_event *e)
{
	struct {
		uint64_t value, enabled, running;
	} now;

	if (read(e->fd, &now, sizeof(now)) != sizeof(now) || now.running <= e->running)
		return;
	e->sum += e->bytes * (double)(now.value - e->value) * (double)(now.enabled - e->enabled) /
		  (double)(now.running - e->running);
	e->value = now.value;
	e->enabled = now.enabled;
	e->running = now.running;
}

void
octo_uncore_read(struct octo_uncore *uncore, struct octo_counts *now)
{
	now->nb_sockets = uncore->nb_sockets;
	memset(now->socket, 0xff, sizeof(now->socket));
	for (uint16_t i = 0; i < uncore->nb_events; i++) {
		struct octo_uncore_event *e = &uncore->events[i];
		uint64_t *sum = &now->socket[e->socket].of[e->kind];

		follow_event(e);
		*sum = (*sum == OCTO_RATE_UNKNOWN ? 0 : *sum) + (uint64_t)e->sum;
	}
}
