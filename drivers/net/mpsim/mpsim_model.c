/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <sched.h>

#include <eal_export.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "mpsim.h"
#include "mpsim_control.h"

#define WHY_LEN 512

static const struct rte_mbuf_dynfield place_field = {
	.name = "mpsim_model_place",
	.size = sizeof(uint8_t),
	.align = alignof(uint8_t),
};

int
mpsim_model_create(const char *who, const struct mpsim_args *args, struct mpsim_model **model)
{
	const struct nudma_load idle = {0};
	struct nudma_machine machine;
	char why[WHY_LEN], path[MPSIM_PATH_MAX];
	struct mpsim_model *m;
	int ret;

	ret = nudma_machine_path(args->model, path, sizeof(path));
	if (ret == 0)
		ret = nudma_machine_read(&machine, path, why, sizeof(why));
	if (ret != 0) {
		MPSIM_LOG(ERR, who, "model=%s: %s", args->model,
			  ret == -ENAMETOOLONG ? "a shorter path is needed" : why);
		return ret;
	}
	m = rte_zmalloc("mpsim_model", sizeof(*m), RTE_CACHE_LINE_SIZE);
	if (m == NULL)
		return -ENOMEM;
	m->place_offset = rte_mbuf_dynfield_register(&place_field);
	if (m->place_offset < 0) {
		MPSIM_LOG(ERR, who, "model=%s: no room for a byte in mbufs", args->model);
		rte_free(m);
		return -rte_errno;
	}
	m->map = args->socket_map;
	m->rings_on_pf = args->rings_on_pf;
	m->tx_frames = 1;
	nudma_model_set(&m->nudma, &machine, &idle, false);
	*model = m;
	return 0;
}

void
mpsim_model_set_bursts(struct rte_eth_dev *dev)
{
	const struct mpsim_pf *pf = dev->data->dev_private;

	if (pf->charges == NULL)
		return;
	dev->rx_pkt_burst = mpsim_model_rx_burst;
	dev->tx_pkt_burst = mpsim_model_tx_burst;
}

int
mpsim_model_join(struct rte_eth_dev *dev, const struct mpsim_nic *nic)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	/* a representor has no DMA on this machine */
	if (nic->model == NULL || pf->args.representor != 0)
		return 0;
	pf->charges = rte_zmalloc("mpsim_charges", 2 * MPSIM_MAX_QUEUES * sizeof(*pf->charges),
				  RTE_CACHE_LINE_SIZE);
	if (pf->charges == NULL)
		return -ENOMEM;
	mpsim_model_set_bursts(dev);
	return 0;
}

/* Node of the calling thread: from the devarg, else from the machine. */
static unsigned int
cpu_node(const struct mpsim_model *m)
{
	int node = octo_socket_map_node(&m->map, (unsigned int)sched_getcpu());

	if (node < 0)
		node = (int)rte_socket_id();
	return node >= 0 && node < NUDMA_NODES ? (unsigned int)node : 0;
}

/* On a machine with one socket the node of the data is the CPU's node: sockets are simulated. */
static unsigned int
data_node(unsigned int cpu, const struct rte_mempool *pool)
{
	if (rte_socket_count() < 2 || pool->socket_id < 0 || pool->socket_id >= NUDMA_NODES)
		return cpu;
	return (unsigned int)pool->socket_id;
}

static unsigned int
pf_node(const struct mpsim_pf *pf)
{
	return pf->args.socket % NUDMA_NODES;
}

static void
charge_rx(const struct mpsim_rxq *q, struct mpsim_charge *c, unsigned int cpu, struct rte_mbuf *pkt)
{
	const struct mpsim_model *m = q->nic->model;
	const struct nudma_nic *nic = &m->nudma.machine.nic;
	const unsigned int pf = pf_node(q->pf), data = data_node(cpu, pkt->pool);
	const unsigned int ring = m->rings_on_pf ? pf : cpu;
	const uint32_t completion = (uint32_t)nic->completion_bytes;
	enum nudma_place place;

	nudma_dma_read(&m->nudma, &c->account, pf, ring, (uint32_t)nic->rx_descriptor_bytes);
	place = nudma_dma_write(&m->nudma, &c->account, pf, data, pkt->pkt_len);
	*RTE_MBUF_DYNFIELD(pkt, m->place_offset, uint8_t *) = (uint8_t)place;
	place = nudma_dma_write(&m->nudma, &c->account, pf, ring, completion);
	c->account.completions++;
	nudma_cpu_read(&m->nudma, &c->account, cpu, ring, place, NUDMA_AT_ONCE, completion);
	/* the completion follows the data in the same direction: only the longer path counts */
	c->account.path_ps += RTE_MAX(nudma_write_path_ps(&m->nudma, pf, data),
				      nudma_write_path_ps(&m->nudma, pf, ring));
}

uint16_t
mpsim_model_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	struct mpsim_rxq *q = rxq;

	n = mpsim_rx_burst(rxq, pkts, n);
	if (n > 0) {
		const unsigned int cpu = cpu_node(q->nic->model);

		for (uint16_t i = 0; i < n; i++)
			charge_rx(q, q->charge, cpu, pkts[i]);
	}
	return n;
}

/* Properties of frames that are read before they are sent, as then they may be freed. */
struct sent_frame {
	uint32_t len;
	unsigned int node;
};

static void
charge_tx(const struct mpsim_txq *q, struct mpsim_charge *c, unsigned int cpu,
	  const struct sent_frame *frame)
{
	const struct mpsim_model *m = q->nic->model;
	const struct nudma_nic *nic = &m->nudma.machine.nic;
	const unsigned int pf = pf_node(q->pf), ring = m->rings_on_pf ? pf : cpu;
	const uint32_t completion = (uint32_t)nic->completion_bytes;
	enum nudma_place place;

	nudma_dma_read(&m->nudma, &c->account, pf, ring, (uint32_t)nic->tx_descriptor_bytes);
	nudma_dma_read(&m->nudma, &c->account, pf, frame->node, frame->len);
	if (++c->uncompleted < m->tx_frames)
		return;
	c->uncompleted = 0;
	place = nudma_dma_write(&m->nudma, &c->account, pf, ring, completion);
	c->account.completions++;
	nudma_cpu_read(&m->nudma, &c->account, cpu, ring, place, NUDMA_AT_ONCE, completion);
}

static uint16_t
send_chunk(struct mpsim_txq *q, unsigned int cpu, struct rte_mbuf **pkts, uint16_t n)
{
	struct sent_frame frames[MPSIM_BURST];

	for (uint16_t i = 0; i < n; i++)
		frames[i] = (struct sent_frame){pkts[i]->pkt_len, data_node(cpu, pkts[i]->pool)};
	n = mpsim_tx_burst(q, pkts, n);
	for (uint16_t i = 0; i < n; i++)
		charge_tx(q, q->charge, cpu, &frames[i]);
	return n;
}

uint16_t
mpsim_model_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t n)
{
	struct mpsim_txq *q = txq;
	const unsigned int cpu = cpu_node(q->nic->model);
	uint16_t done = 0, chunk, sent;

	do {
		chunk = RTE_MIN(n - done, MPSIM_BURST);
		sent = send_chunk(q, cpu, pkts + done, chunk);
		done += sent;
	} while (done < n && sent == chunk);
	if (done > 0)
		nudma_doorbell(&q->nic->model->nudma, &q->charge->account, cpu, pf_node(q->pf));
	return done;
}

void
mpsim_model_sum(const struct mpsim_pf *pf, struct nudma_account *sum)
{
	*sum = (struct nudma_account){0};
	for (unsigned int i = 0; pf->charges != NULL && i < 2 * MPSIM_MAX_QUEUES; i++)
		nudma_account_add(sum, &pf->charges[i].account);
}

/* The PF with this port id, if it has a model. */
static struct mpsim_pf *
modelled_pf(uint16_t port)
{
	struct mpsim_nic *nic = NULL;

	mpsim_control_lock();
	while ((nic = mpsim_nic_next(nic)) != NULL) {
		struct mpsim_pf *pf = mpsim_nic_pf_by_port(nic, port);

		if (pf != NULL) {
			mpsim_control_unlock();
			return nic->model != NULL ? pf : NULL;
		}
	}
	mpsim_control_unlock();
	return NULL;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mpsim_model_get, 26.11)
int
rte_pmd_mpsim_model_get(uint16_t port, const struct nudma_model **model, int *place_offset)
{
	const struct mpsim_pf *pf = modelled_pf(port);

	if (pf == NULL)
		return -ENODEV;
	*model = &pf->nic->model->nudma;
	*place_offset = pf->nic->model->place_offset;
	return 0;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mpsim_model_set, 26.11)
int
rte_pmd_mpsim_model_set(uint16_t port, const struct mpsim_model_state *state)
{
	const struct mpsim_pf *pf = modelled_pf(port);
	struct mpsim_model *m;
	struct nudma_machine machine;

	if (pf == NULL)
		return -ENODEV;
	m = pf->nic->model;
	machine = m->nudma.machine;
	nudma_model_set(&m->nudma, &machine, state->load, state->no_ddio);
	m->rings_on_pf = state->rings_on_pf;
	m->tx_frames = RTE_MAX(state->tx_frames, 1u);
	return 0;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mpsim_model_account, 26.11)
int
rte_pmd_mpsim_model_account(uint16_t port, struct nudma_account *account)
{
	const struct mpsim_pf *pf = modelled_pf(port);

	if (pf == NULL)
		return -ENODEV;
	mpsim_model_sum(pf, account);
	return 0;
}
