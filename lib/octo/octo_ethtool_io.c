/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <poll.h>

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "octo_clock.h"
#include "octo_ethtool_io.h"

int
octo_ethtool_io_open(void)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 ? fd : -errno;
}

int
octo_ethtool_io(int fd, uint32_t ifindex, void *request)
{
	struct ifreq ifr = {.ifr_ifindex = (int)ifindex};
	int ret;

	if (ioctl(fd, SIOCGIFNAME, &ifr) != 0)
		return -ENODEV;
	ifr.ifr_data = request;
	ret = ioctl(fd, SIOCETHTOOL, &ifr) == 0 ? 0 : -errno;
	/* it is there, but detached, as while its driver resets it: its rules may come back */
	return ret == -ENODEV ? -EBUSY : ret;
}

uint64_t
octo_ethtool_io_netns(void)
{
	struct stat st;

	return stat("/proc/self/ns/net", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

void
octo_ethtool_io_wait(int fd, uint64_t until)
{
	struct pollfd fds = {.fd = fd, .events = POLLIN};
	const uint64_t now = octo_now();

	if (now < until)
		poll(&fds, 1, (int)((until - now) * MS_PER_S / rte_get_timer_hz()) + 1);
}
