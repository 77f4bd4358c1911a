/* SPDX-License-Identifier: BSD-3-Clause */

/* The PFs' configuration, derived from the port's. */

#include "octo_private.h"

int
octo_pf_config_alone_locked(struct octo_port *port, uint16_t nb_rx, uint16_t nb_tx,
			    const struct rte_eth_conf *conf)
{
	const bool barred = rte_atomic_load_explicit(&port->barred, rte_memory_order_relaxed);
	int ret;

	octo_users_bar(port);
	octo_users_await(port);
	ret = rte_eth_dev_configure(port->port_id, nb_rx, nb_tx, conf);
	if (!barred)
		octo_users_admit(port);
	return ret;
}

static int
configure_as(const struct octo_dev *octo, struct octo_port *port, struct rte_eth_conf conf)
{
	uint16_t nb_rx = octo_data(octo)->nb_rx_queues;
	uint16_t nb_tx = octo_data(octo)->nb_tx_queues + octo->macs.announces;
	int ret;

	if (octo->sliced) {
		const uint16_t total = octo_slices_total(octo, RTE_MAX(nb_rx, nb_tx));

		nb_rx = nb_rx > 0 ? total : 0;
		nb_tx = nb_tx > 0 ? total : 0;
	}

	/* the control thread polls the link of PFs without this interrupt */
	conf.intr_conf.lsc = port->has_lsc;
	conf.intr_conf.rmv = port->has_rmv;
	octo_nic_strip(port, &conf);
	ret = octo_pf_config_alone_locked(port, nb_rx, nb_tx, &conf);
	if (ret == 0)
		octo_port_did(port, OCTO_PORT_EV_CONFIGURED);
	return ret;
}

static int
pf_configure(struct octo_port *port, const void *arg)
{
	const struct octo_dev *octo = arg;

	return configure_as(octo, port, octo_data(octo)->dev_conf);
}

/*
 * Configure a PF that comes back as it was. The RSS key comes from octo's copy, as the
 * application's may be freed by now, and the hash types are those set last: some PFs accept
 * none before they are started.
 */
int
octo_pf_config_again_locked(struct octo_dev *octo, struct octo_port *port)
{
	struct octo_settings *s = &octo->settings;
	struct rte_eth_conf conf = octo_data(octo)->dev_conf;

	conf.rxmode.offloads &= ~RTE_ETH_RX_OFFLOAD_VLAN;
	conf.rxmode.offloads |= s->vlan_offloads;
	conf.rx_adv_conf.rss_conf.rss_key = s->rss_key_len == 0 ? NULL : s->rss_key;
	conf.rx_adv_conf.rss_conf.rss_key_len = s->rss_key_len;
	if (octo_rss_is_on(octo))
		conf.rx_adv_conf.rss_conf.rss_hf = s->rss_hf;
	return configure_as(octo, port, conf);
}

static int
pf_forget_configuration(struct octo_port *port, const void *arg)
{
	RTE_SET_USED(arg);
	octo_port_did(port, OCTO_PORT_EV_UNCONFIGURED);
	return 0;
}

int
octo_pf_config_all_locked(struct octo_dev *octo)
{
	return octo_port_apply(octo, OCTO_PORT_IDLE, "be configured", pf_configure,
			       pf_forget_configuration, octo, NULL);
}
