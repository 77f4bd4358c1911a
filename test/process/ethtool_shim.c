/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Preloaded into a program that speaks SIOCETHTOOL: a NIC that is not there. It answers questions,
 * and writes the buffers of requests that change something to the file of OCTO_SHIM_RECORD, in
 * hexadecimal, one a line. Without generic netlink ethtool(8) uses ioctl() for everything.
 *
 * OCTO_SHIM_RULES: size of the table of rules. OCTO_SHIM_TAKEN: locations taken from its top
 * downwards. OCTO_SHIM_SPECIAL: the driver chooses the locations. OCTO_SHIM_RETA: entries of the
 * RETA.
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define KEY_SIZE 40
#define CHANNELS 64
#define MAX_RULES 1024
#define MAX_RETA 4096

/* Rules that this process has made. */
static struct ethtool_rx_flow_spec rules[MAX_RULES];
static bool used[MAX_RULES];

/* The RETA that it has set. */
static __u32 reta[MAX_RETA];
static bool has_reta;

static unsigned int
setting(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value == NULL ? otherwise : (unsigned int)strtoul(value, NULL, 10);
}

static void
record(const void *buffer, size_t size)
{
	const unsigned char *bytes = buffer;
	const char *path = getenv("OCTO_SHIM_RECORD");
	FILE *file = path == NULL ? NULL : fopen(path, "a");

	if (file == NULL)
		return;
	for (size_t i = 0; i < size; i++)
		fprintf(file, "%02x", bytes[i]);
	fputc('\n', file);
	fclose(file);
}

static void
count_rules(struct ethtool_rxnfc *nfc)
{
	nfc->rule_cnt = setting("OCTO_SHIM_TAKEN", 0);
	nfc->data = setting("OCTO_SHIM_RULES", 1024);
	if (getenv("OCTO_SHIM_SPECIAL") != NULL)
		nfc->data |= RX_CLS_LOC_SPECIAL;
}

static int
list_rules(struct ethtool_rxnfc *nfc)
{
	const unsigned int taken = setting("OCTO_SHIM_TAKEN", 0);
	const unsigned int size = setting("OCTO_SHIM_RULES", 1024);

	if (nfc->rule_cnt < taken)
		return EMSGSIZE;
	nfc->rule_cnt = taken;
	nfc->data = size;
	for (unsigned int i = 0; i < taken; i++)
		nfc->rule_locs[i] = size - 1 - i;
	return 0;
}

static int
read_rule(struct ethtool_rxnfc *nfc)
{
	if (nfc->fs.location >= MAX_RULES || !used[nfc->fs.location])
		return ENOENT;
	nfc->fs = rules[nfc->fs.location];
	return 0;
}

static int
insert_rule(struct ethtool_rxnfc *nfc)
{
	record(nfc, sizeof(*nfc));
	if (nfc->fs.location == RX_CLS_LOC_ANY)
		for (nfc->fs.location = 0; used[nfc->fs.location]; nfc->fs.location++)
			continue;
	rules[nfc->fs.location] = nfc->fs;
	used[nfc->fs.location] = true;
	return 0;
}

static int
delete_rule(const struct ethtool_rxnfc *nfc)
{
	record(nfc, sizeof(*nfc));
	used[nfc->fs.location] = false;
	return 0;
}

/* The caller asks for the sizes first, with none of its own. */
static int
read_reta(struct ethtool_rxfh *rxfh)
{
	const unsigned int size = setting("OCTO_SHIM_RETA", 128);
	const bool is_asking = rxfh->indir_size == 0;

	rxfh->indir_size = size;
	rxfh->key_size = KEY_SIZE;
	rxfh->hfunc = 1;
	if (is_asking)
		return 0;
	for (unsigned int i = 0; i < size; i++)
		rxfh->rss_config[i] = has_reta ? reta[i] : i % CHANNELS;
	memset(&rxfh->rss_config[size], 0x6d, KEY_SIZE);
	return 0;
}

static int
write_reta(const struct ethtool_rxfh *rxfh)
{
	const size_t entries = rxfh->indir_size == ETH_RXFH_INDIR_NO_CHANGE ? 0 : rxfh->indir_size;

	record(rxfh, sizeof(*rxfh) + entries * sizeof(rxfh->rss_config[0]) + rxfh->key_size);
	has_reta = entries > 0 && entries <= MAX_RETA;
	if (has_reta)
		memcpy(reta, rxfh->rss_config, entries * sizeof(reta[0]));
	return 0;
}

static void
count_channels(struct ethtool_channels *channels)
{
	channels->max_combined = CHANNELS;
	channels->combined_count = CHANNELS;
}

/* Returns an errno. */
static int
answer(void *data)
{
	struct ethtool_rxnfc *nfc = data;

	switch (*(__u32 *)data) {
	case ETHTOOL_GRXFH:
		nfc->data = RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1 | RXH_L4_B_2_3;
		return 0;
	case ETHTOOL_GRXRINGS:
		nfc->data = CHANNELS;
		return 0;
	case ETHTOOL_GCHANNELS:
		count_channels(data);
		return 0;
	case ETHTOOL_GRXCLSRLCNT:
		count_rules(nfc);
		return 0;
	case ETHTOOL_GRXCLSRLALL:
		return list_rules(nfc);
	case ETHTOOL_GRXCLSRULE:
		return read_rule(data);
	case ETHTOOL_SRXCLSRLINS:
		return insert_rule(nfc);
	case ETHTOOL_SRXCLSRLDEL:
		return delete_rule(nfc);
	case ETHTOOL_GRSSH:
		return read_reta(data);
	case ETHTOOL_SRSSH:
		return write_reta(data);
	default:
		return EOPNOTSUPP;
	}
}

int
ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int fd, unsigned long request, void *arg);
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request != SIOCETHTOOL) {
		if (real == NULL)
			*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
		return real(fd, request, arg);
	}
	ret = answer(((struct ifreq *)arg)->ifr_data);
	errno = ret;
	return ret == 0 ? 0 : -1;
}

int
socket(int domain, int type, int protocol)
{
	static int (*real)(int domain, int type, int protocol);

	if (domain == AF_NETLINK && protocol == NETLINK_GENERIC) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "socket");
	return real(domain, type, protocol);
}
