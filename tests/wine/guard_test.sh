#!/usr/bin/env bash
# The guard keeps what runs in it from the network, and leaves nothing behind.
#   guard_test.sh CASE
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
guard=$here/run-in-guard

fail() {
  printf 'guard_test: %s\n' "$1" >&2
  exit 1
}

# Those of a guard know it by name.
of_a_guard() {
  local name=$1 environment
  for environment in /proc/[0-9]*/environ; do
    if grep -qz "^GUARD_TEST=$name\$" "$environment" 2>/dev/null; then
      printf '%s\n' "${environment//[^0-9]/}"
    fi
  done
}

await() {
  for _ in {1..300}; do
    if "$@"; then return; fi
    sleep 0.1
  done
  fail "in vain: $*"
}

all_gone() { [[ -z $(GUARD_TEST='' of_a_guard "$1") ]]; }

case ${1:-} in
  exit_code_passes)
    code=0
    "$guard" bash -c 'exit 7' || code=$?
    ((code == 7)) || fail "7 became $code"
    ;;
  only_loopback_is_up)
    up=$("$guard" ip -o link show up)
    [[ $up == *': lo:'* && $(wc -l <<<"$up") == 1 ]] || fail "up are: $up"
    said=$("$guard" bash -c 'exec 3<>/dev/tcp/192.0.2.1/9' 2>&1) &&
      fail 'somebody was connected to'
    [[ $said == *'Network is unreachable'* ]] || fail "it said: $said"
    ;;
  wine_listens_inside)
    # The server's namespace, which is where Wine's sockets are.
    # shellcheck disable=SC2016
    "$guard" bash -c '
      server=$(pgrep -x "wineserver(32|64)?" | head -n 1)
      [[ $(readlink /proc/$server/ns/net) == $(readlink /proc/self/ns/net) ]]
      [[ $(readlink /proc/$server/ns/net) != "$1" ]]
    ' inside "$(readlink /proc/self/ns/net)" || fail 'it is somewhere else'
    ;;
  nothing_is_left)
    GUARD_TEST=end-$$ "$guard" true
    await all_gone "end-$$"
    ;;
  nothing_is_left_of_a_killed_one)
    GUARD_TEST=kill-$$ "$guard" sleep 300 &
    pid=$!
    is_up() { of_a_guard "kill-$$" | xargs -r ps -o comm= -p | grep -q sleep; }
    await is_up
    kill -KILL "$pid"
    await all_gone "kill-$$"
    ;;
  *) fail "no such case: ${1:-}" ;;
esac
