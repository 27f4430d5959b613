#!/bin/sh
# run.sh FOLDER SECONDS [TARGET..]: runs the fuzz targets, each for so long, two at a time, and closes with
# "N passed, N failed". An input that breaks something is left in FOLDER/found and named.
set -eu

# target  program  longest input  files or folders of seeds
targets='
zip          checkpoint   65536  tests/fixtures/variants tests/fixtures/relatives/lecture
legacy       checkpoint   65536  tests/fixtures/relatives/nanogpt
safetensors  checkpoint   65536  tests/fixtures/relatives/hugging_face
llm_c        checkpoint   65536  tests/fixtures/relatives/llmc
llama2_c     checkpoint   65536  tests/fixtures/relatives/llama2_mqa
inflate      inflate       8192  tests/fuzz/seeds/inflate
pickle       pickle        8192  tests/fuzz/seeds/pickle
json         json          8192  tests/fuzz/seeds/json
meta         vocabulary    8192  tests/fuzz/seeds/vocabulary
bpe          vocabulary   16384  tests/fixtures/vocabularies
model        model        65536  tests/fuzz/seeds/model
'

# Runs one target; its verdict goes to a file of its own.
run_target() {
  target=$1 program=$2 longest=$3
  shift 3
  mkdir -p "$work/$target.corpus"
  started=$(date +%s)
  status=0
  "$programs/fuzz/$program" -max_total_time="$seconds" -max_len="$longest" -timeout=25 -rss_limit_mb=512 \
    -malloc_limit_mb=100 -artifact_prefix="$found/$target-" -print_final_stats=1 "$work/$target.corpus" "$@" \
    >"$work/$target.log" 2>&1 || status=$?
  if [ "$status" -eq 0 ]; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    echo "fuzz $target: $runs runs in $(($(date +%s) - started)) s, nothing found"
    touch "$work/$target.passed"
  else
    tail -n 40 "$work/$target.log"
    echo "fuzz $target: failed; the input is in $found"
    touch "$work/$target.failed"
  fi
}

programs=$1
seconds=$2
shift 2
chosen=" $* "
found=$programs/found
mkdir -p "$found"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
running=
while read -r target rest; do
  [ -n "$target" ] || continue
  case "$chosen" in
    '  ' | *" $target "*) ;;
    *) continue ;;
  esac
  # shellcheck disable=SC2086
  run_target $target $rest </dev/null &
  if [ -n "$running" ]; then
    wait "$running"
  fi
  running=$!
done <<END
$targets
END
wait

count() { find "$work" -name "*.$1" | wc -l; }
[ $(($(count passed) + $(count failed))) -gt 0 ] || { echo "no such target: $*" && exit 1; }
echo "$(count passed) passed, $(count failed) failed"
[ "$(count failed)" -eq 0 ]
