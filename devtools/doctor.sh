# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# ./octo doctor: looks at the machine by Python's standard library alone, before anything is built.

doctor_command() {
	have python3 || die "doctor needs python3, of version 3.9 or newer"
	PYTHONPATH=$root/devtools exec python3 -B -m doctor "$@"
}
