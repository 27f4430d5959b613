#!/bin/sh
# The hosted library does to its host nothing but what it is for: no output, exit, environment, locale or signal handler.
# hosted_symbols.sh BUILD
barred='^(secure_getenv|(get|set|put|unset|clear)env|environ|(set|new|use)locale|signal|sigaction|sigset|raise|kill'
barred="$barred|v?f?d?printf|(f?put|put)(s|c|char)|fwrite|write|pwrite(64)?|perror|syslog|abort"
barred="$barred|_?exit|_Exit|quick_exit|atexit|at_quick_exit|__cxa_(thread_)?atexit|fork|exec.*|system|fese.*|fedisable.*"
barred="$barred|_ZSt4c(out|err|log|in)|_ZNSt8ios_base4InitC1Ev|__(v?f?printf|fwrite)_chk)\$"
symbols=$(${NM:-nm} -P "$1/libminnow_hosted.a") || exit 1
echo "$symbols" | awk -v barred="$barred" '
  /\[.*\]:$/ { file = $1; next }
  $2 == "U" && $1 ~ barred { print file " needs " $1; bad = 1 }
  $2 == "T" { n++ }
  END {
    if (n == 0) { print "libminnow_hosted.a defines nothing"; bad = 1 }
    exit bad
  }'
