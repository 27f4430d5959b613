#!/bin/sh
# The core library runs no code before main(): no static initialisers.
# static_initialisers.sh BUILD
sections=$(readelf -SW "$1/libminnow.a") || exit 1
echo "$sections" | awk '
  /^File: / { file = $2 }
  / \.(init_array|preinit_array|ctors|fini_array|dtors)/ { print file ": has section " $0; bad = 1 }
  END { exit bad }'
