# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Runs the tests and counts them.

passed=0
failed=0
skipped=0
reruns=0

usage_test() {
	usage_error "test: $1: octo test [unit|port|functional|vm|model|fresh] [-k NAME]"
}

# Adds what cmocka said, test by test; a program that said nothing counts as one.
count_unit() {
	local log=$1 ok bad
	ok=$(sed -nE 's/^\[  PASSED  \] ([0-9]+) test.*/\1/p' "$log" | paste -sd+)
	bad=$(sed -nE 's/^\[  FAILED  \] ([0-9]+) test.*/\1/p' "$log" | paste -sd+)
	passed=$((passed + ${ok:-0}))
	failed=$((failed + ${bad:-0}))
}

# tests_of SUITE... -- WORD: the tests whose name has the word in it, or all.
tests_of() {
	local suites=()
	while [ "$1" != -- ]; do
		suites+=(--suite "$1")
		shift
	done
	meson test -C "$build_dir" --no-rebuild --list "${suites[@]}" 2>/dev/null |
		sed -nE 's,^(.* / )?([a-z0-9_]+)$,\2,p' | grep -F -- "$2"
}

# targets_of WHICH WORD: what has to be compiled for these tests. Test programs are many, and
# functional tests run none of them.
targets_of() {
	local all kinds='unit|port'
	all=$(sed -n 's/^build all: phony //p' "$build_dir/build.ninja" | tr ' ' '\n' | grep -v '^meson-')
	case $1 in
	functional | vm) grep -vE "^test/($kinds)/" <<<"$all" ;;
	all) echo "$all" ;;
	*)
		[ "$1" = unit ] || kinds=$1
		grep -E "^test/($kinds)/" <<<"$all" | grep "/test_.*$2" || true
		;;
	esac
}

# run_meson NAME SUITE...: port tests are unit tests that have EAL and the simulator.
run_meson() {
	local name=$1 tests status=0 log=$build_dir/meson-logs/testlog.txt
	shift
	tests=$(tests_of "$@" -- "$name") || {
		[ -n "$name" ] || die "meson lists no ${*/%/ tests}"
		return 0
	}
	say "${*/%/ tests}"
	rm -f "$log"
	# shellcheck disable=SC2086 # a list of words
	TSAN_OPTIONS="suppressions=$root/test/tsan.supp history_size=4 exitcode=66" \
		meson test -C "$build_dir" --no-rebuild --print-errorlogs $tests || status=$?
	count_unit "$log"
	# killed, timed out, or gone before cmocka could say anything
	[ $status -eq 0 ] || [ $failed -gt 0 ] || failed=1
}

run_unit() {
	run_meson "$1" unit port
}

attribute() {
	grep -o " $1=\"[0-9]*\"" "$2" | head -n 1 | tr -dc 0-9
}

count_pytest() {
	local xml=$1 tests bad
	tests=$(attribute tests "$xml")
	bad=$(($(attribute failures "$xml") + $(attribute errors "$xml")))
	skipped=$((skipped + $(attribute skipped "$xml")))
	reruns=$((reruns + $(attribute reruns "$xml")))
	failed=$((failed + bad))
	passed=$((passed + tests - bad - $(attribute skipped "$xml")))
}

# Files of tests at a time; few tests are not worth more than one pytest.
test_jobs() {
	if [ "$1" = functional ] && [ -z "$2" ]; then
		echo "${OCTO_TEST_JOBS:-3}"
	else
		echo 1
	fi
}

# start_pytest SUITE NAME: the tests in the directory test/SUITE. Sets pytest_status.
start_pytest() {
	local suite=$1 name=$2 python xml=$build_dir/$1.xml pytest_args
	pytest_status=0
	python=$(python_of functional)
	rm -f "$xml"
	read -r -a pytest_args <<<"${OCTO_PYTEST_ARGS:-}"
	OCTO_BUILD_DIR=$build_dir OCTO_ASAN=${asan:+$(asan_runtime "$cc")} \
		OCTO_TEST_SHORT=${short:-0} "$python" "$root/devtools/run-tests.py" \
		"$(test_jobs "$suite" "$name")" "$xml" "$root/test/$suite" ${name:+-k "$name"} \
		-p no:cacheprovider -ra "${pytest_args[@]}" </dev/null || pytest_status=$?
}

count_suite() {
	local xml=$build_dir/$1.xml
	if [ -f "$xml" ]; then
		count_pytest "$xml"
	fi
	# what failed no test failed as a whole
	[ "$pytest_status" -eq 0 ] || [ $failed -gt 0 ] || failed=1
}

run_functional() {
	say "functional tests"
	[ "$(id -u)" -eq 0 ] || say "not root: tests that need network namespaces are skipped"
	start_pytest functional "$1"
	count_suite functional
}

# A shell in the machine, for a look around.
shell_in_vm() {
	local python
	[ -z "${OCTO_VM_MISSING:-}" ] || die "no virtual machine: $OCTO_VM_MISSING"
	python=$(python_of functional)
	OCTO_BUILD_DIR=$build_dir PYTHONPATH=$root/test/vm:$root/test/functional \
		exec "$python" -m octovm.interactive
}

run_vm() {
	say "tests in a virtual machine"
	start_pytest vm "$1"
	count_suite vm
}

# Sets which, name, shell and short.
read_test_options() {
	which=all
	name=
	shell=
	short=
	while [ $# -gt 0 ]; do
		case $1 in
		unit | port | functional | vm | model | fresh)
			[ "$which" = all ] || usage_test "'$1' after $which"
			which=$1
			;;
		-k)
			[ $# -gt 1 ] || usage_test "-k needs a name"
			name=$2
			shift
			;;
		--shell) shell=1 ;;
		--short) short=1 ;;
		*) usage_test "unknown '$1'" ;;
		esac
		shift
	done
}

# Says how it went; fails if anything did.
say_result() {
	[ $((passed + failed + skipped)) -gt 0 ] || die "no test is called like '$name'"
	[ $reruns -eq 0 ] || say "run again after a stall of the machine: $reruns"
	printf '\n%d passed, %d failed%s\n' $passed $failed \
		"$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
	[ $failed -eq 0 ]
}

test_command() {
	local which name shell short targets
	read_build_options "$@"
	read_test_options "${rest[@]}"
	[ -z "$shell" ] || [ "$which" = vm ] || usage_test "--shell is for vm"
	[ -z "$shell" ] || [ -z "$name$short" ] || usage_test "--shell runs no tests: neither -k nor --short"
	[ -z "$name" ] || [ "$which" != fresh ] || usage_test "-k is not for fresh"
	case $short$which in
	1unit | 1port | 1model) usage_test "--short is for functional, vm and fresh" ;;
	esac
	if [ "$which" = fresh ]; then
		run_fresh "$short"
		say_result
		return
	fi
	if [ "$which" = model ]; then
		run_model "$name"
		say_result
		return
	fi
	use_given_dpdk
	case $which in
	unit | port) need build unit ;;
	functional) need build functional ;;
	vm) need build functional vm ;;
	all) need build unit functional ;;
	esac
	case $which in
	functional | all) need_ovs ;;
	vm) prepare_vm ;;
	esac
	prepare_build
	refuse_installed_drivers
	# it may be older than some tests
	compile build.ninja
	mapfile -t targets < <(targets_of "$which" "$name")
	[ ${#targets[@]} -eq 0 ] || compile "${targets[@]}"
	[ -z "$shell" ] || shell_in_vm
	switch_autogroups_off
	case $which in
	unit) run_unit "$name" ;;
	port) run_meson "$name" port ;;
	functional) run_functional "$name" ;;
	vm) run_vm "$name" ;;
	all)
		run_unit "$name"
		run_functional "$name"
		;;
	esac
	say_result
}
