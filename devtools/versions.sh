# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Builds and tests with several releases of DPDK, and tells it in a table.

version_columns='%-12s %-7s %-7s %14s %22s  %s\n'

# in_version LOG ARG...: this front door, anew; the output also goes to a file.
in_version() {
	local log=$1
	shift
	say "./octo $*"
	"$root/octo" "$@" </dev/null 2>&1 | tee "$log" >&2
}

# "146 0 0" of "146 passed, 0 failed"; dashes when the tests did not get so far
counts_of() {
	local counts
	counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 0\4/p' "$1" |
		tail -n 1)
	echo "${counts:-- - -}"
}

verdict() {
	if "$@"; then
		echo ok
	else
		echo FAILED
	fi
}

# Adds a line to rows: version, gcc, clang, counts of unit and functional, tree.
run_version() {
	local tree=$1 version log gcc clang unit functional
	version=$(cat "$tree/VERSION")
	log=$root/build-dpdk-$(release_of "$version")
	gcc=$(verdict in_version "$log-gcc.log" build --dpdk-src "$tree")
	clang=$(verdict in_version "$log-clang.log" build --clang --dpdk-src "$tree")
	rm -f "$log-unit.log" "$log-functional.log"
	verdict in_version "$log-unit.log" test unit --dpdk-src "$tree" >/dev/null
	verdict in_version "$log-functional.log" test functional --dpdk-src "$tree" >/dev/null
	unit=$(counts_of "$log-unit.log")
	functional=$(counts_of "$log-functional.log")
	rows+=("$version $gcc $clang $unit $functional $tree")
}

all_passed() {
	local version gcc clang unit bad _ functional failed tree
	read -r version gcc clang unit bad _ functional failed _ tree <<<"$1"
	[ "$gcc $clang $bad $failed" = "ok ok 0 0" ]
}

print_rows() {
	local row version gcc clang passed failed skipped fpassed ffailed fskipped tree
	# shellcheck disable=SC2059 # a format
	printf "$version_columns" DPDK gcc clang unit functional command
	# shellcheck disable=SC2059
	printf "$version_columns" '' '' '' passed/failed passed/failed/skipped ''
	for row in "${rows[@]}"; do
		read -r version gcc clang passed failed skipped fpassed ffailed fskipped tree <<<"$row"
		# shellcheck disable=SC2059
		printf "$version_columns" "$version" "$gcc" "$clang" "$passed/$failed" \
			"$fpassed/$ffailed/$((10#${fskipped//-/0}))" "./octo test --dpdk-src $tree"
	done
}

write_json() {
	printf '%s\n' "${rows[@]}" | python3 -c '
import datetime, json, sys

def count(word):
    return None if word == "-" else int(word)

rows = []
for line in sys.stdin:
    w = line.rstrip("\n").split(" ", 9)
    rows.append({
        "version": w[0], "gcc": w[1] == "ok", "clang": w[2] == "ok",
        "unit": {"passed": count(w[3]), "failed": count(w[4])},
        "functional": {"passed": count(w[6]), "failed": count(w[7]), "skipped": count(w[8])},
        "command": "./octo test --dpdk-src " + w[9]})
json.dump({"date": datetime.date.today().isoformat(), "versions": rows}, sys.stdout, indent=2)
print()
' >"$1"
}

versions_command() {
	local json='' trees=() rows=() tree row failures=0
	while [ $# -gt 0 ]; do
		case $1 in
		--json)
			[ $# -gt 1 ] || usage_error "versions: --json needs a file"
			json=$2
			shift
			;;
		-*) usage_error "versions: unknown option '$1'" ;;
		*) trees+=("$1") ;;
		esac
		shift
	done
	[ ${#trees[@]} -gt 0 ] || usage_error "versions: give DPDK source trees"
	for tree in "${trees[@]}"; do
		check_given_tree "$tree"
	done
	# before hours of tests
	{ [ -z "$json" ] || : >"$json"; } 2>/dev/null ||
		usage_error "versions: --json $json: cannot be written"
	need versions
	for tree in "${trees[@]}"; do
		run_version "$tree"
	done
	print_rows
	[ -z "$json" ] || write_json "$json"
	for row in "${rows[@]}"; do
		all_passed "$row" || failures=$((failures + 1))
	done
	[ $failures -eq 0 ]
}
