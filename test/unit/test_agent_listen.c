/* SPDX-License-Identifier: BSD-3-Clause */

/* Agents that want the same socket: one has it, and all others are told so. */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "octo_test.h"

#include "agent_listen.h"

#define NB_AGENTS 4
#define ROUNDS 300

static const struct agent_listen_policy strict;

struct place {
	char directory[64];
	struct octo_agent_addr addr;
};

static int
setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	char text[128], why[128];

	if (place == NULL)
		return -1;
	snprintf(place->directory, sizeof(place->directory), "/tmp/octo_agent_listen.XXXXXX");
	if (mkdtemp(place->directory) == NULL)
		return -1;
	snprintf(text, sizeof(text), "unix:%s/sock", place->directory);
	*state = place;
	return octo_agent_addr_read(&place->addr, text, why, sizeof(why));
}

static int
teardown(void **state)
{
	struct place *place = *state;

	unlink(place->addr.sock.un.sun_path);
	rmdir(place->directory);
	free(place);
	return 0;
}

static int
open_ear(struct agent_ear *ear, const struct place *place)
{
	char why[128] = "";
	int ret = agent_listen_open(ear, &place->addr, &strict, why, sizeof(why));

	assert_true((ret == 0) == (why[0] == '\0') && (ret == 0) == (ear->fd >= 0));
	return ret;
}

/* As an agent that was killed leaves it. */
static void
leave_stale(const struct place *place)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	unlink(place->addr.sock.un.sun_path);
	assert_int_equal(bind(fd, &place->addr.sock.any, place->addr.len), 0);
	close(fd);
}

static bool
is_served(const struct place *place)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool served = connect(fd, &place->addr.sock.any, place->addr.len) == 0;

	close(fd);
	return served;
}

struct agent {
	const struct place *place;
	pthread_barrier_t *start;
	struct agent_ear ear;
	pthread_t thread;
	int ret;
};

static void *
begin(void *arg)
{
	struct agent *agent = arg;
	char why[128];

	pthread_barrier_wait(agent->start);
	agent->ret = agent_listen_open(&agent->ear, &agent->place->addr, &strict, why, sizeof(why));
	return NULL;
}

static void
race(const struct place *place, struct agent *agents)
{
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, NB_AGENTS);
	for (int i = 0; i < NB_AGENTS; i++) {
		agents[i] = (struct agent){.place = place, .start = &start};
		assert_int_equal(pthread_create(&agents[i].thread, NULL, begin, &agents[i]), 0);
	}
	for (int i = 0; i < NB_AGENTS; i++)
		pthread_join(agents[i].thread, NULL);
	pthread_barrier_destroy(&start);
}

static void
test_one_of_many_replaces_a_stale_socket(void **state)
{
	const struct place *place = *state;
	struct agent agents[NB_AGENTS];

	for (int round = 0; round < ROUNDS; round++) {
		int winners = 0;

		leave_stale(place);
		race(place, agents);
		for (int i = 0; i < NB_AGENTS; i++) {
			winners += agents[i].ret == 0;
			assert_true(agents[i].ret == 0 || agents[i].ret == -EADDRINUSE);
		}
		assert_int_equal(winners, 1);
		assert_true(is_served(place));
		for (int i = 0; i < NB_AGENTS; i++)
			agent_listen_close(&agents[i].ear, &place->addr);
		assert_int_equal(access(place->addr.sock.un.sun_path, F_OK), -1);
	}
}

static void
test_the_first_keeps_its_socket(void **state)
{
	const struct place *place = *state;
	struct agent_ear first, second;

	assert_int_equal(open_ear(&first, place), 0);
	assert_int_equal(open_ear(&second, place), -EADDRINUSE);
	agent_listen_close(&second, &place->addr);
	assert_true(is_served(place));
	agent_listen_close(&first, &place->addr);
	assert_false(is_served(place));
}

static void
test_anothers_socket_is_not_removed(void **state)
{
	const struct place *place = *state;
	struct agent_ear first, second;

	assert_int_equal(open_ear(&first, place), 0);
	/* somebody tidied up */
	unlink(place->addr.sock.un.sun_path);
	assert_int_equal(open_ear(&second, place), 0);
	agent_listen_close(&first, &place->addr);
	assert_true(is_served(place));
	agent_listen_close(&second, &place->addr);
}

static void
test_only_the_owner_may_connect(void **state)
{
	const struct place *place = *state;
	struct agent_ear ear;
	struct stat st;

	assert_int_equal(open_ear(&ear, place), 0);
	assert_int_equal(stat(place->addr.sock.un.sun_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	agent_listen_close(&ear, &place->addr);
}

static void
test_who_keeps_the_lock_is_not_waited_for_for_ever(void **state)
{
	const struct place *place = *state;
	const int lock = agent_listen_lock(place->addr.sock.un.sun_path);
	struct agent_ear ear;

	assert_true(lock >= 0);
	assert_int_equal(open_ear(&ear, place), -EBUSY);
	agent_listen_unlock(lock);
	assert_int_equal(open_ear(&ear, place), 0);
	agent_listen_close(&ear, &place->addr);
}

static void
test_tcp_needs_permission(void **state)
{
	static const struct {
		const char *text;
		struct agent_listen_policy policy;
		int ret;
	} cases[] = {
		{"tcp:127.0.0.1:1", {.remote = true}, -EPERM},
		{"tcp:[::1]:1", {.remote = true}, -EPERM},
		{"tcp:192.0.2.1:1", {.anyone = true}, -EPERM},
		{"tcp:192.0.2.1:1", {.remote = true}, -EPERM},
		{"tcp:192.0.2.1:1", {.remote = true, .anyone = true}, -EADDRNOTAVAIL},
	};
	struct octo_agent_addr addr;
	struct agent_ear ear;
	char why[128];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(octo_agent_addr_read(&addr, cases[i].text, why, sizeof(why)), 0);
		assert_int_equal(agent_listen_open(&ear, &addr, &cases[i].policy, why, sizeof(why)),
				 cases[i].ret);
		assert_int_equal(ear.fd, -1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_of_many_replaces_a_stale_socket, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_first_keeps_its_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_anothers_socket_is_not_removed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_only_the_owner_may_connect, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_keeps_the_lock_is_not_waited_for_for_ever,
						setup, teardown),
		cmocka_unit_test(test_tcp_needs_permission),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
