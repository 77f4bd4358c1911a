/* SPDX-License-Identifier: BSD-3-Clause */

/* Which threads get a CPU: a worker, or a process, without one looks like one that hangs. */

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench.h"

#define SELF "/proc/self/task"
#define MAX_THREADS 64
#define WINDOW_MS 500

struct thread {
	char id[16];
	char name[17];
	char state;
	int cpu;
	uint64_t ran_ns;
};

/* The first line of a file of the thread, without its end. Tasks: the directory of the process. */
static bool
read_line(const char *tasks, const char *id, const char *file, char *line, int size)
{
	char path[96];
	FILE *f;
	bool good;

	snprintf(path, sizeof(path), "%s/%.15s/%s", tasks, id, file);
	f = fopen(path, "r");
	good = f != NULL && fgets(line, size, f) != NULL;
	if (good)
		line[strcspn(line, "\n")] = '\0';
	if (f != NULL)
		fclose(f);
	return good;
}

/* State and CPU are the third and the 39th word of stat; the name before them may have blanks. */
static bool
read_thread(struct thread *t)
{
	char line[1024];
	char *word;

	if (!read_line(SELF, t->id, "schedstat", line, sizeof(line)))
		return false;
	t->ran_ns = strtoull(line, NULL, 10);
	if (!read_line(SELF, t->id, "stat", line, sizeof(line)) ||
	    (word = strrchr(line, ')')) == NULL)
		return false;
	t->state = word[1] == '\0' ? '?' : word[2];
	for (int i = 3; i < 40 && word != NULL; i++)
		word = strchr(word + 1, ' ');
	t->cpu = word == NULL ? -1 : atoi(word);
	return read_line(SELF, t->id, "comm", t->name, sizeof(t->name));
}

static unsigned int
read_threads(struct thread *threads)
{
	DIR *dir = opendir(SELF);
	const struct dirent *entry;
	unsigned int nb = 0;

	while (dir != NULL && nb < MAX_THREADS && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(threads[nb].id, sizeof(threads[nb].id), "%.15s", entry->d_name);
		nb += read_thread(&threads[nb]);
	}
	if (dir != NULL)
		closedir(dir);
	return nb;
}

void
bench_threads_print(void)
{
	struct thread before[MAX_THREADS], now;
	const unsigned int nb = read_threads(before);

	rte_delay_us_sleep(WINDOW_MS * 1000);
	fprintf(stderr, "thread           state  cpu  ran, of %u ms\n", WINDOW_MS);
	for (unsigned int i = 0; i < nb; i++) {
		now = before[i];
		if (read_thread(&now))
			fprintf(stderr, "%-16s %c     %4d  %8.1f ms\n", now.name, now.state,
				now.cpu, (double)(now.ran_ns - before[i].ran_ns) / 1e6);
	}
}

/* Adds what the thread ran, and what it was ready to and had no CPU. */
static void
add_thread(const char *tasks, const char *id, double *ran_ns, double *waited_ns)
{
	char line[128], *rest;

	if (!read_line(tasks, id, "schedstat", line, sizeof(line)))
		return;
	*ran_ns += strtod(line, &rest);
	*waited_ns += strtod(rest, NULL);
}

double
bench_threads_share(pid_t pid)
{
	double ran_ns = 0, waited_ns = 0;
	const struct dirent *entry;
	char tasks[32];
	DIR *dir;

	snprintf(tasks, sizeof(tasks), "/proc/%d/task", (int)pid);
	dir = opendir(tasks);
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			add_thread(tasks, entry->d_name, &ran_ns, &waited_ns);
	if (dir != NULL)
		closedir(dir);
	return ran_ns == 0 ? 1 : ran_ns / (ran_ns + waited_ns);
}
