# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# What the tests in a virtual machine need: QEMU and a kernel. Both are the
# distribution's, unpacked below .deps/ and not installed: no boot entry, no
# initrd, nothing to remove from the system.

# The first that keeps which device an access to memory is for. Those before keep a number,
# whose meaning another CPU may change meanwhile: such an access ends QEMU, or goes to another
# device, and a CPU whose interrupt is not acknowledged gets no ticks any more.
qemu_sound=11

# Prints the major version of the QEMU that the command $1 starts.
qemu_major() {
	"$1" --version 2>/dev/null | sed -nE 's/.* version ([0-9]+)\..*/\1/p'
}

# Sets qemu to the command that starts the newest QEMU at hand; fails without.
find_qemu() {
	local command major best=0
	for command in qemu-system-x86_64 "$root"/.deps/qemu-*/run; do
		major=$(qemu_major "$command") || continue
		if [ "${major:-0}" -gt "$best" ]; then
			best=$major
			qemu=$command
		fi
	done
	[ "$best" -gt 0 ]
}

is_sound() {
	[ "$(qemu_major "$1")" -ge $qemu_sound ]
}

# Sets kernel_root likewise.
find_kernel() {
	for kernel_root in "$root"/.deps/linux-*; do
		[ ! -f "$kernel_root/complete" ] || return 0
	done
	return 1
}

# Adds the suite $3 to the private lists in $1, wherever they name the suite $2.
add_suite() {
	local dir=$1 file
	for file in "$dir"/parts/*.list; do
		[ ! -f "$file" ] ||
			sed -nE -i "p; s/([[:space:]])$2([[:space:]])/\1$3\2/p" "$file"
	done
	for file in "$dir"/parts/*.sources; do
		[ -f "$file" ] || continue
		awk -v RS= -v suite="$2" -v new="$3" '
			match($0, /(^|\n)Suites:[^\n]*/) {
				words = " " substr($0, RSTART, RLENGTH) " "
				if (index(words, " " suite " ")) {
					added = $0
					sub(/(^|\n)Suites:[^\n]*/, "\nSuites: " new, added)
					sub(/^\n/, "", added)
					printf "\n%s\n", added
				}
			}' "$file" >"$dir/added"
		cat "$dir/added" >>"$file"
	done
}

# Where the release $1 may find a QEMU, the newest first. Another release's comes with all of
# its libraries, down to libc.
suites_with_qemu() {
	[ "$1" != bookworm ] || printf '%s\n' trixie-backports trixie
	printf '%s\n' "$1-backports" "$1"
}

# Downloads QEMU of the suite $3 and all that it needs into a private cache in $1; $2 is this
# machine's release. Nothing counts as installed.
download_qemu() {
	local dir=$1 codename=$2 suite=$3
	write_private_lists "$dir" deb
	[ "${suite%-backports}" = "$codename" ] || add_suite "$dir" "$codename" "${suite%-backports}"
	[ "$suite" = "${suite%-backports}" ] || add_suite "$dir" "$codename" "$suite"
	: >"$dir/installed"
	# a source that has nothing to do with it may be the one that cannot be read
	private_apt "$dir" apt-get -qq update >&2 || true
	private_apt "$dir" apt-get -q -y --no-install-recommends --download-only \
		-o Debug::NoLocking=1 -o Dir::State::status="$dir/installed" \
		-t "$suite" install qemu-system-x86 >&2
}

# Unpacks what is in the cache in $1 into .deps/.
unpack_qemu() {
	local dir=$1 deb version
	mkdir "$dir/qemu"
	for deb in "$dir"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$dir/qemu" || return 1
	done
	version=$(dpkg-deb -f "$dir"/cache/archives/qemu-system-x86_*.deb Version)
	version=${version#*:}
	rm -rf "$dir"/qemu/usr/share/{doc,locale,man}
	cat >"$dir/qemu/run" <<-'END'
		#!/bin/sh
		here=$(dirname "$(readlink -f "$0")")
		loader=$(ls "$here"/lib64/ld-linux-* "$here"/usr/lib64/ld-linux-* 2>/dev/null | head -n 1)
		libraries=
		for lib in "$here"/lib/*-linux-gnu "$here"/usr/lib/*-linux-gnu; do
			libraries=$lib${libraries:+:$libraries}
		done
		exec "$loader" --library-path "$libraries" "$here/usr/bin/qemu-system-x86_64" \
			-L "$here/usr/share/qemu" -L "$here/usr/share/seabios" "$@"
	END
	chmod +x "$dir/qemu/run"
	"$dir/qemu/run" --version >&2 || return 1
	touch "$dir/qemu/newest"
	rm -rf "$root"/.deps/qemu-*
	mv -T "$dir/qemu" "$root/.deps/qemu-${version%%[+-]*}"
}

fetch_qemu() {
	local codename=$2 suite dir
	say "fetching QEMU from the distribution (~40 MB) into .deps/"
	for suite in $(suites_with_qemu "$codename"); do
		dir=$1/$suite
		if download_qemu "$dir" "$codename" "$suite" && unpack_qemu "$dir"; then
			return
		fi
		warn "no QEMU could be got from $suite"
	done
	return 1
}

# The modules of what no test machine has are most of the package.
fetch_kernel() {
	local dir=$1 package release
	package=$(private_apt "$dir" apt-cache depends linux-image-amd64 2>/dev/null |
		sed -nE 's/^ *Depends: *(linux-image-[0-9].*)/\1/p' | head -n 1)
	[ -n "$package" ] || return 1
	say "fetching the kernel $package (~70 MB) into .deps/"
	(cd "$dir" && private_apt "$dir" apt-get -q download "$package") >&2 || return 1
	mkdir "$dir/linux"
	dpkg-deb --fsys-tarfile "$dir/$package"_*.deb |
		tar -C "$dir/linux" -x --no-same-owner --exclude='*/kernel/sound' \
			--exclude='*/drivers/gpu' --exclude='*/drivers/media' --exclude='*/doc' || return 1
	release=${package#linux-image-}
	[ -e "$dir/linux/lib" ] || ln -s usr/lib "$dir/linux/lib"
	busybox depmod -b "$dir/linux" "$release" || return 1
	touch "$dir/linux/complete"
	mv -T "$dir/linux" "$root/.deps/linux-$release"
}

# Gets what is not at hand: a sound QEMU, or the newest that there is, and a kernel.
fetch_vm() {
	local dir=$1 codename
	codename=$(sed -nE 's/^VERSION_CODENAME="?([^"]*)"?$/\1/p' /etc/os-release)
	write_private_lists "$dir" deb
	say "reading the list of packages"
	private_apt "$dir" apt-get -qq update >&2 ||
		warn "some package sources could not be read; trying to go on"
	find_kernel || fetch_kernel "$dir" || die "the distribution's kernel could not be fetched"
	find_qemu && is_sound "$qemu" || fetch_qemu "$dir" "$codename" || find_qemu ||
		die "QEMU could not be fetched"
}

vm_is_ready() {
	find_kernel && find_qemu && { is_sound "$qemu" || [ -e "${qemu%/run}/newest" ]; }
}

# Dies with the reason if there can be no virtual machine here.
fetch_missing_vm() {
	local tmp
	[ "$(uname -m)" = x86_64 ] || die "the virtual machine is an x86-64, this machine is not"
	have apt-get || die "this system has no apt-get to get QEMU and a kernel with"
	mkdir -p "$root/.deps"
	exec 9>"$root/.deps/lock"
	flock 9
	if ! vm_is_ready; then
		tmp=$(mktemp -d "$root/.deps/tmp.XXXXXX")
		# shellcheck disable=SC2064 # the value of now
		trap "rm -rf '$tmp'" EXIT
		fetch_vm "$tmp"
	fi
	exec 9>&-
}

# Tells the tests by the environment what to boot, or why nothing can be.
prepare_vm() {
	local why
	why=$(mktemp)
	# in a shell of its own: where there is no QEMU, tests are skipped
	if (fetch_missing_vm) 2> >(tee "$why" >&2) && find_qemu && find_kernel; then
		export OCTO_VM_QEMU=$qemu OCTO_VM_KERNEL=$kernel_root
	else
		OCTO_VM_MISSING=$(sed -n 's/^octo: //p' "$why" | tail -n 1)
		export OCTO_VM_MISSING=${OCTO_VM_MISSING:-no QEMU}
	fi
	rm -f "$why"
}
