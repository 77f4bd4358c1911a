/* SPDX-License-Identifier: BSD-3-Clause */

/* /octosim/...: what is asked of simulated NICs while they run. Telemetry's thread. */

#include <errno.h>

#include "octo_tel.h"
#include "octosim.h"
#include "octosim_control.h"

static int
tell_account(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct octosim_account a;
	int ret;

	RTE_SET_USED(cmd);
	if (params == NULL)
		return -EINVAL;
	ret = octosim_account_get(params, &a);
	if (ret != 0)
		return ret;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "taken", a.taken);
	rte_tel_data_add_dict_uint(d, "delivered", a.delivered);
	rte_tel_data_add_dict_uint(d, "in_rings", a.in_rings);
	rte_tel_data_add_dict_uint(d, "in_pipelines", a.in_pipelines);
	rte_tel_data_add_dict_uint(d, "dropped", a.dropped);
	rte_tel_data_add_dict_uint(d, "lost_in_dead_rings", a.lost);
	rte_tel_data_add_dict_int(d, "unaccounted", (int)a.unaccounted);
	rte_tel_data_add_dict_uint(d, "sent", a.sent);
	rte_tel_data_add_dict_uint(d, "lost_in_tx_rings", a.lost_in_tx);
	rte_tel_data_add_dict_uint(d, "on_wire", a.on_wire);
	rte_tel_data_add_dict_uint(d, "lost_on_wire", a.lost_on_wire);
	return 0;
}

RTE_INIT(octosim_telemetry_init)
{
	rte_telemetry_register_cmd("/octosim/account", tell_account,
				   "Returns where the frames of a simulated NIC are. "
				   "Parameters: string nic");
}
