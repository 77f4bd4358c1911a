#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes an RFC for DPDK's mlx5 PMD, as patches against the given tree: rules of one PF that
# lead to queues of another one. The repository has our own lines alone, as edits
# (devtools/mlx5-rfc/*.edit), since the context of a patch is DPDK's source.

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

steps=(series apply log patch layout before after)

usage() {
	cat <<-'END'
		usage: devtools/mlx5-rfc.sh [-o DIR] --dpdk-src DPDK_DIR [STEP...]

		  series     the edits of devtools/mlx5-rfc/ in a copy of DPDK_DIR (of what is
		             committed, if it is a git tree), one commit each, and the patches
		             with a cover letter in DIR/patches/
		  apply      these patches by git am on the commit that they are for
		  log        DPDK's check-git-log.sh of the commits
		  patch      DPDK's checkpatches.sh of them
		  layout     the layouts of PRM structures against those of the Linux driver
		  before     the mlx5 drivers of DPDK_DIR, warnings are errors
		  after      the same after each patch; all files of the series must be compiled

		All of them without a STEP. DPDK_DIR is DPDK 26.07 or newer and not touched:
		everything is made in DIR, by default build-in-tree/mlx5-rfc. The patches are signed
		off by git's user.name and user.email. Environment:

		  DPDK_CHECKPATCH_PATH=FILE      Linux's checkpatch.pl; by default that of Debian's
		                                 linux-source is downloaded
	END
}

packages_mlx5() {
	packages_compile
	cat <<-'END'
		libibverbs-dev|pc:libmlx5|the mlx5 drivers, with hardware steering
	END
}

edit_tree() {
	python3 "$root/devtools/edit-tree.py" "$@"
}

# A failed edit leaves no patches, which would be those of an earlier run.
step_series() {
	local script
	need copy
	mkdir -p "$work"
	rm -rf "$work/patches"
	clone_dpdk
	for script in "$root"/devtools/mlx5-rfc/*.edit; do
		edit_tree "$script" "$tree"
		add_to_mailmap
		in_tree add -A
		commit "$(edit_tree --message "$script")"
	done
	in_tree config branch.octo.description "$(grep -v '^#' "$root/devtools/mlx5-rfc/cover.txt")"
	in_tree -c user.name="$author" -c user.email="$email" format-patch -q --rfc --cover-letter \
		--cover-from-description=subject -o "$work/patches" base..octo
	in_tree diff --stat base | cat
	ls "$work/patches"
}

step_apply() {
	in_tree checkout -q -f -B applied base
	in_tree -c user.name="$author" -c user.email="$email" am -q "$work"/patches/000[1-9]-*.patch
	in_tree diff --exit-code octo applied
	in_tree checkout -q octo
}

step_layout() {
	OCTO_MLX5_TREE=$tree "$(python_with pytest)" -m pytest -q -p no:cacheprovider -rs \
		"$root/test/functional/test_mlx5_rfc.py"
}

mlx5_drivers=common/mlx5,net/mlx5,bus/pci,bus/auxiliary

# build_at COMMIT: what a warning would stop.
build_at() {
	in_tree checkout -q -f "$1"
	need mlx5
	[ -f "$work/build/build.ninja" ] || in_dpdk_build meson setup -Dwerror=true \
		-Dbuildtype=debugoptimized -Dplatform=generic -Dtests=false '-Ddisable_apps=*' \
		-Denable_drivers="$mlx5_drivers" "$work/build" "$tree"
	in_dpdk_build ninja -C "$work/build"
}

step_before() {
	build_at base
}

# The object file of each source file that the series changes.
check_compiled() {
	local file
	while read -r file; do
		file=${file#drivers/}
		file=${file#*/mlx5/}
		find "$work/build/drivers" -name "*_mlx5_${file//\//_}.o" | grep . ||
			die "$file was not compiled: it needs rdma-core with mlx5dv and DevX"
	done < <(in_tree diff --name-only base octo -- '*.c')
}

step_after() {
	local commit
	for commit in $(in_tree rev-list --reverse base..octo); do
		build_at "$commit"
	done
	in_tree checkout -q octo
	check_compiled
}

wrong_use() {
	usage >&2
	exit 2
}

# of_git NAME: whoever sends the patches signs them off.
of_git() {
	git -C "$root" config "$1" || die "git has no $1 to sign the patches off with: set it by" \
		"git config $1 VALUE"
}

main() {
	work=$root/build-in-tree/mlx5-rfc
	dpdk_dir=
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help)
			usage
			exit
			;;
		-o | --dpdk-src)
			[ $# -gt 1 ] || wrong_use
			[ "$1" = -o ] && work=$(realpath -m "$2") || dpdk_dir=$(realpath -m "$2")
			shift 2
			;;
		-*) wrong_use ;;
		*) break ;;
		esac
	done
	[ -n "$dpdk_dir" ] || wrong_use
	[ -f "$dpdk_dir/VERSION" ] ||
		die "--dpdk-src $dpdk_dir is not a DPDK source tree: it has no file VERSION"
	author=$(of_git user.name)
	email=$(of_git user.email)
	tree=$work/dpdk
	[ -d "$tree" ] || [ $# -eq 0 ] || [ "$1" = series ] || set -- series "$@"
	run_steps "$@"
}

main "$@"
