# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Runs steps one after the other, each a function step_NAME, and says in the
# end how each went. The array "steps" names them all.

results=()
failures=0

# A step runs in a shell of its own, so that its first error ends it.
run_step() {
	local step=$1 began=$SECONDS status=0 verdict=ok
	say "step: $step"
	(
		set -e
		"step_$step"
	) </dev/null &
	wait $! || status=$?
	if [ $status -ne 0 ]; then
		verdict=FAILED
		failures=$((failures + 1))
	fi
	results+=("$(printf '%-12s %-6s %5d s' "$step" "$verdict" $((SECONDS - began)))")
	say "${results[-1]}"
}

# run_steps [STEP...]: all without any.
run_steps() {
	local step
	# shellcheck disable=SC2154 # set by who sources this
	[ $# -gt 0 ] || set -- "${steps[@]}"
	for step in "$@"; do
		declare -F "step_$step" >/dev/null || die "no such step: $step (there are: ${steps[*]})"
	done
	for step in "$@"; do
		run_step "$step"
	done
	printf '\n%s\n' "summary, after $SECONDS s:"
	printf '  %s\n' "${results[@]}"
	printf '%d steps, %d failed\n' $# $failures
	[ $failures -eq 0 ]
}
