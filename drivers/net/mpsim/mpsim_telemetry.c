/* SPDX-License-Identifier: BSD-3-Clause */

/* Telemetry commands /mpsim/...; called by telemetry's thread. */

#include <errno.h>

#include "octo_tel.h"
#include "mpsim.h"
#include "mpsim_control.h"

static int
handle_account(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct mpsim_account a;
	int ret;

	RTE_SET_USED(cmd);
	if (params == NULL)
		return -EINVAL;
	ret = rte_pmd_mpsim_account_get(params, &a);
	if (ret != 0)
		return ret;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "taken", a.taken);
	rte_tel_data_add_dict_uint(d, "copied", a.copied);
	rte_tel_data_add_dict_uint(d, "delivered", a.delivered);
	rte_tel_data_add_dict_uint(d, "in_rings", a.in_rings);
	rte_tel_data_add_dict_uint(d, "in_pipelines", a.in_pipelines);
	rte_tel_data_add_dict_uint(d, "dropped", a.dropped);
	rte_tel_data_add_dict_uint(d, "lost_in_dead_rings", a.lost);
	rte_tel_data_add_dict_int(d, "unaccounted", (int)a.unaccounted);
	rte_tel_data_add_dict_uint(d, "sent", a.sent);
	rte_tel_data_add_dict_uint(d, "in_tx_rings", a.in_tx_rings);
	rte_tel_data_add_dict_uint(d, "lost_in_tx_rings", a.lost_in_tx);
	rte_tel_data_add_dict_uint(d, "tx_dropped", a.tx_dropped);
	rte_tel_data_add_dict_uint(d, "on_wire", a.on_wire);
	rte_tel_data_add_dict_uint(d, "lost_on_wire", a.lost_on_wire);
	rte_tel_data_add_dict_uint(d, "rules", a.rules);
	return 0;
}

static void
add_mishap(struct rte_tel_data *d, const char *key, const struct mpsim_mishap *m)
{
	if (m->count > 0)
		rte_tel_data_add_dict_uint(d, key, m->skip + UINT64_C(1));
}

static void
add_room(struct rte_tel_data *d, const char *key, uint32_t room)
{
	if (room != UINT32_MAX)
		rte_tel_data_add_dict_uint(d, key, room);
}

/* Add only the faults that are set. */
static void
add_faults(struct rte_tel_data *d, const struct mpsim_pf *pf)
{
	const struct mpsim_faults *f = &pf->faults;

	if (f->no_link)
		rte_tel_data_add_dict_string(d, "link", "down");
	if (pf->mute == MPSIM_MUTE_RESET)
		rte_tel_data_add_dict_string(d, "reset", f->reset_code == 0 ? "on" : "fail");
	else if (pf->mute != MPSIM_MUTE_NOT)
		rte_tel_data_add_dict_string(d, "recovery",
					     pf->mute == MPSIM_MUTE_DEAD ? "failed" : "start");
	if (pf->pipe.latency != 0)
		rte_tel_data_add_dict_uint(d, "latency",
					   pf->pipe.latency / (rte_get_timer_hz() / US_PER_S));
	if (f->full_rings != 0)
		rte_tel_data_add_dict_uint(d, "ring_full", f->full_rings);
	if (rte_atomic_load_explicit(&pf->tx_stuck, rte_memory_order_relaxed))
		rte_tel_data_add_dict_string(d, "tx_stuck", "on");
	add_mishap(d, "rule_fail", &f->fail);
	add_mishap(d, "rule_lost", &f->lost);
	add_mishap(d, "rule_false_error", &f->false_error);
	if (f->rule_us != 0)
		rte_tel_data_add_dict_uint(d, "rule_slow", f->rule_us);
	add_room(d, "room_mpfs", pf->nic->room);
	add_room(d, "room_arfs", f->room_arfs);
	add_room(d, "room_generic", f->room_generic);
}

static void
add_pfs(struct rte_tel_data *d, const struct mpsim_nic *nic)
{
	for (uint16_t i = 0; i < MPSIM_MAX_PORTS; i++) {
		struct rte_tel_data *pf = nic->pf[i] == NULL ? NULL : octo_tel_new_dict();

		if (pf == NULL)
			continue;
		add_faults(pf, nic->pf[i]);
		octo_tel_add_dict(d, nic->pf[i]->data->name, pf);
	}
}

static int
list_faults(struct rte_tel_data *d)
{
	const char *name = NULL;
	bool out;

	rte_tel_data_start_dict(d);
	mpsim_control_lock();
	for (struct mpsim_nic *nic = mpsim_nic_next(NULL); nic != NULL; nic = mpsim_nic_next(nic)) {
		mpsim_nic_lock(nic);
		add_pfs(d, nic);
		mpsim_nic_unlock(nic);
	}
	while ((name = mpsim_hotplug_next(name, &out)) != NULL)
		if (out)
			rte_tel_data_add_dict_string(d, name, "removed");
	mpsim_control_unlock();
	return 0;
}

/* Reply with the error text: a null reply would not help the user. */
static int
set_fault(const char *cmd, const char *params, struct rte_tel_data *d)
{
	char why[512];
	int ret;

	RTE_SET_USED(cmd);
	if (params == NULL || params[0] == '\0')
		return list_faults(d);
	ret = mpsim_fault_set(params, why, sizeof(why));
	rte_tel_data_string(d, ret == 0 ? "done" : why);
	return 0;
}

RTE_INIT(mpsim_telemetry_init)
{
	rte_telemetry_register_cmd("/mpsim/fault", set_fault,
				   "Sets a fault of simulated PFs, or returns those that are set. "
				   "Parameters: [target, fault [, argument]...]");
	rte_telemetry_register_cmd("/mpsim/account", handle_account,
				   "Returns where the frames of a simulated NIC are. "
				   "Parameters: string nic");
}
