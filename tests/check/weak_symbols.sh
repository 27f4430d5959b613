#!/bin/sh
# An instruction-set file defines no weak symbols: the linker may take its copy for the portable path of every CPU.
# weak_symbols.sh BUILD
objects=$(find "$1/obj/src/kernels" -name 'kernels_*.o' ! -name 'kernels_ref.*')
[ ! -d "$1/obj/tools/bench" ] || objects="$objects $(find "$1/obj/tools/bench" -name 'loops_*.o')"
[ -n "$objects" ] || { echo "no instruction-set objects in $1/obj/src/kernels"; exit 1; }
breaches=$(for object in $objects; do
  ${NM:-nm} -C "$object" | sed -n "s|^[0-9a-f]* *[WwVvu] |$object: |p"
done)
[ -z "$breaches" ] || { echo "$breaches"; exit 1; }
