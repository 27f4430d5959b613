#!/bin/sh
# run.sh PROGRAM [ARGUMENTS..]: runs the test program and closes with a line "N passed, N failed".
# A program that dies, or fails without a failed test (a sanitizer's report, say), counts as one failure.
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
