# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Feeds the drivers what nobody means to feed them: libFuzzer, with ASan and UBSan.
# What octo doctor is fed is made by Python alone.

fuzz_targets=(flow ethdev devargs packet agent doctor)

usage_fuzz() {
	usage_error "fuzz: $1: octo fuzz [${fuzz_targets[*]}] [--seconds N] [--keep | FILE...]"
}

# Sets targets, seconds, keep and files.
read_fuzz_options() {
	targets=()
	seconds=60
	keep=
	files=()
	while [ $# -gt 0 ]; do
		case $1 in
		--seconds)
			[[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || usage_fuzz "--seconds needs a number"
			seconds=$2
			shift
			;;
		--keep) keep=1 ;;
		*)
			if [[ " ${fuzz_targets[*]} " == *" $1 "* ]]; then
				targets+=("$1")
			elif [ -f "$1" ]; then
				files+=("$(readlink -f "$1")")
			else
				usage_fuzz "'$1' is neither a target nor a file"
			fi
			;;
		esac
		shift
	done
	[ ${#files[@]} -eq 0 ] || [ ${#targets[@]} -eq 1 ] || usage_fuzz "a file needs its target"
	[ ${#targets[@]} -gt 0 ] || targets=("${fuzz_targets[@]}")
}

# Optimized less than what is shipped: that is compiled twice as fast. Without the
# precompiled header: of what goes into a DPDK tree, that shows who forgot to include what.
prepare_fuzz() {
	local target built=()
	cc=clang
	build_dir=$root/build-fuzz
	mkdir -p "$build_dir"
	for target in "${targets[@]}"; do
		[ "$target" = doctor ] || built+=("test/fuzz/fuzz_$target")
	done
	[ ${#built[@]} -gt 0 ] || return 0
	need build fuzz
	check_dpdk_version
	find_dpdk_source
	find_private_dpdk
	configure -Ddpdk_src="$dpdk_src" -Dapps=false -Dtests=false -Dfuzz=true -Doptimization=1 \
		-Db_pch=false -Db_sanitize=address,undefined -Db_lundef=false \
		-Ddebug_locks=true
	compile "${built[@]}"
}

# run_target TARGET ARG...: in a runtime directory of its own.
run_target() {
	local target=$1 run
	shift
	run=$(mktemp -d -p "$fuzz_dir")
	RUNTIME_DIRECTORY=$run ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
		"$build_dir/test/fuzz/fuzz_$target" "$@" </dev/null >"$build_dir/$target.log" 2>&1
}

# Prints its last line, which has the seed: the same inputs again by
# test/fuzz/fuzz_doctor.py --seed.
fuzz_doctor() {
	if ! TMPDIR=$fuzz_dir python3 -B "$root/test/fuzz/fuzz_doctor.py" "$@" </dev/null >"$build_dir/doctor.log" 2>&1; then
		tail -n 60 "$build_dir/doctor.log" >&2
		return 1
	fi
	say "$(tail -n 1 "$build_dir/doctor.log")"
}

# From the corpus in the repository and from what was found here before.
fuzz_target() {
	local target=$1 found=$build_dir/corpus/$1 corpus=$root/test/fuzz/corpus/$1
	local options=(-max_total_time="$seconds" -timeout=60 -print_final_stats=1
		-artifact_prefix="$build_dir/crashes/$target-")
	[ ! -f "$root/test/fuzz/$target.dict" ] || options+=(-dict="$root/test/fuzz/$target.dict")
	if [ "$target" = doctor ]; then
		fuzz_doctor --seconds "$seconds"
		return
	fi
	mkdir -p "$found" "$build_dir/crashes"
	if ! run_target "$target" "${options[@]}" "$found" "$corpus"; then
		tail -n 60 "$build_dir/$target.log" >&2
		say "again: ./octo fuzz $target FILE, with the file named above"
		return 1
	fi
	say "$target: clean, $(sed -n 's/^stat::number_of_executed_units: *//p' "$build_dir/$target.log")" \
		"inputs in $seconds s, $(grep -o 'cov: [0-9]*' "$build_dir/$target.log" | tail -n 1)"
}

# Replaces the corpus by the fewest and smallest inputs that reach as many places.
keep_corpus() {
	local target=$1 least=$build_dir/least/$1
	[ "$target" != doctor ] || return 0
	rm -rf "$least"
	mkdir -p "$least"
	run_target "$target" -merge=1 -use_counters=0 "$least" "$root/test/fuzz/corpus/$target" "$build_dir/corpus/$target" ||
		die "$target: libFuzzer could not merge the corpora: see $build_dir/$target.log"
	rm -rf "$root/test/fuzz/corpus/$target"
	mv "$least" "$root/test/fuzz/corpus/$target"
	say "$target: $(find "$root/test/fuzz/corpus/$target" -type f | wc -l) inputs are kept"
}

# Sets fuzz_dir to where all that goes with this process is, in memory if possible.
make_fuzz_dir() {
	local place=/tmp
	[ ! -d /dev/shm ] || place=/dev/shm
	fuzz_dir=$(mktemp -d -p "${TMPDIR:-$place}")
	trap 'rm -rf "$fuzz_dir"' EXIT
}

# Who runs in the background does not hear Ctrl-C, and may write until it has ended.
end_targets() {
	trap '' TERM
	kill 0
	wait
	exit 130
}

fuzz_command() {
	local targets seconds keep files target pid pids=() failures=0
	read_fuzz_options "$@"
	prepare_fuzz
	make_fuzz_dir
	if [ ${#files[@]} -gt 0 ]; then
		if [ "${targets[0]}" = doctor ]; then
			fuzz_doctor "${files[@]}"
			return
		fi
		run_target "${targets[0]}" "${files[@]}" || failures=1
		cat "$build_dir/${targets[0]}.log"
		return $failures
	fi
	say "fuzzing for $seconds s: ${targets[*]}"
	trap end_targets INT
	for target in "${targets[@]}"; do
		{
			# not before what it waits for
			trap 'exit 143' TERM
			fuzz_target "$target"
		} &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || failures=$((failures + 1))
	done
	if [ -n "$keep" ] && [ $failures -eq 0 ]; then
		for target in "${targets[@]}"; do
			keep_corpus "$target"
		done
	fi
	[ $failures -eq 0 ]
}
