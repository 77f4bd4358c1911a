# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Words to the user, and questions to the machine, for octo and .ci/run.

say() {
	printf '==> %s\n' "$*" >&2
}

warn() {
	printf 'octo: warning: %s\n' "$*" >&2
}

die() {
	printf 'octo: %s\n' "$*" >&2
	exit 1
}

have() {
	command -v "$1" >/dev/null 2>&1
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# can_import PYTHON MODULE...: one that is there but broken is of no use, so import them.
can_import() {
	"$1" - "${@:2}" >/dev/null 2>&1 <<-'END'
		import importlib
		import sys

		for name in sys.argv[1:]:
		    if importlib.import_module(name).__spec__.origin is None:
		        sys.exit(name + " is just a directory")
	END
}

# The python3 that the distribution's packages of modules are for.
system_python=/usr/bin/python3

# A python3 early in PATH need not be that one: print the path of the first that
# has all the modules named.
python_with() {
	local python
	while read -r python; do
		if can_import "$python" "$@"; then
			echo "$python"
			return
		fi
	done < <(type -aP python3 || true; echo "$system_python")
	return 1
}

# Does pkg-config, or what it would read if it were there, know the library?
have_pc() {
	local dir
	if have pkg-config; then
		pkg-config --exists "$1"
		return
	fi
	local IFS=:
	for dir in ${PKG_CONFIG_PATH:-}; do
		[ ! -f "$dir/$1.pc" ] || return 0
	done
	return 1
}

dpdk_version() {
	pkg-config --modversion libdpdk
}

# "22.11" of 22.11.11
release_of() {
	cut -d. -f1,2 <<<"$1"
}

# version_at_least LEAST VERSION
version_at_least() {
	[ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

# Is libdpdk in use one that the user built, so that no package belongs to it?
dpdk_is_private() {
	have_pc libdpdk && have pkg-config &&
		[ "$(pkg-config --variable=prefix libdpdk)" != /usr ]
}

# The driver headers are there when DPDK was installed with its driver SDK.
have_driver_headers() {
	local flag
	for flag in $(pkg-config --cflags-only-I libdpdk) -I/usr/include; do
		[ ! -f "${flag#-I}/ethdev_driver.h" ] || return 0
	done
	return 1
}
