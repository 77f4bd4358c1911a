# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# ./octo test fresh: the README's commands on a machine that has nothing but the
# distribution's minimal system. That is a root directory made from this machine's
# own package sources, entered in namespaces of its own (devtools/fresh-root.sh).
# The network namespace is this machine's, or the package sources could not be reached.

# of the traffic one tier's and all that a fetched page needs
fresh_functional='test_front_door or test_setup or test_in_tree or test_build'
fresh_functional+=' or test_traffic and (exact or test_l3fwd_http)'

# What apt is told of proxies, certificates and dates, without what names a program
# of this machine. Proxies of the environment are not, as sudo drops them.
apt_settings() {
	local scheme proxy
	apt-config dump | grep '^Acquire::' |
		grep -vE '^Acquire::(IndexTargets|CompressionTypes|Changelogs|cdrom)|Proxy-Auto-Detect' || true
	for scheme in http https; do
		proxy=${scheme}_proxy
		[ -z "${!proxy:-}" ] || printf 'Acquire::%s::Proxy "%s";\n' $scheme "${!proxy}"
	done
}

# Sets fresh_base to an archive of the distribution's minimal system, a week old at
# most. $1 is a directory to work in.
make_fresh_base() {
	local dir=$1 log=$root/build-fresh.log
	write_private_lists "$dir" deb
	apt_settings >"$dir/settings"
	fresh_base=$root/.deps/fresh-$(cat "$dir"/parts/* "$dir/settings" | cksum | cut -d' ' -f1).tar
	[ -z "$(find "$fresh_base" -mtime -7 2>/dev/null)" ] || return 0
	say "making a minimal root from this machine's package sources (~60 MB; once a week)"
	rm -f "$root"/.deps/fresh-*.tar
	mmdebstrap --variant=minbase --aptopt="$dir/settings" --dpkgopt=force-unsafe-io \
		'' "$dir/base.tar" "$dir"/parts/octo.* >"$log" 2>&1 ||
		die "no minimal root could be made from this machine's package sources:" \
			"$(grep -E '^E: ' "$log" | head -n 1) ($log)"
	mv "$dir/base.tar" "$fresh_base"
}

# The keys that package sources are signed with lie where those say.
copy_keys() {
	local dir=$1 new=$2 key
	while read -r key; do
		[ ! -f "$key" ] || [ -e "$new$key" ] || install -m 644 -D "$key" "$new$key"
	done < <(grep -ohE '/[^], =]+\.(gpg|asc|pgp)\b' "$dir"/parts/*; ls -d /etc/apt/trusted.gpg.d/*)
}

# How this machine reaches the network: names, and certificates that it trusts.
copy_network() {
	local new=$1 file
	for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt \
		/usr/local/share/ca-certificates/*; do
		[ ! -f "$file" ] || install -m 644 -D "$file" "$new$file"
	done
	echo '127.0.1.1 fresh' >>"$new/etc/hosts"
}

# clone_for HOME: what is committed, as git clone gives it.
clone_for() {
	# the owner of this clone may be another than root
	GIT_CONFIG_GLOBAL=$work/gitconfig git clone -q "file://$root" "$work/root$1/net_octo"
}

# cache_settings CLONE DIR: one per line, for ccache: the paths of a clone do not count.
cache_settings() {
	printf '%s\n' CC=gcc "CCACHE_BASEDIR=$1" "CCACHE_DIR=$2" CCACHE_CONFIGPATH=/dev/null \
		CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
}

# compile_cached COMMAND...: keeps what is compiled for test fresh --short, which takes it over
# where gcc would read the same.
compile_cached() {
	local settings
	mapfile -t settings < <(cache_settings "$root" "$root/.deps/ccache")
	env "${settings[@]}" PATH="/usr/lib/ccache:$PATH" "$@"
}

# Makes $work/root.
make_fresh_root() {
	rm -rf --one-file-system "$work/root"
	mkdir -m 755 "$work/root"
	tar -C "$work/root" --xattrs --numeric-owner --exclude='./dev/*' -xpf "$fresh_base"
	copy_keys "$work" "$work/root"
	copy_network "$work/root"
	install -m 755 "$root/devtools/fresh-root.sh" "$work/root/usr/local/lib/fresh-root.sh"
	clone_for /root
	clone_for /home/octo
	if [ -n "$short" ] && [ -d "$root/.deps/ccache" ]; then
		cp -a "$root/.deps/ccache" "$work/root/var/cache/ccache"
		cache_settings /root/net_octo /var/cache/ccache >"$work/root/etc/fresh-cache"
	fi
}

# The README's three commands, without what they are for.
readme_commands() {
	sed -n '/^## Three commands/,/^On Debian/ s/^    \(.*[^ ]\)  *#.*/\1/p' "$root/README.md"
}

# Those, one per line, each of a user: what that user runs in a clone.
whole_plan() {
	sed "s/^/$1 /" < <(readme_commands)
}

# The same at a length for each change: all of set-up, and of the tests a part.
short_plan() {
	local command
	echo "octo ./octo setup"
	while read -r command; do
		case $command in
		'./octo test')
			echo "root ./octo test unit -k flow"
			echo "root ./octo test functional -k '$fresh_functional'"
			;;
		'./octo test vm') say "--short leaves out: $command" ;;
		*) echo "root $command" ;;
		esac
	done < <(readme_commands)
}

# run_fresh_root PYTHON PLAN: in a new root, with PYTHON, plain or odd, early in PATH.
run_fresh_root() {
	make_fresh_root
	printf '%s\n' "$2" >"$work/root/etc/fresh-plan"
	: >"$work/results"
	# in the background, or a Ctrl-C would wait for it; its children hear theirs
	env -i --default-signal=INT,QUIT LANG=C.UTF-8 TERM=dumb \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		unshare --mount --pid --uts --ipc --fork --kill-child --propagation private \
		bash "$root/devtools/fresh-root.sh" enter "$work/root" "$1" \
		</dev/null 3>"$work/results" &
	fresh_pid=$!
	wait "$fresh_pid" || true
	fresh_pid=
	count_fresh "$2"
}

# What was not run has failed.
count_fresh() {
	local ok asked run
	asked=$(wc -l <<<"$1")
	run=$(wc -l <"$work/results")
	ok=$(grep -c '^ok ' "$work/results" || true)
	{
		cat "$work/results"
		tail -n +$((run + 1)) <<<"$1" | sed 's/^/not run          /'
	} >>"$work/summary"
	passed=$((passed + ok))
	failed=$((failed + asked - ok))
}

# Nothing outlives its namespaces: all that is left is a directory. Those who are killed
# with them may write there for a moment longer.
leave_fresh() {
	local tries
	if [ -n "$fresh_pid" ]; then
		kill -KILL "$fresh_pid" 2>/dev/null || true
		wait "$fresh_pid" 2>/dev/null || true
	fi
	for ((tries = 0; tries < 60; tries++)); do
		! rm -rf --one-file-system "$work" 2>/dev/null || return 0
		sleep 1
	done
	rm -rf --one-file-system "$work"
}

check_fresh() {
	[ "$(id -u)" -eq 0 ] || die "test fresh mounts a root of its own, which needs root: sudo ./octo test fresh"
	have apt-get || die "this system has no apt-get to make a minimal root with"
	need fresh
	unshare --mount --pid --uts --ipc --fork --propagation private true 2>/dev/null ||
		die "test fresh needs mount, pid, uts and ipc namespaces, and this system gives none"
	git -c safe.directory='*' -C "$root" rev-parse -q --verify HEAD >/dev/null ||
		die "test fresh tries what is committed, and $root is no git clone"
	[ -n "$(readme_commands)" ] || die "README.md has no commands below 'Three commands'"
	[ -z "$(git -c safe.directory='*' -C "$root" status --porcelain)" ] ||
		warn "what is not committed is not tried"
}

# run_fresh [SHORT]: counts the commands.
run_fresh() {
	local work fresh_base fresh_pid='' dir short=${1:-}
	check_fresh
	mkdir -p "$root/.deps"
	# of one that was killed
	for dir in "$root"/.deps/fresh.*; do
		[ ! -d "$dir" ] || flock -n "$dir" rm -rf --one-file-system "$dir" || true
	done
	work=$(mktemp -d "$root/.deps/fresh.XXXXXX")
	exec 7<"$work"
	flock 7
	trap leave_fresh EXIT
	trap 'exit 130' INT TERM
	printf '[safe]\n\tdirectory = *\n' >"$work/gitconfig"
	make_fresh_base "$work"
	if [ -n "$short" ]; then
		run_fresh_root odd "$(short_plan)"
	else
		run_fresh_root plain "$(whole_plan root)"
		run_fresh_root odd "$(whole_plan octo)"
	fi
	printf '\n%s\n' "in a fresh root:"
	cat "$work/summary"
	leave_fresh
	trap - EXIT INT TERM
}
