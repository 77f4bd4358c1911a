/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rx metadata (flag, mark, tunnel ID): some PFs deliver none that was not negotiated before they
 * were configured.
 */

#include <errno.h>

#include "octo_private.h"

/*
 * What packets tell without another call. The tunnel of a packet with a tunnel ID is asked of the
 * PF by rte_flow_get_restore_info(), which octo does not have; of others nothing is known.
 */
#define METADATA_SERVED (RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK)

/*
 * Ask a PF. One that cannot negotiate narrows nothing: by the API, the application then finds out
 * from the rules that the PF takes. Nor can one that was configured before, as by an octo port that
 * is closed now, and ethdev would log that as an error: it delivers what it did then.
 */
static int
ask(uint16_t port_id, uint64_t *features)
{
	if (!octo_lower_is_new(port_id))
		return -ENOTSUP;
	return rte_eth_rx_metadata_negotiate(port_id, features);
}

static int
negotiate_locked(struct octo_dev *octo, uint64_t *features)
{
	const uint64_t wanted = *features & METADATA_SERVED;
	uint64_t promised = wanted;
	int answer = -ENOTSUP;
	int i;

	if (!octo_is_primary(octo, "negotiate Rx metadata"))
		return -ENOTSUP;
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE) {
		uint64_t given = wanted;
		const int ret = ask(octo->port[i].port_id, &given);

		if (ret == -ENOTSUP)
			continue;
		if (ret != 0) {
			OCTO_LOG(ERR, "port %u: PF %s cannot negotiate Rx metadata: %s",
				 octo->port_id, octo->port[i].name, rte_strerror(-ret));
			return ret;
		}
		promised &= given;
		answer = 0;
	}
	/* where no PF was asked, all deliver what was negotiated before */
	if (answer == 0) {
		*features = promised;
		octo->settings.rx_metadata = promised;
	}
	return answer;
}

int
octo_rx_metadata_negotiate(struct rte_eth_dev *dev, uint64_t *features)
{
	return OCTO_CALL_LOCKED(dev, negotiate_locked, features);
}

int
octo_rx_metadata_resync_locked(const struct octo_dev *octo, const struct octo_port *port)
{
	const uint64_t promised = octo->settings.rx_metadata;
	uint64_t features = promised;
	int ret;

	if (promised == 0)
		return 0;
	ret = ask(port->port_id, &features);
	if (ret == -ENOTSUP)
		return 0;
	if (ret != 0 || features == promised)
		return ret;
	if (!port->fsm.logged)
		OCTO_LOG(ERR,
			 "port %u: PF %s delivers less Rx metadata than the application was "
			 "promised",
			 octo->port_id, port->name);
	return -EINVAL;
}
