# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Debian packages for the distribution's DPDK, by debian/ and debhelper.

# Brings a copy of the source tree up to date, where debhelper may leave its own
# files. What was compiled there before stays, and is used if it fits.
copy_sources() {
	local tree=$1 identity
	identity="$(build_identity) $dpdk_src ${DEB_BUILD_OPTIONS-default} ${DEB_CFLAGS_STRIP:-}"
	[ "$(cat "$tree/.octo" 2>/dev/null)" = "$identity" ] || rm -rf "$tree"
	rm -rf "$tree/debian"
	mkdir -p "$tree"
	tar -C "$root" --anchored --exclude='./build*' --exclude=./.deps --exclude=./.git \
		--exclude='./out*.json' -c . | tar -C "$tree" -x --no-same-owner
	echo "$identity" >"$tree/.octo"
}

# run_debhelper DIR: builds the packages of the tree in DIR, silently.
run_debhelper() {
	(
		cd "$1"
		# what is stripped anyway need not be compiled
		[ -n "${DEB_BUILD_OPTIONS+set}" ] ||
			export DEB_BUILD_OPTIONS=noautodbgsym DEB_CFLAGS_STRIP="${DEB_CFLAGS_STRIP:-} -g"
		export DPDK_SRC=$dpdk_src
		# -d: need has seen to what is missing, in its own way; -nc: keep what is compiled
		dpkg-buildpackage -b -us -uc -d -nc
	) >"$1.log" 2>&1 || {
		tail -n 50 "$1.log" >&2
		die "the packages could not be built: all that was said is in $1.log"
	}
}

package_command() {
	local dir=$root/build/packages
	[ $# -eq 0 ] || usage_error "package takes no argument"
	no_build_options
	have dpkg || die "this system has no dpkg to make packages for: use ninja -C build install"
	need build package
	! dpdk_is_private || die "libdpdk $(dpdk_version) in" \
		"$(pkg-config --variable=prefix libdpdk) belongs to no Debian package, so that none can" \
		"depend on it: use ninja -C build install"
	setup_build
	mkdir -p "$dir"
	rm -f "$dir"/*.deb "$dir"/*.buildinfo "$dir"/*.changes
	say "building packages for libdpdk $(dpdk_version)"
	copy_sources "$dir/tree"
	run_debhelper "$dir/tree"
	say "install them by: apt install $dir/*.deb"
	printf '%s\n' "$dir"/*.deb
}
