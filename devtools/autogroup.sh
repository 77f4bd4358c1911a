# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# While tests run, all their threads are in one scheduling group. Linux makes one of each
# session (sched(7), autogroups), so of nearly each process that a test starts. Where threads of
# several groups poll on a CPU, Linux 6.18 was seen to leave one that is ready to run without
# that CPU for minutes: a test that takes 15 s took 490 s.

autogroup=/proc/sys/kernel/sched_autogroup_enabled
# Who runs tests has a lock on it; "on": the last one switches autogroups on again.
autogroup_state=/run/octo-autogroup

# switch_autogroups_off: until this shell ends, where that is allowed.
switch_autogroups_off() {
	[ -w "$autogroup" ] && [ -w "${autogroup_state%/*}" ] || return 0
	exec {autogroup_lock}<>"$autogroup_state"
	flock -s "$autogroup_lock"
	trap restore_autogroups EXIT
	if [ "$(<"$autogroup")" = 1 ] && echo 0 2>/dev/null >"$autogroup"; then
		echo on >"$autogroup_state"
	fi
}

restore_autogroups() {
	flock -xn "$autogroup_lock" || return 0
	[ ! -s "$autogroup_state" ] || echo 1 >"$autogroup"
	: >"$autogroup_state"
	# children that outlive this shell have the lock, too
	flock -u "$autogroup_lock"
}
