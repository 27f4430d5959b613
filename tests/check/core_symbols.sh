#!/bin/sh
# The core library needs only these symbols from outside: no allocator, stdio, exit, environment, lock or libm.
# core_symbols.sh BUILD
allowed='^(bcmp|mem(cpy|move|set|cmp|chr)|__mem(cpy|move|set)_chk|strlen|getauxval|sysctlbyname|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail)$'
# What gcc calls for integer division and conversion where the CPU has no instruction: part of the compiler.
allowed="$allowed|^__aeabi_(ui|ul|l)div(mod)?\$|^__aeabi_u?l2d\$"
# And what it calls on Windows where a function's variables exceed a page.
allowed="$allowed|^___chkstk_ms\$"
symbols=$(${NM:-nm} -P "$1/libminnow.a") || exit 1
echo "$symbols" | awk -v allowed="$allowed" '
  /\[.*\]:$/ { next }                              # libminnow.a[member.o]:
  $2 == "U" || $2 == "w" || $2 == "v" && NF == 2 { wanted[$1] = 1; next }
  { defined[$1] = 1; n++ }
  END {
    for (name in wanted) {
      if (!(name in defined) && name !~ allowed) { print "libminnow.a needs " name; bad = 1 }
    }
    if (n == 0) { print "libminnow.a defines nothing"; bad = 1 }
    exit bad
  }'
