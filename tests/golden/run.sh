#!/bin/sh
# run.sh BUILD SHARED: the shared checkpoints, converted, against what PyTorch computed from them in float64.
# With GPT2_RANKS=FILE, GPT-2's rank file of tiktoken, also its tokenizer. Closes with "N passed, N failed".
set -u
build=$1
shared=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() {  # check TITLE COMMAND..
  title=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $title"
  fi
}

# number KEY FILE: a number of a JSON file.
number() { sed -n "s/.*\"$1\": *\\(-\\{0,1\\}[0-9.eE+-]*\\).*/\\1/p" "$2" | head -n 1; }

within() {  # within WHAT A B LIMIT: |A - B| <= LIMIT
  awk -v what="$1" -v a="$2" -v b="$3" -v limit="$4" 'BEGIN {
    d = a - b; if (d < 0) d = -d
    ok = a != "" && b != "" && d <= limit
    printf "%s: %.6f, expected %.6f within %s: %s\n", what, a, b, limit, ok ? "ok" : "FAILED"
    exit !ok }'
}

at_most() {  # at_most WHAT A B LIMIT: A - B <= LIMIT
  awk -v what="$1" -v a="$2" -v b="$3" -v limit="$4" 'BEGIN {
    ok = a != "" && b != "" && a - b <= limit
    printf "%s: %.6f, at most %.6f + %s: %s\n", what, a, b, limit, ok ? "ok" : "FAILED"
    exit !ok }'
}

for name in shakespeare-char char-4x128-bias; do
  from=$shared/models/$name
  for type in f32 f16 q8; do
    model=$work/$name-$type.minnow
    check "convert $name to $type" "$build/minnow" convert "$from/ckpt.pt" --type $type -o "$model"
    check "verify $name $type" "$build/minnow" info "$model" --verify > /dev/null
    "$build/minnow" eval "$model" --ids "$shared/text/val.u16" --windows 200 --json > "$work/$type.json"
  done
  echo "== $name"
  check "$name: golden arrays" "$build/tests/golden" "$work/$name-f32.minnow" "$from/golden"
  expected=$(number mean_nats_per_token "$from/golden/manifest.json")
  check "$name: loss of f32" within "$name f32 loss" "$(number loss "$work/f32.json")" "$expected" 1e-4
  f32=$(number loss "$work/f32.json")
  for type in f16 q8; do
    check "$name: loss of $type" at_most "$name $type loss" "$(number loss "$work/$type.json")" "$f32" 0.002
  done
  # q4, on text that the model wrote itself, and on what it was trained with: the first nine tenths.
  head -c $(($(wc -c < "$shared/text/tinyshakespeare.txt") * 9 / 10)) "$shared/text/tinyshakespeare.txt" > "$work/train.txt"
  for calibration in self "$work/train.txt"; do
    model=$work/$name-q4.minnow
    check "convert $name to q4, $calibration" "$build/minnow" convert "$from/ckpt.pt" --type q4 \
      --calibrate "$calibration" -o "$model"
    "$build/minnow" eval "$model" --ids "$shared/text/val.u16" --windows 200 --json > "$work/q4.json"
    [ "$calibration" = self ] && limit=0.003 || limit=0.0015
    check "$name: loss of q4" at_most "$name q4 loss, $calibration" "$(number loss "$work/q4.json")" "$f32" $limit
  done
  # The same text as the program writes it: 16 characters of prompt, 600 greedy ones.
  head -c 16 "$from/golden/greedy.txt" > "$work/prompt.txt"
  "$build/minnow" run "$work/$name-f32.minnow" -f "$work/prompt.txt" -n 600 --temp 0 --when-full slide > "$work/greedy.txt"
  check "$name: greedy text" cmp "$work/greedy.txt" "$from/golden/greedy.txt"
  check "$name: the same bits" "$build/tests/logit_hash" "$work/$name-f32.minnow" "$work/$name-f16.minnow" \
    "$work/$name-q8.minnow" --ids "$from/golden/prompt.u16"
done
if [ -n "${GPT2_RANKS:-}" ]; then
  check "GPT-2's tokenizer" "$build/tests/run" -tc='gpt2:*'
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
