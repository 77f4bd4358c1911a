/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

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

	if (ioctl(fd, SIOCGIFNAME, &ifr) != 0)
		return -ENODEV;
	ifr.ifr_data = request;
	return ioctl(fd, SIOCETHTOOL, &ifr) == 0 ? 0 : -errno;
}
