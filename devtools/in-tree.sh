#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Puts the drivers into a copy of a DPDK tree, where they would be if they were
# part of it, and asks that tree: its checks, its build, our functional tests.

set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)

# shellcheck source=devtools/common.sh
. "$root/devtools/common.sh"
# shellcheck source=devtools/setup.sh
. "$root/devtools/setup.sh"
# shellcheck source=devtools/dpdk-build.sh
. "$root/devtools/dpdk-build.sh"
# shellcheck source=devtools/steps.sh
. "$root/devtools/steps.sh"
# shellcheck source=devtools/dpdk-tree.sh
. "$root/devtools/dpdk-tree.sh"

steps=(copy log patch meson spdx features maintainers guides
	clang shared static test-shared test-static)

usage() {
	cat <<-'END'
		usage: devtools/in-tree.sh [-o DIR] DPDK_DIR [STEP...]

		  copy           the copy of DPDK_DIR (of what is committed, if it is a git tree), the
		                 drivers, lib/octo, lib/octo_measure, lib/nudma and their
		                 guides in it, as five commits
		  log            DPDK's check-git-log.sh of those commits
		  patch          DPDK's checkpatches.sh of them
		  meson          DPDK's check-meson.py
		  spdx           DPDK's check-spdx-tag.sh
		  features       DPDK's check-doc-vs-code.sh
		  maintainers    DPDK's check-maintainers.sh
		  guides         DPDK's guides, with our pages and feature tables; warnings are errors
		  clang          our libraries only, by clang, warnings are errors
		  shared         all, warnings are errors, the programs linked with shared libraries
		  static         the same, the programs linked with static libraries
		  test-shared    the functional tests, with the programs that "shared" built
		  test-static    the same with those that "static" built

		All of them without a STEP. DPDK_DIR is not touched: everything is made in DIR, by
		default build-in-tree/ and the release. Environment:

		  DPDK_CHECKPATCH_PATH=FILE      Linux's checkpatch.pl; by default that of Debian's
		                                 linux-source is downloaded
		  OCTO_PYTEST_ARGS=ARG...        for the tests, such as -k NAME
	END
}

packages_in_tree() {
	packages_compile
	cat <<-'END'
		libpcap-dev|pc:libpcap|the pcap driver
		libelf-dev|pc:libelf|DPDK's bpf library
	END
}

packages_in_tree_tests() {
	packages_functional | grep -v '^dpdk'
}

# --- the copy

# put PATH...: files of this tree, as they are. What DPDK gets from the sources
# (the map of symbols) stays here.
put() {
	# -m: as of now, or a build of what was there before would pass for newer
	tar -C "$root" -c --exclude=version.map "$@" | tar -C "$tree" -x -m
}

# insert FILE BEFORE LINE...: in front of the first line that begins with BEFORE.
insert() {
	local file=$tree/$1 before=$2 text
	shift 2
	text=$(printf '%s\n' "$@")
	grep -qF -- "$before" "$file" || die "${file#"$tree/"} has no '$before': this DPDK is too different"
	awk -v before="$before" -v text="$text" \
		'index($0, before) == 1 && !done { print text; done = 1 } { print }' "$file" >"$work/edited"
	cat "$work/edited" >"$file"
	rm "$work/edited"
}

maintain() {
	local title=$1
	shift
	insert MAINTAINERS "PCAP PMD" "$title" "M: $author <$email>" "${@/#/F: }" ""
}

# DPDK's feature check takes what a driver names for what it can do. net_octo passes on
# all that its PFs take, without naming it, and names what it copies or refuses.
tell_where_rules_are_read() {
	# shellcheck disable=SC2016 # for that script to expand
	sed -i '/^exclude()/,/^}/ {
		/\*) cat/i \
		octo)\
			grep -vE "_ITEM_TYPE_(|RAW|GENEVE_OPT|PORT_REPRESENTOR)$" |\
			grep -vE "_ACTION_TYPE_(PF|REPRESENTED_PORT|SAMPLE|[A-Z]+_ENCAP)$" ;;\
		mpsim)\
			grep -vE "_ITEM_TYPE_(|RAW|GENEVE_OPT)$" |\
			grep -vE "_ACTION_TYPE_(SAMPLE|[A-Z]+_ENCAP)$" ;;
	}
	/^include()/,/^}/ {
		/esac/i \
		octo)\
			git grep -who "$1[[:alnum:]_]*" lib/octo drivers/net/mpsim |\
			exclude "$1" ;;\
		mpsim)\
			git grep -who "$1[[:alnum:]_]*" lib/octo | exclude "$1" ;;
	}' "$tree/devtools/parse-flow-support.sh"
}

add_library() {
	put lib/octo
	insert lib/meson.build "        'pcapng'," "        'octo',"
	maintain "Octo library" lib/octo/
	add_to_mailmap
	in_tree add -A
	commit "octo: add library of the octo drivers" "What the drivers decide without a device: 5-tuples,
rules, who is home where, when strays are polled."
}

add_measuring() {
	put lib/octo_measure
	insert lib/meson.build "        'pcapng'," "        'octo_measure',"
	maintain "Octo measuring library" lib/octo_measure/
	in_tree add -A
	commit "octo_measure: add library that measures octo ports" "Rates of counters over intervals,
for people and in files."
}

# With profiles of machines, which DPDK has no place for but beside the library.
add_model() {
	put lib/nudma
	insert lib/meson.build "        'octo'," "        'nudma',"
	maintain "NUDMA library" lib/nudma/
	in_tree add -A
	commit "nudma: add cost model of nonuniform DMA" "What DMA between sockets costs, in virtual time: for
mpsim, on machines that have one socket."
}

add_driver() {
	local name=$1 before=$2 title=$3 headline=$4 body=$5
	put "drivers/net/$name" "doc/guides/nics/$name.rst" "doc/guides/nics/features/$name.ini"
	insert drivers/net/meson.build "        '$before'," "        '$name',"
	insert doc/guides/nics/index.rst "    $before" "    $name"
	maintain "$title" "drivers/net/$name/" "doc/guides/nics/$name.rst" \
		"doc/guides/nics/features/$name.ini"
	in_tree add -A
	commit "$headline" "$body"
}

step_copy() {
	need copy
	mkdir -p "$work"
	clone_dpdk
	add_library
	add_measuring
	add_model
	tell_where_rules_are_read
	add_driver octo pcap "Octo PMD" "net/octo: add driver for multi-PF NICs" \
		"The PFs of a NIC that has one on each socket become one port."
	add_driver mpsim mvneta "Mpsim PMD" "net/mpsim: add simulated multi-PF NIC" \
		"For those who have no such NIC."
	in_tree log --oneline base..
	in_tree diff --stat base -- "${listed[@]}" | cat
}

# DPDK's own files that had to be told
listed=(.mailmap MAINTAINERS devtools drivers/net/meson.build doc/guides/nics/index.rst lib/meson.build)

# --- its checks

step_meson() {
	(cd "$tree" && python3 devtools/check-meson.py)
}

step_spdx() {
	(cd "$tree" && devtools/check-spdx-tag.sh -q)
}

step_features() {
	(cd "$tree" && devtools/check-doc-vs-code.sh base)
}

# It finds some fault with every DPDK tree: with what is ours it must not.
step_maintainers() {
	! (cd "$tree" && devtools/check-maintainers.sh) |
		grep -E "(net|lib)/(octo|octo_measure|mpsim)/|lib/nudma/|nics/(features/)?(octo|mpsim)\.|^$author "
}

step_guides() {
	need docs
	DPDK_VERSION=$release "$(python_of docs)" -m sphinx -W --keep-going -q -j 2 -b html \
		"$tree/doc/guides" "$work/guides"
	grep -l net_octo "$work"/guides/nics/{octo,mpsim}.html
}

# --- its build

# configure COMPILER: the apps and drivers that --dpdk-src builds, and ours
configure() {
	local dir=$work/build-$1 dpdk_options
	[ ! -f "$dir/build.ninja" ] || return 0
	need in_tree
	built_drivers+=(net/octo net/mpsim)
	choose_dpdk_options
	CC=$1 in_dpdk_build meson setup --prefix="$work/shared" --libdir=lib "${dpdk_options[@]}" \
		-Dwerror=true -Dbuildtype=debugoptimized -Dexamples=l3fwd "$dir" "$tree"
}

step_clang() {
	need clang
	configure clang
	in_dpdk_build ninja -C "$work/build-clang" lib/librte_{octo,octo_measure,nudma}.a drivers/librte_net_{octo,mpsim}.a
}

# DPDK always makes both kinds of libraries; this is how its programs are linked.
build_linked() {
	configure gcc
	in_dpdk_build meson configure "$work/build-gcc" -Ddefault_library="$1"
	in_dpdk_build ninja -C "$work/build-gcc"
}

step_shared() {
	build_linked shared
	rm -rf "${work:?}/shared"
	in_dpdk_build meson install -C "$work/build-gcc" --no-rebuild --quiet
	# an example is not installed, and finds its libraries where it was built
	cp "$work/build-gcc/examples/dpdk-l3fwd" "$work/shared/bin/"
}

# To install it elsewhere would compile all of it once more.
step_static() {
	[ -d "$work/shared" ] || step_shared
	build_linked static
	rm -rf "${work:?}/static"
	cp -a "$work/shared" "$work/static"
	find "$work/build-gcc/app" "$work/build-gcc/examples" -maxdepth 1 -type f \
		-name 'dpdk-*' -exec cp {} "$work/static/bin" \;
}

# --- our tests

# of what is in no DPDK tree: the packages, and programs of our own
apart=(--ignore-glob="*/test_agent_*.py" --ignore-glob="*/test_packages.py" --ignore-glob="*/test_secondary_*.py")

run_tests() {
	local python pytest_args
	need in_tree_tests
	python=$(python_of in_tree_tests)
	read -r -a pytest_args <<<"${OCTO_PYTEST_ARGS:-}"
	[ -x "$work/$1/bin/dpdk-testpmd" ] || die "there is no testpmd in $work/$1: do the step $1 first"
	OCTO_IN_TREE=$work/$1 LD_LIBRARY_PATH=$work/$1/lib "$python" -m pytest -p no:cacheprovider \
		-ra "${apart[@]}" "$root/test/functional" "${pytest_args[@]}"
}

step_test-shared() { run_tests shared; }
step_test-static() { run_tests static; }

# --- all of it

wrong_use() {
	usage >&2
	exit 2
}

main() {
	local arg
	work=
	[ "${1:-}" != --help ] || set -- -h
	while getopts ho: arg; do
		case $arg in
		o) work=$(realpath -m "$OPTARG") ;;
		h)
			usage
			exit
			;;
		*) wrong_use ;;
		esac
	done
	shift $((OPTIND - 1))
	[ $# -gt 0 ] || wrong_use
	dpdk_dir=$(realpath "$1")
	shift
	[ -f "$dpdk_dir/VERSION" ] || die "$dpdk_dir is not a DPDK source tree: it has no file VERSION"
	release=$(cat "$dpdk_dir/VERSION")
	work=${work:-$root/build-in-tree/$release}
	tree=$work/dpdk
	author="The net_octo authors"
	email=net_octo@example.org
	[ -d "$tree" ] || [ $# -eq 0 ] || [ "$1" = copy ] || set -- copy "$@"
	run_steps "$@"
}

main "$@"
