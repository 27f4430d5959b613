#!/bin/sh
# all.sh BUILD: every check of this folder over the sources and the products in BUILD (`make check`).
# Each script prints what breaks its rule, one line a breach, and fails. NM and CXX name the tools.
here=$(dirname "$0")
failed=0
for check in layering file_length weak_symbols core_symbols hosted_symbols static_initialisers aligned_vectors size headers; do
  if sh "$here/$check.sh" "$1"; then
    echo "ok    $check"
  else
    echo "FAIL  $check: $(sed -n '2s/^# //p' "$here/$check.sh")"
    failed=1
  fi
done
exit $failed
