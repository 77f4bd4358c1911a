# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Configures and compiles, each variant in a directory of its own.

# Takes the option that the arguments begin with; sets taken to its words, 0
# when the first argument is none of the options of a build.
take_build_option() {
	taken=1
	case ${1:-} in
	--clang)
		variant+=-clang
		cc=clang
		;;
	--debug)
		variant+=-debug
		variant_options+=(-Dbuildtype=debug -Doptimization=0 -Ddebug_locks=true)
		;;
	--asan)
		variant+=-asan
		asan=1
		# optimized less, that is compiled in half the time; --debug goes first
		variant_options=(-Doptimization=1 "-Db_sanitize=address,undefined"
			-Db_lundef=false -Ddebug_locks=true "${variant_options[@]}")
		;;
	--tsan)
		variant+=-tsan
		# EAL's spinlocks are in assembly, which ThreadSanitizer cannot read
		variant_options=(-Doptimization=1 -Db_sanitize=thread -Db_lundef=false
			"-Dc_args=-DRTE_FORCE_INTRINSICS -Wno-tsan" "${variant_options[@]}")
		;;
	--dpdk-src)
		[ -d "${2:-}" ] || usage_error "--dpdk-src needs a DPDK source tree, and '${2:-}' is no directory"
		dpdk_tree=$(cd "$2" && pwd -P)
		taken=2
		;;
	*) taken=0 ;;
	esac
}

no_build_options() {
	cc=${CC:-}
	variant=
	variant_options=()
	asan=
	dpdk_tree=
	rest=()
}

# Each variant has a directory of its own, and so has each release of --dpdk-src.
choose_build_dir() {
	[ -z "$dpdk_tree" ] || check_given_tree "$dpdk_tree"
	build_dir=$root/build${dpdk_tree:+-dpdk-$(release_of "$(cat "$dpdk_tree/VERSION")")}$variant
}

# Sets build_dir, cc, variant_options, asan and dpdk_tree, and leaves the other
# arguments in rest.
read_build_options() {
	local taken
	no_build_options
	while [ $# -gt 0 ]; do
		take_build_option "$@"
		if [ $taken -eq 0 ]; then
			rest+=("$1")
			taken=1
		fi
		shift $taken
	done
	choose_build_dir
}

# The same for programs, to whom all belongs that comes after these options.
read_leading_options() {
	local taken=1
	no_build_options
	while take_build_option "$@" && [ $taken -gt 0 ]; do
		shift $taken
	done
	rest=("$@")
	choose_build_dir
}

# What a build directory is made from: when it differs, nothing in there is of use.
# The number is of how the build directory is laid out: count it up to start afresh.
build_identity() {
	local libraries=()
	# one that was built here may have been built again, with others
	! dpdk_is_private || libraries=("$(pkg-config --libs libdpdk)")
	printf '%s|' 2 "$root" "${cc:-cc}" "${PKG_CONFIG_PATH:-}" "${CFLAGS:-}" "${LDFLAGS:-}" \
		"$(dpdk_version)" "${libraries[@]}"
}

# Meson refuses a build directory that another meson is at, and two ninjas there forget what the
# other compiled: one octo at a time. What is run later must not have the lock, so it is released.
lock_build_dir() {
	mkdir -p "$build_dir"
	exec {build_lock}<"$build_dir"
	flock -n "$build_lock" && return
	say "waiting until another octo has built in $build_dir"
	flock "$build_lock"
}

unlock_build_dir() {
	exec {build_lock}<&-
}

configure() {
	lock_build_dir
	configure_locked "$@"
	unlock_build_dir
}

# configure_locked OPTION...: unless the build directory was configured so already.
configure_locked() {
	local options=("-Dpython=$(python_of compile)" "$@") identity before='' again=()
	identity=$(build_identity)
	[ ! -f "$build_dir/build.ninja" ] || before=$(cat "$build_dir/.octo" 2>/dev/null || true)
	[ "$before" != "$identity ${options[*]}" ] || return 0
	if [ "${before%%| *}|" = "$identity" ]; then
		again=(--reconfigure)
	elif [ -d "$build_dir/meson-private" ]; then
		again=(--wipe)
	fi
	say "configuring $build_dir"
	rm -f "$build_dir/.octo"
	if ! ${cc:+env CC="$cc"} meson setup "${again[@]}" "$build_dir" "$root" "${options[@]}" \
		>"$build_dir.log" 2>&1; then
		cat "$build_dir.log" >&2
		die "meson could not configure the build"
	fi
	grep -A1 'WARNING' "$build_dir.log" >&2 || true
	mv "$build_dir.log" "$build_dir/configure.log"
	echo "$identity ${options[*]}" >"$build_dir/.octo"
}

# The loader and the shell do not know where the user installed a DPDK.
find_private_dpdk() {
	local prefix libdir
	dpdk_is_private || return 0
	prefix=$(pkg-config --variable=prefix libdpdk)
	libdir=$(pkg-config --variable=libdir libdpdk)
	export LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export PATH=$prefix/bin:$PATH
}

# The sanitizers' runtime is a shared library, as with gcc: programs that were compiled without
# sanitizers, such as DPDK's own, preload it before they load the drivers.
prepare_clang() {
	need clang
	[ -n "$asan" ] || return 0
	need fuzz
	variant_options+=("-Dc_link_args=-shared-libasan -Wl,-rpath,$(dirname "$(asan_runtime clang)")")
}

# asan_runtime COMPILER: its path.
asan_runtime() {
	case $1 in
	clang) clang -print-file-name="libclang_rt.asan-$(uname -m).so" ;;
	*) gcc -print-file-name=libasan.so ;;
	esac
}

# Gets the variant that read_build_options was told of ready to compile.
prepare_build() {
	local tests=false
	use_given_dpdk
	[ "$cc" != clang ] || prepare_clang
	setup_build
	find_private_dpdk
	! have_pc cmocka || tests=true
	configure -Ddpdk_src="$dpdk_src" -Dtests="$tests" "${variant_options[@]}"
}

# compile [TARGET...]: silent when there is nothing to do.
compile() {
	# or ccache keeps nothing that is compiled with a precompiled header
	export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
	lock_build_dir
	ninja -C "$build_dir" -n "$@" | grep -q 'no work to do' ||
		ninja -C "$build_dir" "$@" >&2 || die "the build in $build_dir failed"
	unlock_build_dir
}

has_target() {
	grep -q "^build $1:" "$build_dir/build.ninja"
}

build_command() {
	read_build_options "$@"
	[ ${#rest[@]} -eq 0 ] || usage_error "build: unknown option '${rest[0]}'"
	prepare_build
	compile
	say "built: $build_dir/drivers/librte_net_octo.so, librte_net_mpsim.so, librte_octo_measure.so"
}
