/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A secondary process stands still while it attaches a port, and the primary closes that one. Here
 * it is the primary, too.
 */

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include <bus_vdev_driver.h>
#include <ethdev_driver.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "octo_port.h"

#include "octo_private.h"

#define OTHER_NAME "net_octo1"
#define MOST_BLOCKS 64

static const struct octo_port_conf two_pfs = {0};

/* What happens while it stands still. */
static struct {
	bool attaches;
	bool alone;           /* the primary has made no octo port */
	void (*before)(void); /* it has looked the port up, and is not noted */
	void (*after)(void);  /* it is noted */
} secondary;

static uint16_t port;

enum rte_proc_type_t
rte_eal_process_type(void)
{
	return secondary.attaches ? RTE_PROC_SECONDARY : RTE_PROC_PRIMARY;
}

/* EAL's own would refuse it: the test has no shared configuration. */
int
rte_mp_action_register(const char *name, rte_mp_t action)
{
	RTE_SET_USED(name);
	RTE_SET_USED(action);
	return 0;
}

const struct rte_memzone *
rte_memzone_lookup(const char *name)
{
	static const struct rte_memzone *(*real)(const char *);

	if (real == NULL)
		real = (const struct rte_memzone *(*)(const char *))(uintptr_t)dlsym(RTLD_NEXT,
										     __func__);
	return secondary.alone ? NULL : real(name);
}

static void
stand_still(void (*meanwhile)(void))
{
	secondary.attaches = false;
	if (meanwhile != NULL)
		meanwhile();
	secondary.attaches = true;
}

struct octo_dev *
octo_legs_borrow(uint16_t port_id)
{
	static struct octo_dev *(*real)(uint16_t);
	struct octo_dev *octo;

	if (real == NULL)
		real = (struct octo_dev * (*)(uint16_t))(uintptr_t)dlsym(RTLD_NEXT, __func__);
	stand_still(secondary.before);
	octo = real(port_id);
	stand_still(secondary.after);
	return octo;
}

/* As EAL does it in a secondary. */
static int
attach(void (*before)(void), void (*after)(void))
{
	/* clang warns where container_of() takes const away */
	const uintptr_t driver = (uintptr_t)rte_eth_devices[port].device->driver;
	static struct rte_vdev_device vdev = {.device = {.name = OCTO_PORT_NAME}};
	int ret;

	secondary.before = before;
	secondary.after = after;
	secondary.attaches = true;
	ret = container_of((struct rte_driver *)driver, struct rte_vdev_driver, driver)
		      ->probe(&vdev);
	secondary.attaches = false;
	octo_legs_borrowed = false;
	return ret;
}

static void
close_port(void)
{
	assert_int_equal(rte_eth_dev_close(port), 0);
}

/* The memory of the port, which belongs to somebody else by now. */
static uint8_t *others;

static void
use_memory_again(void)
{
	const void *octo = rte_eth_devices[port].data->dev_private;
	uint8_t *block[MOST_BLOCKS];
	unsigned int n = 0;

	close_port();
	do
		block[n++] = rte_malloc(NULL, sizeof(struct octo_dev), 0);
	while (block[n - 1] != octo && n < MOST_BLOCKS);
	others = block[--n];
	assert_ptr_equal(others, octo);
	memset(others, 0xff, sizeof(struct octo_dev));
	while (n > 0)
		rte_free(block[--n]);
}

static void
test_nothing_is_written_to_memory_of_a_closed_port(void **state)
{
	(void)state;
	port = octo_port_create(&two_pfs);
	assert_int_equal(attach(use_memory_again, NULL), -ENODEV);
	for (size_t i = 0; i < sizeof(struct octo_dev); i++)
		assert_int_equal(others[i], 0xff);
	rte_free(others);
}

static void
make_again(void)
{
	close_port();
	assert_int_equal(rte_eal_hotplug_remove("vdev", OCTO_PORT_NAME), 0);
	assert_int_equal(octo_port_add(&two_pfs), port);
}

/* It has the one of that name which is there now. */
static void
test_a_port_that_was_made_again_is_attached(void **state)
{
	const struct octo_dev *octo;

	(void)state;
	port = octo_port_create(&two_pfs);
	assert_int_equal(attach(make_again, NULL), 0);
	octo = rte_eth_devices[port].data->dev_private;
	assert_true(octo_legs_is_lent(octo));
	assert_ptr_equal(octo_legs_return(port, octo->owner_id), octo);
	assert_false(octo_legs_is_lent(octo));
}

static void
make_other(void)
{
	uint16_t other;

	close_port();
	assert_int_equal(rte_eal_hotplug_remove("vdev", OCTO_PORT_NAME), 0);
	assert_int_equal(rte_eal_hotplug_add("vdev", OTHER_NAME, "pf=net_mpsim0,pf=net_mpsim1"), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(OTHER_NAME, &other), 0);
	assert_int_equal(other, port);
}

static void
test_another_port_is_not_attached(void **state)
{
	(void)state;
	port = octo_port_create(&two_pfs);
	assert_int_equal(attach(make_other, NULL), -ENODEV);
	assert_false(octo_legs_is_lent(rte_eth_devices[port].data->dev_private));
	assert_int_equal(rte_eal_hotplug_remove("vdev", OTHER_NAME), 0);
}

/* EAL would have it probed, and never attach the port when there is one. */
static void
test_a_primary_without_ports(void **state)
{
	static const int before[] = {0, EEXIST};

	(void)state;
	port = octo_port_create(&two_pfs);
	secondary.alone = true;
	for (unsigned int i = 0; i < RTE_DIM(before); i++) {
		rte_errno = before[i];
		assert_int_equal(attach(NULL, NULL), -ENODEV);
	}
	secondary.alone = false;
}

static struct octo_dev *kept;

/* The primary has asked, and has given up waiting. */
static void
give_up(void)
{
	kept = rte_eth_devices[port].data->dev_private;
	rte_eth_devices[port].data->dev_private = NULL;
}

/* It is told of the close as soon as it goes on. */
static void
test_a_port_that_is_closed_when_it_is_noted(void **state)
{
	(void)state;
	port = octo_port_create(&two_pfs);
	assert_int_equal(attach(NULL, give_up), 0);
	assert_ptr_equal(octo_legs_return(port, kept->owner_id), kept);
	rte_eth_devices[port].data->dev_private = kept;
}

/* It counts as alive, as its id is unknown here. */
static void
test_a_process_that_is_about_to_attach_is_asked(void **state)
{
	const struct octo_dev *octo;

	(void)state;
	port = octo_port_create(&two_pfs);
	octo = rte_eth_devices[port].data->dev_private;
	octo_lending_of(port)->attaching.process[1] = RTE_BIT64(32) | (uint32_t)getpid();
	assert_true(octo_legs_is_lent(octo));
	octo_lending_of(port)->attaching.process[1] = 0;
	assert_false(octo_legs_is_lent(octo));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_nothing_is_written_to_memory_of_a_closed_port),
		octo_port_test(test_a_port_that_was_made_again_is_attached),
		octo_port_test(test_another_port_is_not_attached),
		octo_port_test(test_a_primary_without_ports),
		octo_port_test(test_a_port_that_is_closed_when_it_is_noted),
		octo_port_test(test_a_process_that_is_about_to_attach_is_asked),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
