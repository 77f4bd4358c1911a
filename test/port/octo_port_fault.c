/* SPDX-License-Identifier: BSD-3-Clause */

#include <sys/wait.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#include "octo_private.h"

static struct replaced {
	struct octo_port_faults faults;
	const struct eth_dev_ops *real;
	const struct rte_flow_ops *real_flow;
	struct eth_dev_ops ops;
	struct rte_flow_ops flow;
} replaced[RTE_MAX_ETHPORTS];

static struct replaced *
of(const struct rte_eth_dev *dev)
{
	return &replaced[dev->data->port_id];
}

static bool has_node_1;

unsigned int __real_rte_socket_count(void);
unsigned int __wrap_rte_socket_count(void);
int __real_rte_socket_id_by_idx(unsigned int i);
int __wrap_rte_socket_id_by_idx(unsigned int i);

unsigned int
__wrap_rte_socket_count(void)
{
	return has_node_1 ? 2 : __real_rte_socket_count();
}

int
__wrap_rte_socket_id_by_idx(unsigned int i)
{
	return has_node_1 ? (int)i : __real_rte_socket_id_by_idx(i);
}

void
octo_port_fake_node_1(void)
{
	has_node_1 = true;
}

static bool is_af_xdp;

bool __real_octo_af_xdp_is(const struct rte_eth_dev_info *info);
bool __wrap_octo_af_xdp_is(const struct rte_eth_dev_info *info);

bool
__wrap_octo_af_xdp_is(const struct rte_eth_dev_info *info)
{
	return is_af_xdp || __real_octo_af_xdp_is(info);
}

void
octo_port_claim_af_xdp(void)
{
	is_af_xdp = true;
}

static int
start(struct rte_eth_dev *dev)
{
	of(dev)->faults.starts++;
	return of(dev)->faults.start != 0 ? -of(dev)->faults.start : of(dev)->real->dev_start(dev);
}

static int
stop(struct rte_eth_dev *dev)
{
	of(dev)->faults.stops++;
	return of(dev)->faults.stop != 0 ? -of(dev)->faults.stop : of(dev)->real->dev_stop(dev);
}

static int
configure(struct rte_eth_dev *dev)
{
	of(dev)->faults.configures++;
	if (of(dev)->faults.configure != 0)
		return -of(dev)->faults.configure;
	of(dev)->faults.rss_hf = dev->data->dev_conf.rx_adv_conf.rss_conf.rss_hf;
	of(dev)->faults.vlan = dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN;
	return of(dev)->real->dev_configure(dev);
}

static int
rx_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
	 const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	if (of(dev)->faults.rx_setup != 0)
		return -of(dev)->faults.rx_setup;
	if (queue < RTE_DIM(of(dev)->faults.rx_socket))
		of(dev)->faults.rx_socket[queue] = (int)socket;
	return of(dev)->real->rx_queue_setup(dev, queue, nb_desc, socket, conf, pool);
}

static int
tx_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
	 const struct rte_eth_txconf *conf)
{
	if (of(dev)->faults.tx_setup != 0)
		return -of(dev)->faults.tx_setup;
	if (queue < RTE_DIM(of(dev)->faults.tx_socket))
		of(dev)->faults.tx_socket[queue] = (int)socket;
	return of(dev)->real->tx_queue_setup(dev, queue, nb_desc, socket, conf);
}

/* All bits, those that no ethdev has a name for yet among them. */
static void
claim_all(struct rte_eth_dev_info *info)
{
	info->rx_offload_capa = UINT64_MAX;
	info->rx_queue_offload_capa = UINT64_MAX;
	info->tx_offload_capa = UINT64_MAX;
	info->tx_queue_offload_capa = UINT64_MAX;
	info->default_rxconf.offloads = UINT64_MAX;
	info->default_txconf.offloads = UINT64_MAX;
	info->dev_capa = UINT64_MAX;
	info->flow_type_rss_offloads = UINT64_MAX;
	info->rss_algo_capa = UINT32_MAX;
	info->max_lro_pkt_size = info->max_rx_pktlen;
	info->max_hash_mac_addrs = 1;
	info->max_vfs = 1;
	info->max_vmdq_pools = 1;
	info->vmdq_queue_base = 1;
	info->vmdq_queue_num = 1;
	info->vmdq_pool_base = 1;
	info->if_index = 1;
	info->switch_info = (struct rte_eth_switch_info){.name = "stub", .domain_id = 1};
	memset(&info->rx_seg_capa, UINT8_MAX, sizeof(info->rx_seg_capa));
	info->err_handle_mode = RTE_ETH_ERROR_HANDLE_MODE_PROACTIVE;
}

/* Ethdev's bits of VLAN offloads: what it configures, and what it sets. */
static const struct {
	uint64_t offload;
	int mask;
} vlan_bits[] = {
	{RTE_ETH_RX_OFFLOAD_VLAN_STRIP, RTE_ETH_VLAN_STRIP_MASK},
	{RTE_ETH_RX_OFFLOAD_VLAN_FILTER, RTE_ETH_VLAN_FILTER_MASK},
	{RTE_ETH_RX_OFFLOAD_VLAN_EXTEND, RTE_ETH_VLAN_EXTEND_MASK},
	{RTE_ETH_RX_OFFLOAD_QINQ_STRIP, RTE_ETH_QINQ_STRIP_MASK},
};

/* What is not in the mask stays, whatever the configuration says. */
static int
vlan_offload_set(struct rte_eth_dev *dev, int mask)
{
	const uint64_t wanted = dev->data->dev_conf.rxmode.offloads;
	struct octo_port_faults *f = &of(dev)->faults;

	if (!f->claims_all)
		return of(dev)->real->vlan_offload_set(dev, mask);
	f->vlan_mask = mask;
	for (unsigned int i = 0; i < RTE_DIM(vlan_bits); i++)
		if (mask & vlan_bits[i].mask)
			f->vlan = (f->vlan & ~vlan_bits[i].offload) |
				  (wanted & vlan_bits[i].offload);
	return 0;
}

static int
vlan_filter_set(struct rte_eth_dev *dev, uint16_t id, int on)
{
	of(dev)->faults.vlan_ids++;
	return of(dev)->real->vlan_filter_set(dev, id, on);
}

/* All that it is asked for, if it claims all. */
static int
metadata_negotiate(struct rte_eth_dev *dev, uint64_t *features)
{
	struct octo_port_faults *f = &of(dev)->faults;

	f->metadata = *features;
	return f->claims_all ? 0 : -ENOTSUP;
}

static int
infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	int ret = of(dev)->real->dev_infos_get(dev, info);

	if (of(dev)->faults.max_macs != 0)
		info->max_mac_addrs = of(dev)->faults.max_macs;
	if (of(dev)->faults.reta_size != 0)
		info->reta_size = of(dev)->faults.reta_size;
	if (of(dev)->faults.max_desc != 0)
		info->rx_desc_lim.nb_max = of(dev)->faults.max_desc;
	if (of(dev)->faults.max_desc != 0)
		info->tx_desc_lim.nb_max = of(dev)->faults.max_desc;
	if (of(dev)->faults.max_segs != 0)
		info->rx_seg_capa.max_nseg = of(dev)->faults.max_segs;
	if (of(dev)->faults.claims_all)
		claim_all(info);
	return ret;
}

static int
reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct octo_port_faults *f = &of(dev)->faults;

	if (f->reta_update != 0)
		return -f->reta_update;
	if (f->reta_size == 0)
		return of(dev)->real->reta_update(dev, reta, size);
	for (uint16_t i = 0; i < size; i++)
		if (reta[i / 64].mask & RTE_BIT64(i % 64))
			f->reta[i] = reta[i / 64].reta[i % 64];
	return 0;
}

static int
hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	of(dev)->faults.rss_hf = conf->rss_hf;
	return of(dev)->real->rss_hash_update(dev, conf);
}

/* The simulated NIC has forgotten types that it cannot hash. */
static int
hash_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	const int ret = of(dev)->real->rss_hash_conf_get(dev, conf);

	if (of(dev)->faults.claims_all)
		conf->rss_hf = of(dev)->faults.rss_hf;
	return ret;
}

static int
ptypes_set(struct rte_eth_dev *dev, uint32_t mask)
{
	struct octo_port_faults *f = &of(dev)->faults;

	if (f->ptypes_set == 0)
		f->ptypes = mask;
	return -f->ptypes_set;
}

static int
refuse(const struct rte_eth_dev *dev, int code, struct rte_flow_error *error)
{
	rte_errno = code;
	if (of(dev)->faults.silent)
		return -code;
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "made up for the test");
}

static bool
has_count(const struct rte_flow_action *actions)
{
	while (actions->type != RTE_FLOW_ACTION_TYPE_END &&
	       actions->type != RTE_FLOW_ACTION_TYPE_COUNT)
		actions++;
	return actions->type == RTE_FLOW_ACTION_TYPE_COUNT;
}

static int
validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	 const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	 struct rte_flow_error *error)
{
	const struct octo_port_faults *f = &of(dev)->faults;
	int code = attr->transfer ? f->validate_transfer : f->validate_ingress;

	if (f->priorities != 0 && attr->priority >= f->priorities)
		code = EINVAL;
	if (f->count != 0 && has_count(actions))
		code = f->count;
	return code != 0 ? refuse(dev, code, error) :
			   of(dev)->real_flow->validate(dev, attr, pattern, actions, error);
}

static struct rte_flow *
create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
       struct rte_flow_error *error)
{
	struct octo_port_faults *f = &of(dev)->faults;
	int code = attr->transfer ? f->create_transfer : f->create_ingress;
	void (*on_create)(void) = f->on_create;

	if (f->priorities != 0 && attr->priority >= f->priorities)
		code = EINVAL;
	if (on_create != NULL) {
		f->on_create = NULL;
		on_create();
	}
	f->transfers += code == 0 && attr->transfer;
	f->ingresses += code == 0 && !attr->transfer;
	if (code == 0)
		return of(dev)->real_flow->create(dev, attr, pattern, actions, error);
	refuse(dev, code, error);
	return NULL;
}

static int
destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	const struct octo_port_faults *f = &of(dev)->faults;
	int ret = f->destroy != 0 ? refuse(dev, f->destroy, error) :
				    of(dev)->real_flow->destroy(dev, flow, error);

	if (f->errno_after != 0)
		rte_errno = f->errno_after;
	return ret;
}

static int
flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	return of(dev)->real_flow->flush(dev, error);
}

static int
query(struct rte_eth_dev *dev, struct rte_flow *flow, const struct rte_flow_action *actions,
      void *data, struct rte_flow_error *error)
{
	return of(dev)->real_flow->query(dev, flow, actions, data, error);
}

static int
isolate(struct rte_eth_dev *dev, int set, struct rte_flow_error *error)
{
	if (of(dev)->faults.isolate != 0)
		return refuse(dev, of(dev)->faults.isolate, error);
	of(dev)->faults.isolated = set;
	return of(dev)->real_flow->isolate(dev, set, error);
}

static void
rxq_info_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_rxq_info *info)
{
	of(dev)->real->rxq_info_get(dev, queue, info);
	if (of(dev)->faults.hides_pool)
		info->mp = NULL;
}

static int
timesync_enable(struct rte_eth_dev *dev)
{
	const int code = of(dev)->faults.timesync_enable;

	return code != 0 ? -code : of(dev)->real->timesync_enable(dev);
}

static int
pick_transfer_proxy(struct rte_eth_dev *dev, uint16_t *port, struct rte_flow_error *error)
{
	if (of(dev)->faults.pick_proxy != 0)
		return refuse(dev, of(dev)->faults.pick_proxy, error);
	return of(dev)->real_flow->pick_transfer_proxy(dev, port, error);
}

static int
flow_configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr, uint16_t nb_queue,
	       const struct rte_flow_queue_attr *queue_attr[], struct rte_flow_error *error)
{
	if (of(dev)->faults.flow_configure != 0)
		return refuse(dev, of(dev)->faults.flow_configure, error);
	return of(dev)->real_flow->configure(dev, attr, nb_queue, queue_attr, error);
}

static struct rte_flow_action_handle *
handle_create(struct rte_eth_dev *dev, const struct rte_flow_indir_action_conf *conf,
	      const struct rte_flow_action *action, struct rte_flow_error *error)
{
	struct octo_port_faults *f = &of(dev)->faults;
	struct rte_flow_action_handle *handle;

	if (f->handle_create != 0) {
		refuse(dev, f->handle_create, error);
		return NULL;
	}
	handle = of(dev)->real_flow->action_handle_create(dev, conf, action, error);
	f->handles += handle != NULL;
	return handle;
}

static int
handle_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
	       struct rte_flow_error *error)
{
	const int code = of(dev)->faults.handle_destroy;
	int ret = code != 0 ? refuse(dev, code, error) :
			      of(dev)->real_flow->action_handle_destroy(dev, handle, error);

	of(dev)->faults.handles -= ret == 0;
	return ret;
}

static int
handle_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle, const void *update,
	      struct rte_flow_error *error)
{
	if (of(dev)->faults.handle_update != 0)
		return refuse(dev, of(dev)->faults.handle_update, error);
	return of(dev)->real_flow->action_handle_update(dev, handle, update, error);
}

/* All others are the PF's own. */
static int
flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	int ret = of(dev)->real->flow_ops_get(dev, &of(dev)->real_flow);
	struct rte_flow_ops *flow = &of(dev)->flow;

	*flow = *of(dev)->real_flow;
	flow->validate = validate;
	flow->create = create;
	flow->destroy = destroy;
	flow->flush = flush;
	flow->query = query;
	flow->isolate = isolate;
	flow->pick_transfer_proxy = pick_transfer_proxy;
	flow->configure = flow_configure;
	flow->action_handle_create = handle_create;
	flow->action_handle_destroy = handle_destroy;
	flow->action_handle_update = handle_update;
	*ops = flow;
	return ret;
}

struct octo_port_faults *
octo_port_faults_on_port(uint16_t port_id)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port_id];
	struct replaced *r = of(dev);

	*r = (struct replaced){.real = dev->dev_ops, .ops = *dev->dev_ops};
	r->ops.dev_start = start;
	r->ops.dev_stop = stop;
	r->ops.dev_configure = configure;
	r->ops.rx_queue_setup = rx_setup;
	r->ops.tx_queue_setup = tx_setup;
	r->ops.dev_infos_get = infos_get;
	r->ops.vlan_offload_set = vlan_offload_set;
	r->ops.vlan_filter_set = vlan_filter_set;
	r->ops.rx_metadata_negotiate = metadata_negotiate;
	r->ops.reta_update = reta_update;
	r->ops.rss_hash_update = hash_update;
	r->ops.rss_hash_conf_get = hash_get;
	r->ops.dev_ptypes_set = ptypes_set;
	r->ops.timesync_enable = timesync_enable;
	r->ops.rxq_info_get = rxq_info_get;
	r->ops.flow_ops_get = flow_ops_get;
	dev->dev_ops = &r->ops;
	return &r->faults;
}

struct octo_port_faults *
octo_port_faults_on(unsigned int pf)
{
	return octo_port_faults_on_port(octo_port_pf(pf));
}

void
octo_port_lack_mac_remove(unsigned int pf)
{
	octo_port_faults_on(pf);
	replaced[octo_port_pf(pf)].ops.mac_addr_remove = NULL;
}

void
octo_port_flag_removal(unsigned int pf)
{
	rte_eth_devices[octo_port_pf(pf)].data->dev_flags |= RTE_ETH_DEV_INTR_RMV;
}

static int (*in_place)(uint16_t port, struct rte_flow *flow, const struct rte_flow_action actions[],
		       struct rte_flow_error *error);

void
octo_port_lack_update(void)
{
	/* NULL where the release has no such call, or at the second call of a test */
	if (octo_replace_in_place != NULL)
		in_place = octo_replace_in_place;
	octo_replace_in_place = NULL;
}

void
octo_port_faults_off(void)
{
	has_node_1 = false;
	is_af_xdp = false;
	if (in_place != NULL)
		octo_replace_in_place = in_place;
	for (unsigned int i = 0; i < RTE_DIM(replaced); i++) {
		struct rte_eth_dev *dev = &rte_eth_devices[i];

		/* a port that has come since has operations of its own */
		if (replaced[i].real != NULL && dev->dev_ops == &replaced[i].ops)
			dev->dev_ops = replaced[i].real;
	}
}

int32_t
octo_port_dead_process(void)
{
	const pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return child;
}
