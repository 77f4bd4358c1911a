# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# ./octo bench: measures with hugepages where it may reserve them, and gives them back.

nr_hugepages=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages

# Pages of 2 MiB that were added, and the machine's number while it is being changed.
reserved=0
before=

# change_hugepages N: adds to reserved by how many pages the machine's number changed. A signal
# may end this in the middle, hence no subshell: release_hugepages does the rest.
# Others, tests for one, may change the number at the same time, hence the lock.
change_hugepages() {
	exec 6<>"$nr_hugepages"
	flock 6
	before=$(<"$nr_hugepages")
	echo $((before + $1)) >"$nr_hugepages" || true
	count_hugepages
}

count_hugepages() {
	local now
	now=$(<"$nr_hugepages")
	reserved=$((reserved + now - before)) before=
	exec 6>&-
}

release_hugepages() {
	[ -z "$before" ] || count_hugepages
	[ "$reserved" -eq 0 ] || change_hugepages -"$reserved"
	reserved=0
}

# Sets reserved to how many pages were added, all that are wanted or none.
reserve_hugepages() {
	local wanted=$1
	reserved=0
	[ -w "$nr_hugepages" ] || return 0
	# as much again stays free for others
	[ "$(awk '/^MemAvailable:/ {print int($2 / 2048)}' /proc/meminfo)" -gt $((2 * wanted)) ] ||
		return 0
	trap release_hugepages EXIT
	change_hugepages "$wanted"
	[ "$reserved" -eq "$wanted" ] || release_hugepages
}

# What the benchmark needs, in pages: only a million rules need much.
bench_pages() {
	case " $* " in
	*" -h "* | *" --help "* | *" calls "*) echo 0 ;;
	*" nudma "*) echo 0 ;;
	*" --quick "* | *" move "* | *" failover "* | *" overhead "*) echo 512 ;;
	*) echo 2048 ;;
	esac
}

# The .png file that --plot is given, if any: nothing else is drawn, and nothing beside help.
plot_file() {
	local plot=
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) return ;;
		--plot=*) plot=${1#*=} ;;
		--plot) plot=${2:-} ;;
		esac
		shift
	done
	[[ $plot != *.png ]] || echo "$plot"
}

# What draws the picture of this subject.
plotter() {
	case " $* " in
	*" overhead "*) echo "$root/devtools/bench-plot-overhead.py" ;;
	*" nudma "*) echo "$root/devtools/bench-plot-nudma.py" ;;
	*) echo "$root/devtools/bench-plot.py" ;;
	esac
}

# bench_l3fwd ARG...: l3fwd as it is, over PFs alone, bonded, and as an octo port.
bench_l3fwd() {
	local status=0 plot python
	need python
	export PYTHONPATH=$root/devtools
	case " $* " in
	*" -h "* | *" --help "*) exec python3 -B -m l3fwd_bench "$@" ;;
	esac
	OCTO_CHECK_USE=1 python3 -B -m l3fwd_bench "$@" || return $?
	plot=$(plot_file "$@")
	[ -z "$plot" ] || need plot
	build_program l3fwd
	compile app/octo-gen/octo-gen
	export OCTO_L3FWD=$program OCTO_GEN=$build_dir/app/octo-gen/octo-gen
	export OCTO_WORK=$build_dir/l3fwd-bench OCTO_DPDK_VERSION
	OCTO_DPDK_VERSION=$(dpdk_version)
	refuse_installed_drivers
	# what a NIC is used with is up to its user: pages of the right node
	[[ " $* " == *" --pf"* ]] || reserve_hugepages 512
	python=python3
	[ -z "$plot" ] || python=$(python_of plot)
	"$python" -B -m l3fwd_bench "$@" || status=$?
	release_hugepages
	return $status
}

# bench_idle ARG...: the CPU time of l3fwd-power, which waits for Rx interrupts.
bench_idle() {
	need python
	export PYTHONPATH=$root/devtools PYTHONDONTWRITEBYTECODE=1
	case " $* " in
	*" -h "* | *" --help "*) exec python3 "$root/devtools/bench-idle.py" "$@" ;;
	esac
	OCTO_CHECK_USE=1 python3 "$root/devtools/bench-idle.py" "$@" || return $?
	build_program l3fwd-power app/examples
	export OCTO_L3FWD_POWER=$program OCTO_DPDK_VERSION
	OCTO_DPDK_VERSION=$(dpdk_version)
	refuse_installed_drivers
	python3 "$root/devtools/bench-idle.py" "$@"
}

# Sets subject to the index in rest of the word that says what is measured, if any does.
find_subject() {
	for subject in "${!rest[@]}"; do
		case ${rest[subject]} in
		steering | move | failover | calls | overhead | idle | nudma | l3fwd) return ;;
		esac
	done
	subject=0
}

bench_command() {
	local status=0 plot subject
	read_leading_options "$@"
	find_subject
	case ${rest[subject]:-} in
	idle | l3fwd)
		"bench_${rest[subject]}" "${rest[@]:0:subject}" "${rest[@]:subject+1}"
		return
		;;
	esac
	case ${rest[subject]:-} in
	move | overhead | nudma) plot=$(plot_file "${rest[@]}") ;;
	*) plot= ;;
	esac
	[ -z "$plot" ] || need plot
	prepare_build
	compile app/octo-bench/octo-bench
	refuse_installed_drivers
	choose_runtime_dir
	reserve_hugepages "$(bench_pages "${rest[@]}")"
	"$build_dir/app/octo-bench/octo-bench" "${rest[@]}" || status=$?
	release_hugepages
	if [ $status -eq 0 ] && [ -n "$plot" ]; then
		"$(python_of plot)" "$(plotter "${rest[@]}")" "${plot%.png}.csv" "$plot"
		say "drawn: $plot"
	fi
	return $status
}
