#!/bin/sh
# The core stays small: 160 KiB of text with every instruction set, no data, the pinned sizes.
# size.sh BUILD [--update|--table]: --update pins the sizes of now, --table only shows them. Text is what `size` calls
# so: code and constants. LIMIT names another limit than 160 KiB: 64 for the reference alone, `make SIMD=none`.
# The pins are of Debian 12's g++ for x86-64, with 4 % of room; the limits are g++'s, clang inlines more. PINS names other pins.
build=$1
pins=${PINS-$(dirname "$0")/size.txt}
objects=$(find "$build" -path '*/src/*/*.cpp.o' ! -path '*/src/hosted/*' | sort | while read -r object; do
  source=src/${object##*/src/}
  [ ! -f "${source%.o}" ] || echo "$object"  # not what is left of a source that is gone
done)
[ -n "$objects" ] || { echo "no objects of the core in $build"; exit 1; }

# A line an object and section: layer, file, section, bytes.
# shellcheck disable=SC2086
sections=$(${SIZE:-size} -A -d $objects | awk '
  / *:$/ { path = $1; n = split(path, part, "/"); layer = part[n - 1]; file = part[n]; next }
  $1 ~ /^\.(text|rodata|data|bss|eh_frame|ARM|tdata|tbss|init_array|ldata|lbss|lrodata)/ && $2 > 0 { print layer, file, $1, $2 }')
table=$(echo "$sections" | awk '
  { at = $1; if (!(at in seen)) { seen[at] = 1; order[++layers] = at }
    column = $3 ~ /^\.text/ ? "code" : $3 ~ /^\.data\.rel\.ro/ ? "pointers" : $3 ~ /^\.t?data|^\.ldata/ ? "data" : \
      $3 ~ /^\.t?bss|^\.lbss/ ? "bss" : "constants"
    bytes[at, column] += $4; bytes["all", column] += $4 }
  function row(at) { printf "%-10s %8d %10d %9d %6d %6d\n", at, bytes[at, "code"], bytes[at, "constants"],
    bytes[at, "pointers"], bytes[at, "data"], bytes[at, "bss"] }
  END { print "# layer        code  constants  pointers   data    bss"
    for (i = 1; i <= layers; ++i) row(order[i])
    row("all") }')

compiler=$(${CXX:-c++} --version | sed -n '1s/^\(.*\) (.*) \([0-9]*\)\..*/\1 \2/p')
case $compiler:$(${CXX:-c++} -dumpmachine) in
  *g++\ 12:x86_64-* | *c++\ 12:x86_64-*) ;;
  *) pins=/dev/null ;;
esac
case $(${CXX:-c++} --version) in *clang*) limit=0 ;; *) limit=$((${LIMIT:-160} * 1024)) ;; esac
case ${2-} in
  --table) echo "$table"; exit 0 ;;
  --update)
    { echo '# The core by layer, bytes, by `make size UPDATE=1`: g++ 12, x86-64.'
      echo "$table"; } > "$pins"
    exit 0 ;;
esac
{ grep -v '^#' "$pins"; echo now; echo "$table"; } | awk -v limit=$limit '
  /^#/ { next }
  $1 == "now" { now = 1; next }
  !now { pin[$1] = $2 + $3 + $4; next }
  {
    text = $2 + $3
    if (limit && $1 == "all" && text > limit) { printf "all: %d bytes of text, at most %d\n", text, limit; bad = 1 }
    if ($5 + $6 > 0) { printf "%s: %d bytes of data and %d of bss, expected none\n", $1, $5, $6; bad = 1 }
    if (!($1 in pin)) next
    sum = text + $4
    if (sum > pin[$1] * 1.04 || sum < pin[$1] * 0.96) {
      printf "%s: %d bytes, %d before; `make size UPDATE=1` keeps that\n", $1, sum, pin[$1]; bad = 1
    }
  }
  END { exit bad }'
