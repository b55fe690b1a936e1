# test_fresh.sh - scripts/quickstart and the first part of scripts/check in a freshly unpacked Debian 12: as
# root, without root, with empty package lists, and without what a bare container lacks (/dev/pts). Needs
# root, debootstrap and a mirror: that of this machine's apt, or TROD_DEBIAN_MIRROR.
# label: slow
# label: fresh
# timeout: 1800
. "$TROD_SOURCE/tests/cli/lib.sh"
have debootstrap git unshare apt-get
[[ $(id -u) -eq 0 ]] || { echo "skipped: not root"; exit 77; }
unshare --mount --pid --fork true 2>/dev/null || { echo "skipped: no mounts of one's own here"; exit 77; }
# shellcheck disable=SC2016 # apt's own variables
mirror=${TROD_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 2>/dev/null |
    sed -n 's/ bookworm main$//p' | head -n 1)}
root=$tmp/root
timeout 900 debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >bootstrap.log 2>&1 ||
    { echo "skipped: debootstrap failed: $(tail -n 1 bootstrap.log)"; exit 77; }
git -C "$TROD_SOURCE" archive --prefix=trod/ HEAD | tar -x -C "$root/opt" ||
    { echo "skipped: no archive of the sources"; exit 77; }

# inside COMMAND: in that root, with /proc but without /dev/pts; the mount goes with the command
inside() {
    unshare --mount --pid --fork --mount-proc="$root/proc" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive \
        timeout 900 chroot "$root" sh -c "cd /opt/trod && $1"
}
check test ! -e "$root/dev/pts/ptmx"

# without root and with empty lists of packages it says both commands
run inside 'rm -rf /var/lib/apt/lists/* && su nobody -s /bin/sh -c scripts/quickstart'
status 1
err_has 'apt-get update && apt-get install .*cmake'

# root needs nothing else: from there to a program recorded and looked at
run inside scripts/quickstart
status 0
out_has '^scripts/deps: installing .*cmake'
out_has '^\$ trod record -o build/ls.d -- ls /'
out_has '^ +0 findings$'
out_has 'scripts/check runs every test'
# the same again, by a user whose the folder is: nothing is missing any more
run inside 'chown -R nobody . && su nobody -s /bin/sh -c scripts/quickstart'
status 0
out_not 'installing'
out_has 'scripts/check runs every test'

# the first part of scripts/check, with the packages it needs; all that it installs are there to be had
run inside 'apt-get install -s --no-install-recommends $(scripts/deps --list)'
status 0
run inside 'apt-get install -y -q --no-install-recommends \
    libcmocka-dev jq bsdutils mandoc binutils clang-format libbz2-dev unzip'
status 0
run inside 'scripts/house && scripts/format --check && scripts/manlint'
status 0
run inside 'cmake --preset release && cmake --build --preset release --target src/all &&
    scripts/symbols build/release && scripts/install-test build/release'
status 0
# a test that needs a terminal says that there is none
run inside 'ctest --preset release -V -R "^cli_(args|choose|readme|terminal|width)$"'
status 0
out_has 'cli_terminal .*Skipped'
out_has 'skipped: no terminals here'
out_has 'cli_readme .*Passed'
finish
