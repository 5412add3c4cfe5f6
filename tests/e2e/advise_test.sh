#!/usr/bin/env bash
# `wiretoll advise` as a person meets it, one case a call:
#   advise_test.sh FOLDER_OF_PROGRAMS FOLDER_OF_STUDIES CASE
# Twelve paths are made to be limited by one thing each, and it has to name
# that; what figures come of it is nobody's to say on whatever machine.
# Exit 77: skipped, with the reason. Everything happens in a folder of its own.
set -uo pipefail
programs=$1 studies=$2 name=$3
wiretoll=$programs/wiretoll
work=$(mktemp -d)
export WIRETOLL_CASES=$studies
cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  [[ -s out ]] && sed 's/^/  out: /' out >&2
  [[ -s err ]] && sed 's/^/  err: /' err >&2
  exit 1
}
skip() {
  echo "skipped: $*"
  exit 77
}
need_root() { [[ $(id -u) == 0 ]] || skip "needs root, for namespaces: sudo ./dev test"; }

# advise EXPECTED_CODE ARGUMENT...: output in the files out and err.
advise() {
  local expected=$1 code=0
  shift
  timeout 100 "$wiretoll" advise "$@" >out 2>err </dev/null || code=$?
  [[ $code == "$expected" ]] || fail "exit $code, not $expected: wiretoll advise $*"
}
says() { grep -qF -- "$2" "$1" || fail "$1 does not say: $2"; }

# The limit that a path made by the other arguments has to have. What else runs
# on the machine may be the limit for a moment: one of three tries has to do.
limit_is() {
  local limit=$1
  shift
  need_root
  for _ in 1 2 3; do
    advise 0 --quiet --repeats 2 --time 300ms --format json "$@"
    ! grep -qF -- "\"limit\": \"$limit\"" out || break
  done
  says out "\"limit\": \"$limit\""
}

# Two hosts on loopback: enough for what goes wrong before anything is measured.
hosts() {
  cat >hosts.toml <<HOSTS
[hosts.a]
agent = ["$programs/wiretoll-agent"]
address = "127.0.0.1"
[hosts.b]
agent = ["${1:-$programs/wiretoll-agent}"]
address = "127.0.0.2"
HOSTS
}

case $name in
# --- Twelve paths ------------------------------------------------------------
names_a_receive_buffer_that_is_too_small)
  limit_is receive-window --delay 5ms --sysctl 'net.ipv4.tcp_rmem=4096 32768 32768'
  says out 'sysctl -w net.ipv4.tcp_rmem='
  says out '/etc/sysctl.d/90-wiretoll.conf'
  ;;
names_a_send_buffer_that_is_too_small)
  limit_is send-buffer --delay 10ms --sysctl 'net.ipv4.tcp_wmem=4096 16384 16384'
  says out 'sysctl -w net.ipv4.tcp_wmem='
  ;;
names_window_scaling_that_is_off)
  limit_is window-scaling --delay 15ms --sysctl net.ipv4.tcp_window_scaling=0
  says out 'sysctl -w net.ipv4.tcp_window_scaling=1'
  ;;
names_the_line_and_nothing_to_change)
  limit_is line --link 20mbit --delay 5ms --case rcvbuf=32KiB
  says out '"changes": []'
  ;;
names_loss)
  limit_is loss --delay 5ms --loss 2%
  says out 'bbr'
  ;;
names_a_program_that_writes_slowly)
  limit_is slow-writer --delay 2ms --case gap=5ms,write=1448
  ;;
names_a_program_that_reads_slowly)
  limit_is slow-reader --case read=1
  ;;
names_the_cpu_where_nothing_else_is)
  limit_is cpu --link none
  ;;
names_a_black_hole_and_the_largest_packet_that_passes)
  limit_is path-mtu --router --router-mtu 1400 --no-icmp
  says out '"largest_packet_passed": 1400'
  says out '"least_packet_lost": 1401'
  ;;
names_a_transfer_that_is_too_short_for_slow_start)
  limit_is slow-start --delay 20ms --case bytes=200kB
  says out 'initcwnd'
  ;;
names_nagle_against_a_delayed_ack)
  limit_is nagle-delayed-ack --study write-write-read \
    --filter 'request=1+1,nagle=on,quickack=unset'
  says out 'TCP_NODELAY'
  ;;
names_a_queue_that_is_too_long)
  limit_is queue --router --router-link 10mbit --router-queue 500kB
  ;;
# --- Verification --------------------------------------------------------------
verifies_a_change_inside_the_lab_and_undoes_it)
  need_root
  advise 0 --quiet --repeats 3 --time 300ms --delay 5ms --verify \
    --sysctl 'net.ipv4.tcp_rmem=4096 32768 32768'
  says out 'VERIFIED in this lab'
  says out 'made on linux-2: sysctl -w net.ipv4.tcp_rmem='
  says out 'all of it was undone'
  says out 'sysctl -w net.ipv4.tcp_rmem="4096 32768 32768"'
  ;;
changes_no_hosts_of_the_users)
  hosts
  advise 2 --hosts hosts.toml --pair a,b --verify
  says err '--verify changes settings, and does so in a lab of its own alone'
  ;;
# --- What goes wrong -----------------------------------------------------------
names_a_host_that_the_file_lacks)
  hosts
  advise 2 --hosts hosts.toml --pair a,c
  says err '--pair a,c: hosts.toml has no host c; there are a, b'
  ;;
pairs_no_host_with_itself)
  hosts
  advise 2 --hosts hosts.toml --pair a,a
  says err '--pair a,a: a host and itself'
  advise 2 --hosts hosts.toml --pair a
  says err 'two hosts are needed'
  ;;
says_which_agent_cannot_be_had)
  hosts /nonexistent/agent
  advise 3 --quiet --hosts hosts.toml
  says err 'host b'
  says err '/nonexistent/agent'
  ;;
diagnoses_one_cell_of_a_study)
  hosts
  advise 2 --hosts hosts.toml --study write-write-read
  says err 'choose it by --filter'
  advise 2 --hosts hosts.toml --case rcvbuf
  says err '"rcvbuf" is no NAME=VALUE'
  advise 2 --hosts hosts.toml --case nosuch=1
  says err 'nosuch'
  advise 2 --hosts hosts.toml --filter write=1
  says err '--filter chooses a cell'
  ;;
names_the_sysctl_that_clamps_a_buffer)
  need_root
  # net.core is the whole machine's, and left as it is.
  [[ $(cat /proc/sys/net/core/rmem_max) -lt 60000000 ]] || skip "rmem_max lets every program have all it asks for: sysctl -w net.core.rmem_max=212992"
  advise 0 --quiet --repeats 1 --time 300ms --format json --link none --case rcvbuf=64MiB
  says out 'net.core.rmem_max'
  ;;
advises_on_a_recorded_run)
  need_root
  cat >small.toml <<'STUDY'
title = "t"
question = "q"
source = "s"
[factors]
rcvbuf = ["2KiB", "unset"]
write = [65536]
[stop]
bytes = "300kB"
STUDY
  timeout 60 "$wiretoll" run small.toml --quiet --no-report --repeats 2 \
    --delay 5ms --pairs linux-1:linux-2 --out r >out 2>err || fail "no run"
  advise 0 r
  says out 'CASE'
  says out 'LIMIT'
  advise 0 r --filter rcvbuf=2048
  says out 'THE LIMIT:'
  advise 2 r --filter rcvbuf=4096
  says err 'no cell'
  advise 2 nowhere
  says err 'nowhere'
  ;;
*)
  fail "no such case: $name"
  ;;
esac
