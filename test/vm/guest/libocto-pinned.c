/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Preloaded, it gives a net_af_xdp before DPDK 24.07 the devarg use_pinned_map of later ones: no
 * XDP program is loaded, sockets go into the map that is pinned at OCTO_XSKS_MAP, and promiscuity
 * cannot be changed, which ethdev does at each start.
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/sockios.h>
#include <sys/syscall.h>

#define INHIBIT_PROG_LOAD 1

/* The beginning of libxdp's own, which is not installed everywhere. */
struct xsk_socket_config {
	uint32_t rx_size;
	uint32_t tx_size;
	uint32_t libxdp_flags;
	uint32_t xdp_flags;
	uint16_t bind_flags;
};

typedef int create_fn(void **xsk, const char *ifname, uint32_t queue, void *umem, void *rx,
		      void *tx, const struct xsk_socket_config *config);
typedef int update_fn(void *xsk, int map);

create_fn xsk_socket__create;

static int
open_map(void)
{
	union bpf_attr attr = {.pathname = (uintptr_t)getenv("OCTO_XSKS_MAP")};

	return (int)syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr));
}

int
xsk_socket__create(void **xsk, const char *ifname, uint32_t queue, void *umem, void *rx, void *tx,
		   const struct xsk_socket_config *config)
{
	void *libxdp = dlopen("libxdp.so.1", RTLD_NOW);
	create_fn *create = (create_fn *)dlsym(libxdp, "xsk_socket__create");
	update_fn *update = (update_fn *)dlsym(libxdp, "xsk_socket__update_xskmap");
	struct xsk_socket_config own = *config;
	int map = open_map();
	int ret = map >= 0 ? 0 : -errno;

	own.libxdp_flags |= INHIBIT_PROG_LOAD;
	if (ret == 0)
		ret = create(xsk, ifname, queue, umem, rx, tx, &own);
	if (ret == 0)
		ret = update(*xsk, map);
	close(map);
	return ret;
}

int
ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == SIOCSIFFLAGS) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_ioctl, fd, request, arg);
}
