/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>

#include <eal_export.h>
#include <rte_common.h>

#include "octo_agent_msg.h"

#define TUPLE_LEN 40
#define BODY_MAX (OCTO_AGENT_MSG_MAX - OCTO_AGENT_HEADER)

/* Shortest and longest body of each type; any other length is an error. */
static const struct {
	uint16_t min;
	uint16_t max;
} body_len[] = {
	[OCTO_AGENT_HELLO] = {8, 8 + OCTO_AGENT_SECRET_MAX},
	[OCTO_AGENT_WELCOME] = {8, 8},
	[OCTO_AGENT_PUT] = {TUPLE_LEN + 4, TUPLE_LEN + 4},
	[OCTO_AGENT_REMOVE] = {TUPLE_LEN, TUPLE_LEN},
	[OCTO_AGENT_SYNCED] = {0, 0},
	[OCTO_AGENT_QUERY] = {TUPLE_LEN, TUPLE_LEN},
	[OCTO_AGENT_PING] = {0, 0},
	[OCTO_AGENT_RESULT] = {4, BODY_MAX - 1},
	[OCTO_AGENT_COUNT] = {16, 16},
	[OCTO_AGENT_DEFAULT] = {4, 4},
};

/* Writes a number in network order and advances *at. */
static void
put(uint8_t **at, uint64_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		(*at)[i] = (uint8_t)(value >> 8 * (len - 1 - i));
	*at += len;
}

static uint64_t
get(const uint8_t **at, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value = value << 8 | (*at)[i];
	*at += len;
	return value;
}

static void
put_bytes(uint8_t **at, const void *bytes, size_t len)
{
	memcpy(*at, bytes, len);
	*at += len;
}

static void
get_bytes(const uint8_t **at, void *bytes, size_t len)
{
	memcpy(bytes, *at, len);
	*at += len;
}

static void
put_tuple(uint8_t **at, const struct octo_tuple *t)
{
	put(at, t->family, 1);
	put(at, t->proto, 1);
	put_bytes(at, &t->src_port, 2);
	put_bytes(at, &t->dst_port, 2);
	put(at, 0, 2);
	put_bytes(at, t->src, sizeof(t->src));
	put_bytes(at, t->dst, sizeof(t->dst));
}

/* Tuples are compared byte by byte, so unused bytes must be 0. */
static bool
is_canonical(const struct octo_tuple *t)
{
	static const uint8_t zero[12];

	if (t->proto != IPPROTO_TCP && t->proto != IPPROTO_UDP && t->proto != IPPROTO_SCTP)
		return false;
	if (t->family == OCTO_IPV6)
		return true;
	return t->family == OCTO_IPV4 && memcmp(t->src + 4, zero, sizeof(zero)) == 0 &&
	       memcmp(t->dst + 4, zero, sizeof(zero)) == 0;
}

static int
get_tuple(const uint8_t **at, struct octo_tuple *t)
{
	octo_tuple_clear(t);
	t->family = (uint8_t)get(at, 1);
	t->proto = (uint8_t)get(at, 1);
	get_bytes(at, &t->src_port, 2);
	get_bytes(at, &t->dst_port, 2);
	(void)get(at, 2);
	get_bytes(at, t->src, sizeof(t->src));
	get_bytes(at, t->dst, sizeof(t->dst));
	return is_canonical(t) ? 0 : -EBADMSG;
}

static void
put_body(uint8_t **at, const struct octo_agent_msg *msg)
{
	switch (msg->type) {
	case OCTO_AGENT_HELLO:
		put(at, msg->hello.min_version, 2);
		put(at, msg->hello.max_version, 2);
		put(at, msg->hello.nb_pfs, 1);
		put(at, 0, 3);
		put_bytes(at, msg->hello.secret.bytes, msg->hello.secret.len);
		break;
	case OCTO_AGENT_WELCOME:
		put(at, msg->welcome.version, 2);
		put(at, msg->welcome.nb_pfs, 1);
		put(at, msg->welcome.flags, 1);
		put(at, msg->welcome.rules, 4);
		break;
	case OCTO_AGENT_PUT:
	case OCTO_AGENT_REMOVE:
	case OCTO_AGENT_QUERY:
		put_tuple(at, &msg->rule.tuple);
		if (msg->type != OCTO_AGENT_PUT)
			break;
		put(at, msg->rule.pf, 1);
		put(at, 0, 1);
		put(at, msg->rule.queue, 2);
		break;
	case OCTO_AGENT_RESULT:
		put(at, (uint32_t)msg->result.error, 4);
		put_bytes(at, msg->result.text, strnlen(msg->result.text, OCTO_AGENT_TEXT_MAX - 1));
		break;
	case OCTO_AGENT_COUNT:
		put(at, msg->count.hits, 8);
		put(at, msg->count.bytes, 8);
		break;
	case OCTO_AGENT_DEFAULT:
		put(at, msg->default_pf, 1);
		put(at, 0, 3);
		break;
	case OCTO_AGENT_SYNCED:
	case OCTO_AGENT_PING:
		break;
	}
}

static void
get_result(const uint8_t *at, size_t len, struct octo_agent_result *result)
{
	result->error = (int32_t)get(&at, 4);
	memcpy(result->text, at, len - 4);
	result->text[len - 4] = '\0';
}

static void
get_secret(const uint8_t *at, size_t len, struct octo_agent_secret *secret)
{
	*secret = (struct octo_agent_secret){.len = (uint8_t)len};
	memcpy(secret->bytes, at, len);
}

static int
get_body(const uint8_t *at, size_t len, struct octo_agent_msg *msg)
{
	switch (msg->type) {
	case OCTO_AGENT_HELLO:
		msg->hello.min_version = (uint16_t)get(&at, 2);
		msg->hello.max_version = (uint16_t)get(&at, 2);
		msg->hello.nb_pfs = (uint8_t)get(&at, 1);
		get_secret(at + 3, len - 8, &msg->hello.secret);
		break;
	case OCTO_AGENT_WELCOME:
		msg->welcome.version = (uint16_t)get(&at, 2);
		msg->welcome.nb_pfs = (uint8_t)get(&at, 1);
		msg->welcome.flags = (uint8_t)get(&at, 1);
		msg->welcome.rules = (uint32_t)get(&at, 4);
		break;
	case OCTO_AGENT_PUT:
	case OCTO_AGENT_REMOVE:
	case OCTO_AGENT_QUERY:
		if (get_tuple(&at, &msg->rule.tuple) != 0)
			return -EBADMSG;
		if (msg->type != OCTO_AGENT_PUT)
			break;
		msg->rule.pf = (uint8_t)get(&at, 1);
		(void)get(&at, 1);
		msg->rule.queue = (uint16_t)get(&at, 2);
		break;
	case OCTO_AGENT_RESULT:
		get_result(at, len, &msg->result);
		break;
	case OCTO_AGENT_COUNT:
		msg->count.hits = get(&at, 8);
		msg->count.bytes = get(&at, 8);
		break;
	case OCTO_AGENT_DEFAULT:
		msg->default_pf = (uint8_t)get(&at, 1);
		break;
	case OCTO_AGENT_SYNCED:
	case OCTO_AGENT_PING:
		break;
	}
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_msg_write)
size_t
octo_agent_msg_write(uint8_t *bytes, const struct octo_agent_msg *msg)
{
	uint8_t *body = bytes + OCTO_AGENT_HEADER;
	uint8_t *end = body;

	put_body(&end, msg);
	put(&bytes, OCTO_AGENT_MAGIC, 4);
	put(&bytes, msg->type, 2);
	put(&bytes, (uint64_t)(end - body), 2);
	put(&bytes, msg->session, 4);
	put(&bytes, msg->seq, 4);
	return OCTO_AGENT_HEADER + (size_t)(end - body);
}

/* Offset at which the next magic may begin: a peer that restarted leaves half a message behind. */
static size_t
skip_to_magic(const uint8_t *bytes, size_t len)
{
	const uint8_t *next = memchr(bytes + 1, OCTO_AGENT_MAGIC >> 24, len - 1);

	return next == NULL ? len : (size_t)(next - bytes);
}

static bool
begins_with_magic(const uint8_t *bytes, size_t len)
{
	const uint8_t magic[] = {'O', 'C', 'T', 'O'};

	return memcmp(bytes, magic, RTE_MIN(len, sizeof(magic))) == 0;
}

int
octo_agent_msg_read(const uint8_t *bytes, size_t len, struct octo_agent_msg *msg, size_t *used)
{
	const uint8_t *at = bytes + 4;
	uint16_t body;
	uint16_t type;

	*used = 0;
	if (len == 0)
		return -EAGAIN;
	if (!begins_with_magic(bytes, len)) {
		*used = skip_to_magic(bytes, len);
		return -EBADMSG;
	}
	if (len < OCTO_AGENT_HEADER)
		return -EAGAIN;
	type = (uint16_t)get(&at, 2);
	body = (uint16_t)get(&at, 2);
	if (type == 0 || type >= RTE_DIM(body_len) || body < body_len[type].min ||
	    body > body_len[type].max) {
		*used = skip_to_magic(bytes, len);
		return -EBADMSG;
	}
	if (len < OCTO_AGENT_HEADER + (size_t)body)
		return -EAGAIN;
	*used = OCTO_AGENT_HEADER + (size_t)body;
	msg->type = (enum octo_agent_type)type;
	msg->session = (uint32_t)get(&at, 4);
	msg->seq = (uint32_t)get(&at, 4);
	return get_body(at, body, msg);
}
