# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# What can be judged without compiling. Each prints what is wrong and fails.

# The project's files with these name patterns (all without one).
project_files() {
	if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
		git -C "$root" ls-files -- "$@"
	else
		die "the checks need a git clone"
	fi
}

c_files() {
	project_files '*.c' '*.h'
}

# Prints the lines of stdin, if any, under a heading, and then fails.
none_of() {
	local found
	found=$(cat)
	[ -n "$found" ] || return 0
	printf '%s:\n%s\n' "$1" "$found" >&2
	return 1
}

check_spdx() {
	local file
	while read -r file; do
		case $file in
		debian/changelog | debian/copyright | debian/source/format | test/fuzz/corpus/*) continue ;;
		LICENSE | MAINTAINERS | *.md | *.json | *.ini | .gitignore | *.svg | *.map) continue ;;
		esac
		head -n 2 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || echo "$file"
	done < <(project_files) | none_of "no SPDX line"
}

check_format() {
	local formatter=clang-format files
	! have clang-format-14 || formatter=clang-format-14
	mapfile -t files < <(c_files)
	"$formatter" -n --Werror "${files[@]}"
}

check_spelling() {
	local files
	mapfile -t files < <(project_files | grep -v '^test/fuzz/corpus/')
	codespell -L "fo,ot,nd" "${files[@]}"
}

check_shell() {
	local files
	# what octo sources begins with no #!
	mapfile -t files < <(project_files '*.sh' | xargs grep -l '^#!')
	# -a: what octo and .ci/run source is checked with them, where its variables are known
	shellcheck -x -a octo .ci/run "${files[@]}"
}

# grep that is content when it finds nothing
find_lines() {
	grep -nE "$@" || true
}

# Lines of guides wider than 120, but for literal blocks, rows of tables and lone addresses.
wide_prose() {
	awk '
		{ column = match($0, /[^ ]/) }
		FNR == 1 || (column && column <= text) { text = 0 }
		!text && length > 120 && column < 20 && !/[^ ]  +[^ ]|= =|^ *<http/ {
			print FILENAME ":" FNR ": " $0
		}
		!text && /::( [a-z]+)?$/ { text = column }' "$@"
}

# What clang-format does not see to.
check_limits() {
	local file files status=0
	mapfile -t files < <(c_files)
	wc -l "${files[@]}" | awk '$1 > 600 && $2 != "total" { print $2, $1 }' |
		none_of "more than 600 lines" || status=1
	# clang-format leaves comments as they are
	for file in "${files[@]}"; do
		expand "$file" | awk -v file="$file" 'length > 100 && !/"/ { print file ":" FNR ": " $0 }'
	done | none_of "more than 100 columns" || status=1
	# its records are as they were written
	mapfile -t files < <(project_files 'doc/guides/*.rst' | grep -v '/versions[.]rst$')
	wide_prose "${files[@]}" | none_of "prose of more than 120 columns" || status=1
	mapfile -t files < <(project_files '*.c' '*.h' '*.py' '*.sh' '*meson.build' octo .ci/run)
	find_lines '[[:blank:]]+$' "${files[@]}" | none_of "blanks at the end" || status=1
	# DPDK's checkpatches.sh minds; clang-format makes them of long texts: split those
	mapfile -t files < <(project_files 'drivers/net/*.[ch]')
	find_lines '\($' "${files[@]}" | none_of "lines that end in a parenthesis" || status=1
	return $status
}

check_words() {
	local files status=0
	mapfile -t files < <(c_files)
	find_lines -i '\<(slave|master)s?\>' "${files[@]}" | none_of "words that are not used" || status=1
	mapfile -t files < <(project_files 'drivers/*.[ch]' 'lib/*.[ch]' | grep -v _testpmd)
	find_lines '\<(printf|rte_exit|rte_panic) *\(|__atomic_|rte_smp_|\<volatile\>' "${files[@]}" |
		none_of "not for drivers" || status=1
	# lib/octo/octo_clock.h; samples are of wall time, and a failover says what CPU it took
	mapfile -t files < <(project_files 'drivers/*.[ch]' 'lib/*.[ch]' |
		grep -vE '/octo_(clock|failover|measurement)[.][ch]$|_testpmd')
	find_lines '\<(rte_(get_(timer|tsc)_cycles|rdtsc|delay_us)\w*|rte_eal_alarm_set|clock_gettime|gettimeofday|u?sleep|nanosleep) *\(' \
		"${files[@]}" | none_of "time that is not of octo_clock.h" || status=1
	# the tests have a clock of their own; the rig guards against hangs
	mapfile -t files < <(project_files 'test/unit/*.[ch]' 'test/port/*.[ch]' |
		grep -v '^test/port/octo_port[.]c$')
	find_lines '\<(rte_(get_(timer|tsc)_cycles|rdtsc|delay_us)\w*|clock_gettime|gettimeofday|u?sleep|nanosleep|alarm|time|clock) *\(' \
		"${files[@]}" | none_of "wall-clock time in a unit or port test" || status=1
	# many of them make Linux 6.18 keep a CPU from all others for minutes: who waits sleeps
	mapfile -t files < <(project_files '*.c')
	find_lines '\<(sched|pthread)_yield\(' "${files[@]}" | none_of "yields" || status=1
	return $status
}

# What net_octo may use of ethdev: other ports by its public functions alone. And what
# applications may use of the drivers.
check_borders() {
	local files status=0
	mapfile -t files < <(project_files 'drivers/net/octo/*.[ch]' |
		grep -v '/octo_lower[.]c$')
	find_lines '\<rte_eth_fp_ops\>|\<rte_eth_call_[rt]x_callbacks\>' "${files[@]}" |
		none_of "bursts of other ports not by rte_eth_[rt]x_burst()" || status=1
	# octo_peers.c: in a secondary process the port itself may be gone
	mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '/octo_peers[.]c$')
	{ grep -nP '\brte_eth_devices\b(?!\[octo->port_id\])' "${files[@]}" || true; } |
		none_of "structures of other ports read outside octo_lower.c" || status=1
	mapfile -t files < <(project_files 'drivers/net/octo/*.[ch]' |
		grep -v '/octo_ethdev[.]c$')
	# octo_lower.c may look whether there is one, as ethdev tells that by no function
	find_lines -- '(->|[.])dev_ops\>' "${files[@]}" |
		{ grep -vE '/octo_lower[.]c:[0-9]+:.*dev_ops->\w+ != NULL' || true; } |
		none_of "ops of other ports" || status=1
	mapfile -t files < <(project_files 'drivers/net/*.[ch]')
	find_lines 'RTE_EXPORT_\w+\(' "${files[@]}" |
		{ grep -vE '/net/(\w+)/.*\(rte_pmd_\1_' || true; } |
		none_of "exported without the driver's prefix" || status=1
	return $status
}

# Of one commit's message.
message_faults() {
	local headline=$1 message=$2 text=${1#*: }
	[ ${#headline} -le 60 ] || echo "headline longer than 60"
	[[ $headline =~ ^[a-z./-]+(/[a-z0-9-]+)*:\ [a-z] ]] || [[ $headline == Merge* ]] ||
		echo "headline is not 'prefix: verb object' without a capital"
	[[ $text != *. ]] || echo "headline ends with a full stop"
	grep -q '^Signed-off-by: ' <<<"$message" || echo "not signed off"
	! awk 'length > 75 && !/^(Fixes|Signed-off-by|Reported-by|Co-authored-by|Link):/ { exit 1 }' \
		<<<"$message" || return 0
	echo "body wider than 75"
}

check_messages() {
	local commit headline
	while read -r commit headline; do
		message_faults "$headline" "$(git -C "$root" log -1 --format=%b "$commit")" |
			sed "s|^|${commit:0:12} ($headline): |"
	done < <(git -C "$root" log --no-merges --format='%H %s') | none_of "commit messages"
}

# The calls between the files of drivers/net/octo, by the objects of a build.
check_layers() {
	python3 "$root/devtools/check-layers.py" "$root/build/drivers/libtmp_rte_net_octo.a.p"
}
