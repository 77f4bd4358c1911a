/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Calls that only ask take no longer than the PFs' own and 1 ms, by the injected clock, whatever
 * holds the control mutex: an agent that hangs or floods, a PF that takes 100 ms for a rule. Nor
 * while EAL waits inside of a hotplug operation.
 */

#include <pthread.h>

#include "mpsim_control.h"
#include "octo_port.h"
#include "octo_port_agent.h"
#include "octo_private.h"

#define SRC_PORT 1000
#define MAX_XSTATS 512
/* A call that waits for the mutex would never return. */
#define LOOK_US 1000
#define MAX_LOOKS 30000
/* For each rule, of which the PF sleeps half before and half after. */
#define SLOW_US 100000
/* The port gives up an agent that says 1,024 messages of other sessions in a row. */
#define STRANGE 1000
#define STRANGE_STEP 100

static const struct octo_port_conf two_pfs;
static struct rte_eth_xstat_name names[MAX_XSTATS];
static struct rte_eth_xstat values[MAX_XSTATS];

static int
get_stats(uint16_t port)
{
	struct rte_eth_stats stats;

	return rte_eth_stats_get(port, &stats);
}

static int
get_names(uint16_t port)
{
	return RTE_MIN(rte_eth_xstats_get_names(port, names, MAX_XSTATS), 0);
}

static int
get_xstats(uint16_t port)
{
	return RTE_MIN(rte_eth_xstats_get(port, values, MAX_XSTATS), 0);
}

static int
get_by_id(uint16_t port)
{
	const uint64_t id = 0;
	uint64_t value;

	return rte_eth_xstats_get_by_id(port, &id, &value, 1) == 1 ? 0 : -1;
}

static int
get_link(uint16_t port)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(port, &link);
}

static int
get_info(uint16_t port)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(port, &info);
}

static const struct {
	const char *name;
	int (*fn)(uint16_t port);
} calls[] = {
	{"rte_eth_stats_get", get_stats},
	{"rte_eth_xstats_get", get_xstats},
	{"rte_eth_xstats_get_names", get_names},
	{"rte_eth_xstats_get_by_id", get_by_id},
	{"rte_eth_link_get_nowait", get_link},
	{"rte_eth_dev_info_get", get_info},
	{"rte_eth_stats_reset", rte_eth_stats_reset},
	{"rte_eth_xstats_reset", rte_eth_xstats_reset},
};

static uint64_t
clock_us(void)
{
	return octo_now() / (rte_get_timer_hz() / US_PER_S);
}

/* Without the LSC interrupt, with which ethdev itself knows the link. */
static void
up(uint16_t port)
{
	const struct rte_eth_conf conf = {0};

	octo_port_up_as(port, 2, &conf);
}

/* Compare the first nb_pfs PFs. */
static void
assert_prompt(uint16_t port, unsigned int nb_pfs)
{
	for (size_t i = 0; i < RTE_DIM(calls); i++) {
		const uint64_t begun = clock_us();
		uint64_t own, took;

		for (unsigned int pf = 0; pf < nb_pfs; pf++)
			assert_int_equal(calls[i].fn(octo_port_pf(pf)), 0);
		own = clock_us() - begun;
		if (calls[i].fn(port) != 0)
			fail_msg("%s() fails", calls[i].name);
		took = clock_us() - begun - own;
		if (took > own + 1000)
			fail_msg("%s() takes %u us, and %u us of the PFs", calls[i].name,
				 (unsigned int)took, (unsigned int)own);
	}
}

static struct {
	uint16_t port;
	int (*fn)(uint16_t port);
	int ret;
} asked;

static void *
ask(void *arg)
{
	octo_port_time_is_beside();
	asked.ret = asked.fn(asked.port);
	return arg;
}

static bool
is_joined(pthread_t thread)
{
	for (unsigned int i = 0; i < MAX_LOOKS; i++) {
		if (pthread_tryjoin_np(thread, NULL) == 0)
			return true;
		octo_wait_us(LOOK_US);
	}
	return false;
}

/* In another thread, while this one holds the mutex. */
static void
assert_returns(struct octo_dev *octo, const char *name, int (*fn)(uint16_t port))
{
	pthread_t thread;
	bool returned;

	asked.port = octo->port_id;
	asked.fn = fn;
	octo_lock(octo);
	assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
	returned = is_joined(thread);
	octo_unlock(octo);
	if (!returned) {
		is_joined(thread);
		fail_msg("%s() waits for the holder of the control mutex", name);
	}
	assert_int_equal(asked.ret, 0);
}

static void
test_no_call_takes_the_control_mutex(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	up(port);
	for (size_t i = 0; i < RTE_DIM(calls); i++)
		assert_returns(octo_of(&rte_eth_devices[port]), calls[i].name, calls[i].fn);
}

static void *
make_a_rule(void *arg)
{
	struct rte_flow_error error;

	octo_port_steer(*(const uint16_t *)arg, SRC_PORT, 0, &error);
	return NULL;
}

static void
slow_down(const char *pf)
{
	char text[64];

	snprintf(text, sizeof(text), "%s,rule_slow,%u", pf, SLOW_US);
	assert_int_equal(rte_pmd_mpsim_fault(text), 0);
}

/* The PF sleeps until this thread lets time pass. */
static void
test_calls_do_not_wait_for_a_slow_pf(void **state)
{
	static uint16_t port;
	unsigned int times = 0;

	(void)state;
	port = octo_port_create(&two_pfs);
	up(port);
	slow_down("net_mpsim0");
	slow_down("net_mpsim1");
	octo_port_thread_start(make_a_rule, &port);
	octo_port_await_thread(octo_port_time_beside_sleeps());
	while (octo_port_thread_runs()) {
		if (octo_port_time_beside_sleeps()) {
			assert_prompt(port, 2);
			times++;
		}
		octo_sleep_us(SLOW_US / 2);
	}
	octo_port_thread_stop();
	assert_in_range(times, 1, UINT32_MAX);
	assert_true(octo_port_rule_pf(port, SRC_PORT) >= 0);
}

/* Its rule needs an answer, which this thread has not given. */
static void
begin_to_make_a_rule(void)
{
	octo_port_agent_begin(&two_pfs, 0);
	octo_port_thread_start(make_a_rule, &octo_port_agent.port);
	octo_port_agent_await(OCTO_AGENT_PUT);
}

static void
end_session(void)
{
	octo_port_agent_answer(0, "");
	octo_port_thread_stop();
	assert_true(octo_port_rule_pf(octo_port_agent.port, SRC_PORT) >= 0);
	octo_port_agent_end();
}

static void
test_calls_do_not_wait_for_an_agent_that_hangs(void **state)
{
	(void)state;
	begin_to_make_a_rule();
	assert_false(octo_lock_try(octo_of(&rte_eth_devices[octo_port_agent.port])));
	assert_prompt(octo_port_agent.port, 2);
	end_session();
}

static void
test_calls_do_not_wait_for_an_agent_that_floods(void **state)
{
	(void)state;
	begin_to_make_a_rule();
	for (unsigned int i = 1; i <= STRANGE; i++) {
		octo_port_agent_say(OCTO_AGENT_RESULT, octo_port_agent.last.session + 1);
		if (i % STRANGE_STEP == 0)
			assert_prompt(octo_port_agent.port, 2);
	}
	assert_false(octo_lock_try(octo_of(&rte_eth_devices[octo_port_agent.port])));
	end_session();
}

static struct {
	RTE_ATOMIC(bool) inside;
	RTE_ATOMIC(bool) let_go;
} eal;

static int
stay_inside(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	rte_atomic_store_explicit(&eal.inside, true, rte_memory_order_release);
	while (!rte_atomic_load_explicit(&eal.let_go, rte_memory_order_acquire))
		octo_wait_us(100);
	return 0;
}

static bool
eal_is_inside(void)
{
	octo_port_pass_us_alone(1000);
	return rte_atomic_load_explicit(&eal.inside, rte_memory_order_acquire);
}

/* EAL's interrupt thread is inside of rte_eal_hotplug_add(), where it asks other processes. */
static void
test_calls_do_not_wait_for_eal(void **state)
{
	const struct octo_port_conf conf = {.replug = true};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	up(port);
	octo_port_remove_pf(1);
	assert_int_equal(
		rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, stay_inside, NULL),
		0);
	octo_port_await_thread(eal_is_inside());
	assert_prompt(port, 1);
	rte_atomic_store_explicit(&eal.let_go, true, rte_memory_order_release);
	octo_port_await(octo_port_pf_is_started(port, 1));
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, stay_inside, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_no_call_takes_the_control_mutex),
		octo_port_test(test_calls_do_not_wait_for_a_slow_pf),
		octo_port_test(test_calls_do_not_wait_for_an_agent_that_hangs),
		octo_port_test(test_calls_do_not_wait_for_an_agent_that_floods),
		octo_port_test(test_calls_do_not_wait_for_eal),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
