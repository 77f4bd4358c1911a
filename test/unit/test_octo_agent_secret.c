/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_agent_secret.h"

struct file {
	char directory[64];
	char path[80];
};

static int
setup(void **state)
{
	struct file *file = calloc(1, sizeof(*file));

	if (file == NULL)
		return -1;
	snprintf(file->directory, sizeof(file->directory), "/tmp/octo_agent_secret.XXXXXX");
	if (mkdtemp(file->directory) == NULL)
		return -1;
	snprintf(file->path, sizeof(file->path), "%s/secret", file->directory);
	*state = file;
	return 0;
}

static int
teardown(void **state)
{
	struct file *file = *state;

	unlink(file->path);
	rmdir(file->directory);
	free(file);
	return 0;
}

static void
write_file(const struct file *file, const char *text, mode_t mode)
{
	FILE *stream = fopen(file->path, "w");

	assert_non_null(stream);
	assert_true(fputs(text, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
	assert_int_equal(chmod(file->path, mode), 0);
}

static int
read_secret(const struct file *file, struct octo_agent_secret *secret)
{
	char why[128] = "";
	int ret = octo_agent_secret_read(secret, file->path, why, sizeof(why));

	assert_true((ret == 0) == (why[0] == '\0'));
	assert_true((ret == 0) == (secret->len != 0));
	return ret;
}

static void
test_good(void **state)
{
	struct octo_agent_secret secret;
	char text[OCTO_AGENT_SECRET_MAX + 2];

	write_file(*state, "0123456789abcdef", 0600);
	assert_int_equal(read_secret(*state, &secret), 0);
	assert_int_equal(secret.len, 16);
	assert_memory_equal(secret.bytes, "0123456789abcdef", 16);
	snprintf(text, sizeof(text), "%064d\n", 7);
	write_file(*state, text, 0400);
	assert_int_equal(read_secret(*state, &secret), 0);
	assert_int_equal(secret.len, OCTO_AGENT_SECRET_MAX);
	assert_int_equal(secret.bytes[OCTO_AGENT_SECRET_MAX - 1], '7');
}

static void
test_of_the_wrong_length(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"0123456789abcde",
		"0123456789abcde\n",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n\n",
	};
	struct octo_agent_secret secret;

	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		write_file(*state, bad[i], 0600);
		assert_int_equal(read_secret(*state, &secret), -EMSGSIZE);
	}
}

static void
test_that_others_may_read(void **state)
{
	static const mode_t bad[] = {0640, 0604, 0620, 0602, 0610, 0666};
	struct octo_agent_secret secret;

	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		write_file(*state, "0123456789abcdef", bad[i]);
		assert_int_equal(read_secret(*state, &secret), -EACCES);
	}
}

static void
test_that_is_no_file(void **state)
{
	const struct file *file = *state;
	struct octo_agent_secret secret;

	assert_int_equal(read_secret(file, &secret), -ENOENT);
	assert_int_equal(mkfifo(file->path, 0600), 0);
	assert_int_equal(read_secret(file, &secret), -EACCES);
}

static void
test_equal(void **state)
{
	const struct octo_agent_secret none = {0};
	const struct octo_agent_secret one = {.len = 16, .bytes = "0123456789abcdef"};
	const struct octo_agent_secret longer = {.len = 17, .bytes = "0123456789abcdef"};
	const struct octo_agent_secret other = {.len = 16, .bytes = "0123456789abcdeg"};
	const struct octo_agent_secret same = one;

	(void)state;
	assert_true(octo_agent_secret_equal(&one, &same));
	assert_false(octo_agent_secret_equal(&one, &other));
	assert_false(octo_agent_secret_equal(&one, &longer));
	assert_false(octo_agent_secret_equal(&one, &none));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_good, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_the_wrong_length, setup, teardown),
		cmocka_unit_test_setup_teardown(test_that_others_may_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_that_is_no_file, setup, teardown),
		cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
