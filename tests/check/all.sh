#!/bin/sh
# all.sh BUILD [CHECK..]: these checks, or all of this folder, over the sources and the products in BUILD (`make check`).
# Each script prints what breaks its rule, one line a breach, and fails. NM and CXX name the tools.
here=$(dirname "$0")
failed=0
build=$1
shift
[ $# -ne 0 ] || set -- layering file_length weak_symbols core_symbols hosted_symbols static_initialisers aligned_vectors size headers
for check in "$@"; do
  if sh "$here/$check.sh" "$build"; then
    echo "ok    $check"
  else
    echo "FAIL  $check: $(sed -n '2s/^# //p' "$here/$check.sh")"
    failed=1
  fi
done
exit $failed
