#!/bin/sh
# forbidding.sh BUILD: a program that forbids allocation, files, threads, signals, locale, environment and all system
# calls generates the text that `minnow run` does; and it dies where any of these does happen. `make forbidding`.
build=$1
model=models/shakespeare-char.minnow
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
passed=0
told() { if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "forbidding: $2"; fi; }

"$build/minnow" run $model -p ROMEO: -n 60 --seed 7 --no-echo > "$work/expected"
"$build/tests/forbidding" $model > "$work/out" 2> "$work/err"
status=$?
told $status "ended with $status: $(cat "$work/err")"
cmp -s "$work/expected" "$work/out" && [ -s "$work/out" ]
told $? "another text than minnow run writes"
[ ! -s "$work/err" ]
told $? "$(cat "$work/err")"

for name in $("$build/tests/forbidding" --names); do
  { "$build/tests/forbidding" $model "$name" > "$work/out" 2> "$work/err"; } 2> /dev/null
  status=$?
  if [ "$name" = syscall ]; then
    [ $status -eq 137 ]  # seccomp kills
  else
    [ $status -eq 3 ] && [ "$(cat "$work/err")" = "forbidden: $name" ]
  fi
  told $? "$name goes unnoticed (status $status: $(cat "$work/err"))"
done
[ $passed -gt 15 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
