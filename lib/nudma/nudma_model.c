/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>

#include <eal_export.h>
#include <rte_common.h>

#include "nudma_model.h"

#define PS_PER_NS 1000.0
#define MIB 1048576.0

static uint64_t
to_ps(double ns)
{
	return (uint64_t)llround(RTE_MAX(ns, 0.0) * PS_PER_NS);
}

static unsigned int
other(unsigned int node)
{
	return 1 - node;
}

static uint64_t
round_up(uint32_t bytes)
{
	return RTE_ALIGN_MUL_CEIL((uint64_t)bytes, NUDMA_LINE);
}

/* Time over the link and back, without the access at the other end. */
static double
round_trip(const struct nudma_model *model)
{
	return 2 * model->machine.link.hop_ns + model->load.link_wait_ns[0] +
	       model->load.link_wait_ns[1];
}

/* Time of a load by a CPU on the node of the memory. */
static double
near_ns(const struct nudma_model *model, enum nudma_place place)
{
	const struct nudma_machine *m = &model->machine;
	const double dram = m->cpu.llc_hit_ns + m->cpu.llc_miss_ns +
			    RTE_MAX(model->load.dram_wait_ns[0], model->load.dram_wait_ns[1]);
	const bool snooped = place == NUDMA_IN_FOREIGN || m->link.directory < 1;

	if (place == NUDMA_IN_LLC)
		return m->cpu.llc_hit_ns;
	/* DRAM is read while the other socket is snooped; both have to answer */
	return snooped ? RTE_MAX(dram, m->cpu.llc_hit_ns + round_trip(model)) : dram;
}

/* Time of a load by a CPU on the other node: it misses its own LLC first. */
static double
far_ns(const struct nudma_model *model, enum nudma_place place)
{
	const double hit = model->machine.cpu.llc_hit_ns;

	return hit + round_trip(model) +
	       (place == NUDMA_IN_LLC ? hit : near_ns(model, NUDMA_IN_DRAM) - hit);
}

static void
set_loads(struct nudma_model *model)
{
	const struct nudma_cpu *cpu = &model->machine.cpu;
	const double line = NUDMA_LINE / cpu->llc_gb;

	for (unsigned int place = 0; place < NUDMA_NB_PLACES; place++) {
		const double ns[2] = {near_ns(model, place), far_ns(model, place)};

		for (unsigned int far = 0; far < 2; far++) {
			model->wait_ps[far][place] = to_ps(ns[far] - cpu->llc_hit_ns);
			model->line_ps[far][place] = to_ps(ns[far] / cpu->lines - line);
		}
	}
}

static void
set_paths(struct nudma_model *model)
{
	const double hop = model->machine.link.hop_ns, round = round_trip(model);

	for (unsigned int node = 0; node < NUDMA_NODES; node++) {
		const double wait = model->load.link_wait_ns[node];

		/* the PF's node requests ownership of the line, then sends it */
		model->write_ps[node] = to_ps(round + hop + wait);
		model->read_ps[node] = to_ps(model->machine.pcie.remote_read_ns + round - 2 * hop);
		model->post_ps[node] = to_ps(hop + wait);
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_model_set)
void
nudma_model_set(struct nudma_model *model, const struct nudma_machine *machine,
		const struct nudma_load *load, bool no_ddio)
{
	*model = (struct nudma_model){.machine = *machine, .load = *load, .no_ddio = no_ddio};
	model->data_millflits = to_ps(machine->link.data_flits);
	model->control_millflits = to_ps(machine->link.control_flits);
	set_loads(model);
	set_paths(model);
}

/* Bytes on PCIe of this much data in TLPs of the maximum payload. */
static uint64_t
tlps(const struct nudma_model *model, uint32_t bytes)
{
	const struct nudma_pcie *pcie = &model->machine.pcie;
	const uint32_t payload = (uint32_t)pcie->max_payload;
	const uint64_t nb = (bytes + payload - 1) / payload;

	return bytes + nb * (uint64_t)pcie->tlp_bytes;
}

/* Charge requests, answers and messages with a line between a node and the other one. */
static void
charge_crossing(const struct nudma_model *model, struct nudma_account *account, unsigned int from,
		uint64_t lines, bool data_goes)
{
	const uint64_t control = lines * model->control_millflits;
	const uint64_t data = lines * model->data_millflits;

	account->millflits[from] += control + (data_goes ? data : 0);
	account->millflits[other(from)] += data_goes ? control : data;
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_dma_write)
enum nudma_place
nudma_dma_write(const struct nudma_model *model, struct nudma_account *account, unsigned int pf,
		unsigned int memory, uint32_t bytes)
{
	const uint64_t data = round_up(bytes);

	account->dma_writes++;
	account->pcie_up[pf] += tlps(model, bytes);
	if (pf == memory && !model->no_ddio)
		return NUDMA_IN_LLC;
	account->dram_write[memory] += data;
	if (pf == memory)
		return NUDMA_IN_DRAM;
	/* the line is read together with its ownership */
	account->dram_read[memory] += data;
	account->remote++;
	charge_crossing(model, account, pf, data / NUDMA_LINE, true);
	/* and its arrival is acknowledged */
	account->millflits[memory] += data / NUDMA_LINE * model->control_millflits;
	return NUDMA_IN_FOREIGN;
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_dma_read)
void
nudma_dma_read(const struct nudma_model *model, struct nudma_account *account, unsigned int pf,
	       unsigned int memory, uint32_t bytes)
{
	const uint64_t data = round_up(bytes);

	account->dma_reads++;
	account->pcie_up[pf] += (uint64_t)model->machine.pcie.tlp_bytes;
	account->pcie_down[pf] += tlps(model, bytes);
	if (pf == memory)
		return;
	/* DRAM is read speculatively while the LLC, which has the line, is snooped */
	account->dram_read[memory] += data;
	account->remote++;
	account->path_ps += model->read_ps[pf];
	charge_crossing(model, account, pf, data / NUDMA_LINE, false);
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_doorbell)
void
nudma_doorbell(const struct nudma_model *model, struct nudma_account *account, unsigned int cpu,
	       unsigned int pf)
{
	account->doorbells++;
	account->pcie_down[pf] += (uint64_t)model->machine.pcie.tlp_bytes + sizeof(uint64_t);
	if (cpu == pf)
		return;
	account->remote++;
	account->path_ps += model->post_ps[cpu];
	account->millflits[cpu] += 2 * model->control_millflits;
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_cpu_read)
void
nudma_cpu_read(const struct nudma_model *model, struct nudma_account *account, unsigned int cpu,
	       unsigned int memory, enum nudma_place place, enum nudma_touch touch, uint32_t bytes)
{
	const unsigned int far = cpu != memory;
	const uint64_t data = touch == NUDMA_AT_ONCE ? round_up(bytes) : bytes;
	const bool in_dram = place != NUDMA_IN_LLC;

	if (touch == NUDMA_AT_ONCE) {
		account->cpu_ps += data / NUDMA_LINE * model->wait_ps[far][place];
		account->misses += in_dram || far ? data / NUDMA_LINE : 0;
	} else {
		account->cpu_ps += data * model->line_ps[far][place] / NUDMA_LINE;
	}
	if (touch == NUDMA_LATE && !in_dram && !far) {
		account->spill_ps += data * model->line_ps[0][NUDMA_IN_DRAM] / NUDMA_LINE;
		account->spill_bytes[memory] += data;
	}
	if (in_dram)
		account->dram_read[memory] += data;
	if (far)
		charge_crossing(model, account, cpu, (data + NUDMA_LINE - 1) / NUDMA_LINE, false);
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_write_path_ps)
uint64_t
nudma_write_path_ps(const struct nudma_model *model, unsigned int pf, unsigned int memory)
{
	return pf == memory ? 0 : model->write_ps[pf];
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_evicted)
double
nudma_evicted(const struct nudma_machine *machine, double backlog, double drain_gb, double fill_gb)
{
	const double llc = machine->cpu.llc_mib * MIB;
	const double ddio = llc * machine->ddio.ways / machine->ddio.of_ways;
	double kept = backlog > ddio ? ddio / backlog : 1;

	if (fill_gb > 0 && drain_gb > 0)
		kept *= exp(-(backlog / drain_gb) / (llc / fill_gb));
	else if (fill_gb > 0 && backlog > 0)
		kept = 0;
	return 1 - kept;
}

RTE_EXPORT_INTERNAL_SYMBOL(nudma_pcie_gb)
double
nudma_pcie_gb(const struct nudma_machine *machine)
{
	const struct nudma_pcie *pcie = &machine->pcie;

	return pcie->gt * pcie->lanes * pcie->encoding / 8;
}
