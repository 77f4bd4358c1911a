/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "octo_nic.h"
#include "octo_ethtool.h"
#include "octo_ethtool_io.h"
#include "octo_flow_build.h"
#include "octo_nic.h"
#include "octo_port.h"
#include "octo_port_kernel.h"

#define CHANNELS 16 /* at first */

struct octo_port_kernel octo_port_kernel;
void (*octo_port_kernel_waits)(void);
static bool is_on;

int __real_octo_ethtool_io(int fd, uint32_t ifindex, void *request);
int __wrap_octo_ethtool_io(int fd, uint32_t ifindex, void *request);
void __real_octo_ethtool_io_wait(int fd, uint64_t until);
void __wrap_octo_ethtool_io_wait(int fd, uint64_t until);
uint32_t __real_octo_af_xdp_netdev(const struct rte_eth_dev_info *info);
uint32_t __wrap_octo_af_xdp_netdev(const struct rte_eth_dev_info *info);

void __real_octo_nic_strip(const struct octo_port *port, struct rte_eth_conf *conf);
void __wrap_octo_nic_strip(const struct octo_port *port, struct rte_eth_conf *conf);

/* The simulated NIC is to hash as the kernel says, which no driver is told. */
void
__wrap_octo_nic_strip(const struct octo_port *port, struct rte_eth_conf *conf)
{
	__real_octo_nic_strip(port, conf);
	if (!is_on || !octo_port_kernel.follows)
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf = (struct rte_eth_rss_conf){
		.rss_key = octo_port_kernel.key,
		.rss_key_len = OCTO_PORT_KERNEL_KEY,
		.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
	};
}

/* No two tests that run at the same time have the same file. */
uint32_t
octo_port_kernel_ifindex(void)
{
	return 1000000 + (uint32_t)getpid();
}

struct octo_ethtool *
octo_port_kernel_open(void)
{
	struct octo_ethtool *et = octo_ethtool_open(octo_port_kernel_dir,
						    octo_port_kernel_ifindex());

	assert_non_null(et);
	return et;
}

uint32_t
__wrap_octo_af_xdp_netdev(const struct rte_eth_dev_info *info)
{
	return is_on ? octo_port_kernel_ifindex() : __real_octo_af_xdp_netdev(info);
}

static void
set_default_reta(void)
{
	struct octo_port_kernel *k = &octo_port_kernel;

	for (uint32_t i = 0; i < k->reta_size; i++)
		k->reta[i] = i % k->channels;
	k->is_default = true;
}

void
octo_port_kernel_resize(uint32_t reta_size)
{
	octo_port_kernel.reta_size = reta_size;
	set_default_reta();
}

void
octo_port_kernel_on(void)
{
	static const uint8_t key[OCTO_PORT_KERNEL_KEY] = {
		0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
		0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
		0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
	};

	octo_port_kernel = (struct octo_port_kernel){
		.size = OCTO_PORT_KERNEL_RULES,
		.channels = CHANNELS,
		.hfunc = 1,
	};
	memcpy(octo_port_kernel.key, key, sizeof(key));
	octo_port_kernel_resize(128);
	is_on = true;
}

void
octo_port_kernel_off(void)
{
	is_on = false;
}

static bool
is_tuple(const struct ethtool_rx_flow_spec *fs, const struct octo_tuple *tuple)
{
	struct ethtool_rxnfc nfc;

	assert_int_equal(octo_ethtool_fill_insert(&nfc, tuple, 0, 0), 0);
	return octo_ethtool_same_flow(fs, &nfc.fs);
}

static struct octo_tuple
tuple_of(const struct ethtool_rx_flow_spec *fs)
{
	const struct ethtool_tcpip4_spec *spec = &fs->h_u.tcp_ip4_spec;
	struct octo_tuple t;

	octo_tuple_clear(&t);
	t.family = OCTO_IPV4;
	t.proto = fs->flow_type == TCP_V4_FLOW ? IPPROTO_TCP : IPPROTO_UDP;
	t.src_port = spec->psrc;
	t.dst_port = spec->pdst;
	memcpy(t.src, &spec->ip4src, sizeof(spec->ip4src));
	memcpy(t.dst, &spec->ip4dst, sizeof(spec->ip4dst));
	return t;
}

/* Have packets on the simulated wire follow the rule, or no longer. */
static void
lead(uint32_t location)
{
	struct octo_port_kernel *k = &octo_port_kernel;
	const struct ethtool_rx_flow_spec *fs = &k->rule[location];
	struct rte_flow_error error;
	struct octo_flow_rule r;
	struct octo_tuple t;

	if (!k->follows || !octo_port_pf_is_there(0))
		return;
	if (k->flow[location] != NULL)
		rte_flow_destroy(octo_port_pf(0), k->flow[location], &error);
	k->flow[location] = NULL;
	if (!k->used[location] || (fs->flow_type != TCP_V4_FLOW && fs->flow_type != UDP_V4_FLOW))
		return;
	t = tuple_of(fs);
	octo_flow_build_queue(&r, &t, 0, (uint16_t)fs->ring_cookie, false);
	k->flow[location] = rte_flow_create(octo_port_pf(0), &r.attr, r.pattern, r.actions, &error);
	assert_non_null(k->flow[location]);
}

static void
put(uint32_t location, const struct ethtool_rx_flow_spec *fs)
{
	octo_port_kernel.rule[location] = *fs;
	octo_port_kernel.rule[location].location = location;
	octo_port_kernel.used[location] = true;
	lead(location);
}

static void
take(uint32_t location)
{
	octo_port_kernel.used[location] = false;
	lead(location);
}

void
octo_port_kernel_add(uint32_t location, const struct octo_tuple *tuple, uint32_t channel)
{
	struct ethtool_rxnfc nfc;

	assert_int_equal(octo_ethtool_fill_insert(&nfc, tuple, channel, location), 0);
	put(location, &nfc.fs);
}

unsigned int
octo_port_kernel_count(void)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < octo_port_kernel.size; i++)
		n += octo_port_kernel.used[i];
	return n;
}

int
octo_port_kernel_channel(const struct octo_tuple *tuple)
{
	int channel = -1;

	for (uint32_t i = 0; i < octo_port_kernel.size; i++) {
		if (!octo_port_kernel.used[i] || !is_tuple(&octo_port_kernel.rule[i], tuple))
			continue;
		if (channel != -1)
			return -2;
		channel = (int)octo_port_kernel.rule[i].ring_cookie;
	}
	return channel;
}

uint64_t
octo_port_kernel_channels(void)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < octo_port_kernel.reta_size; i++)
		mask |= RTE_BIT64(octo_port_kernel.reta[i]);
	return mask;
}

static int
list(struct ethtool_rxnfc *nfc)
{
	const struct octo_port_kernel *k = &octo_port_kernel;
	uint32_t n = 0;

	if (nfc->rule_cnt < octo_port_kernel_count())
		return EMSGSIZE;
	if (k->late_size && nfc->rule_cnt > octo_port_kernel_count())
		return EINVAL;
	for (uint32_t i = 0; i < k->size; i++)
		if (k->used[i])
			nfc->rule_locs[n++] = i;
	nfc->rule_cnt = n;
	nfc->data = k->size;
	return 0;
}

/* One of the driver's choice, or that of the same flow, which is replaced. */
static uint32_t
place_for(const struct ethtool_rx_flow_spec *fs)
{
	const struct octo_port_kernel *k = &octo_port_kernel;

	for (uint32_t i = 0; i < k->size && !k->doubles; i++)
		if (k->used[i] && octo_ethtool_same_flow(&k->rule[i], fs))
			return i;
	for (uint32_t i = 0; i < k->size; i++)
		if (!k->used[i])
			return i;
	return k->size;
}

static int
insert(struct ethtool_rxnfc *nfc)
{
	struct octo_port_kernel *k = &octo_port_kernel;
	uint32_t location = nfc->fs.location;
	int ret = k->change != 0 ? k->change : k->insert;

	if (k->special != (location == RX_CLS_LOC_ANY))
		return EINVAL;
	if (k->special)
		location = place_for(&nfc->fs);
	if (ret == 0 && location >= k->size)
		ret = ENOSPC;
	if (ret == 0 && nfc->fs.ring_cookie >= k->channels)
		ret = EINVAL;
	if (ret != 0 && k->removes_first && ret != EPERM && location < k->size)
		take(location);
	if (ret != 0)
		return ret;
	nfc->fs.location = location;
	put(location, &nfc->fs);
	k->inserted++;
	return 0;
}

static int delete (const struct ethtool_rxnfc *nfc)
{
	struct octo_port_kernel *k = &octo_port_kernel;
	const int ret = k->change != 0 ? k->change : k->remove;

	if (ret != 0)
		return ret;
	if (k->stays == nfc->fs.location + 1)
		return EBUSY;
	if (nfc->fs.location >= k->size || !k->used[nfc->fs.location])
		return ENOENT;
	take(nfc->fs.location);
	k->removed++;
	return 0;
}

static int
rules(struct ethtool_rxnfc *nfc)
{
	struct octo_port_kernel *k = &octo_port_kernel;

	if (k->no_rules != 0)
		return k->no_rules;
	switch (nfc->cmd) {
	case ETHTOOL_GRXCLSRLCNT:
		nfc->rule_cnt = octo_port_kernel_count();
		nfc->data = (k->late_size ? 0 : k->size) | (k->special ? RX_CLS_LOC_SPECIAL : 0);
		return 0;
	case ETHTOOL_GRXCLSRLALL:
		return list(nfc);
	case ETHTOOL_GRXCLSRULE:
		if (k->read != 0)
			return k->read;
		if (nfc->fs.location >= k->size || !k->used[nfc->fs.location])
			return ENOENT;
		nfc->fs = k->rule[nfc->fs.location];
		return 0;
	case ETHTOOL_SRXCLSRLINS:
		return insert(nfc);
	default:
		return delete (nfc);
	}
}

/* The field input_xfrm of newer headers. */
static uint8_t *
xfrm_of(struct ethtool_rxfh *rxfh)
{
	return (uint8_t *)rxfh + offsetof(struct ethtool_rxfh, hfunc) + 1;
}

static int
get_rss(struct ethtool_rxfh *rxfh)
{
	const struct octo_port_kernel *k = &octo_port_kernel;
	const bool sizes = rxfh->indir_size == 0 && rxfh->key_size == 0;
	const bool fits = sizes || (rxfh->indir_size == k->reta_size &&
				    rxfh->key_size == OCTO_PORT_KERNEL_KEY);

	/* also with the error */
	rxfh->indir_size = k->reta_size;
	rxfh->key_size = OCTO_PORT_KERNEL_KEY;
	if (!fits)
		return EINVAL;
	rxfh->hfunc = k->hfunc;
	*xfrm_of(rxfh) = k->xfrm;
	if (sizes)
		return 0;
	memcpy(rxfh->rss_config, k->reta, k->reta_size * sizeof(k->reta[0]));
	memcpy(&rxfh->rss_config[k->reta_size], k->key, sizeof(k->key));
	return 0;
}

/* Channels that the simulated NIC's port has no queue for are those of its last queue. */
static void
spread(void)
{
	struct rte_eth_rss_reta_entry64 reta[OCTO_PORT_KERNEL_RETA / RTE_ETH_RETA_GROUP_SIZE];
	const struct octo_port_kernel *k = &octo_port_kernel;
	struct rte_eth_dev_info info;

	if (!k->follows || !octo_port_pf_is_there(0))
		return;
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &info), 0);
	if (info.nb_rx_queues == 0)
		return;
	for (uint32_t i = 0; i < k->reta_size; i++) {
		reta[i / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_MAX;
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = (uint16_t)
			RTE_MIN(k->reta[i], info.nb_rx_queues - 1u);
	}
	assert_int_equal(rte_eth_dev_rss_reta_update(octo_port_pf(0), reta, k->reta_size), 0);
}

static int
set_rss(struct ethtool_rxfh *rxfh)
{
	struct octo_port_kernel *k = &octo_port_kernel;
	const int ret = k->change != 0 ? k->change : k->set_reta;

	if (ret != 0)
		return ret;
	if (rxfh->hfunc != 0 || rxfh->key_size != 0 ||
	    (rxfh->indir_size != 0 && rxfh->indir_size != k->reta_size))
		return EINVAL;
	/* older kernels have no such field */
	if (k->xfrm == 0 && *xfrm_of(rxfh) != 0)
		return EINVAL;
	k->xfrm = *xfrm_of(rxfh);
	if (rxfh->indir_size == 0) {
		set_default_reta();
		k->reta_set++;
		spread();
		return 0;
	}
	for (uint32_t i = 0; i < k->reta_size; i++)
		if (rxfh->rss_config[i] >= k->channels)
			return EINVAL;
	memcpy(k->reta, rxfh->rss_config, k->reta_size * sizeof(k->reta[0]));
	k->is_default = false;
	k->reta_set++;
	spread();
	return 0;
}

static int
answer(void *request)
{
	const struct octo_port_kernel *k = &octo_port_kernel;

	if (k->everything != 0)
		return k->everything;
	switch (*(uint32_t *)request) {
	case ETHTOOL_GRXFH:
		((struct ethtool_rxnfc *)request)->data = RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1 |
							  RXH_L4_B_2_3;
		return 0;
	case ETHTOOL_GRXRINGS:
		((struct ethtool_rxnfc *)request)->data = k->channels;
		return 0;
	case ETHTOOL_GRSSH:
		return k->no_reta != 0 ? k->no_reta : get_rss(request);
	case ETHTOOL_SRSSH:
		return k->no_reta != 0 ? k->no_reta : set_rss(request);
	default:
		return rules(request);
	}
}

int
__wrap_octo_ethtool_io(int fd, uint32_t ifindex, void *request)
{
	if (!is_on)
		return __real_octo_ethtool_io(fd, ifindex, request);
	assert_int_equal(ifindex, octo_port_kernel_ifindex());
	return -answer(request);
}

/* An agent that does not answer when it has its turn does not answer in time either. */
void
__wrap_octo_ethtool_io_wait(int fd, uint64_t until)
{
	struct pollfd fds = {.fd = fd, .events = POLLIN};
	const uint64_t now = octo_now();
	uint64_t us;

	if (octo_port_kernel_waits == NULL) {
		__real_octo_ethtool_io_wait(fd, until);
		return;
	}
	octo_port_kernel_waits();
	if (poll(&fds, 1, 0) != 0 || now >= until)
		return;
	us = (until - now) * US_PER_S / rte_get_timer_hz() + 1;
	octo_port_kernel.waited_us += us;
	octo_sleep_us(us);
}

int
octo_port_kernel_setup(void **state)
{
	octo_port_kernel_on();
	octo_port_kernel.follows = true;
	return octo_port_setup(state);
}

int
octo_port_kernel_teardown(void **state)
{
	const struct octo_port_kernel *k = &octo_port_kernel;
	const int ret = octo_port_teardown(state);
	bool is_back = true;

	for (uint32_t i = 0; i < k->reta_size; i++)
		is_back &= k->reta[i] == i % k->channels;
	octo_port_kernel_off();
	if (!is_back)
		print_error("the RETA is not as it was\n");
	return is_back ? ret : -1;
}

struct octo_tuple
octo_port_kernel_tuple(uint16_t src_port)
{
	struct octo_tuple t;

	assert_int_equal(octo_tuple_read(&t, "udp", "10.0.0.1", src_port, "10.0.0.2", 9, NULL), 0);
	return t;
}

int
octo_port_kernel_channel_of(uint16_t src_port)
{
	const struct octo_tuple t = octo_port_kernel_tuple(src_port);

	return octo_port_kernel_channel(&t);
}

void
octo_port_kernel_send_flows(uint16_t port, uint16_t nb_queues)
{
	struct octo_port_tally tally = {0};

	for (uint16_t flow = 0; flow < OCTO_PORT_KERNEL_FLOWS; flow++)
		octo_port_send(port, 0, flow, 1);
	for (int i = 0; i < 1000 && tally.packets < OCTO_PORT_KERNEL_FLOWS; i++) {
		for (uint16_t q = 0; q < nb_queues; q++)
			octo_port_poll(port, q, 32, &tally);
		octo_port_pass_us(100);
	}
	assert_int_equal(tally.packets, OCTO_PORT_KERNEL_FLOWS);
}

char octo_port_kernel_dir[64];

int
octo_port_kernel_dir_setup(void **state)
{
	(void)state;
	octo_port_kernel_on();
	strcpy(octo_port_kernel_dir, "/tmp/octo_ethtool_XXXXXX");
	return mkdtemp(octo_port_kernel_dir) == NULL ? -1 : 0;
}

int
octo_port_kernel_dir_teardown(void **state)
{
	(void)state;
	octo_port_kernel_off();
	return rmdir(octo_port_kernel_dir);
}

void
octo_port_kernel_die(struct octo_ethtool *et)
{
	octo_ethtool_journal_leave(&et->journal);
	close(et->fd);
	free(et);
}
