/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Verified I/O on a block device, past the page cache, by a process on each CPU of choice:
 *
 *   octo-io DEVICE MIB
 *
 * and then, line by line on standard input:
 *
 *   round CPU...    the first MIB of the device are written, each CPU an equal part, then read
 *                   again and compared: "round N: N MiB by N CPUs, N failed, N wrong"
 *   go CPU...       one round after the other, until there is another line, which is dropped
 *   quit
 *
 * "done" follows when it is. Blocks have a pattern of their own in each round and process.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK (64 << 10) /* bytes */
#define MAX_CPUS 64

enum outcome { FINE, FAILED, WRONG };

static const char *device;
static uint64_t blocks; /* of the device that are used */
static unsigned int rounds;
static uint64_t salt; /* of this process */

static void
fill(uint64_t *data, uint64_t block)
{
	uint64_t x = (salt ^ (block << 32 | rounds)) + 1;

	for (size_t i = 0; i < BLOCK / sizeof(*data); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		data[i] = x;
	}
}

static enum outcome
failed(const char *what)
{
	perror(what);
	return FAILED;
}

/* Every nth block is of the same CPU. */
static enum outcome
do_part(uint64_t first, uint64_t step)
{
	uint64_t *wanted = aligned_alloc(4096, BLOCK);
	uint64_t *got = aligned_alloc(4096, BLOCK);
	int fd = open(device, O_RDWR | O_DIRECT);

	if (fd < 0 || wanted == NULL || got == NULL)
		return failed(device);
	for (uint64_t i = first; i < blocks; i += step) {
		fill(wanted, i);
		if (pwrite(fd, wanted, BLOCK, (off_t)(i * BLOCK)) != BLOCK)
			return failed("write");
	}
	for (uint64_t i = first; i < blocks; i += step) {
		fill(wanted, i);
		if (pread(fd, got, BLOCK, (off_t)(i * BLOCK)) != BLOCK)
			return failed("read");
		if (memcmp(wanted, got, BLOCK) != 0)
			return WRONG;
	}
	return FINE;
}

static enum outcome
do_part_on(int cpu, uint64_t first, uint64_t step)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return failed("sched_setaffinity");
	return do_part(first, step);
}

static void
do_round(const int *cpus, unsigned int nb_cpus)
{
	unsigned int count[WRONG + 1] = {0};
	int status;

	rounds++;
	fflush(stdout);
	for (unsigned int i = 0; i < nb_cpus; i++)
		if (fork() == 0)
			_exit(do_part_on(cpus[i], i, nb_cpus));
	while (wait(&status) > 0)
		count[WIFEXITED(status) && WEXITSTATUS(status) <= WRONG ? WEXITSTATUS(status) :
									  FAILED]++;
	printf("round %u: %u MiB by %u CPUs, %u failed, %u wrong\n", rounds,
	       (unsigned int)(blocks * BLOCK >> 20), nb_cpus, count[FAILED], count[WRONG]);
}

static unsigned int
read_cpus(const char *text, int *cpus)
{
	unsigned int n = 0;
	int used;

	while (n < MAX_CPUS && sscanf(text, "%d%n", &cpus[n], &used) == 1) {
		text += used;
		n++;
	}
	return n;
}

static bool
is_line_there(void)
{
	struct pollfd polled = {.fd = 0, .events = POLLIN};

	return poll(&polled, 1, 0) > 0;
}

int
main(int argc, char **argv)
{
	int cpus[MAX_CPUS];
	char line[256];

	if (argc != 3) {
		fprintf(stderr, "usage: octo-io DEVICE MIB\n");
		return 2;
	}
	device = argv[1];
	salt = (uint64_t)getpid() << 16;
	blocks = strtoull(argv[2], NULL, 10) * ((1 << 20) / BLOCK);
	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stdin, NULL, _IONBF, 0); /* or is_line_there() would miss what is in its buffer */
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin) != NULL && strncmp(line, "quit", 4) != 0) {
		const bool endless = strncmp(line, "go ", 3) == 0;
		unsigned int n = read_cpus(strchr(line, ' ') ? strchr(line, ' ') : "", cpus);

		if (n == 0) {
			printf("error: no CPUs\n");
			continue;
		}
		do {
			do_round(cpus, n);
		} while (endless && !is_line_there());
		if (endless && fgets(line, sizeof(line), stdin) == NULL)
			break;
		printf("done\n");
	}
	return 0;
}
