/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>

/**
 * @file
 * What the fuzz targets share: EAL, the log that they read, the heap that they
 * count, and the bytes from which they make their input.
 */

/* libFuzzer's interface */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** EAL with neither hugepages nor devices; what it leaks is its own business. */
void fuzz_eal_init(void);

/** Probe a virtual device, which must succeed. @return the id of its port. */
uint16_t fuzz_add_port(const char *name, const char *args);

/* fuzz_log.c: all is formatted, as in the field, and the latest is kept */
void fuzz_log_open(void);
void fuzz_log_forget(void);
/** Messages since then. */
unsigned int fuzz_log_lines(void);
const char *fuzz_log_text(void);

/** Not a message, but of use behind one. */
void fuzz_log_note(const char *what, const char *type, const void *ptr);

/** Bytes of EAL's heap in use. */
size_t fuzz_heap_bytes(void);

/* fuzz_heap.c: rte_malloc() of the drivers can be libc's, which ASan watches */
void fuzz_heap_guard(bool on);
/** Allocations made while guarded and not freed. */
int fuzz_heap_live(void);

/** Say what is wrong, with the log, and end the program. */
void fuzz_fail(const char *file, int line, const char *format, ...)
	__rte_format_printf(3, 4) __rte_noreturn;

#define FUZZ_CHECK(condition, ...)                                                                 \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);                                \
	} while (0)

/** What is left of an input. Behind its end there are zeros. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t
fuzz_u8(struct fuzz_input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

static inline uint16_t
fuzz_u16(struct fuzz_input *in)
{
	const uint8_t low = fuzz_u8(in);

	return low | fuzz_u8(in) << 8;
}

static inline uint32_t
fuzz_u32(struct fuzz_input *in)
{
	const uint16_t low = fuzz_u16(in);

	return low | (uint32_t)fuzz_u16(in) << 16;
}

static inline void
fuzz_bytes(struct fuzz_input *in, void *to, size_t len)
{
	const size_t n = RTE_MIN(len, in->left);

	memset(to, 0, len);
	memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
}

#endif /* FUZZ_H */
