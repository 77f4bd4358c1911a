/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_string_fns.h>

#include "octo_private.h"

/*
 * Pass a PF's refusal on, with the PF's name in front of its message. The text is kept per
 * thread, until that thread's next refusal. The PF's error->cause is dropped, as it points into
 * octo's copy of the rule. Returns -errno and sets rte_errno.
 */
int
octo_flow_blame(const struct octo_port *port, int ret, struct rte_flow_error *error)
{
	static __thread char text[RTE_ETH_NAME_MAX_LEN + 344];
	char words[320];
	const char *said = error == NULL || error->message == NULL ? rte_strerror(-ret) :
								     error->message;
	const int code = ret < 0 ? -ret : EIO;

	/* no message is wanted: the text of an earlier refusal stays valid */
	if (error == NULL) {
		rte_errno = code;
		return -code;
	}
	rte_strscpy(words, said, sizeof(words)); /* said may point into text */
	snprintf(text, sizeof(text), "PF %s: %s", port->name, words);
	return rte_flow_error_set(error, code, error->type, NULL, text);
}

/*
 * The result of destroying a rule, or an object that rules use, on a PF: 0 if the PF is gone, as
 * the object is gone with it, although octo may not have noticed the loss.
 */
int
octo_flow_destroyed(const struct octo_port *port, int ret, struct rte_flow_error *error)
{
	if (ret == 0 || ret == -ENODEV || rte_eth_dev_is_removed(octo_port_usable_id(port)))
		return 0;
	return octo_flow_blame(port, ret, error);
}

int
octo_flow_refuse(struct rte_flow_error *error, int code, const char *why)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_ACTION, NULL, why);
}

/* Refuse what is not wrong with a part of a rule. */
int
octo_flow_fail(struct rte_flow_error *error, int code, const char *why)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, why);
}

/* With tier=none the port accepts no rule of any kind. */
int
octo_flow_error_tier(struct rte_flow_error *error)
{
	return octo_flow_fail(error, ENOTSUP,
			      "the port was made with tier=none: it takes no rules");
}

/* Can flows be steered to this queue? */
int
octo_flow_error_check_queue(const struct octo_dev *octo, uint16_t queue,
			    struct rte_flow_error *error)
{
	if (octo->tier_wanted == OCTO_TIER_NONE)
		return octo_flow_error_tier(error);
	if (octo->started && octo->ignored != OCTO_IGNORED_NONE &&
	    (octo->tier == OCTO_TIER_NONE || octo->tier == OCTO_TIER_MAC))
		return octo_flow_fail(error, ENOTSUP,
				      "the NIC accepts rules and ignores them, "
				      "as strays have shown: nothing can be steered "
				      "until the port is started again");
	if (queue >= octo_data(octo)->nb_rx_queues)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, NULL,
					  "the queue index is not below the port's number "
					  "of Rx queues");
	return 0;
}

int
octo_flow_error_memory(struct rte_flow_error *error)
{
	return octo_flow_fail(error, ENOMEM, "no memory for the rule");
}
