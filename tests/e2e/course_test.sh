#!/usr/bin/env bash
# docs/course: every command in its pages is run, page by page, as a reader
# would: in the project's folder, one after another in one shell.
#   course_test.sh FOLDER_OF_PROGRAMS FOLDER_OF_STUDIES PROJECT CASE
# A block ```sh runs anywhere; ```sh root makes a lab and needs root: here with
# one block in place of five. Exit 77: skipped, with the reason.
set -euo pipefail

programs=$1 studies=$2 project=$3 name=$4
course=$project/docs/course

skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# The blocks that open with ```$1, of the page $2.
blocks_of() {
  awk -v fence="\`\`\`$1" '
    $0 == fence { inside = 1; next }
    /^```/ { inside = 0 }
    inside' "$2"
}

# What stands in for the reader's shell.
prelude() {
  cat <<'SHELL'
set -euo pipefail
# The programs are built: by what this test is of.
dev() { [[ $1 == build ]] || { echo "./dev $1 is not run here"; exit 1; }; }
# One block in place of five, in one direction, no report: that those commands
# work is the question here, and what a report is has its own tests.
wiretoll() {
  local more=()
  if [[ $1 == run ]]; then
    more=(--quiet --no-report)
    [[ " $* " == *" --repeats "* ]] || more+=(--repeats 1)
    [[ " $* " == *" --pairs "* ]] || more+=(--pairs linux-1:linux-2)
  fi
  command wiretoll "$@" "${more[@]}"
}
SHELL
}

# A project as a reader has it, without what the pages have no business with.
make_project() {
  work=$(mktemp -d)
  trap 'rm -rf -- "$work"' EXIT
  mkdir -p "$work/build/release/harness" "$work/docs"
  ln -s "$programs" "$work/build/release/harness/programs"
  ln -s "$course" "$work/docs/course"
  ln -s "$studies" "$work/cases"
  cd "$work"
}

# run_blocks FENCE SECONDS PAGE: fails where a command does. The shell reads
# the commands from a file, so that none of them reads them as its input.
run_blocks() {
  local fence=$1 seconds=$2 page=$3
  { prelude; blocks_of "$fence" "$page" | sed 's|^\./dev |dev |'; } >script
  local code=0
  WIRETOLL_CASES=$studies PATH=$programs:$PATH \
    timeout "$seconds" bash -x script >out 2>err </dev/null || code=$?
  [[ $code == 0 ]] ||
    fail "exit $code in ${page#"$project/"}: $(tail -n 12 err)"
}

pages() { find "$course" -name '*.md' | sort; }

# The claims of a report.json, a line each: ID ANSWER.
answers_in() {
  awk '/^"claims":\[/ { inside = 1; next } /^"buffers":/ { inside = 0 } inside' \
    "$1" | sed -nE 's/.*"id":"([^"]*)".*"answer":"([^"]*)".*/\1 \2/p'
}

case $name in
  # Everything that a class without root does.
  every_command_without_root_works)
    make_project
    count=0
    while IFS= read -r page; do
      run_blocks sh 60 "$page"
      count=$((count + $(blocks_of sh "$page" | grep -c . || true)))
    done < <(pages)
    ((count >= 12)) || fail "only $count commands found in the pages"
    ;;
  # What readers measure on machines of their own.
  every_command_with_root_works)
    [[ $(id -u) == 0 ]] || skip "needs root, for namespaces: sudo ./dev test"
    make_project
    count=0
    while IFS= read -r page; do
      [[ -n $(blocks_of 'sh root' "$page") ]] || continue
      run_blocks 'sh root' 100 "$page"
      count=$((count + 1))
    done < <(pages)
    ((count >= 6)) || fail "only $count pages with commands for root"
    ;;
  # A fence that nobody knows would leave its commands untested.
  every_block_of_commands_is_marked_as_known)
    if grep -rnE '^```' "$course" --include='*.md' |
      grep -vE ':```(|sh|sh root|text)$'; then
      fail "a block is opened in a way that this test does not know"
    fi
    ;;
  # A teacher's page names each claim of its run and the answer that the
  # recorded samples give.
  recorded_runs_answer_as_the_teachers_pages_say)
    make_project
    for run in "$course"/runs/*/; do
      run=$(basename "$run")
      "$programs/wiretoll" report "docs/course/runs/$run" --format json \
        --out "$run" >/dev/null 2>err || fail "$run: $(<err)"
      answers_in "$run/report.json" | sort >answers
      [[ -s answers ]] || fail "$run: no claims in its report"
      sed -nE "s/^\| $run \| ([a-z0-9-]+) \| ([a-z ]+) \|.*/\1 \2/p" \
        "$course"/teacher/*.md | sort >told
      diff told answers >differ ||
        fail "$run: < what the teacher's page says, > the report: $(<differ)"
    done
    ;;
  # They come with every checkout.
  recorded_runs_are_small_and_whole)
    kilobytes=$(du -sck --apparent-size "$course"/{runs,trials} |
      awk 'END { print $1 }')
    ((kilobytes < 3072)) || fail "runs and trials hold $kilobytes KiB"
    for run in "$course"/{runs,trials}/*/; do
      [[ -f $run/run.json && -f $run/samples.jsonl ]] || fail "$run is no run"
      [[ ! -e $run/report && ! -e $run/explain ]] ||
        fail "$run holds a report or a page, which are made anew"
      ! grep -L '"outcome":"ok"' "$run/samples.jsonl" | grep -q . ||
        fail "$run holds no trial that is ok"
    done
    ;;
  *) fail "no such case: $name" ;;
esac
