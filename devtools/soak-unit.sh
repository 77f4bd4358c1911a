#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs all unit and port tests again and again, as root, where they are given little CPU:
# while a process burns each CPU, and with a quota of 30 % of one CPU for all of them. None
# may fail: a test that does waits for wall-clock time.
#
# usage: devtools/soak-unit.sh [RUNS [burn|quota]...]

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
runs=${1:-20}
period_us=100000
quota_us=30000
group=octo_soak.$$
burners=()

# Sets group_dir, of either version of cgroups.
make_group() {
	if [ -d /sys/fs/cgroup/cpu ]; then
		group_dir=/sys/fs/cgroup/cpu/$group
		mkdir "$group_dir"
		echo $period_us >"$group_dir/cpu.cfs_period_us"
		echo $quota_us >"$group_dir/cpu.cfs_quota_us"
	else
		group_dir=/sys/fs/cgroup/$group
		mkdir "$group_dir"
		echo "$quota_us $period_us" >"$group_dir/cpu.max"
	fi
}

clean_up() {
	[ ${#burners[@]} -eq 0 ] || kill "${burners[@]}" 2>/dev/null || true
	[ -z "${group_dir:-}" ] || rmdir "$group_dir" || true
}
trap clean_up EXIT

# repeat WHAT COMMAND...: the last line of each run; stops at one that fails.
repeat() {
	local what=$1 i log=$root/build/soak.$1.log began
	shift
	for ((i = 1; i <= runs; i++)); do
		began=$SECONDS
		if ! "$@" >"$log" 2>&1; then
			cat "$log"
			printf '%s: run %d of %d failed\n' "$what" "$i" "$runs"
			exit 1
		fi
		printf '%s: run %d of %d: %s, %d s\n' "$what" "$i" "$runs" "$(tail -n 1 "$log")" \
			$((SECONDS - began))
	done
}

soak_burn() {
	local cpu
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		sh -c 'while :; do :; done' &
		burners+=($!)
	done
	repeat burn "$root/octo" test unit
	kill "${burners[@]}"
	burners=()
}

soak_quota() {
	make_group
	# shellcheck disable=SC2016 # for that shell
	repeat quota sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group_dir" "$root/octo" test unit
}

"$root/octo" build
shift $(($# > 0))
[ $# -gt 0 ] || set -- burn quota
for kind; do
	"soak_$kind"
done
