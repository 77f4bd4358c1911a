# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# A copy of a DPDK tree with commits of ours, and DPDK's checks of them. The script that
# sources this sets "dpdk_dir", the given tree, "work", a directory of its own, "tree",
# the copy in it, and "author" and "email" of the commits.

packages_copy() {
	cat <<-'END'
		git|cmd:git|commits in a DPDK tree
		python3|cmd:python3|DPDK's scripts
	END
}

packages_patch() {
	echo 'codespell|cmd:codespell|checkpatches.sh: spelling'
}

in_tree() {
	git -C "$tree" "$@"
}

clone_dpdk() {
	if git -C "$dpdk_dir" rev-parse --git-dir >/dev/null 2>&1; then
		[ -d "$tree/.git" ] || git clone -q --shared --no-checkout "$dpdk_dir" "$tree"
		in_tree checkout -q -f -B octo "$(git -C "$dpdk_dir" rev-parse HEAD)"
	elif [ ! -d "$tree/.git" ]; then
		cp -a "$dpdk_dir" "$tree"
		in_tree init -q -b octo
		# what its .gitignore would leave out is part of a release, too: build-sdk-meson.rst
		in_tree add -A -f
		commit "dpdk: import release"
	else
		in_tree checkout -q -f -B octo base
	fi
	in_tree clean -q -f -d -x
	in_tree tag -f base >/dev/null
}

# commit HEADLINE [BODY]
commit() {
	in_tree -c user.name="$author" -c user.email="$email" -c commit.gpgsign=false \
		commit -q -s -m "$1" ${2:+-m "$2"}
}

add_to_mailmap() {
	grep -q "^$author <" "$tree/.mailmap" ||
		(cd "$tree" && python3 devtools/mailmap-ctl.py add "$author <$email>")
}

step_log() {
	(cd "$tree" && devtools/check-git-log.sh -r base..)
}

get_checkpatch() {
	local package dir=${checkpatch%/*}
	have apt-get || die "set DPDK_CHECKPATCH_PATH to the checkpatch.pl of a Linux source tree"
	package=$(apt-cache depends linux-source | sed -n 's/^ *Depends: *//p')
	say "getting checkpatch.pl from $package"
	mkdir -p "$dir"
	(
		cd "$dir"
		apt-get -q download "$package"
		dpkg-deb --fsys-tarfile "$package"_*.deb |
			tar -x -O --wildcards './usr/src/linux-source-*.tar.xz' |
			tar -x -J --strip-components=2 --wildcards '*/scripts/checkpatch.pl' \
				'*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch'
		rm "$package"_*.deb
	)
}

# Drops what checkpatch.pl says of each DPDK driver without being right: PRIu64
# is no CamelCase, RTE_ATOMIC(type) no cast, and a loop's macro has to use its
# arguments twice. Prints and fails on anything else.
judge_patches() {
	sed -E '/^### |^total: |^[0-9]+\/[0-9]+ valid patch/d' | awk 'BEGIN { RS = ""; ORS = "\n\n" }
		/^CHECK:CAMELCASE[^\n]*<PRI[a-zX]+[0-9]+>/ { next }
		/^(CHECK|ERROR):SPACING/ && /RTE_ATOMIC\([^)]+\) / { next }
		/^CHECK:MACRO_ARG_REUSE/ && /define ([A-Z_]+_)?FOREACH_/ { next }
		{ print; bad = 1 }
		END { exit bad }'
}

step_patch() {
	local report=$work/checkpatches.txt commits
	need patch
	checkpatch=${DPDK_CHECKPATCH_PATH:-$root/build-in-tree/checkpatch/checkpatch.pl}
	[ -x "$checkpatch" ] || get_checkpatch
	commits=$(in_tree rev-list --count base..)
	(cd "$tree" && DPDK_CHECKPATCH_PATH=$checkpatch devtools/checkpatches.sh -r base..) \
		>"$report" 2>&1 || true
	grep "/$commits valid patch" "$report" || { cat "$report"; return 1; }
	judge_patches <"$report"
}
