#!/bin/sh
# run.sh [--halves FILES] PROGRAM [ARGUMENTS..]: runs the test program and closes with a line "N passed, N failed".
# A program that dies, or fails without a failed test (a sanitizer's report, say), counts as one failure.
# --halves: the tests of FILES (patterns with commas between) in one process and all others in another, at once.
if [ "$1" = --halves ]; then
  files=$2
  shift 2
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  sh "$0" "$@" "-sf=$files" > "$work/some" &
  sh "$0" "$@" "-sfe=$files" > "$work/others"
  wait
  cat "$work/some" "$work/others" | awk '
    /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; halves++; next }
    { print }
    END { printf "%d passed, %d failed\n", passed, failed + (halves != 2); exit failed != 0 || halves != 2 }'
  exit
fi
{ "$@" --no-colors=true 2>&1; echo "run.sh: exit status $?"; } | awk '
  /^run\.sh: exit status / { status = $NF; next }
  { print; fflush() }
  /^\[doctest\] test cases: / {
    for (i = 2; i <= NF; i++) {
      if ($i ~ /^passed/) passed += $(i - 1)
      if ($i ~ /^failed/) failed += $(i - 1)
    }
  }
  END {
    if (status != 0 && failed == 0) { failed = 1; print "the test program ended with status " status }
    if (passed + failed == 0) { failed = 1; print "no test ran" }
    printf "%d passed, %d failed\n", passed, failed
    exit failed != 0
  }'
