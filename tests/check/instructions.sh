#!/bin/sh
# No kernel of the AVX2 table, prompt or step takes more instructions than it did: 2 % of room, whatever the machine.
# instructions.sh BUILD [--update]: BUILD holds tests/count_kernels (`make programs`). --update writes the counts of now.
# They are of Debian 12's g++; with another compiler nothing is compared. PINS names another file of counts.
build=$1
pins=${PINS-$(dirname "$0")/instructions.txt}
compiler=$(${CXX:-c++} --version | sed -n '1s/^\(.*\) (.*) \([0-9]*\)\..*/\1 \2/p')
case $compiler in
  *g++\ 12 | *c++\ 12) ;;
  *) echo "instructions: the counts are of g++ 12, found '$compiler': nothing compared"; exit 0 ;;
esac
command -v valgrind > /dev/null || { echo 'instructions: needs valgrind'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
valgrind --tool=callgrind --vex-guest-max-insns=20 --callgrind-out-file="$work/out" -q "$build/tests/count_kernels" \
  models/shakespeare-char.minnow > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for file in $(ls "$work" | sed -n 's/^out\.\([0-9]*\)$/\1/p' | sort -n); do
  awk '/^desc: Trigger: Client Request: / { name = $NF } /^(totals|summary): / { n = $2 } END { print name, n }' \
    "$work/out.$file"
done > "$work/counts"
[ -s "$work/counts" ] || { echo 'instructions: nothing was counted'; cat "$work/log"; exit 1; }
if [ "${2-}" = --update ]; then
  { echo '# Instructions of one call, by tests/check/instructions.sh BUILD --update: g++ 12, AVX2.'
    cat "$work/counts"; } > "$pins"
  echo "$(wc -l < "$work/counts") counts written to $pins"
  exit 0
fi
awk '
  /^#/ { next }
  NR == FNR { pin[$1] = $2; next }
  {
    seen[$1] = 1
    if (!($1 in pin)) { print $1 ": " $2 " instructions, not in the list; --update adds it"; failed++; next }
    change = ($2 / pin[$1] - 1) * 100
    if (change > 2) { printf "%s: %d instructions, %d before: %+.1f %%\n", $1, $2, pin[$1], change; failed++; next }
    if (change < -2) { printf "%s: %d instructions, %d before: %+.1f %%; --update keeps that\n", $1, $2, pin[$1], change
      failed++; next }
    passed++
  }
  END {
    for (name in pin) if (!(name in seen)) { print name ": in the list, but not counted; --update drops it"; failed++ }
    print passed + 0 " passed, " failed + 0 " failed"
    exit failed > 0
  }' "$pins" "$work/counts"
