# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Open vSwitch with DPDK for the tests. Its packages would start services, at
# every boot, so they are not installed but unpacked into .deps/.

ovs_daemon=usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk
ovs_packages=(openvswitch-common openvswitch-switch openvswitch-switch-dpdk)

unpacked_ovs() {
	local tree
	for tree in "$root"/.deps/ovs-*; do
		if [ -x "$tree/$ovs_daemon" ]; then
			echo "$tree"
			return
		fi
	done
}

# The libraries that the programs need.
packages_ovs() {
	sed 's/.*/&|dpkg:&|functional tests: Open vSwitch/' "$(unpacked_ovs)/libraries"
}

# Into $1/tree.
unpack_ovs() {
	local file
	for file in "$1"/*.deb; do
		dpkg-deb -x "$file" "$1/tree"
		dpkg-deb -f "$file" Depends | tr ',' '\n'
	done | sed -nE 's/^ *(lib[a-z0-9.+-]+).*/\1/p' | sort -u >"$1/libraries"
	mv "$1/libraries" "$1/tree/"
}

download_ovs() {
	(cd "$1" && apt-get -q -o APT::Sandbox::User="$(id -un)" download "${ovs_packages[@]}") >&2
}

fetch_ovs() {
	local tmp version
	mkdir -p "$root/.deps"
	exec 9>"$root/.deps/lock"
	flock 9
	if [ -z "$(unpacked_ovs)" ]; then
		say "downloading Open vSwitch with DPDK (~5 MB) into .deps/, for its tests"
		tmp=$(mktemp -d "$root/.deps/tmp.XXXXXX")
		if download_ovs "$tmp" || { as_root apt-get -q update >&2 && download_ovs "$tmp"; }; then
			unpack_ovs "$tmp"
			version=$(dpkg-deb -f "$tmp"/openvswitch-switch-dpdk_*.deb Version)
			mv -T "$tmp/tree" "$root/.deps/ovs-$version"
		else
			warn "it could not be downloaded: its tests are skipped"
		fi
		rm -rf "$tmp"
	fi
	exec 9>&-
}

# The distribution's Open vSwitch, which is linked with the distribution's DPDK.
need_ovs() {
	if [ -x "/$ovs_daemon" ] || ! have apt-get || dpdk_is_private; then
		return
	fi
	[ -n "$(unpacked_ovs)" ] || fetch_ovs
	[ -z "$(unpacked_ovs)" ] || need ovs
}
