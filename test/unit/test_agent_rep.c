/* SPDX-License-Identifier: BSD-3-Clause */

/* Which netdev represents a VF, where PFs of both sockets are function 0. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "octo_test.h"

#include "agent_rep.h"

#define PF0 "0000:16:00.0"
#define PF1 "0000:99:00.0"
#define ID "f6edd50003c0639c"

/* Of a kernel with one FDB for both PFs. */
static const struct agent_netdev shared[] = {
	{"eth2", "p0", ID, PF0, 2, false},     {"eth4", "pf0vf0", ID, PF0, 4, false},
	{"eth6", "pf0vf1", ID, PF0, 6, false}, {"eth3", "p0", ID, PF1, 3, false},
	{"eth5", "pf0vf0", ID, PF1, 5, false}, {"eth7", "pf0vf1", ID, PF1, 7, false},
};

static char why[256];

static const struct agent_netdev *
find(const struct agent_netdev *devs, unsigned int nb, const char *pf, int number)
{
	struct agent_vf vf = {.number = number};

	snprintf(vf.address, sizeof(vf.address), "%s", pf);
	why[0] = '\0';
	return agent_rep_find(devs, nb, &vf, why, sizeof(why));
}

static void
assert_found(const char *pf, int number, const char *name)
{
	const struct agent_netdev *dev = find(shared, RTE_DIM(shared), pf, number);

	assert_non_null(dev);
	assert_string_equal(dev->name, name);
	assert_string_equal(why, "");
}

static void
test_equal_names_are_told_apart_by_the_pf(void **state)
{
	RTE_SET_USED(state);
	assert_found(PF0, 0, "eth4");
	assert_found(PF1, 0, "eth5");
	assert_found(PF0, 1, "eth6");
	assert_found(PF1, 1, "eth7");
}

static void
test_the_function_in_the_name_does_not_matter(void **state)
{
	struct agent_netdev devs[] = {shared[1], shared[4]};

	RTE_SET_USED(state);
	snprintf(devs[1].port_name, sizeof(devs[1].port_name), "pf1vf0");
	assert_ptr_equal(find(devs, RTE_DIM(devs), PF0, 0), &devs[0]);
	assert_ptr_equal(find(devs, RTE_DIM(devs), PF1, 0), &devs[1]);
}

static void
test_two_of_one_pf_collide(void **state)
{
	struct agent_netdev devs[] = {shared[1], shared[4]};

	RTE_SET_USED(state);
	snprintf(devs[1].parent, sizeof(devs[1].parent), PF0);
	assert_null(find(devs, RTE_DIM(devs), PF0, 0));
	assert_string_equal(why, "VF 0 of " PF0
				 " has two representors, eth4 (pf0vf0) and eth5 (pf0vf0): "
				 "give the right one by rep=ETHDEV");
}

static void
test_a_vf_without_a_representor(void **state)
{
	RTE_SET_USED(state);
	assert_null(find(shared, RTE_DIM(shared), PF1, 2));
	assert_string_equal(why, "VF 2 of " PF1 " has no representor, other VFs have");
}

/* The uplink is there in every mode, and recent kernels give it a switch id. */
static void
test_a_pf_that_is_not_in_switchdev_mode(void **state)
{
	RTE_SET_USED(state);
	assert_null(find(shared, 1, PF0, 0));
	assert_non_null(strstr(why, PF0 " is not in switchdev mode"));
	assert_non_null(strstr(why, "devlink dev eswitch set pci/" PF0 " mode switchdev"));
	assert_null(find(shared, RTE_DIM(shared), "0000:99:00.1", 0));
	assert_non_null(strstr(why, "0000:99:00.1 is not in switchdev mode"));
	assert_null(find(shared, 0, PF0, 0));
}

static void
test_other_ports_are_no_representors_of_a_vf(void **state)
{
	static const char *const names[] = {
		"",        "p0",      "pf0",        "pf0sf0", "c1pf0vf0", "pfvf0",   "pf0vf",
		"pf0vf0x", "pf0vf-0", "pf0vf65536", "pf0vfx", "xpf0vf0",  "pf0vf 0", "pf0hpf",
	};
	struct agent_netdev dev = shared[1];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		snprintf(dev.port_name, sizeof(dev.port_name), "%s", names[i]);
		assert_null(find(&dev, 1, PF0, 0));
	}
	snprintf(dev.port_name, sizeof(dev.port_name), "pf12vf0");
	assert_ptr_equal(find(&dev, 1, PF0, 0), &dev);
	dev.switch_id[0] = '\0';
	assert_null(find(&dev, 1, PF0, 0));
}

static void
test_one_fdb_has_one_switch_id(void **state)
{
	struct agent_netdev other = shared[4];

	RTE_SET_USED(state);
	assert_int_equal(agent_rep_check_fdb(&shared[1], &other, why, sizeof(why)), 0);
	other.switch_id[1] = '7';
	assert_int_equal(agent_rep_check_fdb(&shared[1], &other, why, sizeof(why)), -EXDEV);
	assert_string_equal(why, "the PFs do not share an FDB: eth4 (" PF0
				 ") has switch id f6edd50003c0639c, and eth5 (" PF1
				 ") has f7edd50003c0639c");
}

static void
test_a_multiport_eswitch_has_several(void **state)
{
	struct agent_netdev a = shared[1], b = shared[4];

	RTE_SET_USED(state);
	b.switch_id[1] = '7';
	a.multiport = true;
	assert_int_equal(agent_rep_check_fdb(&a, &b, why, sizeof(why)), -EXDEV);
	b.multiport = true;
	assert_int_equal(agent_rep_check_fdb(&a, &b, why, sizeof(why)), 0);
}

static void
test_a_vf_is_named_by_either_address(void **state)
{
	struct agent_vf vf;

	RTE_SET_USED(state);
	assert_int_equal(agent_rep_read_vf("0000:16:00.2", &vf), 0);
	assert_string_equal(vf.address, "0000:16:00.2");
	assert_int_equal(vf.number, -1);
	assert_int_equal(agent_rep_read_vf("16:0.2/127", &vf), 0);
	assert_string_equal(vf.address, "0000:16:00.2");
	assert_int_equal(vf.number, 127);
}

static void
test_other_words_name_no_vf(void **state)
{
	static const char *const words[] = {
		"",
		"/",
		"/0",
		"eth0",
		"0000:16:00",
		"0000:16:00.2/",
		"0000:16:00.2/-1",
		"0000:16:00.2/x",
		"0000:16:00.2/1x",
		"0000:16:00.2/65536",
		"0000:16:00.2/99999999999999999999",
		"0000:16:00.2/0/0",
		"0000:16:00.2 ",
		"0000:16:00.2x",
		"../../../../etc/passwd",
	};
	struct agent_vf vf;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(words); i++)
		assert_int_equal(agent_rep_read_vf(words[i], &vf), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_names_are_told_apart_by_the_pf),
		cmocka_unit_test(test_the_function_in_the_name_does_not_matter),
		cmocka_unit_test(test_two_of_one_pf_collide),
		cmocka_unit_test(test_a_vf_without_a_representor),
		cmocka_unit_test(test_a_pf_that_is_not_in_switchdev_mode),
		cmocka_unit_test(test_other_ports_are_no_representors_of_a_vf),
		cmocka_unit_test(test_one_fdb_has_one_switch_id),
		cmocka_unit_test(test_a_multiport_eswitch_has_several),
		cmocka_unit_test(test_a_vf_is_named_by_either_address),
		cmocka_unit_test(test_other_words_name_no_vf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
