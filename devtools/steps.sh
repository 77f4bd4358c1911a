# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Runs steps one after the other, each a function step_NAME, and says in the
# end how each went, and of those that failed what they said of it: of a long
# log that may be all that is kept, so the least comes last. The array "steps"
# names them all.

results=()
failed_steps=()
step_logs=
verdicts='^(FAILED|ERROR) | (FAIL|TIMEOUT|ERROR)  |killed by'
complaints='^(FAILED|ERROR) |^E  |FAIL  |TIMEOUT  |error:|Sanitizer|assert|killed by'

# Prints the machine's ticks: all, those in which a CPU was idle, those that a host took.
cpu_ticks() {
	awk '$1 == "cpu" { for (i = 2; i <= 9; i++) all += $i; printf "%.0f %.0f %.0f\n", all, $5 + $6, $9; exit }' /proc/stat
}

# cpu_use TICKS...: what the CPUs did since cpu_ticks printed these.
cpu_use() {
	# shellcheck disable=SC2046 # three numbers
	set -- "$@" $(cpu_ticks)
	awk -v all=$(($4 - $1)) -v idle=$(($5 - $2)) -v taken=$(($6 - $3)) 'BEGIN {
		if (all > 0)
			printf "CPUs idle %d %%, taken by the host %d %%", 100 * idle / all, 100 * taken / all
	}'
}

# A step runs in a shell of its own, so that its first error ends it.
run_step() {
	local step=$1 began=$SECONDS status=0 verdict=ok log=$step_logs/$1 pid ticks
	ticks=$(cpu_ticks)
	: >"$log"
	say "step: $step"
	(
		set -e
		"step_$step"
	) </dev/null >"$log" 2>&1 &
	pid=$!
	# what a step leaves running must not keep the next one waiting, as a pipe would
	tail -n +1 -s 0.2 -f --pid=$pid "$log" &
	wait $pid || status=$?
	wait $! || true
	if [ $status -ne 0 ]; then
		verdict=FAILED
		failed_steps+=("$step")
	fi
	# shellcheck disable=SC2086 # three numbers
	results+=("$(printf '%-12s %-6s %5d s  %s%s' "$step" "$verdict" $((SECONDS - began)) \
		"$(cpu_use $ticks)" \
		"$(sed -n 's/^==> \(run again after a stall .*\)/  \1/p' "$log")")")
	say "${results[-1]}"
}

show_failure() {
	local log=$step_logs/$1
	printf '\n%s\n' "$1 failed, line by line of its log:"
	grep -nE "$complaints" "$log" | cut -c-300 | tail -n 80 || true
	printf '%s\n' "and in the end:"
	tail -n 20 "$log" || true
}

# A line for each test that failed.
name_failures() {
	local step
	for step in "${failed_steps[@]}"; do
		grep -hE "$verdicts" "$step_logs/$step" | cut -c-240 | sort -u | head -n 12 |
			sed "s/^/$step: /" || true
	done
}

# run_steps [STEP...]: all without any.
run_steps() {
	local step
	step_logs=$(mktemp -d)
	trap 'rm -rf "$step_logs"' EXIT
	# shellcheck disable=SC2154 # set by who sources this
	[ $# -gt 0 ] || set -- "${steps[@]}"
	for step in "$@"; do
		declare -F "step_$step" >/dev/null || die "no such step: $step (there are: ${steps[*]})"
	done
	for step in "$@"; do
		run_step "$step"
	done
	for step in "${failed_steps[@]}"; do
		show_failure "$step"
	done
	printf '\n%s\n' "summary, after $SECONDS s:"
	printf '  %s\n' "${results[@]}"
	printf '%d steps, %d failed\n' $# ${#failed_steps[@]}
	name_failures
	[ ${#failed_steps[@]} -eq 0 ]
}
