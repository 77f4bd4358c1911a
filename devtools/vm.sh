# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# What the tests in a virtual machine need: QEMU and a kernel. Both are the
# distribution's, unpacked below .deps/ and not installed: no boot entry, no
# initrd, nothing to remove from the system.

# The first with an igb, a multi-queue NIC of which the tests want two.
qemu_with_igb=8

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

has_igb() {
	[ "$(qemu_major "$1")" -ge $qemu_with_igb ]
}

# Sets kernel_root likewise.
find_kernel() {
	for kernel_root in "$root"/.deps/linux-*; do
		[ ! -f "$kernel_root/complete" ] || return 0
	done
	return 1
}

# Adds the suite of backports to the private lists in $1, wherever they name
# the distribution's own.
add_backports() {
	local codename=$1 dir=$2 file
	for file in "$dir"/parts/*.list; do
		[ ! -f "$file" ] || sed -nE -i "p; s/([[:space:]]$codename)([[:space:]])/\1-backports\2/p" "$file"
	done
	for file in "$dir"/parts/*.sources; do
		[ -f "$file" ] || continue
		awk -v RS= -v suite="$codename" '
			match($0, /(^|\n)Suites:[^\n]*/) {
				words = " " substr($0, RSTART, RLENGTH) " "
				if (index(words, " " suite " ")) {
					backports = $0
					sub(/(^|\n)Suites:[^\n]*/, "\nSuites: " suite "-backports", backports)
					sub(/^\n/, "", backports)
					printf "\n%s\n", backports
				}
			}' "$file" >"$dir/backports"
		cat "$dir/backports" >>"$file"
	done
}

# Downloads the packages named, and what they need that the machine has not,
# into the private cache in $1.
download_packages() {
	local dir=$1
	shift
	private_apt "$dir" apt-get -q -y --no-install-recommends --download-only \
		-o Debug::NoLocking=1 install "$@" >&2
}

fetch_qemu() {
	local dir=$1 codename=$2 deb version
	say "fetching QEMU from the distribution (~30 MB) into .deps/"
	download_packages "$dir" -t "$codename-backports" qemu-system-x86 ||
		download_packages "$dir" qemu-system-x86 || return 1
	mkdir "$dir/qemu"
	for deb in "$dir"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$dir/qemu" || return 1
	done
	version=$(dpkg-deb -f "$dir"/cache/archives/qemu-system-x86_*.deb Version)
	version=${version#*:}
	rm -rf "$dir/qemu/usr/share/doc" "$dir"/cache/archives/*.deb
	cat >"$dir/qemu/run" <<-'END'
		#!/bin/sh
		here=$(dirname "$(readlink -f "$0")")
		for lib in "$here"/lib/*-linux-gnu "$here"/usr/lib/*-linux-gnu; do
			LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
		done
		export LD_LIBRARY_PATH
		exec "$here/usr/bin/qemu-system-x86_64" -L "$here/usr/share/qemu" \
			-L "$here/usr/share/seabios" "$@"
	END
	chmod +x "$dir/qemu/run"
	mv -T "$dir/qemu" "$root/.deps/qemu-${version%%[+-]*}"
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

# Gets what is not at hand: a QEMU that has igb if there is one, and a kernel.
fetch_vm() {
	local dir=$1 codename
	codename=$(sed -nE 's/^VERSION_CODENAME="?([^"]*)"?$/\1/p' /etc/os-release)
	write_private_lists "$dir" deb
	add_backports "$codename" "$dir"
	say "reading the list of packages"
	private_apt "$dir" apt-get -qq update >&2 ||
		warn "some package sources could not be read; trying to go on"
	find_kernel || fetch_kernel "$dir" || die "the distribution's kernel could not be fetched"
	if ! find_qemu || ! has_igb "$qemu"; then
		fetch_qemu "$dir" "$codename" || find_qemu || die "QEMU could not be fetched"
	fi
}

# One that was fetched and has no igb is the best there is.
vm_is_ready() {
	find_kernel && find_qemu && { has_igb "$qemu" || [ "${qemu#"$root/.deps/"}" != "$qemu" ]; }
}

# Dies with the reason if there can be no virtual machine here.
fetch_missing_vm() {
	local tmp
	[ "$(uname -m)" = x86_64 ] || die "the virtual machine is an x86-64, this machine is not"
	have apt-get || die "this system has no apt-get to get QEMU and a kernel with"
	need vm
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
