#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Prints the C files that make up one of DPDK's programs, as full paths, one a
# line: those that the directory's own meson.build names. So the list is right
# for every DPDK release.
#
# usage: dpdk-app-sources.sh DIR

set -eu

dir=$1
[ -f "$dir/meson.build" ] || exit 0
grep -o "'[A-Za-z0-9_-]*\.c'" "$dir/meson.build" | tr -d "'" | sort -u | while read -r name; do
	[ ! -f "$dir/$name" ] || printf '%s\n' "$dir/$name"
done
