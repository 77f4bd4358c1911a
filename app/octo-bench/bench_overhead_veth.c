/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The veth pairs that PFs of net_af_packet and net_af_xdp are on. They are in a network namespace
 * that nobody else has, and go with it: with this process, whatever becomes of it.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench_overhead.h"

#define MOST (OVERHEAD_MAX_CONTENDERS * OVERHEAD_MAX_PFS)

static char trouble[64] = "there is no network namespace for it";

void
overhead_veth_enter(void)
{
	if (unshare(CLONE_NEWNET) == 0)
		trouble[0] = '\0';
	else
		snprintf(trouble, sizeof(trouble), "it takes a network namespace: %s",
			 strerror(errno));
}

/* Libraries that no driver has brought are not loaded for it. */
static void
silence(const char *library, const char *function)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	void *(*set_print)(void *print) = NULL;

	if (handle == NULL)
		return;
	*(void **)&set_print = dlsym(handle, function);
	if (set_print != NULL)
		set_print(NULL);
	dlclose(handle);
}

void
overhead_veth_quiet(void)
{
	silence("libbpf.so.1", "libbpf_set_print");
	silence("libxdp.so.1", "libxdp_set_print");
}

const char *
overhead_veth_trouble(void)
{
	return trouble[0] != '\0' ? trouble : NULL;
}

void
overhead_veth_name(unsigned int contender, unsigned int pf, char name[OVERHEAD_VETH_LEN])
{
	snprintf(name, OVERHEAD_VETH_LEN, "octo%u.%u", contender % 100, pf % 10);
}

static void
peer_name(unsigned int contender, unsigned int pf, char name[OVERHEAD_VETH_LEN])
{
	snprintf(name, OVERHEAD_VETH_LEN, "peer%u.%u", contender % 100, pf % 10);
}

unsigned int
overhead_veth_peer(unsigned int contender, unsigned int pf)
{
	char name[OVERHEAD_VETH_LEN];

	peer_name(contender, pf, name);
	return if_nametoindex(name);
}

/* None of them is to say anything by itself: no address, no neighbour discovery. */
static void
write_pair(FILE *ip, unsigned int contender, unsigned int pf)
{
	char name[OVERHEAD_VETH_LEN], peer[OVERHEAD_VETH_LEN];

	overhead_veth_name(contender, pf, name);
	peer_name(contender, pf, peer);
	fprintf(ip, "link add %s type veth peer name %s\n", name, peer);
	fprintf(ip, "link set %s arp off addrgenmode none up\n", name);
	fprintf(ip, "link set %s arp off addrgenmode none up\n", peer);
}

static int
make_pairs(void)
{
	FILE *ip = popen("ip -batch -", "we");

	if (ip == NULL)
		return -errno;
	for (unsigned int i = 0; i < MOST; i++)
		write_pair(ip, i / OVERHEAD_MAX_PFS, i % OVERHEAD_MAX_PFS);
	return pclose(ip) == 0 ? 0 : -EIO;
}

int
overhead_veth_open(struct overhead_stage *s)
{
	/* once for all stages */
	if (overhead_veth_peer(0, 0) == 0 && make_pairs() != 0) {
		snprintf(trouble, sizeof(trouble), "ip(8) does not make veth pairs");
		return -ENODEV;
	}
	s->generator = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	return s->generator >= 0 ? 0 : -errno;
}

void
overhead_veth_close(struct overhead_stage *s)
{
	if (s->generator >= 0)
		close(s->generator);
	s->generator = -1;
}
