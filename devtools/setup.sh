# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Installs what the subcommands need and the machine lacks; nothing else.

# Sets of packages, each line: package, how to see that it (or what it
# provides) is there already, what it is for. All Python modules (py) of a set
# are used by one interpreter: python_of SET.
packages_compile() {
	cat <<-'END'
		gcc|cmd:cc|to compile
		libc6-dev|file:/usr/include/stdio.h|to compile
		pkg-config|cmd:pkg-config|to find DPDK
		meson|cmd:meson|the build system
		ninja-build|cmd:ninja|the build system
		libnuma-dev|file:/usr/include/numa.h|distances between CPU sockets
		python3-pyelftools|py:elftools|to write the PMD information into the drivers
	END
}

packages_build() {
	packages_compile
	echo 'libdpdk-dev|pc:libdpdk|DPDK: libraries, headers, drivers for the wires'
	have_driver_source || packages_source
}

packages_unit() {
	echo 'libcmocka-dev|pc:cmocka|the unit tests'
}

packages_functional() {
	dpdk_is_private || cat <<-'END'
		dpdk|cmd:dpdk-pmdinfo.py|functional tests: the stock dpdk-pmdinfo.py
		dpdk-dev|cmd:dpdk-testpmd|functional tests: the stock dpdk-testpmd
	END
	cat <<-'END'
		python3-pytest|py:pytest|functional tests: runs them
		python3-scapy|py:scapy|functional tests: packets
		python3-pyelftools|py:elftools|functional tests: dpdk-pmdinfo.py
		git|cmd:git|functional tests: the drivers in a DPDK tree
		iproute2|cmd:ip|functional tests: network namespaces
		procps|cmd:sysctl|functional tests: settings of network namespaces
		iputils-ping|cmd:ping|functional tests: ping
		iperf3|cmd:iperf3|functional tests: TCP streams
		ethtool|cmd:ethtool|functional tests: offloads of veth devices, and its own requests
		curl|cmd:curl|functional tests: a file by HTTP
		valgrind|cmd:valgrind|functional tests: memory that leaks or is read too early
	END
	dpdk_is_private || packages_package
}

packages_python() {
	echo 'python3|cmd:python3|bench l3fwd is a Python program'
}

packages_model() {
	cat <<-'END'
		spin|cmd:spin|the models of the protocols: SPIN checks them
		gcc|cmd:cc|to compile what SPIN makes of them
	END
}

packages_vm() {
	echo 'busybox-static|cmd:busybox|vm tests: all that is in the guest besides the tests'
}

packages_source() {
	echo "xz-utils|cmd:xz|to unpack DPDK's source package"
}

packages_package() {
	cat <<-'END'
		dpkg-dev|cmd:dpkg-buildpackage|to build Debian packages
		debhelper|cmd:dh|to build Debian packages
	END
}

packages_clang() {
	echo 'clang|cmd:clang|to compile with clang'
}

packages_versions() {
	packages_compile
	packages_clang
	packages_unit
	packages_functional | grep -v '^dpdk'
}

packages_fuzz() {
	packages_clang
	echo 'libclang-rt-dev|fuzzer:clang|fuzzing: libFuzzer, ASan and UBSan of clang'
}

packages_plot() {
	echo 'python3-matplotlib|py:matplotlib|to draw what was measured'
}

packages_fresh() {
	cat <<-'END'
		mmdebstrap|cmd:mmdebstrap|test fresh: a minimal root
		git|cmd:git|test fresh: a clone of what is committed
		ccache|cmd:ccache|test fresh --short: what was compiled here
	END
}

packages_docs() {
	echo 'python3-sphinx|py:sphinx|the guides'
}

packages_lint() {
	cat <<-'END'
		clang-format|cmd:clang-format|checks: formatting of C
		codespell|cmd:codespell|checks: spelling
		shellcheck|cmd:shellcheck|checks: shell scripts
	END
}

is_present() {
	local kind=${1%%:*} name=${1#*:}
	case $kind in
	cmd) PATH=$PATH:/usr/sbin:/sbin have "$name" || { [ "$name" = cc ] && have "${CC:-cc}"; } ;;
	pc) have_pc "$name" ;;
	py) python_with "${modules[@]}" >/dev/null || can_import "$system_python" "$name" ;;
	file) [ -e "$name" ] ;;
	fuzzer)
		echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
			"$name" -x c -fsanitize=fuzzer,address,undefined -o /dev/null - 2>/dev/null
		;;
	dpkg) dpkg-query -W -f '${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed ;;
	esac
}

# The Python modules of a set.
modules_of() {
	"packages_$1" | sed -nE 's/^[^|]*\|py:([^|]*)\|.*/\1/p'
}

# The python3 that has all of them, after need SET.
python_of() {
	local modules
	mapfile -t modules < <(modules_of "$1")
	python_with "${modules[@]}"
}

# The lines of the sets named whose package is missing. Modules that some python3
# has, but none has all of its set, are missing unless the distribution's has them.
missing_of() {
	local set line probe modules
	for set in "$@"; do
		mapfile -t modules < <(modules_of "$set")
		while read -r line; do
			probe=${line#*|}
			is_present "${probe%%|*}" || echo "$line"
		done < <("packages_$set")
	done
}

print_packages() {
	local name probe purpose
	while IFS='|' read -r name probe purpose; do
		printf '      %-20s %s\n' "$name" "$purpose" >&2
	done <<<"$1"
}

driver_source_line="DPDK's source tree||driver headers: give DPDK_SRC=DIR, or install a DPDK built with \
-Denable_driver_sdk=true and set PKG_CONFIG_PATH"

check_can_install() {
	local packages=$1
	if ! have apt-get; then
		have_driver_source || print_packages "$driver_source_line"
		die "this system has no apt-get: install the above by other means, then run this again" \
			"(the names are Debian's)"
	fi
	if [ "$(id -u)" -ne 0 ] && ! have sudo; then
		die "installing needs root, and there is no sudo. Run this as root, then try again:" \
			"apt-get install $packages"
	fi
}

# need SET...: install the packages of the sets that are missing.
need() {
	local missing packages
	missing=$(missing_of "$@")
	[ -n "$missing" ] || return 0
	say "missing:"
	print_packages "$missing"
	packages=$(cut -d'|' -f1 <<<"$missing" | paste -sd' ')
	check_can_install "$packages"
	say "apt-get update"
	as_root apt-get -q update >&2 || warn "apt-get update had errors; trying to go on"
	say "apt-get install $packages"
	# shellcheck disable=SC2086 # a list of words
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
		-o DPkg::Lock::Timeout=300 install $packages >&2 ||
		die "apt-get could not install all of: $packages"
	hash -r
	missing=$(missing_of "$@")
	[ -z "$missing" ] || {
		print_packages "$missing"
		die "the above are still missing after they were installed"
	}
}

check_dpdk_version() {
	pkg-config --atleast-version=22.11 libdpdk ||
		die "libdpdk is $(dpdk_version), but 22.11 or newer is needed"
}

# Everything to build with; sets dpdk_src (empty when libdpdk needs no source).
setup_build() {
	need build
	check_dpdk_version
	find_dpdk_source
}

setup_command() {
	local what=${1:-default}
	[ $# -lt 2 ] || usage_error "setup: unknown '${*:2}' after $what"
	case $what in
	default) need build unit functional ;;
	build) need build ;;
	all) need build unit functional model package docs clang fuzz lint fresh ;;
	*) usage_error "setup: unknown '$what': give build, all or nothing" ;;
	esac
	[ "$what" = build ] || need_ovs
	setup_build
	say "ready: libdpdk $(dpdk_version)${dpdk_src:+, DPDK source in $dpdk_src}"
}
