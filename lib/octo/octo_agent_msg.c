/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include <rte_byteorder.h>
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

/* A message is written and read by the same functions, field by field. */
struct wire {
	uint8_t *at; /* the next byte */
	bool reads;
};

static void
copy_bytes(struct wire *w, void *bytes, size_t len)
{
	if (w->reads)
		memcpy(bytes, w->at, len);
	else
		memcpy(w->at, bytes, len);
	w->at += len;
}

/* In network order on the wire. */
static void
copy_number(struct wire *w, void *number, size_t len)
{
#if RTE_BYTE_ORDER == RTE_BIG_ENDIAN
	copy_bytes(w, number, len);
#else
	for (uint8_t *byte = number; len > 0; len--)
		copy_bytes(w, &byte[len - 1], 1);
#endif
}

/* Zeros, whatever the peer has there. */
static void
skip(struct wire *w, size_t len)
{
	if (!w->reads)
		memset(w->at, 0, len);
	w->at += len;
}

static void
copy_tuple(struct wire *w, struct octo_tuple *t)
{
	if (w->reads)
		octo_tuple_clear(t);
	copy_number(w, &t->family, 1);
	copy_number(w, &t->proto, 1);
	copy_bytes(w, &t->src_port, 2);
	copy_bytes(w, &t->dst_port, 2);
	skip(w, 2);
	copy_bytes(w, t->src, sizeof(t->src));
	copy_bytes(w, t->dst, sizeof(t->dst));
}

/* Tuples are compared byte by byte, so unused bytes must be 0. */
static bool
is_canonical(const struct octo_agent_msg *msg)
{
	const struct octo_tuple *t = &msg->rule.tuple;
	static const uint8_t zero[12];

	if (msg->type != OCTO_AGENT_PUT && msg->type != OCTO_AGENT_REMOVE &&
	    msg->type != OCTO_AGENT_QUERY)
		return true;
	if (t->proto != IPPROTO_TCP && t->proto != IPPROTO_UDP && t->proto != IPPROTO_SCTP)
		return false;
	if (t->family == OCTO_IPV6)
		return true;
	return t->family == OCTO_IPV4 && memcmp(t->src + 4, zero, sizeof(zero)) == 0 &&
	       memcmp(t->dst + 4, zero, sizeof(zero)) == 0;
}

/* The peer's words are logged, so they are printable ASCII, in one line. */
static void
copy_text(struct wire *w, char *text, size_t len)
{
	copy_bytes(w, text, len);
	text[len] = '\0';
	for (size_t i = 0; w->reads && i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
}

/* The length of the body is known if it is read. */
static void
copy_body(struct wire *w, struct octo_agent_msg *msg, size_t len)
{
	switch (msg->type) {
	case OCTO_AGENT_HELLO:
		copy_number(w, &msg->hello.min_version, 2);
		copy_number(w, &msg->hello.max_version, 2);
		copy_number(w, &msg->hello.nb_pfs, 1);
		skip(w, 3);
		if (w->reads)
			msg->hello.secret = (struct octo_agent_secret){.len = (uint8_t)(len - 8)};
		copy_bytes(w, msg->hello.secret.bytes, msg->hello.secret.len);
		break;
	case OCTO_AGENT_WELCOME:
		copy_number(w, &msg->welcome.version, 2);
		copy_number(w, &msg->welcome.nb_pfs, 1);
		copy_number(w, &msg->welcome.flags, 1);
		copy_number(w, &msg->welcome.rules, 4);
		break;
	case OCTO_AGENT_PUT:
	case OCTO_AGENT_REMOVE:
	case OCTO_AGENT_QUERY:
		copy_tuple(w, &msg->rule.tuple);
		if (msg->type != OCTO_AGENT_PUT)
			break;
		copy_number(w, &msg->rule.pf, 1);
		skip(w, 1);
		copy_number(w, &msg->rule.queue, 2);
		break;
	case OCTO_AGENT_RESULT:
		len = w->reads ? len - 4 : strnlen(msg->result.text, OCTO_AGENT_TEXT_MAX - 1);
		copy_number(w, &msg->result.error, 4);
		copy_text(w, msg->result.text, len);
		break;
	case OCTO_AGENT_COUNT:
		copy_number(w, &msg->count.hits, 8);
		copy_number(w, &msg->count.bytes, 8);
		break;
	case OCTO_AGENT_DEFAULT:
		copy_number(w, &msg->default_pf, 1);
		skip(w, 3);
		break;
	case OCTO_AGENT_SYNCED:
	case OCTO_AGENT_PING:
		break;
	}
}

static void
copy_header(struct wire *w, struct octo_agent_msg *msg, uint16_t *type, uint16_t *body)
{
	uint32_t magic = OCTO_AGENT_MAGIC;

	copy_number(w, &magic, 4);
	copy_number(w, type, 2);
	copy_number(w, body, 2);
	copy_number(w, &msg->session, 4);
	copy_number(w, &msg->seq, 4);
}

size_t
octo_agent_msg_write(uint8_t *bytes, const struct octo_agent_msg *msg)
{
	struct octo_agent_msg copy = *msg;
	uint16_t type = (uint16_t)msg->type;
	struct wire w = {.at = bytes + OCTO_AGENT_HEADER};
	uint16_t body;

	copy_body(&w, &copy, 0);
	body = (uint16_t)(w.at - bytes - OCTO_AGENT_HEADER);
	w.at = bytes;
	copy_header(&w, &copy, &type, &body);
	return OCTO_AGENT_HEADER + (size_t)body;
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
	/* it is not written to */
	struct wire w = {.at = (uint8_t *)(uintptr_t)bytes, .reads = true};
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
	copy_header(&w, msg, &type, &body);
	if (type == 0 || type >= RTE_DIM(body_len) || body < body_len[type].min ||
	    body > body_len[type].max) {
		*used = skip_to_magic(bytes, len);
		return -EBADMSG;
	}
	if (len < OCTO_AGENT_HEADER + (size_t)body)
		return -EAGAIN;
	*used = OCTO_AGENT_HEADER + (size_t)body;
	msg->type = (enum octo_agent_type)type;
	copy_body(&w, msg, body);
	return is_canonical(msg) ? 0 : -EBADMSG;
}
