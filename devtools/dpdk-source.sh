# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# DPDK's source tree of the release that libdpdk is: distributions install
# neither the driver headers nor the source of testpmd and l3fwd.
#
# It comes from the distribution's own source package, by a list of package
# sources that is private to this clone: the system's own is never edited.

source_parts=(lib drivers/bus app/test-pmd VERSION 'drivers/net/*/*testpmd*.[ch]'
	examples/{common,dma,ip_fragmentation,ip_reassembly,ipsec-secgw,l2fwd,l2fwd-event,l3fwd,l3fwd-power}
	examples/{link_status_interrupt,ptpclient,rxtx_callbacks,server_node_efd,skeleton}
	examples/multi_process/{client_server_mp,symmetric_mp})

# Sets dpdk_src, fetching the source if there is no other way.
find_dpdk_source() {
	local version release
	version=$(dpdk_version)
	release=$(release_of "$version")
	if [ -n "${DPDK_SRC:-}" ]; then
		use_given_source "$release"
		return
	fi
	dpdk_src=$(fetched_source "$release")
	if [ -z "$dpdk_src" ] && ! have_driver_headers; then
		fetch_source "$version" "$release"
		dpdk_src=$(fetched_source "$release")
	fi
}

have_driver_source() {
	[ -n "${DPDK_SRC:-}" ] || { have pkg-config && have_pc libdpdk &&
		{ have_driver_headers || [ -n "$(fetched_source "$(release_of "$(dpdk_version)")")" ]; }; }
}

use_given_source() {
	local file
	for file in VERSION lib/ethdev/ethdev_driver.h; do
		[ -f "$DPDK_SRC/$file" ] || die "DPDK_SRC=$DPDK_SRC is no DPDK source tree: it has no $file"
	done
	dpdk_src=$(cd "$DPDK_SRC" && pwd -P)
	local given
	given=$(release_of "$(cat "$dpdk_src/VERSION")")
	[ "$given" = "$1" ] ||
		die "DPDK_SRC=$DPDK_SRC is DPDK $given, but libdpdk is $1: give the same release"
}

# An older clone may have fetched fewer parts.
has_all_parts() {
	local part
	for part in "${source_parts[@]}"; do
		compgen -G "$1/$part" >/dev/null || return 1
	done
}

# A tree of the release, if there is one; it gets its name when it is complete.
fetched_source() {
	local tree
	for tree in "$root/.deps/dpdk-$1".*; do
		if has_all_parts "$tree"; then
			echo "$tree"
			return
		fi
	done
}

fetch_source() {
	local version=$1 release=$2 tmp
	if ! have apt-get; then
		say "missing:"
		print_packages "$driver_source_line"
		die "this system has no apt-get: get DPDK's source of release $release by other means"
	fi
	say "DPDK $version was installed without its driver headers:" \
		"fetching them from the distribution's source package (~20 MB) into .deps/"
	need source
	mkdir -p "$root/.deps"
	exec 9>"$root/.deps/lock"
	flock 9
	if [ -z "$(fetched_source "$release")" ]; then
		tmp=$(mktemp -d "$root/.deps/tmp.XXXXXX")
		# shellcheck disable=SC2064 # the value of now
		trap "rm -rf '$tmp'" EXIT
		download_source "$version" "$release" "$tmp"
		unpack_source "$tmp"
		rm -rf "$tmp"
		trap - EXIT
	fi
	exec 9>&-
}

# The directories and files of the machine's package sources.
apt_lists() {
	local list='' parts=''
	eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
	printf '%s\n' "$list"
	find "${parts:-/nonexistent}" -maxdepth 1 \( -name '*.list' -o -name '*.sources' \) 2>/dev/null |
		sort
}

# One-line format: what is there, as TYPE. An archive on a disc is not there.
retyped_lists() {
	local type=$1
	shift
	sed -nE "/cdrom:/d; s/^[[:space:]]*deb(-src)?([[:space:]])/$type\2/p" "$@" | sort -u
}

# deb822 format: stanzas, which may be disabled and have folded fields.
retyped_stanzas() {
	local type=$1
	shift
	awk -v type="$type" '
		function flush() {
			if (stanza != "" && enabled)
				printf "Types: %s\n%s\n", type, stanza
			stanza = ""; enabled = 1; skip = 0
		}
		BEGIN { enabled = 1 }
		FNR == 1 { flush() }
		/^[[:space:]]*$/ { flush(); next }
		/^#/ { next }
		/^[^[:space:]]/ {
			field = tolower($0)
			skip = field ~ /^(types|enabled)[[:space:]]*:/
			if (field ~ /^enabled[[:space:]]*:[[:space:]]*(no|false|without|off|disable)/)
				enabled = 0
		}
		!skip { stanza = stanza $0 "\n" }
		END { flush() }
	' "$@"
}

# Writes $1/parts: the machine's package sources, as sources of TYPE $2: deb
# for packages, deb-src for source packages.
write_private_lists() {
	local file one_line=() stanzas=()
	while read -r file; do
		[ -r "$file" ] || continue
		case $file in
		*.list) one_line+=("$file") ;;
		*.sources) stanzas+=("$file") ;;
		esac
	done < <(apt_lists)
	mkdir -p "$1/parts" "$1/lists/partial" "$1/cache/archives/partial"
	[ ${#one_line[@]} -eq 0 ] || retyped_lists "$2" "${one_line[@]}" >"$1/parts/octo.list"
	[ ${#stanzas[@]} -eq 0 ] || retyped_stanzas "$2" "${stanzas[@]}" >"$1/parts/octo.sources"
	# what the machine does after each update is not for this one
	printf '#clear APT::Update::%s;\n' Pre-Invoke Post-Invoke Post-Invoke-Success >"$1/apt.conf"
}

# private_apt DIR COMMAND ARG...: apt that knows only the private lists.
private_apt() {
	local dir=$1 command=$2
	shift 2
	"$command" -c "$dir/apt.conf" -o Dir::Etc::sourcelist=/dev/null \
		-o Dir::Etc::sourceparts="$dir/parts" -o Dir::State::lists="$dir/lists" \
		-o Dir::Cache="$dir/cache" -o Acquire::Languages=none \
		-o APT::Sandbox::User="$(id -un)" "$@"
}

# Of the versions in the archive: libdpdk's own package version, else its
# patch level, else the newest patch level of the release.
pick_version() {
	local version=$1 release=$2 versions=$3 installed
	installed=$(dpkg-query -W -f '${source:Version}' libdpdk-dev 2>/dev/null || true)
	if [ "${installed%%-*}" = "$version" ] && grep -qxF "$installed" <<<"$versions"; then
		echo "$installed"
	elif grep -q "^$version-" <<<"$versions"; then
		grep "^$version-" <<<"$versions" | sort -V | tail -n 1
	else
		grep "^${release}[.~-]" <<<"$versions" | sort -V | tail -n 1
	fi
}

download_source() {
	local version=$1 release=$2 dir=$3 versions wanted
	write_private_lists "$dir" deb-src
	say "reading the list of source packages"
	private_apt "$dir" apt-get -qq update >&2 ||
		warn "some package sources could not be read; trying to go on"
	versions=$(private_apt "$dir" apt-cache showsrc --only-source dpdk 2>/dev/null |
		sed -n 's/^Version: *//p')
	wanted=$(pick_version "$version" "$release" "$versions") || true
	[ -n "$wanted" ] || die "the distribution has no source package of DPDK $release." \
		"Give its source tree: DPDK_SRC=DIR ./octo ..."
	[ "${wanted%%-*}" = "$version" ] ||
		warn "libdpdk is $version, the source package is $wanted:" \
			"same release, same ABI, fine for headers"
	say "downloading the source of dpdk $wanted"
	(cd "$dir" && private_apt "$dir" apt-get -q --download-only --tar-only source "dpdk=$wanted") >&2 ||
		die "the source package of dpdk $wanted could not be downloaded"
}

unpack_source() {
	local dir=$1 patterns=() part version
	for part in "${source_parts[@]}"; do
		patterns+=("*/$part")
	done
	mkdir "$dir/tree"
	tar -C "$dir/tree" -xf "$dir"/dpdk_*.orig.tar.* --strip-components=1 --no-same-owner \
		--anchored --wildcards --no-wildcards-match-slash "${patterns[@]}" ||
		die "DPDK's source package could not be unpacked"
	version=$(cat "$dir/tree/VERSION")
	[ ! -e "$root/.deps/dpdk-$version" ] || mv -T "$root/.deps/dpdk-$version" "$dir/old"
	mv -T "$dir/tree" "$root/.deps/dpdk-$version"
	say "unpacked into .deps/dpdk-$version"
}
