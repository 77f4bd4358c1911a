/* SPDX-License-Identifier: BSD-3-Clause */

#include "fuzz_devargs.h"
#include "mpsim.h"

#define MAX_ENTRIES 4096

int
fuzz_read_mpsim(const char *name, const char *text, bool *harmless)
{
	struct mpsim_args args;
	int ret = mpsim_args_parse(name, text, &args);

	if (ret != 0)
		return ret;
	*harmless = args.mpfs_entries <= MAX_ENTRIES && args.arfs_entries <= MAX_ENTRIES &&
		    args.generic_entries <= MAX_ENTRIES && args.wire_ring <= MAX_ENTRIES &&
		    (args.wire_kind != MPSIM_WIRE_ETHDEV || fuzz_is_device(args.wire, "net_mpsim"));
	return 0;
}
