# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Checks the models in test/model with SPIN: what they promise holds, and does not
# once a step of the protocol is left out. A model that misses that proves nothing.

# Each line: model; the property that fails without the step, safety or liveness
# ("holds": both hold); macros.
models() {
	cat <<-'END'
		rehome holds
		rehome safety NO_GRACE
		rehome safety NO_AWAIT
		rehome safety NO_TURN
		rehome safety STAMP_FIRST
		rehome safety KEEP_NOTE
		rehome liveness NO_FLIPPED
		move holds
		move safety NO_GRACE
		move safety NO_AWAIT
		move safety NO_NEXT_BURST
		move safety OLD_PF_EARLY
		move holds SILENT
		move liveness SILENT NO_TIMEOUT
		move holds ENDS
		move safety ENDS NO_AWAIT
		move safety ENDS NO_END_GRACE
		move safety ENDS SWITCH_FIRST
		migration holds
		migration safety NO_GRACE
		migration safety NO_AWAIT
		migration safety NO_WAIT
		migration safety NO_NEXT_BURST
		migration liveness ONE_STEP
		failover holds DIES=0
		failover holds DIES=1
		failover safety DIES=1 FLIP_FIRST
		failover liveness DIES=0 DEAD_IS_SOURCE
		txswitch holds
		txswitch safety NO_DRAIN
		txswitch safety NO_FLUSH_FIRST
		txswitch safety NO_LOCK
		txswitch liveness NO_TICK
		removal holds
		removal safety NO_MEMBARRIER
		removal safety NO_AWAIT
		removal safety NO_FORGET
	END
}

# verify PROPERTY MODEL [MACRO...]: 0 if it holds, 1 if not; anything else ends it all.
# Its output is in the file "log" of the directory, where it is run.
verify() {
	# a short search costs less than an optimised program
	local property=$1 model=$2 build=(-O0 -DSAFETY -DNOCLAIM) run=(-m1000000)
	shift 2
	if [ "$property" = liveness ]; then
		build=(-O1 -DNFAIR=3)
		run+=(-a -f)
	fi
	if ! spin -a "${@/#/-D}" "$root/test/model/$model.pml" >log 2>&1 ||
		! "${CC:-cc}" -w -DMEMLIM=2000 "${build[@]}" -o pan pan.c >>log 2>&1 ||
		! ./pan "${run[@]}" >log 2>&1; then
		cat log >&2
		die "$model: SPIN could not check it"
	fi
	if grep -q 'errors: 0$' log && ! grep -q -e 'max search depth' -e MEMLIM log; then
		return 0
	fi
	if ! grep -qE -e 'assertion violated' -e 'acceptance cycle' -e 'invalid end state' log; then
		cat log >&2
		die "$model: SPIN has not looked at all of it"
	fi
	return 1
}

found() {
	sed -nE 's/^pan:1: (.*) \(at depth ([0-9]+)\)$/\1, after \2 steps/p' log
}

states() {
	sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1/p' log
}

# Both properties of a model that is right.
check_right() {
	local property
	for property in safety liveness; do
		if ! verify "$property" "$@"; then
			say "$*: $property: $(found)"
			./pan -r ./*.trail >&2
			return 1
		fi
		say "$*: $property holds in $(states) states"
	done
}

# One without a step: SPIN must find what that is for.
check_wrong() {
	local property=$1
	shift
	if verify "$property" "$@"; then
		say "$*: nothing is wrong with it: the model does not show what the step is for"
		return 1
	fi
	say "$*: found wrong, as it must be: $(found)"
}

check_model() {
	local model=$1 property=$2
	shift 2
	case $property in
	holds) check_right "$model" "$@" ;;
	*) check_wrong "$property" "$model" "$@" ;;
	esac
}

# check_apart DIR MODEL PROPERTY [MACRO...]: in a directory of its own, and says all at
# once. There is a file DIR.passed if it went well.
check_apart() {
	local dir=$1
	shift
	mkdir "$dir"
	if (cd "$dir" && check_model "$@") >"$dir.said" 2>&1; then
		touch "$dir.passed"
	fi
	rm -rf "$dir"
	cat "$dir.said" >&2
}

# Those whose name has the word in it, or all, some at a time; counts into passed
# and failed.
run_model() {
	local name=$1 dir line asked=0 went_well
	need model
	say "models, with $(spin -V)"
	dir=$(mktemp -d)
	# who runs in the background does not hear Ctrl-C
	trap 'rm -rf "$dir"; kill 0' INT
	while read -r -a line; do
		[[ "${line[*]}" == *"$name"* ]] || continue
		[ "$(jobs -rp | wc -l)" -lt "${OCTO_TEST_JOBS:-2}" ] || wait -n || true
		asked=$((asked + 1))
		check_apart "$dir/$asked" "${line[@]}" &
	done < <(models)
	wait
	went_well=$(find "$dir" -name '*.passed' | wc -l)
	passed=$((passed + went_well))
	failed=$((failed + asked - went_well))
	rm -rf "$dir"
}
