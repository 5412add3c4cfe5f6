#!/usr/bin/env bash
# `wiretoll sink` as a person meets it, with senders that know nothing of it:
#   sink_test.sh FOLDER_OF_PROGRAMS
# The senders are bash's own /dev/tcp and /dev/udp.
set -uo pipefail
wiretoll=$1/wiretoll
work=$(mktemp -d)
sink=
clean_up() {
  [[ -z $sink ]] || kill "$sink" 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT
cd "$work" || exit 1

fail() {
  echo "FAILED: $*" >&2
  sed 's/^/  out: /' out >&2
  sed 's/^/  err: /' err >&2
  exit 1
}
says() { grep -qF -- "$2" "$1" || fail "$1 does not say: $2"; }

# sink_on PORT ARGUMENT...: returns once it listens.
sink_on() {
  local port=$1 i
  shift
  rm -f err
  timeout 60 "$wiretoll" sink --address 127.0.0.1 --port "$port" "$@" >out 2>err </dev/null &
  sink=$!
  for ((i = 0; i < 100; i++)); do
    grep -q 'waiting for' err 2>/dev/null && return
    kill -0 "$sink" 2>/dev/null || break
    sleep 0.1
  done
  fail "no sink on port $port"
}
sink_ends_with() {
  local code=0
  wait "$sink" || code=$?
  sink=
  [[ $code == "$1" ]] || fail "exit $code, not $1"
}

sink_on 7211 --only tcp
head -c 1000000 /dev/zero >/dev/tcp/127.0.0.1/7211 || fail "no connection"
sink_ends_with 0
says out "TCP from 127.0.0.1:"
says out "received          1,000,000 bytes"
says out "ended             end of stream"
says out "data segments"

sink_on 7212 --only udp --idle 300ms
exec 3>/dev/udp/127.0.0.1/7212
for ((i = 0; i < 10; i++)); do head -c 100 /dev/zero >&3; done
exec 3>&-
sink_ends_with 0
says out "UDP from 127.0.0.1:"
says out "received          1,000 bytes"
says out "10 datagrams, 100 bytes each"
says out "lost              not known"

# A line of samples.jsonl, with the receiver only.
sink_on 7213 --json
head -c 1000 /dev/zero >/dev/tcp/127.0.0.1/7213 || fail "no connection"
sink_ends_with 0
[[ $(wc -l <out) == 1 ]] || fail "not one line"
says out '"bytes":1000'
says out '"sender":null'

# Cut at its bound: told, and exit 1.
sink_on 7214 --bytes 1000 --only tcp
head -c 1000000 /dev/zero 2>/dev/null >/dev/tcp/127.0.0.1/7214
sink_ends_with 1
says out "the most that is taken (--bytes)"

# Nobody comes; a port that is taken; a bound that is none.
timeout 60 "$wiretoll" sink --port 7215 --wait 200ms >out 2>err
[[ $? == 3 ]] || fail "nobody came, and not exit 3"
says err "nobody sent anything to port 7215"
sink_on 7216
timeout 60 "$wiretoll" sink --address 127.0.0.1 --port 7216 >out2 2>err2
[[ $? == 2 ]] || fail "a taken port, and not exit 2"
says err2 "choose another --port"
kill -TERM "$sink"
sink_ends_with 3
timeout 60 "$wiretoll" sink --port 7217 --bytes 0 >out 2>err
[[ $? == 2 ]] || fail "no bytes at all, and not exit 2"
says err "--bytes"
echo "all held"
