#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes a patch for an application, as net_octo is better served with it. The repository has
# our own lines alone, as edits (devtools/app-patches/*.edit), since the context of a patch is
# the source of others.

set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)

# shellcheck source=devtools/common.sh
. "$root/devtools/common.sh"
# shellcheck source=devtools/setup.sh
. "$root/devtools/setup.sh"
# shellcheck source=devtools/steps.sh
. "$root/devtools/steps.sh"
# shellcheck source=devtools/dpdk-tree.sh
. "$root/devtools/dpdk-tree.sh"

steps=(series apply style build check run)

usage() {
	cat <<-'END'
		usage: devtools/app-patch.sh [-o DIR] ovs|vpp SRC_DIR [STEP...]

		  series     the edit of devtools/app-patches/ in a copy of SRC_DIR (of what is
		             committed, if it is a git tree), a commit, and the patch in DIR/patches/
		  apply      the patch by git am on the commit that it is for
		  style      the application's own check of patches, if it has one
		  build      it compiles: Open vSwitch with the DPDK of pkg-config, if there is one;
		             VPP with its DPDK plugin alone, and with the same DPDK; if that lacks
		             headers for drivers, CFLAGS names their directories
		  check      the application's own tests of what the patch changes, if there are any
		  run        with what was built our tests of Open vSwitch, or VPP as a router over
		             octo ports and over bare PFs; needs ./octo build

		All of them without a STEP. SRC_DIR is not touched: everything is made in DIR, by
		default build-in-tree/APPLICATION. The patch is signed off by git's user.name and
		user.email.
	END
}

packages_ovs() {
	cat <<-'END'
		autoconf|cmd:autoconf|Open vSwitch
		automake|cmd:automake|Open vSwitch
		libtool|cmd:libtoolize|Open vSwitch
		make|cmd:make|Open vSwitch
	END
}

packages_vpp() {
	cat <<-'END'
		cmake|cmd:cmake|VPP
		ninja-build|cmd:ninja|VPP
		python3-ply|dpkg:python3-ply|VPP: its generator of APIs
		libelf-dev|dpkg:libelf-dev|VPP
		libnl-route-3-dev|dpkg:libnl-route-3-dev|VPP
		libssl-dev|dpkg:libssl-dev|VPP
		uuid-dev|dpkg:uuid-dev|VPP
	END
}

# A failed edit leaves no patch, which would be that of an earlier run.
step_series() {
	local script=$root/devtools/app-patches/$app.edit
	need copy
	mkdir -p "$work"
	rm -rf "$work/patches"
	clone_dpdk
	python3 "$root/devtools/edit-tree.py" "$script" "$tree"
	in_tree add -A
	commit "$(python3 "$root/devtools/edit-tree.py" --message "$script")"
	in_tree format-patch -q -o "$work/patches" base..octo
	in_tree diff --stat base | cat
	ls "$work/patches"
}

step_apply() {
	in_tree checkout -q -f -B applied base
	in_tree -c user.name="$author" -c user.email="$email" am -q "$work"/patches/0001-*.patch
	in_tree diff --exit-code octo applied
	in_tree checkout -q octo
}

style_ovs() {
	(cd "$tree" && python3 utilities/checkpatch.py -1)
}

style_vpp() {
	(cd "$tree" && extras/scripts/check_commit_msg.sh)
}

# DPDK before 23.07 has no limit of the queues of vhost ports, which only they ask for.
build_ovs() {
	local dpdk=()
	pkg-config --exists libdpdk && dpdk=(--with-dpdk=shared)
	pkg-config --exists 'libdpdk < 23.07' &&
		export LDFLAGS="${LDFLAGS:-} -Wl,--defsym=rte_vhost_driver_set_max_queue_num=0"
	cd "$tree"
	[ -f Makefile ] || { ./boot.sh && ./configure --disable-ssl "${dpdk[@]}"; }
	make -j"$(nproc)"
}

# The distribution's python3 has its ply. Before 23.03 DPDK lacks what VPP's use of cryptodev
# calls, which is built if there is OpenSSL.
build_vpp() {
	local without=()
	export PATH=/usr/bin:$PATH
	pkg-config --exists 'libdpdk < 23.03' && without=(-DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON)
	[ -f "$work/build/build.ninja" ] || cmake -G Ninja -DCMAKE_BUILD_TYPE=debug \
		-DVPP_USE_SYSTEM_DPDK=ON -DVPP_BUILD_NATIVE_ONLY=ON -DVPP_PLUGINS=dpdk \
		"${without[@]}" -B "$work/build" -S "$tree/src"
	ninja -C "$work/build" vpp vppctl dpdk_plugin
}

check_ovs() {
	make -C "$tree" check TESTSUITEFLAGS='-k NUMA'
}

check_vpp() {
	say "VPP has no test of its list of drivers"
}

run_ovs() {
	local vswitchd=$tree/vswitchd/ovs-vswitchd said
	[ -x "$vswitchd" ] || die "Open vSwitch was not built: the step build does that"
	said=$("$vswitchd" --version) || die "Open vSwitch was built, and does not start: $vswitchd"
	grep DPDK <<<"$said" || {
		say "Open vSwitch was built without DPDK: nothing to run"
		return 0
	}
	OCTO_OVS_DIR=$tree "$root/octo" test functional -k test_ovs
}

run_vpp() {
	local vpp=$work/build/bin/vpp
	[ -x "$vpp" ] || die "VPP was not built: the step build does that"
	"$(python_with pytest scapy)" "$root/test/functional/compare_apps.py" vpp "$vpp"
}

step_style() {
	"style_$app"
}

step_build() {
	need "$app"
	"build_$app"
}

step_check() {
	"check_$app"
}

step_run() {
	"run_$app"
}

wrong_use() {
	usage >&2
	exit 2
}

# of_git NAME: whoever sends the patch signs it off.
of_git() {
	git -C "$root" config "$1" || die "git has no $1 to sign the patch off with: set it by" \
		"git config $1 VALUE"
}

main() {
	work=
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help)
			usage
			exit
			;;
		-o)
			[ $# -gt 1 ] || wrong_use
			work=$(realpath -m "$2")
			shift 2
			;;
		-*) wrong_use ;;
		*) break ;;
		esac
	done
	[ $# -gt 1 ] || wrong_use
	app=$1
	dpdk_dir=$(realpath -m "$2")
	shift 2
	case $app in
	ovs) file=lib/dpif-netdev.c ;;
	vpp) file=src/plugins/dpdk/device/driver.c ;;
	*) wrong_use ;;
	esac
	[ -f "$dpdk_dir/$file" ] || die "$dpdk_dir is not a source tree of $app: it has no file $file"
	author=$(of_git user.name)
	email=$(of_git user.email)
	work=${work:-$root/build-in-tree/$app}
	tree=$work/$app
	[ -d "$tree" ] || [ $# -eq 0 ] || [ "$1" = series ] || set -- series "$@"
	run_steps "$@"
}

main "$@"
