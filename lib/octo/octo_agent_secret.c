/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <eal_export.h>

#include "octo_agent_secret.h"

static const char *
fault_of(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file";
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "it belongs to another user: it must be owned by this one or root";
	if ((st->st_mode & 0077) != 0)
		return "others than its owner may use it: chmod 600 is needed";
	return NULL;
}

/* Reads one byte more than the longest secret with its newline, to detect longer ones. */
static int
read_bytes(int fd, struct octo_agent_secret *secret)
{
	uint8_t bytes[OCTO_AGENT_SECRET_MAX + 2];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n < 0)
		return -errno;
	if (n > 0 && bytes[n - 1] == '\n')
		n--;
	if (n < OCTO_AGENT_SECRET_MIN || n > OCTO_AGENT_SECRET_MAX)
		return -EMSGSIZE;
	memcpy(secret->bytes, bytes, (size_t)n);
	secret->len = (uint8_t)n;
	return 0;
}

static int
read_file(int fd, struct octo_agent_secret *secret, char *why, size_t why_len)
{
	const char *fault;
	struct stat st;
	int ret = fstat(fd, &st) == 0 ? 0 : -errno;

	fault = ret == 0 ? fault_of(&st) : strerror(-ret);
	if (fault == NULL) {
		ret = read_bytes(fd, secret);
		fault = ret == -EMSGSIZE ? "a secret of 16 to 64 bytes is expected in it" :
					   strerror(-ret);
	} else if (ret == 0) {
		ret = -EACCES;
	}
	if (ret != 0)
		snprintf(why, why_len, "%s", fault);
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_secret_read)
int
octo_agent_secret_read(struct octo_agent_secret *secret, const char *path, char *why,
		       size_t why_len)
{
	/* O_NONBLOCK: opening a pipe without a writer must not block */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int ret;

	memset(secret, 0, sizeof(*secret));
	if (fd < 0) {
		ret = -errno;
		snprintf(why, why_len, "%s", strerror(-ret));
		return ret;
	}
	ret = read_file(fd, secret, why, why_len);
	close(fd);
	return ret;
}

bool
octo_agent_secret_equal(const struct octo_agent_secret *a, const struct octo_agent_secret *b)
{
	uint8_t differ = a->len ^ b->len;

	for (size_t i = 0; i < OCTO_AGENT_SECRET_MAX; i++)
		differ |= a->bytes[i] ^ b->bytes[i];
	return differ == 0;
}
