#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The inner half of ./octo test fresh: makes a directory the root of the mount
# namespace that this is started in, and runs in it what /etc/fresh-plan says.
# It is process 1 there: when it ends, all ends. File descriptor 3 gets the results.
#
#	fresh-root.sh enter DIR plain|odd
#	fresh-root.sh inside plain|odd

set -euo pipefail

say() {
	printf '==> %s\n' "$*" >&2
}

# What a machine has mounted. Devices are those of this machine, in a directory of its own.
mount_all() {
	local new=$1
	mount --bind "$new" "$new"
	mount -o remount,bind,suid,exec,dev "$new"
	mount -t proc proc "$new/proc"
	mount --rbind /sys "$new/sys"
	mount -t tmpfs -o mode=755 run "$new/run"
	mount -t tmpfs -o mode=755 dev "$new/dev"
	cp -ax /dev/. "$new/dev/"
	mkdir -p "$new"/dev/{pts,shm,hugepages,mqueue}
	mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts "$new/dev/pts"
	ln -sfT pts/ptmx "$new/dev/ptmx"
	mount -t tmpfs -o mode=1777 shm "$new/dev/shm"
	mount -t mqueue mqueue "$new/dev/mqueue"
	mount -t hugetlbfs hugetlbfs "$new/dev/hugepages"
}

enter() {
	local new=$1 python=$2
	hostname fresh
	mount_all "$new"
	cd "$new"
	pivot_root . .
	umount -l .
	exec chroot . /bin/bash /usr/local/lib/fresh-root.sh inside "$python"
}

quiet_apt() {
	apt-get -qq -y --no-install-recommends "$@" </dev/null >/var/log/fresh-apt.log 2>&1 || {
		say "this machine's package sources cannot be used in the new root:" \
			"$(grep -m 1 -E '^[EW]: ' /var/log/fresh-apt.log)"
		exit 1
	}
}

# A user who may do by sudo what root may.
make_user() {
	quiet_apt install sudo
	echo 'octo ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/octo
	useradd -s /bin/bash octo
	chown -R octo: /home/octo
}

# A python3 that has pytest and what that needs, but none of the distribution's modules.
make_odd_python() {
	local deb
	quiet_apt install python3
	mkdir -p /opt/debs/partial
	quiet_apt -o Dir::Cache::archives=/opt/debs --download-only install python3-pytest
	mkdir -p /opt/odd/bin
	ln -s /usr/bin/python3 /opt/odd/bin/python3
	echo 'home = /usr/bin' >/opt/odd/pyvenv.cfg
	for deb in /opt/debs/*.deb; do
		dpkg-deb -x "$deb" /opt/tree
	done
	python3 -c 'import sys; print("/opt/odd/lib/python%d.%d" % sys.version_info[:2])' |
		xargs -I{} sh -ec 'mkdir -p {}; mv /opt/tree/usr/lib/python3/dist-packages {}/site-packages'
	rm -rf /opt/tree /opt/debs
	/opt/odd/bin/python3 -c 'import pytest'
	! /opt/odd/bin/python3 -c 'import scapy' 2>/dev/null
}

# What root's clone compiles is taken from the cache where gcc would read the same.
use_cache() {
	quiet_apt install ccache
	mapfile -t cached </etc/fresh-cache
	cached+=(PATH="/usr/lib/ccache:$path")
}

# run_as USER COMMAND: as in a session of that user's, in the user's clone.
run_as() {
	local user=$1 home settings=()
	home=$(getent passwd "$user" | cut -d: -f6)
	[ "$user" != root ] || settings=("${cached[@]}")
	# 3 and 7 are for those who are outside
	runuser -u "$user" -- env -i HOME="$home" USER="$user" LOGNAME="$user" PATH="$path" \
		LANG=C.UTF-8 TERM=dumb "${settings[@]}" bash -c "cd ~/net_octo && $2" </dev/null 3>&- 7>&-
}

run_plan() {
	local user command began verdict
	while read -r user command; do
		say "in a fresh root, as $user: $command"
		began=$SECONDS
		verdict=ok
		run_as "$user" "$command" || verdict=FAILED
		printf '%-7s %5d s  %-5s %s\n' $verdict $((SECONDS - began)) "$user" "$command" >&3
	done </etc/fresh-plan
}

inside() {
	path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	cached=()
	export DEBIAN_FRONTEND=noninteractive
	quiet_apt -o APT::Update::Error-Mode=any update
	! grep -q '^octo ' /etc/fresh-plan || make_user
	if [ "$1" = odd ]; then
		make_odd_python
		path=/opt/odd/bin:$path
	fi
	[ ! -f /etc/fresh-cache ] || use_cache
	run_plan
}

"$@"
