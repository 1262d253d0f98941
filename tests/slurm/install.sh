#!/usr/bin/env bash
# Set-up of `make test-slurm`: Slurm from the packages of Debian or Ubuntu. Exits 0 when its commands are there, else 1
# and one line that says why and what to install.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
packages=(slurm-wlm munge)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

there() {
    local command
    for command in munged slurmctld slurmd sbatch; do command -v "$command" >/dev/null || return 1; done
}
fail() {
    echo "test-slurm: no Slurm here, and $1; install ${packages[*]} (names of Debian and Ubuntu)" >&2
    exit 1
}
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}
install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${packages[@]}" >>"$log" 2>&1
}

if there; then exit 0; fi
command -v apt-get >/dev/null || fail "there is no apt-get to install it with"
as_root true 2>/dev/null || fail "this user is not root and sudo asks for a password"
echo "test-slurm: installing ${packages[*]}"
# A fresh machine has no list of packages yet, or an old one.
if ! install; then
    as_root apt-get update >>"$log" 2>&1 || true
    install || fail "apt-get cannot install it: $(grep -m1 '^E:' "$log" || tail -n1 "$log")"
fi
there || fail "its packages did not bring munged, slurmctld, slurmd and sbatch"
