#!/usr/bin/env bash
# Set-up of `make test-browser`: a Chromium. Exits 0 when one is there, else 1 and one line that says what to install.
set -euo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT

there() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
fail() {
    echo "test-browser: no Chromium here, and $1; install chromium (name of Debian) or Google Chrome" >&2
    exit 1
}
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}
install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium >>"$log" 2>&1
}

if there >/dev/null; then exit 0; fi
command -v apt-get >/dev/null || fail "there is no apt-get to install it with"
as_root true 2>/dev/null || fail "this user is not root and sudo asks for a password"
echo "test-browser: installing chromium"
# A fresh machine has no list of packages yet, or an old one.
if ! install; then
    as_root apt-get update >>"$log" 2>&1 || true
    install || fail "apt-get cannot install it: $(grep -m1 '^E:' "$log" || tail -n1 "$log")"
fi
there >/dev/null || fail "its package did not bring it"
