# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Builds a DPDK from a source tree of the user's, for --dpdk-src: with the
# driver SDK and what the tests call, into a prefix below .deps/. The source
# tree is only read.

built_apps=(test-pmd proc-info pdump)
built_drivers=(bus/pci bus/vdev mempool/ring net/af_packet net/bonding net/failsafe net/memif
	net/null net/ring net/tap net/vhost net/virtio dma/skeleton event/sw)

# of the libraries those that nothing here calls
left_out_libs=(bbdev compressdev dispatcher distributor gpudev graph ipsec jobstats
	member mldev node pdcp pipeline port ptr_compress rawdev regexdev reorder table)

words_by_comma() {
	local IFS=,
	echo "$*"
}

# Would EAL load a plugin from this directory? None of its parents may be
# writable for all, sticky or not.
is_safe_directory() {
	local dir
	dir=$(realpath -m "$1")
	while :; do
		[ -z "$(find "$dir" -maxdepth 0 -perm -o+w 2>/dev/null)" ] || return 1
		[ "$dir" != / ] || return 0
		dir=$(dirname "$dir")
	done
}

check_given_tree() {
	local file
	for file in VERSION meson.build lib/ethdev/ethdev_driver.h app/test-pmd/meson.build \
		drivers/net/ring/meson.build; do
		[ -f "$1/$file" ] ||
			die "--dpdk-src $1 is not a complete DPDK source tree: it has no $file"
	done
	version_at_least 22.11 "$(cat "$1/VERSION")" ||
		die "--dpdk-src $1 is DPDK $(cat "$1/VERSION"), but 22.11 or newer is needed"
}

# Sets dpdk_options: what DPDK is configured with on this machine.
choose_dpdk_options() {
	local apps=("${built_apps[@]}") drivers=("${built_drivers[@]}")
	if [ -f /usr/include/pcap/pcap.h ]; then
		apps+=(dumpcap)
		drivers+=(net/pcap)
	fi
	if [ -f /usr/include/xdp/xsk.h ] && [ -f /usr/include/bpf/bpf.h ]; then
		drivers+=(net/af_xdp)
	fi
	dpdk_options=(-Denable_driver_sdk=true -Ddefault_library=shared -Dplatform=generic
		-Dtests=false "-Denable_apps=$(words_by_comma "${apps[@]}")"
		"-Denable_drivers=$(words_by_comma "${drivers[@]}")"
		"-Ddisable_libs=$(words_by_comma "${left_out_libs[@]}")")
}

# DPDK's scripts want elftools of the python3 that they find, and must leave
# no byte code behind in the source tree.
in_dpdk_build() {
	env PATH="$(dirname "$(command -v "$(python_of compile)")"):$PATH" \
		PYTHONDONTWRITEBYTECODE=1 nice "$@"
}

# configure_dpdk TREE PREFIX: unless it is configured so from this very tree, by
# whatever compiler.
configure_dpdk() {
	local tree=$1 prefix=$2 identity
	identity="$tree|${CFLAGS:-}|${LDFLAGS:-}|${dpdk_options[*]}"
	[ "$(cat "$prefix/.octo" 2>/dev/null)" != "$identity" ] || return 0
	say "configuring DPDK $(cat "$tree/VERSION") of $tree"
	rm -rf "$prefix"
	mkdir -p "$prefix"
	in_dpdk_build meson setup --prefix="$prefix" --libdir=lib "${dpdk_options[@]}" \
		"$prefix/build" "$tree" >"$prefix/configure.log" 2>&1 || {
		tail -n 30 "$prefix/configure.log" >&2
		die "meson could not configure that DPDK: $prefix/configure.log"
	}
	echo "$identity" >"$prefix/.octo"
}

install_dpdk() {
	local prefix=$1
	if [ -f "$prefix/.installed" ] && ninja -C "$prefix/build" -n | grep -q 'no work to do'; then
		return
	fi
	say "building DPDK in $prefix (some minutes; once)"
	rm -f "$prefix/.installed"
	in_dpdk_build ninja -C "$prefix/build" >&2 || die "that DPDK could not be built"
	in_dpdk_build meson install -C "$prefix/build" --no-rebuild >"$prefix/install.log" 2>&1 ||
		die "that DPDK could not be installed: $prefix/install.log"
	touch "$prefix/.installed"
}

# Makes the DPDK of --dpdk-src, if that was given, the one that all is built with.
use_given_dpdk() {
	local prefix tree dpdk_options
	[ -n "$dpdk_tree" ] || return 0
	tree=$dpdk_tree
	prefix=$root/.deps/built-$(cat "$tree/VERSION")
	is_safe_directory "$root" || die "--dpdk-src: a DPDK that is built here could not load its own" \
		"drivers, as $root lies below a directory that all may write to: move the clone"
	need compile
	mkdir -p "$root/.deps"
	exec 8>"$prefix.lock"
	flock 8
	choose_dpdk_options
	configure_dpdk "$tree" "$prefix"
	install_dpdk "$prefix"
	exec 8>&-
	export DPDK_SRC=$tree PKG_CONFIG_PATH=$prefix/lib/pkgconfig
	dpdk_tree=
}
