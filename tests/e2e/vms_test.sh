#!/usr/bin/env bash
# docs/vms.md, its Linux side: every command in it is run, in the order it
# stands, against real ssh servers.
#   vms_test.sh FOLDER_OF_PROGRAMS FOLDER_OF_STUDIES PROJECT CASE
# Exit 77: skipped, with the reason. All of it happens in namespaces without a
# way out, whose end takes along whatever was started.
set -euo pipefail

programs=$1 studies=$2 project=$3 name=$4
namespaces=(unshare --net --mount --propagation private --pid --fork
  --kill-child --mount-proc)
exe=$project/build/windows/harness/programs/wiretoll-agent.exe

skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Runs this script anew by "$@", which ends with what it was called with.
enter_guard() {
  [[ $(id -u) == 0 ]] || skip "needs root, for namespaces: sudo ./dev test"
  command -v /usr/sbin/sshd ssh-copy-id >/dev/null ||
    skip "needs ssh: apt-get install openssh-server openssh-client"
  "${namespaces[@]}" true 2>/dev/null || skip "no namespaces to be had: run outside a container, or in one that is --privileged"
  WORK=$(mktemp -d)
  export WORK
  trap 'rm -rf -- "$WORK"' EXIT
  local code=0
  "${@:1:$#-4}" "$0" "${@: -4}" || code=$?
  exit "$code"
}

# Users, homes and ssh settings of this namespace's own.
make_users() {
  mkdir -p "$work"/{root,student,ssh,passwords}
  sed "s#^root:.*#root:x:0:0:root:$work/root:/bin/bash#" /etc/passwd \
    >"$work/passwords/passwd"
  echo "student:x:54321:54321::$work/student:/bin/bash" >>"$work/passwords/passwd"
  cp /etc/shadow "$work/passwords/shadow"
  # Sixteen characters, known to the person who answers below.
  local hash
  hash=$(perl -e 'print crypt("correct horse 16", "\$6\$wiretoll\$")')
  echo "student:$hash:19000:0:99999:7:::" >>"$work/passwords/shadow"
  cp /etc/group "$work/passwords/group"
  echo 'student:x:54321:' >>"$work/passwords/group"
  local file
  for file in passwd shadow group; do
    mount --bind "$work/passwords/$file" "/etc/$file"
  done
  chown 54321:54321 "$work/student"
  chmod 711 "$work"
}

# A person would answer yes, and give the password once.
make_ssh() {
  printf '#!/bin/sh\necho "correct horse 16"\n' >"$work/ssh/answer"
  chmod +x "$work/ssh/answer"

  mkdir -p /run/sshd
  ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/host_key"
  echo 'StrictHostKeyChecking accept-new' >"$work/ssh/ssh_config"
  mount --bind "$work/ssh/ssh_config" /etc/ssh/ssh_config
  start_sshd yes
}

start_sshd() {
  local passwords=$1
  if [[ -f $work/ssh/pid ]]; then
    kill "$(<"$work/ssh/pid")"
    while [[ -e $work/ssh/pid ]]; do sleep 0.05; done
  fi
  cat >"$work/ssh/sshd_config" <<CONFIG
HostKey $work/ssh/host_key
PidFile $work/ssh/pid
UsePAM no
StrictModes no
PasswordAuthentication $passwords
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
CONFIG
  /usr/sbin/sshd -f "$work/ssh/sshd_config" -E "$work/ssh/log"
  local i
  for ((i = 0; i < 100; ++i)); do
    [[ -f $work/ssh/pid ]] && return
    sleep 0.05
  done
  fail "sshd does not start: $(tail -n 3 "$work/ssh/log")"
}

# The blocks marked ```sh, a command a line.
commands_of_page() {
  awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside' \
    "$project/docs/vms.md"
}

# The second host is Linux here, or Wine: its agent is started as a Windows
# machine's ssh would.
hosts_of_page() {
  local agent=$1 user=$2
  awk '/^```toml$/ { inside = 1; next } /^```/ { inside = 0 } inside' \
    "$project/docs/vms.md" |
    AGENT=$agent perl -pe 's/"\.\\\\wiretoll-agent\.exe"/"\"$ENV{AGENT}\""/e' |
    sed "s/student@192.168.56.12/$user@192.168.56.12/"
}

run_command() {
  local command=$1
  # Wine takes a tenth of a millisecond a call: a whole study, but a small one.
  if [[ $name == a_windows_agent* ]]; then
    case $command in
      'wiretoll run --hosts'*) command="wiretoll run small-writes${command#wiretoll run}" ;;
      'wiretoll run '*) return ;;
    esac
  fi
  case $command in
    './dev windows') return ;; # What the tests under Wine are built by.
    'wiretoll run'*)
      [[ $command == *--repeats* ]] || command+=" --repeats 1"
      ;;
    ssh-copy-id*)
      SSH_ASKPASS=$work/ssh/answer SSH_ASKPASS_REQUIRE=force \
        bash -c "$command" </dev/null
      cp "$HOME/.ssh/wiretoll.pub" "$HOME/.ssh/authorized_keys"
      # From here on the key alone opens.
      start_sshd no
      return
      ;;
  esac
  timeout 300 bash -c "$command" </dev/null
}

prepare() {
  work=$WORK
  export HOME=$work/root WIRETOLL_CASES=$studies PATH=$programs:$PATH
  # An Ethernet's: segments of 64 KiB never fit the small buffers of the study.
  ip link set lo mtu 1500 up
  ip address add 192.168.56.11/32 dev lo
  ip address add 192.168.56.12/32 dev lo
  make_users
  make_ssh
  mkdir -p "$work/project/build/release/harness" "$HOME/.ssh"
  ln -s "$programs" "$work/project/build/release/harness/programs"
  cd "$work/project"
}

# run_page AGENT USER SYSTEM: of the second host.
run_page() {
  hosts_of_page "$1" "$2" >hosts.toml
  grep -qF -- "\"$1\"" hosts.toml || fail "the page's hosts file has changed"
  local count=0 command
  while IFS= read -r command; do
    echo "\$ $command"
    run_command "$command" >out 2>err ||
      fail "exit $?: $command: $(tail -n 20 out err)"
    count=$((count + 1))
  done < <(commands_of_page)
  ((count >= 8)) || fail "only $count commands found in the page"
  grep -q "$3" runs/vms/report/report.html || fail "no $3 in the report"
}

# Both agents by ssh, as somebody who may capture: what crosses is the file.
captures_cross_ssh() {
  local key="$HOME/.ssh/wiretoll" address samples whole
  ssh-keygen -q -t ed25519 -N '' -f "$key"
  cp "$key.pub" "$HOME/.ssh/authorized_keys"
  for address in 11 12; do
    printf '[hosts.h%s]\nagent = ["ssh", "-i", "%s", "-o", "BatchMode=yes", "root@192.168.56.%s", "%s"]\naddress = "192.168.56.%s"\n' \
      "$address" "$key" "$address" "$programs/wiretoll-agent" "$address"
  done >hosts.toml
  timeout 120 wiretoll run write-write-read --hosts hosts.toml --capture \
    --filter nagle=on --repeats 1 --out runs/captured >out 2>err ||
    fail "exit $?: $(tail -n 20 out err)"
  samples=$(wc -l <runs/captured/samples.jsonl)
  ((samples >= 2)) || fail "only $samples trials"
  whole=$(grep -c '"observer":"capture"' runs/captured/samples.jsonl || true)
  ((whole == samples)) || fail "$whole of $samples trials were seen by a capture"
  whole=$(grep -lc . runs/captured/captures/*.pcapng | wc -l)
  ((whole == samples)) || fail "$whole captures of $samples trials"
  wiretoll observe "$(find runs/captured/captures -name '*.pcapng' | head -n 1)" >out 2>err ||
    fail "a capture that came by ssh cannot be read: $(<err)"
}

case $name in
  every_linux_command_of_the_page_works)
    [[ -n ${WORK:-} ]] || enter_guard "${namespaces[@]}" "$@"
    prepare
    run_page './wiretoll-agent' student Linux
    ;;
  captures_come_over_ssh)
    [[ -n ${WORK:-} ]] || enter_guard "${namespaces[@]}" "$@"
    prepare
    captures_cross_ssh
    ;;
  a_windows_agent_over_ssh_runs_a_whole_study)
    [[ -f $exe ]] || skip "no Windows agent: ./dev windows makes it"
    command -v wine >/dev/null || skip "no wine: apt-get install wine wine64"
    [[ -n ${WORK:-} ]] ||
      enter_guard "$project/tests/wine/run-in-guard" "$@"
    prepare
    # A path with a space and letters beyond ASCII, as Windows users have.
    mkdir "$work/Größe 1"
    cp "$exe" "$work/Größe 1/wiretoll-agent.exe"
    run_page "env LC_ALL=C.UTF-8 WINEPREFIX='$WINEPREFIX' WINEDEBUG=-all wine '$work/Größe 1/wiretoll-agent.exe'" \
      root 'Wine'
    ;;
  *) fail "no such case: $name" ;;
esac
