#!/bin/sh
# An instruction-set file defines no weak symbols: the linker may take its copy for the portable path of every CPU.
# weak_symbols.sh BUILD, of make or of CMake
objects=$(find "$1" -path '*/src/kernels/kernels_*.o' ! -name 'kernels_ref.*' -o -path '*/tools/bench/loops_*.o')
case $objects in
  */src/kernels/*) ;;
  *) echo "no instruction-set objects of src/kernels in $1"; exit 1 ;;
esac
breaches=$(for object in $objects; do
  ${NM:-nm} -C "$object" | sed -n "s|^[0-9a-f]* *[WwVvu] |$object: |p"
done)
[ -z "$breaches" ] || { echo "$breaches"; exit 1; }
