# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Runs programs: what EAL asks of the machine, and where plugins may lie.

# Compiles the program below app/ with what it needs; sets program to its path.
build_program() {
	local target=${2:-app/$1}/octo-$1
	prepare_build
	has_target "$target" || die "$1 cannot be built without DPDK's source tree of release" \
		"$(release_of "$(dpdk_version)"): give it by DPDK_SRC=DIR (nothing was downloaded," \
		"as libdpdk came with its driver headers)"
	compile "$target"
	program=$build_dir/$target
}

hugepages_usable() {
	local mount free
	free=$(cat /sys/kernel/mm/hugepages/*/free_hugepages 2>/dev/null | grep -cv '^0$' || true)
	[ "$free" -gt 0 ] || return 1
	while read -r mount; do
		[ ! -w "$mount" ] || return 0
	done < <(awk '$3 == "hugetlbfs" {print $2}' /proc/mounts)
	return 1
}

# Sets memory_args to what an EAL command line must begin with on a machine
# without hugepages, unless it says something about memory itself.
choose_memory() {
	local arg
	memory_args=()
	for arg in "$@"; do
		case $arg in
		--) break ;;
		--no-huge | -m | -m[0-9]* | --socket-mem* | --in-memory | --huge-dir* | -h | --help | -v | --version)
			return
			;;
		esac
	done
	if ! hugepages_usable; then
		memory_args=(--no-huge -m 1024)
		say "no free hugepages: adding ${memory_args[*]}"
	fi
}

# EAL keeps its run-time files in XDG_RUNTIME_DIR, else in /tmp/dpdk, which is
# the first user's: give another user a directory of their own.
choose_runtime_dir() {
	local fallback
	[ "$(id -u)" -ne 0 ] || return 0
	[ -z "${RUNTIME_DIRECTORY:-}" ] || return 0
	if [ -n "${XDG_RUNTIME_DIR:-}" ] && [ ! -w "$XDG_RUNTIME_DIR" ]; then
		unset XDG_RUNTIME_DIR
	fi
	[ -z "${XDG_RUNTIME_DIR:-}" ] || return 0
	if [ -e /tmp/dpdk ] && [ ! -O /tmp/dpdk ]; then
		fallback=${XDG_CACHE_HOME:-$HOME/.cache}/net_octo/run
		(umask 077 && mkdir -p "$fallback")
		export XDG_RUNTIME_DIR=$fallback
		say "/tmp/dpdk belongs to another user: EAL's run-time files are in $fallback"
	fi
}

# What "./octo plugins" names, in the order in which it is loaded.
plugins=(librte_net_octo.so librte_net_mpsim.so librte_octo_measure.so)

pmd_directory() {
	sed -n 's/^ *PMD directory *: *//p' "$build_dir/configure.log"
}

# How to remove a file that a package, or ninja install, brought.
removal_of() {
	local file=$1 package libdir
	package=$(dpkg-query -S "$file" 2>/dev/null | cut -d: -f1) || true
	if [ -n "$package" ]; then
		echo "apt remove $package"
	else
		libdir=$(pkg-config --variable=libdir libdpdk)
		echo "rm ${plugins[*]/#/"${file%/*}/"}" "${plugins[*]/#/"$libdir/"}" | sed 's/\.so/&*/g'
	fi
}

# EAL loads all that is in DPDK's own PMD directory. A program that brings the
# drivers along would then register them twice.
refuse_installed_drivers() {
	local dir file
	dir=$(pmd_directory)
	# those of packages first: a development package has the links
	for file in "$dir"/librte_{net_octo,net_mpsim,octo_measure}{.so.*,.so}; do
		[ -e "$file" ] || continue
		die "the drivers are also installed in $dir, from where EAL loads them by itself," \
			"and they cannot be loaded twice. Remove those first: $(removal_of "$file")"
	done
}

# run_program ARG...: replaces this process.
run_program() {
	refuse_installed_drivers
	choose_runtime_dir
	exec "$program" "$@"
}

testpmd_command() {
	read_leading_options "$@"
	build_program testpmd
	choose_memory "${rest[@]}"
	run_program "${memory_args[@]}" "${rest[@]}"
}

l3fwd_command() {
	read_leading_options "$@"
	build_program l3fwd
	choose_memory "${rest[@]}"
	run_program "${memory_args[@]}" "${rest[@]}"
}

# Asks a program that runs, by the socket that EAL has made for it.
measure_command() {
	have python3 || die "measure needs python3, of version 3.9 or newer"
	choose_runtime_dir
	exec python3 -B "$root/usertools/dpdk-octo-measure.py" "$@"
}

demo_command() {
	read_leading_options "$@"
	prepare_build
	compile app/octo-demo/octo-demo
	program=$build_dir/app/octo-demo/octo-demo
	run_program "${rest[@]}"
}

# Prints a directory that EAL loads the drivers from: the build's own or a copy.
plugin_directory() {
	local dir file
	if is_safe_directory "$build_dir/drivers"; then
		echo "$build_dir/drivers"
		return
	fi
	for dir in "${XDG_CACHE_HOME:-$HOME/.cache}" "/run/user/$(id -u)" /var/lib; do
		dir+=/net_octo/plugins/$(cksum <<<"$build_dir" | cut -d' ' -f1)
		if is_safe_directory "$dir" && (umask 022 && mkdir -p "$dir") 2>/dev/null; then
			for file in "${plugins[@]/#/"$build_dir/drivers/"}"; do
				cmp -s "$file" "$dir/${file##*/}" && continue
				cp "$file" "$dir/.${file##*/}.$$"
				mv "$dir/.${file##*/}.$$" "$dir/${file##*/}"
			done
			echo "$dir"
			return
		fi
	done
	die "found no directory from which EAL would load a plugin: every one that can be" \
		"written to lies below a world-writable one"
}

# The -d options that make any DPDK program load the drivers.
plugins_command() {
	local dir options
	read_build_options "$@"
	[ ${#rest[@]} -eq 0 ] || usage_error "plugins: unknown option '${rest[0]}'"
	prepare_build
	refuse_installed_drivers
	compile plugins
	dir=$(plugin_directory)
	options=("${plugins[@]/#/"-d $dir/"}")
	echo "${options[*]}"
}
