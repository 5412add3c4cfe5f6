#!/usr/bin/env bash
# The programs as a person meets them, one case a call:
#   program_test.sh FOLDER_OF_PROGRAMS FOLDER_OF_STUDIES CASE
# Exit 77: skipped, with the reason. Everything happens in a folder of its own.
set -uo pipefail
programs=$1 studies=$2 name=$3
wiretoll=$programs/wiretoll
work=$(mktemp -d)
export WIRETOLL_CASES=$studies
cd "$work" || exit 1
lab=
clean_up() {
  rm -rf "$work"
  [[ -z $lab ]] || "$wiretoll" lab down "$lab" >/dev/null 2>&1
}
trap clean_up EXIT

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
# The agent for Windows, and what runs it.
need_wine() {
  command -v wineserver >/dev/null || skip "needs Wine: apt-get install --no-install-recommends wine wine64"
  local built=$programs/../../../windows/harness/programs/wiretoll-agent.exe
  export WIRETOLL_WINDOWS_AGENT=${WIRETOLL_WINDOWS_AGENT:-$built}
  [[ -f $WIRETOLL_WINDOWS_AGENT ]] || skip "needs the agent for Windows: ./dev windows makes it"
}
# CI says by WIRETOLL_MUST_HAVE what it must not do without.
need_lwip() {
  [[ -x $programs/wiretoll-agent-lwip ]] && return
  [[ ,${WIRETOLL_MUST_HAVE:-}, != *,lwip,* ]] || fail "no wiretoll-agent-lwip in $programs"
  skip "needs lwIP: apt-get install liblwip-dev, and configure again"
}
need_guest() {
  local missing=''
  command -v qemu-system-x86_64 >/dev/null || missing+=" qemu-system-x86"
  command -v busybox >/dev/null || missing+=" busybox-static"
  command -v cpio >/dev/null || missing+=" cpio"
  [[ -z $missing ]] && return
  [[ ,${WIRETOLL_MUST_HAVE:-}, != *,guest,* ]] || fail "missing for guests:$missing"
  skip "needs QEMU: apt-get install --no-install-recommends$missing"
}
need_tcpdump() { command -v tcpdump >/dev/null || skip "needs tcpdump: apt-get install tcpdump"; }
captures_in() { find "$1/captures" -name '*.pcapng' | wc -l; }
# Segments with payload in a capture.
segments_in() { tcpdump -nr "$1" 2>/dev/null | grep -c 'length [1-9]'; }
need_root() { [[ $(id -u) == 0 ]] || skip "needs root, for namespaces: sudo ./dev test"; }

# run EXPECTED_CODE ARGUMENT...: output in the files out and err.
run() { run_within 100 "$@"; }
# Seconds, then as run.
run_within() {
  local seconds=$1 expected=$2 code=0
  shift 2
  timeout "$seconds" "$wiretoll" "$@" >out 2>err </dev/null || code=$?
  [[ $code == "$expected" ]] || fail "exit $code, not $expected: wiretoll $*"
}
says() { grep -qF -- "$2" "$1" || fail "$1 does not say: $2"; }
says_not() { ! grep -qF -- "$2" "$1" || fail "$1 says: $2"; }
lines() { wc -l <"$1"; }
congestion_of() {
  grep -o '"congestion":{[^}]*"effective":"[^"]*"' "$1/samples.jsonl" |
    sed 's/.*"effective"://' | sort -u
}
unique_trials() { grep -o '"trial":"[^"]*"' "$1" | sort -u | wc -l; }

# A message about what went wrong says who says it, once.
names_itself_once() {
  [[ $(head -n 1 "$1") == "wiretoll: "* ]] || fail "$1 does not begin so"
  ! grep -qF "wiretoll: wiretoll" "$1" || fail "$1 names itself twice"
}

# A hosts file with one good host, a, and b whose agent is started by "$@".
hosts_with() {
  local words='' word
  for word in "$@"; do words+="${words:+, }\"$word\""; done
  cat >hosts.toml <<HOSTS
[hosts.a]
agent = ["$programs/wiretoll-agent"]
address = "127.0.0.1"
[hosts.b]
agent = [$words]
address = "127.0.0.2"
HOSTS
}

# A study of $1 cases, each of $2 messages.
small_study() {
  local writes=1
  for ((i = 2; i <= $1; i++)); do writes+=", $i"; done
  cat >small.toml <<STUDY
title = "Small"
question = "Does it run?"
repeats = 3
[factors]
write = [$writes]
[stop]
messages = $2
STUDY
}

# A study of one factor, and [stop].
one_factor_study() {
  cat >one.toml <<STUDY
title = "One factor"
question = "Does it run?"
repeats = 1
[factors]
$1
[stop]
$2
STUDY
}

# A study of flows at once: topologies, streams, [stop], blocks.
flow_study() {
  cat >flows.toml <<STUDY
title = "Flows"
question = "How do they share?"
repeats = $4
[factors]
topology = [$1]
streams = [$2]
[stop]
$3
STUDY
}
# Samples of flow groups, by group: "6 flows/case/all-to-all/0".
groups_in() { grep -o '"group":"[^"]*"' "$1" | sort | uniq -c | sed 's/"group"://;s/"//g'; }
# Of each sample: its sender's bytes came, all of them.
bytes_agree() {
  local line bytes
  while read -r line; do
    mapfile -t bytes < <(grep -o '"bytes":[0-9]*' <<<"$line")
    [[ ${bytes[0]} == "${bytes[1]}" && ${bytes[0]} != '"bytes":0' ]] ||
      fail "bytes do not agree: $line"
  done <"$1"
}

# Datagrams of sizes $1, a pause of $2 behind each, [stop] $3.
udp_study() {
  cat >udp.toml <<STUDY
title = "Datagrams"
question = "Do they add up?"
[factors]
transport = ["udp"]
write = [$1]
gap = ["$2"]
[stop]
$3
STUDY
}
# Of each ok sample: sent, received, lost, duplicated (null: not told).
datagrams_in() {
  sed -nE 's/.*"outcome":"ok".*"datagrams":\{"sent":([0-9]+),"received":([0-9]+),"lost":([0-9]+),"not_sent":[0-9]+,"duplicated":([0-9]+|null),.*/\1 \2 \3 \4/p' "$1"
}
# sent = received - duplicated + lost, in $1 lines of the file $2.
datagrams_add_up() {
  local wrong
  [[ $(datagrams_in "$2" | wc -l) == "$1" ]] || fail "not $1 ok samples with datagrams"
  wrong=$(datagrams_in "$2" | awk '$1 != $2 - $4 + $3')
  [[ -z $wrong ]] || fail "does not add up: $wrong"
}

# $1 rounds of two small writes and an answer: the second write waits for the
# delayed ACK of the first.
waiting_study() {
  cat >waiting.toml <<STUDY
title = "Waiting"
question = "What is waited for?"
repeats = 1
[factors]
pattern = ["request-response"]
request = ["9+4"]
reply = [1]
nagle = ["on"]
[stop]
messages = $1
STUDY
}

# Until process $1 has put its first trial into here/, or has ended; two minutes
# at most, since a guest may have to be fetched and booted before.
await_first_sample() {
  local i
  for ((i = 0; i < 2400; i++)); do
    [[ -s here/samples.jsonl ]] && return
    kill -0 "$1" 2>/dev/null || return
    sleep 0.05
  done
}

our_namespaces() { ip netns list 2>/dev/null | grep -c "^wiretoll-$1-" || true; }

case $name in

verbs_that_are_not_there_are_unknown)
  for verb in measure frobnicate; do
    run 2 "$verb" a b
    says err "unknown verb \"$verb\""
    says err "run, report, compare, export, explain, theory, list, check, advise, observe, sink, lab"
    names_itself_once err
  done
  ;;

help_and_version_answer)
  run 0 --help
  for word in run report compare explain theory list check observe lab "Exit codes"; do says out "$word"; done
  run 0 --version
  says out "wiretoll 0."
  for verb in run report compare explain theory list check observe lab; do
    run 0 "$verb" --help
    [[ $(lines out) -ge 3 ]] || fail "$verb --help says little"
  done
  ;;

a_capture_is_observed_from_a_file_and_a_pipe)
  corpus=$studies/../tests/capture/corpus
  run 0 observe "$corpus/tcp-micro-little.pcap"
  says out "TCP 10.0.0.1:40000 -> 10.0.0.2:80"
  says out "opened, closed by both ends"
  sed 1d out >of_file
  "$wiretoll" observe - <"$corpus/tcp-micro-little.pcap" | sed 1d >of_pipe
  cmp of_file of_pipe || fail "a pipe shows something else than the file"
  run 0 observe "$corpus/two-connections-port-reuse.pcapng" --format csv --flow 40001
  [[ $(lines out) == 3 ]] || fail "not a header and two directions"
  ;;

what_is_no_capture_ends_observe_with_2)
  corpus=$studies/../tests/capture/corpus
  run 2 observe "$corpus/no-capture.txt"
  says err "no-capture.txt: is no capture"
  names_itself_once err
  run 2 observe /nowhere/at-all.pcap
  says err "cannot be opened: No such file or directory"
  run 2 observe "$corpus/vlan-qinq.pcap" --flow 9999
  says err "no flow has port 9999"
  run 2 observe "$corpus/vlan-qinq.pcap" --top 0
  says err "\"0\" cannot be taken"
  # The others are shown all the same, and as whole JSON.
  run 2 observe "$corpus/no-empty.pcap" "$corpus/vlan-qinq.pcap" --format json
  says err "no-empty.pcap: is empty"
  says out '"tcp_frames": 2'
  [[ $(head -c 1 out) == "[" && $(tail -n 1 out) == "]" ]] || fail "no JSON list"
  head -c 100 "$corpus/tcp-micro-little.pcap" >torn.pcap
  run 0 observe torn.pcap
  says out "Partial: the file is torn before its first frame"
  ;;

help_is_for_people_at_80_columns)
  for verb in "" run report compare explain theory list check observe lab "lab up" "lab down" \
    "lab status"; do
    # shellcheck disable=SC2086  # Words on purpose.
    run 0 $verb --help
    awk 'length > 80 { bad = 1 } END { exit bad }' out ||
      fail "\"$verb --help\" has lines of over 80 columns"
    # What an option stands for inside is nobody's business.
    for inner in "->" "{" "TEXT" "INT" "Excludes" "value in"; do
      says_not out "$inner"
    done
    [[ -z $verb ]] || says_not out "First steps"
    [[ -z $verb ]] || says out "wiretoll $verb"
    [[ $verb == "" || $(grep -c "^  .*wiretoll ${verb%% *}" out) -ge 2 ]] ||
      fail "\"$verb --help\" gives no two examples"
  done
  ;;

every_factor_of_the_docs_is_listed_with_its_values)
  run 0 list --factors
  awk 'length > 80 { bad = 1 } END { exit bad }' out || fail "lines of over 80 columns"
  says out "  warmup"
  says out "slow start"
  # The docs' table names them all, two of them in one row.
  # shellcheck disable=SC2016  # Backticks as they stand there.
  sed -n '/^## Factors/,/^`\[observe\]/p' "$studies/../docs/studies.md" |
    grep -oE '^\|( `[a-z_]+`,?)+' | grep -oE '[a-z_]+' | sort >documented
  grep -oE '^  [a-z_]+' out | tr -d ' ' | sort >listed
  diff documented listed || fail "docs and program do not tell of the same factors"
  run 0 list --factors --json
  says out '"meaning"'
  says_not out '"meaning":""'
  [[ $(grep -o '"name"' out | grep -c .) == $(lines listed) ]] || fail "not every factor in JSON"
  ;;

examples_of_the_help_are_understood)
  # All but those that need hosts, root or a run: a mistake in one would be
  # taken for the reader's.
  run 0 theory --payload 1,32,1448 --link 100mbit
  run 0 theory --ip 6 --timestamps off --format csv
  run 0 list --json
  ;;

one_of_a_kind_is_no_plural)
  mkdir my-studies
  small_study 1 1
  cp small.toml my-studies/quick.toml
  WIRETOLL_CASES=my-studies run 0 list
  says out "1 case, 3 blocks, 0 claims"
  ;;

an_unknown_choice_is_answered_with_those_there_are)
  mkdir here
  run 2 report here --format pdf
  says err 'unknown format "pdf"; there are html, md, csv, json'
  run 2 theory --format pdf
  says err 'unknown format "pdf"; there are text, csv, json'
  run 2 theory --ip 5
  says err 'unknown IP version "5"; there are 4, 6'
  run 2 theory --timestamps maybe
  says err 'unknown value "maybe"; there are on, off'
  # What follows a choice is not one.
  run 2 report --format html no-such-folder
  says err "no-such-folder/run.json"
  ;;

a_folder_for_output_has_a_name)
  for verb in "run" "report here"; do
    for folder in "" "-"; do
      # shellcheck disable=SC2086  # Words on purpose.
      run 2 $verb --out "$folder"
      says err "is no folder"
      names_itself_once err
    done
  done
  [[ $(find . -mindepth 1 | sort | xargs) == "./err ./out" ]] ||
    fail "something was written"
  ;;

usage_mistakes_exit_2_and_run_nothing)
  for mistake in "run --link fast" "run --delay 5" "run --loss 200%" \
    "run --repeats 0" "run --precision x" "run --ports 9-1" "run --nonsense" \
    "run --filter colour=red" "run --filter write=7" "run no-such-study" \
    "run --resume" "run --hosts h.toml --link 10mbit" "theory --payload x" \
    "theory --ip 5" "report" "report no-such-folder" "lab" "run --lab linux" \
    "run --mtu 1" "run --ports 7001-" "run --ports 0" "run --ports 70000" \
    "lab up --mtu 99999" "theory --mtu 1" "" "lab sideways" \
    "run --jitter 1" "run --duplicate 101%" "run --reorder x" \
    "run --jitter 5ms" "run --delay 1ms --jitter 2ms" "run --reorder 1%" \
    "run --lab linux,container" "run --lab container,container --delay 1ms" \
    "theory --window 0" "theory --rtt x" "theory --rtt 1ms --payload 1" \
    "run --far-link 10mbit" "run --no-icmp" "run --router --router-mtu 9000" \
    "run --router --lab linux,linux,linux" "run --router --router-queue 10" \
    "run --lab linux,beos" "run --pairs a:b" "run --hosts no-such.toml"; do
    # shellcheck disable=SC2086  # Words on purpose.
    run 2 $mistake
    [[ -s err ]] || fail "\"$mistake\" says nothing"
    names_itself_once err
    [[ ! -e runs ]] || fail "\"$mistake\" ran something"
  done
  ;;

a_bad_study_names_file_line_and_key)
  small_study 1 5
  sed -i 's/^write = .*/wriet = [1]/' small.toml
  run 2 run small.toml
  says err "small.toml:5"
  says err "wriet"
  [[ ! -e runs ]] || fail "ran something"
  ;;

every_study_is_listed)
  run 0 list
  for file in "$studies"/*.toml; do says out "$(basename "$file" .toml)"; done
  run 0 list --json
  says out '"question"'
  ;;

theory_prints_the_well_known_figures)
  # 1 byte, IPv4 and TCP without options: 20 + 20 + 1 = 41, padded to a frame
  # of 64, and 20 of preamble and gap: 84. 1448 with timestamps: 1538.
  run 0 theory --payload 1 --timestamps off --format csv
  says out ",84,"
  run 0 theory --payload 1448 --format csv
  says out ",1538,"
  run 0 theory --format json
  [[ $(head -c 1 out) == "{" ]] || fail "no JSON"
  run 0 theory --link 100mbit
  says out "94.1"
  ;;

a_run_writes_folder_and_report_and_leaves_nothing)
  need_root
  small_study 2 50
  run 0 run small.toml --out here
  # 2 cases x 2 directions x 3 blocks.
  [[ $(lines here/samples.jsonl) == 12 ]] || fail "not 12 samples"
  [[ $(unique_trials here/samples.jsonl) == 12 ]] || fail "not 12 trials"
  for file in run.json report/report.html report/report.md report/samples.csv \
    report/report.json; do [[ -s here/$file ]] || fail "no $file"; done
  says out "here/report/report.html"
  run 0 run --resume --out here --no-report
  says err "nothing was missing"
  [[ $(lines here/samples.jsonl) == 12 ]] || fail "something was run again"
  run 0 report here --out again
  cmp -s here/report/samples.csv again/samples.csv || fail "reports differ"
  ip netns list | grep -q "^wiretoll-" && fail "namespaces left"
  pgrep -f "$programs/wiretoll-agent" >/dev/null && fail "agents left"
  true
  ;;

interrupting_keeps_what_was_measured_and_resume_completes_it)
  need_root
  small_study 4 2000
  "$wiretoll" run small.toml --repeats 60 --out here >out 2>err </dev/null &
  pid=$!
  for ((i = 0; i < 100; i++)); do
    [[ -s here/samples.jsonl ]] && (($(lines here/samples.jsonl) >= 5)) && break
    sleep 0.05
  done
  kill -INT "$pid"
  wait "$pid"
  code=$?
  [[ $code == 1 ]] || fail "exit $code after an interrupt, not 1"
  says err "wiretoll run --resume --out here"
  before=$(lines here/samples.jsonl)
  ((before >= 5 && before < 480)) || fail "$before samples"
  [[ $(our_namespaces "$pid") == 0 ]] || fail "namespaces left"
  run 0 run --resume --out here --no-report
  # 4 cases x 2 directions x 60 blocks.
  [[ $(lines here/samples.jsonl) == 480 ]] || fail "not 480 samples"
  [[ $(unique_trials here/samples.jsonl) == 480 ]] || fail "not 480 trials"
  ;;

datagrams_add_up_in_every_line)
  need_root
  # 1473 is a byte more than a frame of 1500 holds; 1 holds no number.
  udp_study "1, 64, 1472, 1473, 65507" 100us 'messages = 200'
  run 0 run udp.toml --repeats 1 --out here
  datagrams_add_up 10 here/samples.jsonl
  for each in 1473:2 1472:1 65507:45; do
    grep -q "\"write\":${each%:*},.*\"fragments_each\":${each#*:}," here/samples.jsonl ||
      fail "not ${each#*:} fragments of ${each%:*}"
  done
  # 200 datagrams in a frame each: 200 x 1538 on the line, whatever came.
  grep -q '"write":1472,.*"l1_bytes":307600,' here/samples.jsonl || fail "not 307600 on the line"
  [[ -s here/report/report.html ]] || fail "no report"
  ;;

loss_that_is_asked_for_is_measured_and_named)
  need_root
  udp_study 1000 200us 'messages = 4000'
  run 0 run udp.toml --pairs linux-1:linux-2 --repeats 1 --seed 7 --loss 5% --out here --no-report
  datagrams_add_up 1 here/samples.jsonl
  # Binomial, 4000 x 5 %: 200 on average, deviation 13.8, 99 % within 35.5. What
  # a busy machine's receiver had no room for stands apart.
  lost=$(grep -o '"lost_on_path":[0-9]*' here/samples.jsonl | cut -d: -f2)
  ((lost >= 164 && lost <= 236)) || fail "$lost of 4000 lost on the path"
  ;;

all_datagrams_lost_is_a_finding_and_no_hang)
  need_root
  udp_study 1000 200us 'messages = 100'
  run 0 run udp.toml --pairs linux-1:linux-2 --repeats 1 --loss 100% --out here
  grep -q '"datagrams":{"sent":100,"received":0,"lost":100,' here/samples.jsonl ||
    fail "not 100 of 100 lost"
  # 0 of 100 came, which is a figure and no gap.
  says here/report/report.md 'UDP delivers least at 1,000 B: 0 % of what was sent'
  says_not here/report/report.html '>nan<'
  ;;

three_hosts_send_all_to_all_at_once)
  need_root
  flow_study '"all-to-all"' 1 'seconds = "500ms"' 3
  run 0 run flows.toml --lab linux,linux,linux --link 100mbit --out here
  [[ $(lines here/samples.jsonl) == 18 ]] || fail "not 6 flows in 3 blocks"
  [[ $(groups_in here/samples.jsonl | grep -c '^ *6 flows/case/all-to-all/[012]$') == 3 ]] ||
    fail "not 6 samples of each group: $(groups_in here/samples.jsonl)"
  bytes_agree here/samples.jsonl
  ! grep -q '"overlap":\(0\|null\|0\.0\)[,}]' here/samples.jsonl ||
    fail "flows did not overlap"
  says here/report/report.html "Flows at once"
  says here/report/report.md "Jain's index of fairness"
  says here/report/report.json '"flow_sets":['
  says here/report/samples.csv "flows/case/all-to-all/0"
  ;;

four_flows_of_one_pair_are_four_samples)
  need_root
  flow_study '"pair"' 4 'bytes = "1MB"' 1
  run 0 run flows.toml --pairs linux-1:linux-2 --out here
  [[ $(groups_in here/samples.jsonl) == *"4 flows/case/linux-1:linux-2/0" ]] ||
    fail "not 4 samples of one group: $(groups_in here/samples.jsonl)"
  [[ $(unique_trials here/samples.jsonl) == 4 ]] || fail "not 4 trials"
  bytes_agree here/samples.jsonl
  ;;

a_ring_goes_round_and_one_host_sends_to_many)
  need_root
  flow_study '"ring", "one-to-many"' 1 'bytes = "1MB"' 1
  run 0 run flows.toml --lab linux,linux,linux --out here --no-report
  [[ $(groups_in here/samples.jsonl | grep -c '^ *3 flows/topology-ring/ring/0$') == 1 ]] ||
    fail "no ring of three: $(groups_in here/samples.jsonl)"
  for pair in 1:linux-2 2:linux-3 3:linux-1; do
    says here/samples.jsonl "flows/topology-ring/linux-$pair/0"
  done
  [[ $(groups_in here/samples.jsonl | grep -c '^ *2 flows/topology-one-to-many/linux-[123]:\*/0$') == 3 ]] ||
    fail "not one to two, three times: $(groups_in here/samples.jsonl)"
  bytes_agree here/samples.jsonl
  # No step of the ring is among these pairs.
  run 2 run flows.toml --lab linux,linux,linux --pairs linux-2:linux-1
  says err 'leaves no flow of topology "ring"'
  ;;

a_killed_run_of_flows_loses_and_doubles_none)
  need_root
  flow_study '"all-to-all"' 1 'seconds = "100ms"' 20
  "$wiretoll" run flows.toml --lab linux,linux,linux --out here >out 2>err </dev/null &
  pid=$!
  for ((i = 0; i < 600; i++)); do
    [[ -s here/samples.jsonl ]] && (($(lines here/samples.jsonl) >= 12)) && break
    sleep 0.05
  done
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  (($(lines here/samples.jsonl) >= 12)) || fail "it did not begin"
  # As if the kill had torn the last group too.
  truncate -s -3000 here/samples.jsonl
  run 0 run --resume --out here --no-report
  # 6 flows in each of 20 blocks.
  [[ $(lines here/samples.jsonl) == 120 ]] || fail "not 120 samples"
  [[ $(unique_trials here/samples.jsonl) == 120 ]] || fail "not 120 trials"
  [[ $(groups_in here/samples.jsonl | grep -c '^ *6 ') == 20 ]] || fail "not 20 whole groups"
  ;;

a_killed_run_is_whole_resumes_and_leaves_nothing_after_the_next_start)
  need_root
  small_study 4 2000
  "$wiretoll" run small.toml --repeats 30 --out here >out 2>err </dev/null &
  pid=$!
  for ((i = 0; i < 100; i++)); do
    [[ -s here/samples.jsonl ]] && (($(lines here/samples.jsonl) >= 5)) && break
    sleep 0.05
  done
  agents=$(pgrep -P "$pid" -f wiretoll-agent)
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  [[ -n $agents ]] || fail "no agents were seen"
  run 0 run --resume --out here
  # 4 cases x 2 directions x 30 blocks.
  [[ $(lines here/samples.jsonl) == 240 ]] || fail "not 240 samples"
  [[ $(unique_trials here/samples.jsonl) == 240 ]] || fail "not 240 trials"
  [[ $(our_namespaces "$pid") == 0 ]] || fail "namespaces of the dead run left"
  for agent in $agents; do
    [[ ! -e /proc/$agent ]] || grep -q '^State:.Z' "/proc/$agent/status" ||
      fail "agent $agent of the dead run left"
  done
  ;;

a_stopped_agent_costs_its_trials_only)
  need_root
  small_study 2 300
  "$wiretoll" run small.toml --repeats 40 --deadline 1s --out here --no-report \
    >out 2>err </dev/null &
  pid=$!
  for ((i = 0; i < 100; i++)); do
    [[ -s here/samples.jsonl ]] && (($(lines here/samples.jsonl) >= 3)) && break
    sleep 0.05
  done
  kill -STOP "$(pgrep -P "$pid" -f wiretoll-agent | head -n 1)"
  wait "$pid"
  code=$?
  [[ $code == 1 ]] || fail "exit $code, not 1"
  # 2 cases x 2 directions x 40 blocks.
  [[ $(lines here/samples.jsonl) == 160 ]] || fail "not 160 samples"
  failed=$(grep -c '"outcome":"failed"' here/samples.jsonl)
  ((failed >= 1 && failed <= 2)) || fail "$failed failed"
  says here/samples.jsonl "the agent gave no answer"
  ;;

a_full_disk_is_said_and_what_was_written_stays_readable)
  need_root
  small_study 2 50
  # The kernel refuses to let files grow beyond 40 KiB, as a full disk would.
  (
    trap '' XFSZ
    ulimit -f 40
    timeout 60 "$wiretoll" run small.toml --repeats 50 --out here >out 2>err \
      </dev/null
  )
  code=$?
  [[ $code == 1 ]] || fail "exit $code, not 1"
  says err "samples.jsonl"
  says err "--resume"
  tail -c 1 here/samples.jsonl | od -c | grep -q '\\n' || fail "a torn line"
  before=$(lines here/samples.jsonl)
  ((before >= 1)) || fail "nothing kept"
  run 0 report here --format csv
  run 0 run --resume --out here --no-report
  [[ $(unique_trials here/samples.jsonl) == 200 ]] || fail "not 200 trials"
  [[ $(lines here/samples.jsonl) == 200 ]] || fail "not 200 samples"
  ;;

a_full_disk_at_the_report_is_said_with_the_way_on)
  need_root
  # Samples of some 15 KiB, a page of more: the kernel lets files grow to 40.
  small_study 1 5
  (
    trap '' XFSZ
    ulimit -f 40
    timeout 60 "$wiretoll" run small.toml --repeats 2 --out here >out 2>err \
      </dev/null
  )
  code=$?
  [[ $code == 1 ]] || fail "exit $code, not 1"
  says err "cannot be written"
  says err "the samples are safe"
  says err "wiretoll report here --out ELSEWHERE"
  says out "trials: 4 ok"
  [[ $(lines here/samples.jsonl) == 4 ]] || fail "not 4 samples"
  [[ ! -e here/report/report.html ]] || fail "half a page was left"
  (
    trap '' XFSZ
    ulimit -f 40
    timeout 60 "$wiretoll" report here >out 2>err </dev/null
  )
  code=$?
  [[ $code == 3 ]] || fail "report: exit $code, not 3"
  names_itself_once err
  says err "wiretoll report here --out ELSEWHERE"
  run 0 report here --out elsewhere
  ;;

a_broken_run_record_is_placed_and_not_recited)
  need_root
  small_study 1 5
  run 0 run small.toml --out here --no-report
  cp here/run.json whole.json
  head -c 200 whole.json >here/run.json
  for verb in "report here" "run --resume --out here"; do
    # shellcheck disable=SC2086  # Words on purpose.
    run 2 $verb
    names_itself_once err
    says err "here/run.json: breaks off after 200 bytes"
    says err "put back a whole one"
    says_not err "Does it run?"
    (($(wc -c <err) < 300)) || fail "says too much"
  done
  sed '3s/.*/  oops/' whole.json >here/run.json
  run 2 report here
  says err "here/run.json: is no JSON from line 3 on"
  ;;

a_file_of_the_run_folder_means_the_folder)
  need_root
  small_study 1 5
  run 0 run small.toml --out here --no-report
  run 0 report here/run.json --format md
  says out "here/report/report.md"
  (cd here && "$wiretoll" report samples.jsonl --format csv >../out 2>../err) ||
    fail "samples.jsonl in its own folder is not taken"
  run 2 report small.toml
  says err "small.toml: is a file; give the run folder"
  run 2 report ""
  says err "is no run folder"
  ;;

one_data_port_is_enough)
  need_root
  small_study 2 200
  run 0 run small.toml --ports 7001 --out here --no-report
  # 2 cases x 2 directions x 3 blocks.
  [[ $(grep -c '"outcome":"ok"' here/samples.jsonl) == 12 ]] || fail "not all ok"
  # Two hosts on one machine have the port between them.
  hosts_with "$programs/wiretoll-agent"
  run 0 run small.toml --hosts hosts.toml --ports 7001 --out there --no-report
  [[ $(grep -c '"outcome":"ok"' there/samples.jsonl) == 12 ]] ||
    fail "not all ok on loopback"
  ;;

what_is_no_agent_is_told_so)
  small_study 1 5
  for command in yes cat true; do
    hosts_with "$command"
    run 3 run small.toml --hosts hosts.toml --out here
    names_itself_once err
    says err "host b: "
    says err "its command must start wiretoll-agent"
    says err "$command --version"
    [[ ! -e here ]] || fail "\"$command\" made a run folder"
  done
  hosts_with yes
  run 3 run small.toml --hosts hosts.toml
  says err 'what answered is no wiretoll-agent: it said "y"'
  hosts_with cat
  run 3 run small.toml --hosts hosts.toml
  says err "no wiretoll-agent: it repeats what it is told"
  # What it says must not steer the terminal.
  hosts_with printf '\\033[2J\\007hello\\n'
  run 3 run small.toml --hosts hosts.toml
  says err 'it said "\x1b[2J\x07hello"'
  says_not err $'\x1b'
  ;;

who_is_waited_for_is_told_and_the_wait_can_be_ended)
  small_study 1 5
  hosts_with sleep 300
  "$wiretoll" run small.toml --hosts hosts.toml --out here >out 2>err \
    </dev/null &
  pid=$!
  # Given up after 20 s: the line must be there before.
  for ((i = 0; i < 300; i++)); do
    grep -q "waiting for" err 2>/dev/null && break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  says err "waiting for the agent of host b, "
  says err " s more at most"
  says_not err "gave no answer"
  kill -INT "$pid"
  wait "$pid"
  code=$?
  [[ $code == 3 ]] || fail "exit $code after an interrupt, not 3"
  says err "wiretoll: stopped before the first trial"
  says_not err "gave no answer"
  [[ ! -e here ]] || fail "a run folder was made"
  ;;

a_long_line_is_told_with_time_left)
  need_root
  # To connect over 800 ms each way and to close is a trial of over 3 s.
  small_study 1 1
  run 0 run small.toml --delay 800ms --repeats 2 --pairs linux-1:linux-2 \
    --out here --no-report
  [[ $(grep -c '"outcome":"ok"' here/samples.jsonl) == 2 ]] || fail "not all ok"
  [[ $(head -n 1 err) == "making the lab; a round trip of 1.60 s is timed"* ]] ||
    fail "does not say first what takes so long"
  # A line comes before the first trial has ended, with the two round trips of
  # both trials in it, and 5 ms around each: 2 x (2 x 1.6 s + 5 ms).
  first=$(grep -m 1 "trial 0/2" err) || fail "no progress in the first trial"
  [[ $first == *", 6.41 s left, "* ]] || fail "another time left: $first"
  ;;

without_gnuplot_the_report_is_written_and_says_so)
  need_root
  small_study 2 20
  run 0 run small.toml --out here --no-report
  mkdir empty
  code=0
  PATH=$work/empty "$wiretoll" report here >out 2>err || code=$?
  [[ $code == 0 ]] || fail "exit $code"
  says err "gnuplot"
  says here/report/report.html "gnuplot"
  ;;

odd_names_are_text_and_nothing_runs)
  need_root
  small_study 1 20
  # shellcheck disable=SC2016  # Meant to be taken literally.
  odd='`touch pwned` $(touch pwned) <script>alert(1)</script> "q" '"'s' жук"
  sed -i "s|^title = .*|title = '''$odd'''|" small.toml
  cat >hosts.toml <<HOSTS
[hosts.'a \`touch pwned\` <script> жук']
agent = ["$programs/wiretoll-agent"]
address = "127.0.0.1"
[hosts.'b \$(touch pwned)']
agent = ["$programs/wiretoll-agent"]
address = "127.0.0.2"
HOSTS
  run 0 run small.toml --hosts hosts.toml --out here
  [[ -z $(find . -name pwned) ]] || fail "something was run"
  says_not here/report/report.html "<script"
  says here/report/report.html "&lt;script&gt;"
  ;;

loopback_is_called_loopback)
  need_root
  small_study 1 20
  chmod 777 "$work"
  cp "$programs/wiretoll" "$programs/wiretoll-agent" .
  # Who has no right to namespaces: one for whom they are switched off, or,
  # where root itself may not make user namespaces (a chroot), any user.
  if unshare --user --map-root-user true 2>/dev/null; then
    as_who=(unshare --user --map-root-user bash -c '
      echo 0 >/proc/sys/user/max_user_namespaces
      echo 0 >/proc/sys/user/max_net_namespaces
      exec "$@"' bash)
  else
    as_who=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  fi
  timeout 60 "${as_who[@]}" ./wiretoll run small.toml --out here >out 2>err \
    </dev/null
  code=$?
  [[ $code == 0 ]] || fail "exit $code"
  says err "loopback"
  says err "not a network"
  says here/samples.jsonl "loopback"
  says here/report/report.html "not a network"
  ;;

without_root_a_user_namespace_serves)
  need_root
  command -v setpriv >/dev/null || skip "setpriv is missing: apt-get install util-linux"
  setpriv --reuid 65534 --regid 65534 --clear-groups \
    unshare --user --map-root-user --net true 2>/dev/null ||
    skip "no user may make user namespaces here: sysctl user.max_user_namespaces=1000, and not in a chroot"
  small_study 1 20
  chmod 777 "$work"
  cp "$programs/wiretoll" "$programs/wiretoll-agent" .
  timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups \
    ./wiretoll run small.toml --out here >out 2>err </dev/null
  code=$?
  [[ $code == 0 ]] || fail "exit $code"
  says here/samples.jsonl "emulated link"
  [[ $(stat -c %u here/samples.jsonl) == 65534 ]] || fail "not the user's file"
  ;;

a_lab_can_be_kept_used_and_taken_down)
  need_root
  small_study 1 20
  run 0 lab up --link 10mbit
  cp out hosts.toml
  run 0 lab status
  lab=$(awk '/kept/ { print $1; exit }' out)
  [[ -n $lab ]] || fail "no kept lab in the status"
  says out "10.0 Mbit/s"
  run 0 run small.toml --hosts hosts.toml --out here --no-report
  [[ $(lines here/samples.jsonl) == 6 ]] || fail "not 6 samples"
  # The same TCP as in a lab that `run` makes for itself.
  run 0 run small.toml --link 10mbit --out own --no-report
  [[ $(congestion_of here) == "$(congestion_of own)" ]] ||
    fail "a kept lab uses $(congestion_of here), run's own $(congestion_of own)"
  # An unset variable is no "all of them".
  run 2 lab down ''
  says err "an empty ID"
  run 0 lab down "$lab"
  says out "$lab taken down"
  run 0 lab status
  says_not out "$lab"
  # The hosts file is still there.
  run 3 run small.toml --hosts hosts.toml --out later --no-report
  says err "its lab no longer stands: \`wiretoll lab up"
  ;;

a_path_that_swallows_large_packets_is_named)
  need_root
  one_factor_study 'mss = ["unset", 1100]' 'bytes = 50000'
  # Four times in vain take 200 + 400 + 800 ms of the retransmission timer. The
  # sender says why; held up, it may be heard after the receiver.
  for _ in 1 2 3; do
    rm -rf here
    run 1 run one.toml --router --router-mtu 1200 --no-icmp --deadline 4s \
      --pairs linux-1:linux-2 --out here --no-report
    ! grep -q 'sender linux-1' here/samples.jsonl || break
  done
  says here/samples.jsonl 'a path MTU black hole'
  says here/samples.jsonl 'no segment of 1448 bytes came through'
  # With segments that fit it carries all.
  [[ $(grep -c '"outcome":"ok"' here/samples.jsonl) == 1 ]] ||
    fail "not one trial of two passed"
  ;;

a_time_series_is_a_file_of_each_trial)
  need_root
  one_factor_study 'gap = ["1ms"]' 'messages = 51'
  run 0 run one.toml --series 5ms --pairs linux-1:linux-2 --out here
  file=$(sed -n 's/.*"series":{"file":"\([^"]*\)".*/\1/p' here/samples.jsonl)
  [[ -f here/$file ]] || fail "no file $file"
  head -n 1 "here/$file" | grep -q '^end,at_ns,state,loss_state,cwnd_segments,' ||
    fail "no head of a series"
  # Of 50 ms at both ends: as it stood, as it ended, and one between.
  for end in sender receiver; do
    (($(grep -c "^$end,[0-9]*,established" "here/$file") >= 2)) ||
      fail "no series of the $end"
  done
  grep -q '"rtt_handshake_ns":[1-9]' here/samples.jsonl ||
    fail "the handshake's round trip is not there"
  # Flows at once have none, and say so.
  one_factor_study 'streams = [2]' 'bytes = 50000'
  run 0 run one.toml --series 5ms --pairs linux-1:linux-2 --out flows --no-report
  says flows/samples.jsonl 'only trials alone have'
  ;;

a_router_stands_between_two_networks)
  need_root
  # 2000 datagrams are 2.1 MB on the line, which the router passes in 1.7 s and
  # of which 125 kB may wait; their sender has its own line full in 0.2 s.
  udp_study 1000 0us 'messages = 2000'
  cat >>udp.toml <<'CLAIM'
[[claim]]
id = "r"
text = "A router loses some."
metric = "received_share"
a = { link.router = "some" }
at_most = 0.99
CLAIM
  run 0 run udp.toml --router --router-link 10mbit --pairs linux-1:linux-2 \
    --repeats 3 --out here
  says here/run.json '"router": "Linux, between'
  says here/run.json '"router queue, far": "125000 bytes at 10.0 Mbit/s"'
  says here/samples.jsonl '"host":"linux-2"'
  datagrams_add_up 3 here/samples.jsonl
  ! grep -q '"lost":0,' here/samples.jsonl || fail "a trial lost nothing"
  says here/report/report.md "; on emulated link: 100 Mbit/s Ethernet, a router"
  says_not here/report/report.md "not tested"
  run 0 lab up --router --router-mtu 1400 --no-icmp
  cp out hosts.toml
  says hosts.toml "router = 'Linux, between"
  says hosts.toml "mtu = 1400"
  run 0 lab status
  lab=$(awk '/kept/ { print $1; exit }' out)
  says out "and sends no ICMP"
  ip netns list | grep -q "^wiretoll-${lab%%-*}-router" || fail "no router"
  run 0 lab down "$lab"
  ! ip netns list | grep -q "^wiretoll-${lab%%-*}-" || fail "a namespace is left"
  lab=
  ;;

the_congestion_control_of_a_study_is_the_one_in_force)
  need_root
  # The lab's routes name cubic; reno is part of every Linux.
  small_study 1 20
  sed -i 's/^write = .*/&\ncongestion = ["reno"]/' small.toml
  run 0 run small.toml --repeats 1 --out here --no-report
  [[ $(lines here/samples.jsonl) == 2 ]] || fail "not 2 samples"
  [[ $(congestion_of here) == '"reno"' ]] || fail "in force: $(congestion_of here)"
  ;;

a_line_is_checked_before_a_study_runs_on_it)
  need_root
  small_study 1 5
  export WIRETOLL_DELAY_LINE=relay
  run 0 run small.toml --delay 2ms --loss 1% --duplicate 1% --repeats 1 \
    --out here
  says err "line checked: round trip "
  says err "4.00 ms asked"
  says err "1 % asked"
  # The relay's own count, when it ends.
  says err "lab-relay: from lab0: of "
  for setting in "rtt asked" "rtt measured" "rate asked" "rate measured" \
    "lost asked" "lost measured" "duplicated asked" "duplicated measured" \
    "check"; do
    says here/run.json "\"$setting\""
    says here/report/report.md "$setting"
  done
  says here/run.json '"delay line": "own relay"'
  run 0 lab up --delay 2ms
  says err "line checked: round trip "
  run 0 lab status
  lab=$(awk '/kept/ { print $1; exit }' out)
  run 0 lab down "$lab"
  lab=
  ;;

when_the_delay_line_dies_trials_fail_at_once_and_say_so)
  need_root
  # 200 rounds of 40 ms are 8 s, so the line dies under the first trial.
  cat >far.toml <<STUDY
title = "Far"
question = "Does it end?"
repeats = 3
[factors]
pattern = ["request-response"]
request = ["1"]
reply = ["1"]
[stop]
messages = 200
STUDY
  # A delay that no other lab has.
  WIRETOLL_DELAY_LINE=relay timeout 100 "$wiretoll" run far.toml --delay 20123us \
    --out here --no-report >out 2>err </dev/null &
  pid=$!
  relay=
  for ((i = 0; i < 600; i++)); do
    [[ -e here/samples.jsonl ]] &&
      relay=$(pgrep -f 'lab-relay .*--delay-ns 20123000') && break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  [[ -n $relay ]] || fail "no relay found"
  kill -9 "$relay"
  code=0
  wait "$pid" || code=$?
  # 124 would be a hang.
  [[ $code == 1 ]] || fail "exit $code"
  [[ $(lines here/samples.jsonl) == 6 ]] || fail "not 6 samples"
  [[ $(grep -c '"reason":"the delay line (our own relay' here/samples.jsonl) -ge 5 ]] ||
    fail "samples do not name the delay line"
  says err "the delay line (our own relay"
  ;;

containers_are_hosts_in_every_direction)
  need_root
  command -v podman >/dev/null || command -v docker >/dev/null ||
    skip "needs podman or docker: apt-get install --no-install-recommends podman runc netavark aardvark-dns"
  small_study 1 20
  code=0
  timeout 140 "$wiretoll" run small.toml --lab container,container,container \
    --repeats 1 --out here >out 2>err </dev/null || code=$?
  ! grep -q "no container could be run" err || skip "no engine runs a container here: $(head -n 1 err); run as root where podman or docker may"
  [[ $code == 0 ]] || fail "exit $code"
  # Three hosts, each to the two others.
  [[ $(grep -c '"outcome":"ok"' here/samples.jsonl) == 6 ]] || fail "not 6 ok"
  says here/run.json "not a network between machines"
  says here/run.json '"engine options"'
  says here/report/report.md "container bridge"
  ;;

a_lab_host_can_be_wine_and_is_never_called_windows)
  need_root
  need_wine
  small_study 1 20
  run_within 400 0 run small.toml --lab linux,wine --repeats 1 --out here
  [[ $(lines here/samples.jsonl) == 2 ]] || fail "not both directions"
  says here/samples.jsonl '"os":"wine"'
  says_not here/samples.jsonl '"os":"windows"'
  says_not here/samples.jsonl '"stack":"Windows'
  says here/report/report.md "Wine"
  ! pgrep -f 'lab-wine' >/dev/null || fail "Wine is still kept"
  ;;

lwip_is_a_host_in_both_directions_and_writes_without_nagle_are_segments)
  need_root
  need_lwip
  cat >writes.toml <<'STUDY'
title = "Writes"
question = "How many segments?"
[factors]
write = [1]
nagle = ["on", "off"]
quickack = ["unset", "each"]
[stop]
messages = 2000
STUDY
  run 0 run writes.toml --lab linux,lwip --repeats 3 --capture --out here
  says here/samples.jsonl '"stack":"lwIP 2.'
  says here/report/report.md "lwIP"
  # Linux has the option, lwIP has not and says so before anything is sent.
  [[ $(grep -c '"outcome":"ok"' here/samples.jsonl) == 18 ]] || fail "not 18 ok"
  [[ $(grep -c '"reason":"receiver lwip: this host has no option quickack' here/samples.jsonl) == 6 ]] ||
    fail "not 6 skipped for quickack"
  says_not here/samples.jsonl '"outcome":"failed"'
  sent_by_lwip() {
    grep "\"trial\":\"[^\"]*nagle-$1[^\"]*/lwip:linux/" here/samples.jsonl |
      grep -o '"observer":"capture","data_segments":[0-9]*' | cut -d: -f3
  }
  for count in $(sent_by_lwip off); do
    [[ $count == 2000 ]] || fail "$count segments of 2000 writes with NODELAY"
  done
  # A writer that has to wait for its CPU meets more ACKs, each of which lets a
  # segment go (so does an ACK that comes at once): the least is the stack's own.
  least=$(sent_by_lwip on-quickack-unset | sort -n | head -n 1)
  ((least < 20)) || fail "$least segments at least with Nagle and no pause"
  [[ $(sent_by_lwip off | wc -l) == 6 && $(sent_by_lwip on-quickack-unset | wc -l) == 3 ]] ||
    fail "not every trial from lwIP"
  ! pgrep -f "wiretoll-agent-lwip.*--tap" >/dev/null || fail "an agent is left"
  ;;

lwip_takes_datagrams_delay_and_a_router)
  need_root
  need_lwip
  cat >datagrams.toml <<'STUDY'
title = "Datagrams"
question = "Do they come?"
[factors]
transport = ["udp"]
write = [100, 1472]
gap = ["200us"]
[stop]
messages = 100
STUDY
  WIRETOLL_DELAY_LINE=relay run 0 run datagrams.toml --lab lwip,linux --delay 2ms \
    --router --repeats 1 --out here --no-report
  [[ $(grep -c '"outcome":"ok"' here/samples.jsonl) == 4 ]] || fail "not 4 ok"
  [[ $(grep -o '"received":[0-9]*' here/samples.jsonl | sort -u) == '"received":100' ]] ||
    fail "not all datagrams came"
  ;;

an_lwip_agent_killed_in_a_trial_costs_that_and_leaves_nothing)
  need_root
  need_lwip
  cat >long.toml <<'STUDY'
title = "Long"
question = "Is it killed?"
[factors]
write = [1000]
gap = ["1ms"]
[stop]
messages = 1500
STUDY
  before=$(ip netns list | wc -l)
  timeout 100 "$wiretoll" run long.toml --lab lwip,linux --repeats 2 --out here \
    --no-report >out 2>err </dev/null &
  pid=$!
  # The first trial is done, the second under way.
  await_first_sample "$pid"
  sleep 0.5
  pkill -9 -f 'wiretoll-agent-lwip --tap' || fail "no agent found"
  code=0
  wait "$pid" || code=$?
  [[ $code == 1 ]] || fail "exit $code, not 1"
  [[ $(grep -c '"outcome":"failed"' here/samples.jsonl) == 1 ]] || fail "not 1 failed"
  [[ $(grep -c '"outcome":"ok"' here/samples.jsonl) == 3 ]] || fail "not 3 ok"
  says here/samples.jsonl 'lwip: the agent ended'
  [[ $(ip netns list | wc -l) == "$before" ]] || fail "a namespace is left"
  ;;

a_guest_kernel_is_a_host_with_defaults_of_its_own)
  need_root
  need_guest
  small_study 1 200
  # A kernel may have to be fetched, once.
  run_within 240 0 run small.toml --lab linux,guest:6.1 --repeats 1 --out here
  [[ $(lines here/samples.jsonl) == 2 ]] || fail "not both directions"
  says here/samples.jsonl '"host":"guest-6.1","os":"linux","stack":"Linux 6.1.'
  says here/run.json '"QEMU'
  # Its kernel's own, whatever this machine's is.
  tr -d ' \n' <here/run.json | sed 's/.*"name":"guest-6.1"//' |
    grep -q '"name":"tcp_congestion_control","value":"cubic"' ||
    fail "the guest's congestion control is not told, or is not cubic"
  ! pgrep -f lab-guest >/dev/null || fail "a guest is still kept"
  ! ls /run/wiretoll/lab-*.d >/dev/null 2>&1 || fail "a guest's files are left"
  ;;

a_guest_killed_in_a_trial_costs_what_is_left_of_it_and_leaves_nothing)
  need_root
  need_guest
  cat >long.toml <<'STUDY'
title = "Long"
question = "Is it killed?"
[factors]
write = [1000]
gap = ["1ms"]
[stop]
messages = 3000
STUDY
  before=$(ip netns list | wc -l)
  timeout 200 "$wiretoll" run long.toml --lab guest:6.1,linux --repeats 2 --out here \
    --no-report >out 2>err </dev/null &
  pid=$!
  await_first_sample "$pid"
  [[ -s here/samples.jsonl ]] || fail "no trial was done"
  pkill -9 -f 'qemu-system-x86_64 .*/guest-6.1/port' || fail "no machine found"
  code=0
  wait "$pid" || code=$?
  # 124 would be a hang.
  [[ $code == 1 ]] || fail "exit $code, not 1"
  grep -q '"outcome":"ok"' here/samples.jsonl || fail "what was measured is lost"
  says here/samples.jsonl 'the guest is gone'
  [[ $(ip netns list | wc -l) == "$before" ]] || fail "a namespace is left"
  ! pgrep -f lab-guest >/dev/null || fail "a guest is still kept"
  ;;

a_guest_that_does_not_boot_is_told_with_its_console)
  need_root
  need_guest
  small_study 1 5
  run 2 run small.toml --lab linux,guest:six
  says err "guest:six: neither a series of kernels"
  # Of what could not be fetched nothing stays.
  XDG_CACHE_HOME=$work run 3 run small.toml --lab linux,guest:0.9
  says err "guest:0.9: no kernel linux-image-0.9.*"
  [[ ! -e $work/wiretoll/kernels/0.9 ]] || fail "a folder without a kernel is left"
  # No kernel at all: QEMU says so.
  cp /etc/hostname vmlinuz-none
  XDG_CACHE_HOME=$work run_within 120 3 run small.toml --lab linux,guest:./vmlinuz-none
  tail -n +2 err >said
  names_itself_once said
  says err "host guest-vmlinuz-none"
  says err "did not boot"
  says err "its console is kept: $work/wiretoll/guest-vmlinuz-none.console.log"
  [[ -e $work/wiretoll/guest-vmlinuz-none.console.log ]] || fail "no console kept"
  ;;

two_simulated_hosts_need_no_root_and_repeat_exactly)
  [[ -x $programs/../ns3/wiretoll-agent-ns3 ]] || {
    [[ ,${WIRETOLL_MUST_HAVE:-}, != *,ns3,* ]] || fail "no wiretoll-agent-ns3"
    skip "needs ns-3: apt-get install --no-install-recommends libns3-dev, and configure again"
  }
  small_study 2 500
  run 0 run small.toml --lab ns3,ns3 --link 1gbit --delay 2us --repeats 2 --seed 7 --out one
  [[ $(grep -c '"outcome":"ok"' one/samples.jsonl) == 8 ]] || fail "not 8 ok"
  says one/samples.jsonl '"os":"ns3","stack":"ns-3 3.'
  says one/report/report.md "simulated link: 1.00 Gbit/s CSMA"
  says one/report/report.md "a simulated stack, not a host's own"
  says_not one/report/report.md "emulated"
  # A clock that is no machine's: the same seed gives the same nanoseconds.
  run 0 run small.toml --lab ns3,ns3 --link 1gbit --delay 2us --repeats 2 --seed 7 --out two --no-report
  times() { grep -o '"elapsed_ns":[0-9]*' "$1/samples.jsonl"; }
  [[ $(times one) == "$(times two)" ]] || fail "the same run took another time"
  run 2 run small.toml --lab ns3,linux
  says err "both ends of a simulated pair are in one simulation"
  run 2 run small.toml --lab ns3,ns3 --link none
  says err "a simulated line has a rate"
  ! pgrep -f wiretoll-agent-ns3 >/dev/null || fail "an agent is left"
  ;;

gvisor_is_a_host_and_counts_nothing)
  need_root
  command -v runsc >/dev/null || skip "needs gVisor: apt-get install --no-install-recommends runsc"
  small_study 1 200
  code=0
  timeout 100 "$wiretoll" run small.toml --lab linux,gvisor --repeats 2 --out here \
    >out 2>err </dev/null || code=$?
  ! grep -q "gVisor does not start here" err || skip "runsc starts nothing here: $(tail -n 1 err)"
  [[ $code == 0 ]] || fail "exit $code"
  # Two blocks of both directions: an agent is started anew, and its sandbox
  # finds the address that the one before took along.
  [[ $(grep -c '"outcome":"ok"' here/samples.jsonl) == 4 ]] || fail "not 4 ok"
  says here/samples.jsonl '"os":"gvisor","stack":"gVisor'
  says here/report/report.md "gVisor: a stack in user space"
  # What gVisor does not count is null, and the Linux end sees for it.
  [[ $(grep -o '"observer":"[a-z-]*"' here/samples.jsonl | sort -u) == \
    $'"observer":"receiver-counters"\n"observer":"sender-counters"' ]] || fail "not both observers"
  ! pgrep -f 'runsc.*agent-' >/dev/null || fail "a sandbox is left"
  ! ls /run/wiretoll/lab-*.d >/dev/null 2>&1 || fail "a sandbox's files are left"
  ;;

a_lab_with_lwip_says_what_it_misses)
  need_root
  small_study 1 5
  cp "$programs/wiretoll" "$programs/wiretoll-agent" .
  wiretoll=./wiretoll
  run 3 run small.toml --lab linux,lwip
  names_itself_once err
  says err "wiretoll-agent-lwip"
  says err "apt-get install liblwip-dev"
  ;;

a_lab_with_wine_says_what_it_misses)
  need_root
  need_wine
  small_study 1 5
  WIRETOLL_WINDOWS_AGENT=/no/such.exe run 3 run small.toml --lab linux,wine
  names_itself_once err
  says err "/no/such.exe"
  says err "./dev windows"
  ;;

a_lab_that_stays_needs_root)
  need_root
  chmod 755 "$work"
  cp "$programs/wiretoll" "$programs/wiretoll-agent" .
  code=0
  setpriv --reuid 65534 --regid 65534 --clear-groups \
    ./wiretoll lab up >out 2>err </dev/null || code=$?
  [[ $code == 3 ]] || fail "exit $code, not 3"
  names_itself_once err
  says err "a lab that stays needs root"
  ;;

resume_takes_no_other_options)
  need_root
  small_study 1 5
  run 0 run small.toml --out here --no-report
  run 2 run quick --resume --out here
  says err "leave out: quick"
  [[ $(lines here/samples.jsonl) == 6 ]] || fail "something was run"
  ;;

output_that_nobody_gets_is_no_success)
  for verb in theory list --help; do
    code=0
    "$wiretoll" $verb >/dev/full 2>err || code=$?
    [[ $code == 3 ]] || fail "$verb: exit $code, not 3"
    says err "standard output cannot be written"
  done
  ;;

a_folder_has_one_writer)
  need_root
  small_study 4 3000
  "$wiretoll" run small.toml --repeats 60 --out here >out 2>err </dev/null &
  pid=$!
  for ((i = 0; i < 100; i++)); do
    [[ -s here/samples.jsonl ]] && break
    sleep 0.05
  done
  code=0
  timeout 60 "$wiretoll" run --resume --out here >out2 2>err2 </dev/null || code=$?
  kill -INT "$pid"
  wait "$pid"
  [[ $code == 2 ]] || fail "the second writer ended with $code, not 2"
  says err2 "another wiretoll is writing here"
  [[ $(unique_trials here/samples.jsonl) == $(lines here/samples.jsonl) ]] ||
    fail "trials stand twice"
  ;;

compare_sets_two_runs_side_by_side)
  need_root
  small_study 2 500
  run 0 run small.toml --out base --seed 1 --no-report
  run 0 run small.toml --out new --seed 2 --no-report
  run 0 compare base new
  for word in "BASE: base" "NEW: new" "write-1" "linux-1 → linux-2" \
    "Blocks are not paired across the runs" "emulated link" "seed"; do
    says out "$word"
  done
  run 0 compare base/run.json new/samples.jsonl --format json
  says out '"blocks_are_paired":false'
  run 0 compare base new --format md --out page
  says out "## What changed between the runs"
  for file in compare.html compare.md compare.json; do
    [[ -s page/$file ]] || fail "no $file"
    says err "written: page/$file"
  done
  # Two blocks are too few to judge by, and that is no pass.
  run 0 run small.toml --repeats 2 --out few --no-report
  run 3 compare base few --fail-on 10%
  says err "--fail-on could not judge"
  says err "--fail-on found no cell to judge"
  says out "could not be judged: no interval"
  says_not out "told apart"
  # A torn last line is tolerated, and said.
  printf '{"v":1,"tri' >>new/samples.jsonl
  run 0 compare base new
  says out "samples.jsonl is torn"
  ;;

compare_fails_only_on_what_is_slower_beyond_its_interval)
  need_root
  small_study 1 1000
  sed -i 's/^write = .*/write = [1000]/' small.toml  # One case: "case".
  run 0 run small.toml --link 100mbit --out fast --no-report
  run 0 run small.toml --link 10mbit --out slow --no-report
  run 1 compare fast slow --fail-on 10%
  says err "wiretoll: slower by more than 10.0 %: case, linux-1 → linux-2"
  says out "The link differs"
  # A tenth of the speed is not slower by 95 %, and the other way is faster.
  run 0 compare fast slow --fail-on 95
  run 0 compare slow fast --fail-on 0%
  says out "faster"
  # Without the option a difference is no failure.
  run 0 compare fast slow
  ;;

compare_refuses_what_it_cannot_compare)
  mkdir here
  for verb in "report here" "compare here here"; do
    # shellcheck disable=SC2086  # Words on purpose.
    run 2 $verb
    names_itself_once err
    mv err "${verb%% *}.said"
  done
  cmp -s report.said compare.said || fail "report and compare say it otherwise"
  run 2 compare here
  says err "NEW is required"
  for share in ten 100% -5% 1e1 '' 5%%; do
    run 2 compare here here --fail-on "$share"
    says err "cannot be taken"
  done
  run 2 compare here here --format html
  says err 'unknown format "html"; there are text, md, json'
  run 2 compare here here --out -
  says err '"-" is no folder'
  ;;

compare_names_both_studies_where_they_differ)
  need_root
  small_study 1 5
  cp small.toml other.toml
  run 0 run small.toml --out base --no-report
  run 0 run other.toml --out new --no-report
  run 2 compare base new
  says err "base is of small, new is of other"
  names_itself_once err
  ;;

a_run_that_only_skips_says_why_and_exits_3)
  need_root
  # One byte more than a datagram of IPv4 holds.
  udp_study 65508 20us 'messages = 5'
  run 3 run udp.toml --out here --no-report
  says err "skipped:"
  says here/samples.jsonl '"outcome":"skipped"'
  ;;

precision_ends_when_it_is_reached_or_says_it_was_not)
  need_root
  small_study 1 20
  run 0 run small.toml --precision 0.0001 --repeats 4 --out never --no-report
  says err "precision"
  [[ $(lines never/samples.jsonl) == 8 ]] || fail "not 4 blocks"
  cat >slow.toml <<'STUDY'
title = "Paced"
question = "Does an even stream end early?"
[factors]
write = [1000]
gap = ["5ms"]
[stop]
messages = 20
STUDY
  run 0 run slow.toml --precision 50 --repeats 40 --out soon --no-report
  (($(lines soon/samples.jsonl) < 80)) || fail "went on to the limit"
  ;;

check_of_good_hosts_says_all_is_well)
  hosts_with "$programs/wiretoll-agent"
  run 0 check --hosts hosts.toml --ports 7211-7219
  says out "2 hosts of hosts.toml, data ports 7211-7219"
  says out "all is well; to measure: wiretoll run --hosts hosts.toml"
  awk 'length > 80 { bad = 1 } END { exit bad }' out ||
    fail "lines of over 80 columns"
  # Both directions, and each connection came about.
  [[ $(grep -cE '^(a  *b|b  *a)  *yes ' out) == 2 ]] || fail "not 2 pairs"
  run 0 check --hosts hosts.toml --ports 7211-7219 --format json --quiet
  says out '"ok": true'
  [[ $(grep -c '"reaches": true' out) == 2 ]] || fail "not 2 pairs in JSON"
  [[ ! -s err ]] || fail "--quiet says something"
  ;;

check_needs_a_hosts_file_that_is_one)
  run 2 check
  names_itself_once err
  says err "--hosts"
  run 2 check --hosts no-such.toml
  says err "no-such.toml: cannot be read"
  echo '[hosts.a]' >half.toml
  run 2 check --hosts half.toml
  says err "half.toml:1: hosts.a.agent: missing"
  run 2 check --hosts half.toml --ports 0-5
  says err '"0-5" cannot be taken'
  ;;

check_without_any_agent_exits_3)
  hosts_with /no/such/agent
  sed -i "s|$programs/wiretoll-agent|/no/such/agent|" hosts.toml
  run 3 check --hosts hosts.toml
  says out "1. host a: "
  says out "2. host b: "
  says out "no agent answered"
  run 3 check --hosts hosts.toml --format json
  says out '"kind": "agent"'
  ;;

check_tells_an_address_that_is_not_the_hosts)
  hosts_with "$programs/wiretoll-agent"
  sed -i 's/127.0.0.2/192.0.2.77/' hosts.toml # RFC 5737: nobody's.
  run 1 check --hosts hosts.toml
  says out "this host has no address 192.0.2.77"
  says out "ip -br address"
  ;;

check_tells_what_is_wrong_with_reports_of_a_connection_that_came_about)
  hosts_with "$PWD/edited-agent"
  for edit in 's/"verified":true/"verified":false,"first_wrong_byte":7/' \
    's/"latency":{[^}]*}/"latency":null/'; do
    cat >edited-agent <<AGENT
#!/bin/sh
"$programs/wiretoll-agent" | sed -u '$edit'
AGENT
    chmod +x edited-agent
    run 1 check --hosts hosts.toml --format json
    says_not out '"reaches": false'
    grep -Eq '"what": *"[ab] to [ab]: [^"]' out || fail "no problem in words"
    ! grep -Eq '"what": *"[ab] to [ab]: "' out || fail "a problem without words"
  done
  ;;

check_tells_what_to_do_about_a_firewall)
  need_root
  run 0 lab up --link none
  cp out hosts.toml
  run 0 lab status
  lab=$(awk '/kept/ { print $1; exit }' out)
  # "  linux-1  ADDRESS  namespace NAME"
  read -r _ address _ < <(grep -F linux-1 out)
  netns=$(awk '$1 == "linux-2" { print $4 }' out)
  run 0 check --hosts hosts.toml --format json
  says out "sudo ip netns exec '$netns' tcpdump -i 'lab0'"
  # The other end's answers go nowhere, as behind a firewall that drops.
  ip netns exec "$netns" ip route add blackhole "$address" ||
    fail "no blackhole"
  run 1 check --hosts hosts.toml
  says out "is a firewall in the way?"
  says out "sudo ufw allow 7001:7099/tcp"
  says out "ip route get"
  [[ $(grep -cE '^linux-[12]  *linux-[12]  *no ' out) == 2 ]] ||
    fail "not both directions fail"
  # The hosts themselves are well.
  [[ $(grep -cE '^linux-[12]  *0\.' out) == 2 ]] || fail "not 2 hosts"
  run 0 lab down "$lab"
  lab=
  ;;

check_tells_that_full_segments_are_lost)
  need_root
  run 0 lab up --link none
  cp out hosts.toml
  run 0 lab status
  lab=$(awk '/kept/ { print $1; exit }' out)
  read -r _ address _ < <(grep -F linux-1 out)
  netns=$(awk '$1 == "linux-2" { print $4 }' out)
  dev=$(ip netns exec "$netns" ip -o route get "$address" |
    sed 's/.* dev \([^ ]*\).*/\1/')
  # It takes 1000 bytes a packet and says 1460 a segment: as behind a tunnel
  # whose router is silent.
  ip netns exec "$netns" sh -c "ip link set $dev mtu 1000 &&
    ip route add $address dev $dev advmss 1460" || fail "cannot narrow the line"
  run 1 check --hosts hosts.toml
  says out "linux-1 to linux-2: 1-byte messages pass, 64 KiB do not"
  says out "ping -M do -s 1472"
  says out "MTUs differ, 1500 and 1000 bytes"
  run 0 lab down "$lab"
  lab=
  ;;

check_tells_whom_it_waits_for_and_can_be_ended)
  # shellcheck disable=SC2016  # The inner shell's own id.
  hosts_with sh -c 'echo $$ >agent.pid; exec sleep 300'
  "$wiretoll" check --hosts hosts.toml >out 2>err </dev/null &
  pid=$!
  # Given up after 20 s: the line must be there before.
  for ((i = 0; i < 300; i++)); do
    grep -q "waiting for" err 2>/dev/null && break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  says err "waiting for the agent of host b, "
  kill -INT "$pid"
  code=0
  wait "$pid" || code=$?
  [[ $code == 1 ]] || fail "exit $code after an interrupt, not 1"
  says out "stopped before everything was checked"
  says_not out "gave no answer"
  [[ -s agent.pid ]] || fail "the agent was not started"
  # Dead, though whoever inherits it may not have looked yet.
  [[ $(ps -o stat= -p "$(cat agent.pid)") != [!Z]* ]] || fail "the agent is left"
  ;;

a_capture_of_each_trial_agrees_with_the_kernels)
  need_root
  need_tcpdump
  small_study 2 100
  run 0 run small.toml --capture --repeats 1 --out here
  # 2 cases in 2 directions: a capture and a list of calls of each.
  [[ $(captures_in here) == 4 ]] || fail "not 4 captures"
  [[ $(grep -c '"observer":"capture"' here/samples.jsonl) == 4 ]] ||
    fail "the captures are not what counts"
  [[ $(grep -c '"agreement":"equal"' here/samples.jsonl) == 4 ]] ||
    fail "captures and kernels do not agree"
  for calls in here/captures/*.calls.csv; do
    [[ $(grep -c '^sender,' "$calls") == 100 ]] || fail "$calls: not 100 writes"
    # The last read is the end of the stream.
    [[ $(tail -n 1 "$calls") == receiver,*,0 ]] || fail "$calls: no end"
  done
  # What tcpdump counts in the files.
  counted=$(for file in here/captures/*.pcapng; do segments_in "$file"; done)
  sampled=$(grep -o '"capture":{.*' here/samples.jsonl |
    grep -o '"data_segments":[0-9]*' | cut -d : -f 2)
  [[ $(sort <<<"$counted") == $(sort <<<"$sampled") ]] ||
    fail "tcpdump counts ${counted//$'\n'/ } and the samples say ${sampled//$'\n'/ }"
  ;;

a_study_may_ask_for_captures)
  need_root
  small_study 1 10
  sed -i 's/^repeats/capture = true\nrepeats/' small.toml
  run 0 run small.toml --snap 64 --repeats 1 --out here --no-report
  [[ $(captures_in here) == 2 ]] || fail "not 2 captures"
  # Taken up again it captures as before.
  sed -i 1d here/samples.jsonl
  rm -r here/captures
  run 0 run --resume --out here --no-report
  [[ $(captures_in here) == 1 ]] || fail "not 1 capture"
  ;;

without_the_right_to_capture_the_run_goes_on)
  need_root
  command -v setpriv >/dev/null || skip "setpriv is missing: apt-get install util-linux"
  small_study 1 10
  cannot=(setpriv --bounding-set -net_raw --inh-caps -net_raw
    "$programs/wiretoll-agent")
  # The sender cannot: the receiver does.
  hosts_with "${cannot[@]}"
  run 0 run small.toml --hosts hosts.toml --pairs b:a --capture --repeats 1 \
    --out other --no-report
  grep -o '"capture":{.*' other/samples.jsonl | grep -qF '"host":"a"' ||
    fail "the other end did not capture"
  # Neither can.
  sed -i "s|^agent = \[\"$programs.*|$(grep setpriv hosts.toml)|" hosts.toml
  run 0 run small.toml --hosts hosts.toml --pairs b:a --capture --repeats 1 \
    --out here
  says here/samples.jsonl "setcap cap_net_raw+ep"
  says here/samples.jsonl '"observer":"receiver-counters"'
  [[ ! -e here/captures ]] || fail "something was captured"
  ;;

a_full_disk_costs_a_capture_and_no_trial)
  need_root
  small_study 1 4000
  sed -i 's/^write.*/write = [1]\nnagle = ["off"]/' small.toml
  # 4,000 calls are over 200 KB of list; a sample is 5 KB.
  (
    trap '' XFSZ
    ulimit -f 60
    timeout 60 "$wiretoll" run small.toml --capture --repeats 1 --no-report \
      --out here >out 2>err </dev/null
  )
  code=$?
  [[ $code == 0 ]] || fail "exit $code, not 0"
  [[ $(grep -c '"outcome":"ok"' here/samples.jsonl) == 2 ]] || fail "not 2 ok"
  says here/samples.jsonl "is the disk full?"
  ;;

a_captured_trial_is_explained)
  need_root
  waiting_study 6
  run 0 run waiting.toml --capture --repeats 1 --pairs linux-1:linux-2 \
    --out here --no-report
  run 0 explain here
  says out "wiretoll explain here waiting/"
  run 0 explain here waiting/ --format text
  says out "What happened"
  says out "delayed ACK"
  run 0 explain here waiting/ --format json
  # Each round writes 9 bytes and 4, and both cross the wire.
  for sent in 9 4; do
    (($(grep -c "\"payload_bytes\":$sent,\"acknowledged\"" out) >= 6)) ||
      fail "not 6 segments of $sent bytes"
  done
  (($(grep -c '"mechanism":"delayed ACK"' out) >= 1)) || fail "no stall"
  run 0 explain here waiting/
  page=$(head -n 1 out)
  [[ $page == here/explain/*.html && -s $page ]] || fail "no page: $page"
  for kind in sequence ladder window sizes departures; do
    [[ -s ${page%.html}-$kind.svg ]] || fail "no ${page%.html}-$kind.svg"
  done
  says "$page" "delayed ACK"
  run 0 explain here/run.json waiting/ --format text --out there
  [[ -s $(cat out) && $(cat out) == there/*.txt ]] || fail "no text in there/"
  # Without gnuplot: the page, and the ladder, which is not gnuplot's.
  mkdir bin
  code=0
  PATH=$work/bin "$wiretoll" explain here waiting/ --out bare >out 2>err ||
    code=$?
  [[ $code == 0 ]] || fail "exit $code without gnuplot"
  says err "gnuplot was not found on PATH"
  [[ $(find bare -type f | sed 's/.*[.-]//' | sort | xargs) == "html svg" ]] ||
    fail "not page and ladder: $(ls bare)"
  ;;

what_cannot_be_explained_is_told_why)
  run 2 explain
  run 2 explain nowhere
  names_itself_once err
  says err "nowhere/run.json"
  run 2 explain nowhere some/trial
  says err "nowhere/run.json"
  small_study 2 20
  hosts_with "$programs/wiretoll-agent"
  run 0 run small.toml --hosts hosts.toml --pairs a:b --repeats 1 --out here \
    --no-report
  run 0 explain here
  says out "2 trials: no capture was asked for"
  says out "wiretoll run --capture"
  run 2 explain here no-such-trial
  names_itself_once err
  says err 'begins with "no-such-trial"'
  run 2 explain here small/
  says err "more than one trial begins with"
  run 2 explain here small/write-1
  says err "has no capture: none was asked for"
  run 2 explain here ""
  says err "an empty TRIAL"
  run 2 explain here --out there
  says err "--out needs a TRIAL"
  run 2 explain here small/write-1 --format pdf
  says err 'unknown format "pdf"; there are html, text, json'
  [[ ! -e there && ! -e here/explain ]] || fail "something was written"
  ;;

*)
  fail "no such case"
  ;;
esac
echo "ok: $name"
