/* SPDX-License-Identifier: BSD-3-Clause */

#include "fuzz_devargs.h"
#include "octo_private.h"

int
fuzz_read_octo(const char *name, const char *text, bool *harmless)
{
	struct octo_args args;
	int ret = octo_args_parse(name, text, &args);

	if (ret != 0)
		return ret;
	*harmless = args.agent[0] == '\0';
	for (uint16_t pf = 0; pf < args.nb_pfs; pf++)
		*harmless = *harmless && fuzz_is_device(args.pf[pf].name, "net_mpsim");
	return 0;
}
