# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Configures and compiles, each variant in a directory of its own.

# Sets build_dir, cc and variant_options from --debug, --asan and --clang, and
# leaves the other arguments in rest.
read_build_options() {
	local arg
	build_dir=$root/build
	cc=${CC:-}
	variant_options=()
	asan=
	rest=()
	for arg in "$@"; do
		case $arg in
		--clang)
			build_dir+=-clang
			cc=clang
			;;
		--debug)
			build_dir+=-debug
			variant_options+=(-Dbuildtype=debug -Doptimization=0)
			;;
		--asan)
			build_dir+=-asan
			asan=1
			variant_options+=("-Db_sanitize=address,undefined" -Db_lundef=false)
			;;
		*) rest+=("$arg") ;;
		esac
	done
}

# What a build directory is made from: when it differs, nothing in there is of use.
build_identity() {
	printf '%s|' "$root" "${cc:-cc}" "${PKG_CONFIG_PATH:-}" "${CFLAGS:-}" "${LDFLAGS:-}" \
		"$(dpdk_version)"
}

# configure OPTION...: unless the build directory was configured so already.
configure() {
	local options=("$@") identity before='' again=()
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

# Gets the variant that read_build_options was told of ready to compile.
prepare_build() {
	local tests=false
	[ "$cc" != clang ] || need clang
	setup_build
	find_private_dpdk
	! have_pc cmocka || tests=true
	configure -Ddpdk_src="$dpdk_src" -Dtests="$tests" "${variant_options[@]}"
}

# compile [TARGET...]: silent when there is nothing to do.
compile() {
	! ninja -C "$build_dir" -n "$@" | grep -q 'no work to do' || return 0
	ninja -C "$build_dir" "$@" >&2 || die "the build in $build_dir failed"
}

has_target() {
	grep -q "^build $1:" "$build_dir/build.ninja"
}

build_command() {
	read_build_options "$@"
	[ ${#rest[@]} -eq 0 ] || usage_error "build: unknown option '${rest[0]}'"
	prepare_build
	compile
	say "built: $build_dir/drivers/librte_net_octo.so, librte_net_octosim.so"
}
