/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_FRAMES_H
#define MPSIM_FRAMES_H

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

/* Builds frames byte by byte, so that the tests share no code with what they test. */
struct frame {
	uint8_t data[512];
	uint32_t len;
};

static inline void
put_bytes(struct frame *f, const void *bytes, uint32_t n)
{
	memcpy(f->data + f->len, bytes, n);
	f->len += n;
}

static inline void
put_zeros(struct frame *f, uint32_t n)
{
	memset(f->data + f->len, 0, n);
	f->len += n;
}

static inline void
put8(struct frame *f, uint8_t v)
{
	put_bytes(f, &v, 1);
}

static inline void
put16(struct frame *f, uint16_t v)
{
	put8(f, v >> 8);
	put8(f, v & 0xff);
}

static inline void
put_eth(struct frame *f, uint16_t type)
{
	f->len = 0;
	put_bytes(f, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02", 12);
	put16(f, type);
}

static inline void
put_vlan(struct frame *f, uint16_t tci, uint16_t type)
{
	put16(f, tci);
	put16(f, type);
}

/* 10.0.0.1 > 10.0.0.2, payload bytes to follow; checksum zero. */
static inline void
put_ipv4(struct frame *f, uint8_t proto, uint16_t payload, uint16_t frag, uint8_t options)
{
	put8(f, 0x45 + options / 4);
	put8(f, 0);
	put16(f, 20 + options + payload);
	put16(f, 7);
	put16(f, frag);
	put8(f, 64);
	put8(f, proto);
	put16(f, 0);
	put_bytes(f, "\x0a\0\0\x01\x0a\0\0\x02", 8);
	put_zeros(f, options);
}

/* fd00::1 > fd00::2, payload bytes (extensions included) to follow. */
static inline void
put_ipv6(struct frame *f, uint8_t next, uint16_t payload)
{
	put_bytes(f, "\x60\0\0\0", 4);
	put16(f, payload);
	put8(f, next);
	put8(f, 64);
	put_bytes(f, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	put_bytes(f, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02", 16);
}

/* Ports 1000 > 2000. */
static inline void
put_udp(struct frame *f, uint16_t payload)
{
	put16(f, 1000);
	put16(f, 2000);
	put16(f, 8 + payload);
	put16(f, 0);
}

static inline void
put_tcp(struct frame *f)
{
	put16(f, 1000);
	put16(f, 2000);
	put_zeros(f, 8);
	put16(f, 0x5010);
	put_zeros(f, 6);
}

static inline void
put_sctp(struct frame *f)
{
	put16(f, 1000);
	put16(f, 2000);
	put_zeros(f, 8);
}

/* One's complement sum of RFC 1071, the slow way. */
static inline uint16_t
rfc1071(uint32_t sum, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? p[i] << 8 : p[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

#endif /* MPSIM_FRAMES_H */
