/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_pmu.h"

#define EVENT_MAX 256
#define FORMAT_MAX 64

/* Read "N" or "N-M", and a comma after it. Returns the rest of the text, or NULL. */
static const char *
read_range(const char *text, unsigned long max, unsigned long *first, unsigned long *last)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return NULL;
	*first = strtoul(text, &end, 10);
	*last = *first;
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		*last = strtoul(end + 1, &end, 10);
	if (*last < *first || *last > max)
		return NULL;
	if (*end == ',' && end[1] != '\0')
		return end + 1;
	return *end == '\0' || *end == '\n' ? "" : NULL;
}

static int
read_config(const char **format)
{
	static const char *const names[OCTO_PMU_CONFIGS] = {"config:", "config1:", "config2:"};

	for (int i = 0; i < OCTO_PMU_CONFIGS; i++) {
		const size_t len = strlen(names[i]);

		if (strncmp(*format, names[i], len) == 0) {
			*format += len;
			return i;
		}
	}
	return -EINVAL;
}

int
octo_pmu_place(const char *format, uint64_t value, uint64_t config[OCTO_PMU_CONFIGS])
{
	const int which = read_config(&format);
	unsigned long first, last;
	uint64_t placed = 0;

	if (which < 0)
		return which;
	do {
		format = read_range(format, 63, &first, &last);
		if (format == NULL)
			return -EINVAL;
		for (unsigned long bit = first; bit <= last; bit++) {
			if (value & 1)
				placed |= RTE_BIT64(bit);
			value >>= 1;
		}
	} while (*format != '\0');
	if (value != 0)
		return -ERANGE;
	config[which] |= placed;
	return 0;
}

static int
encode_word(char *word, octo_pmu_format_fn format, void *from, uint64_t config[OCTO_PMU_CONFIGS])
{
	char *number = strchr(word, '=');
	char text[FORMAT_MAX];
	uint64_t value = 1;
	char *end;
	int ret;

	if (number != NULL) {
		*number++ = '\0';
		value = strtoull(number, &end, 0);
		if (end == number || (*end != '\0' && *end != '\n'))
			return -EINVAL;
	}
	ret = format(from, word, text, sizeof(text));
	return ret == 0 ? octo_pmu_place(text, value, config) : ret;
}

int
octo_pmu_encode(const char *event, octo_pmu_format_fn format, void *from,
		uint64_t config[OCTO_PMU_CONFIGS])
{
	char words[EVENT_MAX];
	char *save = NULL;
	int ret = -EINVAL;

	memset(config, 0, OCTO_PMU_CONFIGS * sizeof(config[0]));
	if (snprintf(words, sizeof(words), "%s", event) >= (int)sizeof(words))
		return -EINVAL;
	for (char *word = strtok_r(words, ",\n", &save); word != NULL;
	     word = strtok_r(NULL, ",\n", &save)) {
		ret = encode_word(word, format, from, config);
		if (ret != 0)
			return ret;
	}
	return ret;
}

int
octo_pmu_cpus(const char *text, uint16_t *cpus, int room)
{
	unsigned long first, last;
	int nb = 0;

	do {
		text = read_range(text, UINT16_MAX, &first, &last);
		if (text == NULL)
			return -EINVAL;
		for (unsigned long cpu = first; cpu <= last && nb < room; cpu++)
			cpus[nb++] = (uint16_t)cpu;
	} while (*text != '\0');
	return nb;
}

double
octo_pmu_bytes(const char *scale, const char *unit)
{
	static const struct {
		const char *name;
		double bytes;
	} units[] = {{"B", 1}, {"Bytes", 1}, {"KiB", 1024.}, {"MiB", 1024. * 1024}};
	const size_t len = strcspn(unit, "\n");

	for (unsigned int i = 0; i < RTE_DIM(units); i++)
		if (strlen(units[i].name) == len && strncmp(unit, units[i].name, len) == 0)
			return strtod(scale, NULL) * units[i].bytes;
	return 0;
}
