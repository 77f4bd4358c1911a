/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_string_fns.h>

#include "octo_private.h"

/*
 * Pass a PF's refusal on, with the PF's name in front of its own words. The
 * text lives per thread, until that thread's next refusal. The culprit that it names
 * is in octo's copy of the rule, which nobody else may look at. Returns -errno.
 */
int
octo_flow_blame(const struct octo_pf *pf, int ret, struct rte_flow_error *error)
{
	static __thread char text[RTE_ETH_NAME_MAX_LEN + 344];
	char words[320];
	const char *said = error == NULL || error->message == NULL ? rte_strerror(-ret) :
								     error->message;
	const int code = ret < 0 ? -ret : EIO;

	/* nobody asks: what was said to somebody else before stays as it is */
	if (error == NULL) {
		rte_errno = code;
		return -code;
	}
	rte_strscpy(words, said, sizeof(words)); /* it may be in text */
	snprintf(text, sizeof(text), "PF %s: %s", pf->name, words);
	return rte_flow_error_set(error, code, error->type, NULL, text);
}

/*
 * What destroying a rule, or whatever rules need, on a PF comes to. A PF that is gone took it
 * along, though octo may have yet to notice; of any other the refusal is passed on.
 */
int
octo_flow_destroyed(const struct octo_pf *pf, int ret, struct rte_flow_error *error)
{
	if (ret == 0 || ret == -ENODEV || rte_eth_dev_is_removed(octo_pf_port(pf)))
		return 0;
	return octo_flow_blame(pf, ret, error);
}
