# test_fresh.sh - scripts/quickstart and the packages and build of scripts/check in a freshly unpacked
# Debian 12. Needs root, debootstrap and a mirror (TROD_DEBIAN_MIRROR, default: debootstrap's own).
# label: slow
. "$TROD_SOURCE/tests/cli/lib.sh"
have debootstrap git
[[ $(id -u) -eq 0 ]] || { echo "skipped: not root"; exit 77; }
root=$tmp/root
timeout 280 debootstrap --variant=minbase bookworm "$root" ${TROD_DEBIAN_MIRROR:-} >bootstrap.log 2>&1 ||
    { echo "skipped: debootstrap failed: $(tail -n 1 bootstrap.log)"; exit 77; }
git -C "$TROD_SOURCE" archive --prefix=trod/ HEAD | tar -x -C "$root/opt" ||
    { echo "skipped: no archive of the sources"; exit 77; }

# no /dev/pts and no /proc in it: what a bare container lacks
run timeout 1500 chroot "$root" /opt/trod/scripts/quickstart
status 0
out_has 'scripts/check runs every test'
out_has ' 0 findings'
# without root and with empty lists of packages it says both commands
run chroot "$root" sh -c 'rm -rf /var/lib/apt/lists/* && apt-get purge -y -q libisal-dev >/dev/null 2>&1;
    su nobody -s /bin/sh -c /opt/trod/scripts/deps'
status 1
err_has 'apt-get update && apt-get install'
run timeout 1500 chroot "$root" sh -c 'apt-get update -q >/dev/null 2>&1; /opt/trod/scripts/deps &&
    cd /opt/trod && scripts/house && cmake --preset release && cmake --build --preset release &&
    ctest --preset release -R "cli_args|cli_choose|cli_terminal|cli_readme"'
status 0
finish
