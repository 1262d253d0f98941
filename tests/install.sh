#!/usr/bin/env bash
# tests/install.sh slurm|browser: set-up of `make test-slurm` and `make test-browser`, from the packages of Debian or
# Ubuntu. Exits 0 when what they need is there and starts, else 1 and one line that says why and what to install.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

case ${1:-} in
    slurm) packages=(slurm-wlm munge) ;;
    browser) packages=(chromium) ;;
    *) echo "usage: $0 slurm|browser" >&2; exit 2 ;;
esac

all_of() { local command; for command in "$@"; do command -v "$command" >/dev/null || return 1; done; }
one_of() { local command; for command in "$@"; do ! command -v "$command" >/dev/null || return 0; done; return 1; }
there() {
    case $1 in
        slurm) all_of munged slurmctld slurmd sbatch ;;
        browser) one_of chromium chromium-browser google-chrome ;;
    esac
}
# A machine may have Slurm and yet refuse its daemons: no loopback ports, no own processes, a limit of files.
starts() {
    [ "$1" = slurm ] || return 0
    local cluster=$here/slurm/local-slurm.sh
    export LOCAL_SLURM_DIR BASE_PORT=$((20000 + $$ % 500 * 20))
    LOCAL_SLURM_DIR=$(mktemp -d)
    trap 'rm -rf "$log" "$LOCAL_SLURM_DIR"' EXIT
    if "$cluster" up >>"$log" 2>&1 && "$cluster" down >>"$log" 2>&1; then return 0; fi
    echo "test-$what: it is installed, and a Slurm of this user's own does not start here: $(reason)" >&2
    exit 1
}
reason() { grep -m1 -iE 'error|fatal' "$log" || tail -n1 "$log"; }
fail() {
    echo "test-$what: what it needs is not here, and $1; install ${packages[*]} (names of Debian and Ubuntu)" >&2
    exit 1
}
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}
install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${packages[@]}" >>"$log" 2>&1
}

what=$1
if there "$what"; then starts "$what"; exit 0; fi
command -v apt-get >/dev/null || fail "there is no apt-get to install it with"
as_root true 2>/dev/null || fail "this user is not root and sudo asks for a password"
echo "test-$what: installing ${packages[*]}"
# A fresh machine has no list of packages yet, or an old one.
if ! install; then
    as_root apt-get update >>"$log" 2>&1 || true
    install || fail "apt-get cannot install it: $(grep -m1 '^E:' "$log" || tail -n1 "$log")"
fi
there "$what" || fail "its packages did not bring it"
starts "$what"
