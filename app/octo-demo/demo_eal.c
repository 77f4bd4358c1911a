/* SPDX-License-Identifier: BSD-3-Clause */

#include "demo.h"

#define MEMORY_MIB 256

/* One NIC with two PFs, its peer at the other end of the cable, one to be measured. */
static void
add_nics(struct app_args *args, const struct demo_machine *machine)
{
	const unsigned int *cpu = machine->real.cpu;

	app_args_add(args, "--vdev=%s,nic=B,wire=nic:A", DEMO_PEER);
	for (int i = 0; i < DEMO_NB_PFS; i++)
		app_args_add(args, "--vdev=%s,nic=A,socket=%d", machine->pf_name[i],
			     machine->pf_socket[i]);
	app_args_add(args, "--vdev=%s,nic=C,wire=loop", DEMO_SPEED_PORT);
	/* strays are to stay until there are rules */
	app_args_add(args, "--vdev=%s,pf=%s,pf=%s,learn=off,socket_map=%u:%d/%u:%d", DEMO_PORT,
		     machine->pf_name[0], machine->pf_name[1], cpu[0], machine->pf_socket[0],
		     cpu[1], machine->pf_socket[1]);
}

int
demo_eal_start(struct demo_machine *machine, const struct demo_options *options)
{
	static struct app_args args;
	int ret = app_args_begin(&args, &machine->real, MEMORY_MIB, options->verbose);

	if (ret != 0)
		return ret;
	add_nics(&args, machine);
	return app_eal_start(&args, options->verbose);
}
