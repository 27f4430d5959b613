#!/bin/sh
# Neither library runs code before main() or after it, or gives every thread memory: no static initialisers, no thread_local.
# static_initialisers.sh BUILD
failed=0
for library in libminnow.a libminnow_hosted.a; do
  sections=$($(${CXX:-c++} -print-prog-name=objdump) -h "$1/$library") || exit 1
  echo "$sections" | awk '
    / file format / { file = $1; n++ }
    $2 ~ /^\.(init_array|preinit_array|ctors|fini_array|dtors|tdata|tbss|tls|CRT)/ {
      print file " has section " $2
      bad = 1
    }
    END { exit bad || n == 0 }' || failed=1
  symbols=$(${NM:-nm} -P "$1/$library") || exit 1  # where thread_local is a function of the compiler
  ! echo "$symbols" | grep '__emutls\|__tls_get_addr' || failed=1
done
exit $failed
