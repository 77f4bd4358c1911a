/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_ethtool.h"
#include "octo_ethtool_msg.h"

/* The kernel's errnos are smaller. */
#define MAX_ERRNO 4095

static size_t
rss_len(const struct ethtool_rxfh *rxfh, size_t room)
{
	if (room < sizeof(*rxfh) || rxfh->indir_size > OCTO_ETHTOOL_MAX_RETA ||
	    rxfh->key_size > OCTO_ETHTOOL_MSG_MAX_KEY)
		return 0;
	return octo_ethtool_rss_len(rxfh->indir_size, rxfh->key_size);
}

size_t
octo_ethtool_msg_len(const void *request, size_t room)
{
	const uint32_t *cmd = request;

	if (room < sizeof(*cmd))
		return 0;
	switch (*cmd) {
	case OCTO_ETHTOOL_HELLO:
		return sizeof(struct octo_ethtool_hello);
	case ETHTOOL_GRXFH:
	case ETHTOOL_GRXCLSRLCNT:
	case ETHTOOL_GRXCLSRULE:
	case ETHTOOL_SRXCLSRLINS:
	case ETHTOOL_SRXCLSRLDEL:
		return sizeof(struct ethtool_rxnfc);
	case ETHTOOL_GRSSH:
	case ETHTOOL_SRSSH:
		return rss_len(request, room);
	default:
		return 0;
	}
}

/* A question for the sizes alone has none, and its answer has. */
static bool
has_its_sizes(const struct ethtool_rxfh *request, const struct ethtool_rxfh *answer)
{
	if (request->cmd == ETHTOOL_GRSSH && request->indir_size == 0 && request->key_size == 0)
		return answer->indir_size <= OCTO_ETHTOOL_MAX_RETA &&
		       answer->key_size <= OCTO_ETHTOOL_MSG_MAX_KEY;
	return answer->indir_size == request->indir_size && answer->key_size == request->key_size;
}

bool
octo_ethtool_msg_is_answer(const void *request, const struct octo_ethtool_msg *answer, size_t len)
{
	const uint32_t cmd = *(const uint32_t *)request;

	if (len != OCTO_ETHTOOL_MSG_HEADER + octo_ethtool_msg_len(request, SIZE_MAX) ||
	    answer->ret > 0 || answer->ret < -MAX_ERRNO || answer->cmd != cmd)
		return false;
	/* the kernel may write the sizes that it has beside an error */
	if (answer->ret != 0 || (cmd != ETHTOOL_GRSSH && cmd != ETHTOOL_SRSSH))
		return true;
	return has_its_sizes(request, &answer->rxfh);
}
