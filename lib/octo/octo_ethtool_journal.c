/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <rte_common.h>
#include <rte_atomic.h>

#include "octo_ethtool_io.h"
#include "octo_ethtool_journal.h"

static const char magic[16] = "octo ethtool 2";

/* Empty if it is unknown: then no record counts as one of this boot. */
static void
read_boot(char boot[40])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	memset(boot, 0, 40);
	if (file == NULL)
		return;
	if (fscanf(file, "%39s", boot) != 1)
		boot[0] = '\0';
	fclose(file);
}

static size_t
len_of(uint32_t nb_notes)
{
	return sizeof(struct octo_ethtool_record) +
	       (size_t)nb_notes * sizeof(struct octo_ethtool_note);
}

/* Its writer may have removed the file between open() and flock(). */
static bool
is_at(int fd, const char *path)
{
	struct stat opened, there;

	return fstat(fd, &opened) == 0 && stat(path, &there) == 0 && opened.st_ino == there.st_ino;
}

static int
open_locked(const char *path)
{
	for (;;) {
		const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		int ret;

		if (fd < 0)
			return -errno;
		ret = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno;
		if (ret == 0 && is_at(fd, path))
			return fd;
		close(fd);
		if (ret != 0)
			return ret == -EWOULDBLOCK ? -EALREADY : ret;
	}
}

static void
unmap(struct octo_ethtool_journal *j)
{
	if (j->record != NULL)
		munmap(j->record, j->len);
	j->record = NULL;
	j->len = 0;
}

static int
map(struct octo_ethtool_journal *j, size_t len)
{
	const int flags = j->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, j->fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	j->record = memory;
	j->len = len;
	return 0;
}

static bool
is_valid(const struct octo_ethtool_journal *j, uint32_t ifindex)
{
	const struct octo_ethtool_record *r = j->record;
	char boot[40];

	read_boot(boot);
	return memcmp(r->magic, magic, sizeof(magic)) == 0 && boot[0] != '\0' &&
	       memcmp(r->boot, boot, sizeof(boot)) == 0 && r->ifindex == ifindex &&
	       r->nb_notes <= OCTO_ETHTOOL_MAX_NOTES && len_of(r->nb_notes) == j->len &&
	       r->reta.size[0] <= OCTO_ETHTOOL_MAX_RETA &&
	       r->reta.size[1] <= OCTO_ETHTOOL_MAX_RETA &&
	       r->reta.size_before <= OCTO_ETHTOOL_MAX_RETA && r->reta.now < RTE_DIM(r->reta.ours);
}

int
octo_ethtool_journal_open(struct octo_ethtool_journal *j, const char *dir, uint32_t ifindex)
{
	struct stat st;

	*j = (struct octo_ethtool_journal){.fd = -1};
	if (dir == NULL)
		return 0;
	snprintf(j->path, sizeof(j->path), "%s/octo_ethtool_%" PRIu64 "_%u", dir,
		 octo_ethtool_io_netns(), ifindex);
	j->fd = open_locked(j->path);
	if (j->fd < 0)
		return j->fd;
	if (fstat(j->fd, &st) != 0 || st.st_size < (off_t)sizeof(struct octo_ethtool_record) ||
	    map(j, (size_t)st.st_size) != 0)
		return 0;
	if (!is_valid(j, ifindex))
		unmap(j);
	return 0;
}

int
octo_ethtool_journal_begin(struct octo_ethtool_journal *j, uint32_t ifindex, uint32_t nb_rules)
{
	const uint32_t nb_notes = RTE_MIN(nb_rules, (uint32_t)OCTO_ETHTOOL_MAX_RULES) + 1;
	const size_t len = len_of(nb_notes);
	int ret = 0;

	unmap(j);
	/* a file without room would end the process when it is written to */
	if (j->fd >= 0 && ftruncate(j->fd, 0) != 0)
		ret = -errno;
	if (ret == 0 && j->fd >= 0)
		ret = -posix_fallocate(j->fd, 0, (off_t)len);
	if (ret == 0)
		ret = map(j, len);
	if (ret != 0)
		return ret;
	j->record->ifindex = ifindex;
	j->record->nb_notes = nb_notes;
	read_boot(j->record->boot);
	memcpy(j->record->magic, magic, sizeof(magic));
	return 0;
}

void
octo_ethtool_journal_leave(struct octo_ethtool_journal *j)
{
	unmap(j);
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
}

/* It is removed while it is locked, so that no other process has begun to use it. */
void
octo_ethtool_journal_end(struct octo_ethtool_journal *j)
{
	if (j->fd >= 0)
		unlink(j->path);
	octo_ethtool_journal_leave(j);
}

struct octo_ethtool_note *
octo_ethtool_journal_note(struct octo_ethtool_journal *j, const struct ethtool_rx_flow_spec *fs,
			  bool beside)
{
	for (uint32_t i = 0; i < j->record->nb_notes - !beside; i++) {
		struct octo_ethtool_note *note = &j->record->notes[i];

		if (note->used)
			continue;
		note->fs = *fs;
		note->queue_before = fs->ring_cookie;
		/* program order is all that counts: the note is read when this process is dead */
		rte_compiler_barrier();
		note->used = 1;
		rte_compiler_barrier();
		return note;
	}
	return NULL;
}

void
octo_ethtool_journal_strike(struct octo_ethtool_note *note)
{
	note->used = 0;
	rte_compiler_barrier();
}
