/* SPDX-License-Identifier: BSD-3-Clause */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include <eal_export.h>
#include <rte_common.h>

#include "octo_tuple.h"

static const struct {
	const char *name;
	uint8_t number;
} protocols[] = {
	{"tcp", IPPROTO_TCP},
	{"udp", IPPROTO_UDP},
	{"sctp", IPPROTO_SCTP},
};

RTE_EXPORT_INTERNAL_SYMBOL(octo_tuple_proto_name)
const char *
octo_tuple_proto_name(uint8_t proto)
{
	for (size_t i = 0; i < RTE_DIM(protocols); i++)
		if (protocols[i].number == proto)
			return protocols[i].name;
	return "?";
}

static int
proto_read(const char *name, uint8_t *proto)
{
	for (size_t i = 0; i < RTE_DIM(protocols); i++) {
		if (strcmp(protocols[i].name, name) == 0) {
			*proto = protocols[i].number;
			return 0;
		}
	}
	return -EINVAL;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tuple_format_addr)
char *
octo_tuple_format_addr(const struct octo_tuple *t, const uint8_t *addr, char *text)
{
	inet_ntop(t->family == OCTO_IPV4 ? AF_INET : AF_INET6, addr, text, OCTO_ADDR_TEXT_MAX);
	return text;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tuple_format)
char *
octo_tuple_format(const struct octo_tuple *t, char *text)
{
	const char *open = t->family == OCTO_IPV4 ? "" : "[";
	const char *close = t->family == OCTO_IPV4 ? "" : "]";
	char src[OCTO_ADDR_TEXT_MAX];
	char dst[OCTO_ADDR_TEXT_MAX];

	snprintf(text, OCTO_TUPLE_TEXT_MAX, "%s %s%s%s:%u > %s%s%s:%u",
		 octo_tuple_proto_name(t->proto), open, octo_tuple_format_addr(t, t->src, src),
		 close, ntohs(t->src_port), open, octo_tuple_format_addr(t, t->dst, dst), close,
		 ntohs(t->dst_port));
	return text;
}

static int
addr_read(const char *text, uint8_t family, uint8_t *addr)
{
	return inet_pton(family == OCTO_IPV4 ? AF_INET : AF_INET6, text, addr) == 1 ? 0 : -EINVAL;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tuple_read)
int
octo_tuple_read(struct octo_tuple *t, const char *proto, const char *src, uint16_t src_port,
		const char *dst, uint16_t dst_port, const char **culprit)
{
	const char *wrong = NULL;
	struct octo_tuple r;

	octo_tuple_clear(&r);
	r.family = strchr(src, ':') == NULL ? OCTO_IPV4 : OCTO_IPV6;
	r.src_port = htons(src_port);
	r.dst_port = htons(dst_port);
	if (proto_read(proto, &r.proto) != 0)
		wrong = "protocol";
	else if (addr_read(src, r.family, r.src) != 0)
		wrong = "source address";
	else if (addr_read(dst, r.family, r.dst) != 0)
		wrong = "destination address";
	if (wrong != NULL) {
		if (culprit != NULL)
			*culprit = wrong;
		return -EINVAL;
	}
	*t = r;
	return 0;
}
