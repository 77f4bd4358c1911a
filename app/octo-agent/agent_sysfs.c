/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "agent_sysfs.h"

#define DEVICES "sys/bus/pci/devices"
#define MLX5_DEBUGFS "sys/kernel/debug/mlx5"

/* Names and numbers go into messages: they may not have what a terminal obeys. */
static bool
is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if (!isgraph((unsigned char)*text))
			return false;
	return true;
}

/* The first line of a file, without its end; "" if there is none that fits and is plain. */
static void
read_line(int dir, const char *path, char *line, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len = -1;
	char *end;

	line[0] = '\0';
	if (fd < 0)
		return;
	len = read(fd, line, size - 1);
	close(fd);
	line[len > 0 ? len : 0] = '\0';
	end = strchr(line, '\n');
	if (end == NULL)
		end = line;
	*end = '\0';
	if (!is_plain(line))
		line[0] = '\0';
}

/* The PCI address that a link of a device ends with. */
static int
read_link(const char *root, const char *device, const char *name, char *address, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct rte_pci_addr addr;
	const char *last;
	ssize_t len;

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", root, device, name);
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	last = strrchr(target, '/');
	last = last == NULL ? target : last + 1;
	if (rte_pci_addr_parse(last, &addr) != 0)
		return -EINVAL;
	rte_pci_device_name(&addr, address, size);
	return 0;
}

static int
check_device(const char *root, const char *device, char *why, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s", root, device);
	if (access(path, F_OK) == 0)
		return 0;
	snprintf(why, size, "there is no PCI device %s", device);
	return -ENODEV;
}

static int
read_vf_link(const char *root, const struct agent_vf *vf, char *address, size_t size)
{
	char name[32];

	snprintf(name, sizeof(name), "virtfn%d", vf->number);
	return read_link(root, vf->address, name, address, size);
}

int
agent_sysfs_find_pf(const char *root, const struct agent_vf *named, struct agent_vf *vf, char *why,
		    size_t size)
{
	char address[PCI_PRI_STR_SIZE];
	int ret = check_device(root, named->address, why, size);

	if (ret != 0)
		return ret;
	*vf = *named;
	if (named->number >= 0) {
		ret = read_vf_link(root, vf, address, sizeof(address));
		if (ret != 0)
			snprintf(why, size, "%s has no VF %d", vf->address, vf->number);
		return ret;
	}
	ret = read_link(root, named->address, "physfn", vf->address, sizeof(vf->address));
	if (ret != 0) {
		snprintf(why, size, "it is no VF: the address of one is needed, or PF/NUMBER");
		return ret;
	}
	for (vf->number = 0; vf->number <= UINT16_MAX; vf->number++) {
		ret = read_vf_link(root, vf, address, sizeof(address));
		if (ret != 0 || strcmp(address, named->address) == 0)
			break;
	}
	if (ret != 0)
		snprintf(why, size, "%s does not list it among its VFs", vf->address);
	return ret;
}

static bool
is_multiport(const char *root, const char *pf)
{
	char path[PATH_MAX], type[32];

	snprintf(path, sizeof(path), "%s/" MLX5_DEBUGFS "/%s/lag/type", root, pf);
	read_line(AT_FDCWD, path, type, sizeof(type));
	return strcmp(type, "multiport_eswitch") == 0;
}

static void
read_netdev(int dir, const char *name, struct agent_netdev *dev)
{
	char path[IF_NAMESIZE + 32], ifindex[16];

	strlcpy(dev->name, name, sizeof(dev->name));
	snprintf(path, sizeof(path), "%s/phys_port_name", dev->name);
	read_line(dir, path, dev->port_name, sizeof(dev->port_name));
	snprintf(path, sizeof(path), "%s/phys_switch_id", dev->name);
	read_line(dir, path, dev->switch_id, sizeof(dev->switch_id));
	snprintf(path, sizeof(path), "%s/ifindex", dev->name);
	read_line(dir, path, ifindex, sizeof(ifindex));
	dev->ifindex = (uint32_t)strtoul(ifindex, NULL, 10);
}

int
agent_sysfs_add_netdevs(const char *root, const char *pf, struct agent_netdevs *devs, char *why,
			size_t size)
{
	const bool multiport = is_multiport(root, pf);
	const struct dirent *entry;
	char path[PATH_MAX];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/net", root, pf);
	dir = opendir(path);
	if (dir == NULL)
		return 0;
	while (devs->nb < AGENT_MAX_NETDEVS && (entry = readdir(dir)) != NULL) {
		struct agent_netdev *dev = &devs->dev[devs->nb];

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= IF_NAMESIZE ||
		    !is_plain(entry->d_name))
			continue;
		read_netdev(dirfd(dir), entry->d_name, dev);
		strlcpy(dev->parent, pf, sizeof(dev->parent));
		dev->multiport = multiport;
		devs->nb++;
	}
	closedir(dir);
	if (devs->nb < AGENT_MAX_NETDEVS)
		return 0;
	snprintf(why, size, "the PFs have %d netdevs or more: fewer are possible",
		 AGENT_MAX_NETDEVS);
	return -ENOSPC;
}
