#!/bin/sh
# Includes point only downwards in the table of layers below.
# Includes of the project's files are quoted, and written from src/ ("base/bits.hpp"), for the tools from the top
# ("tools/convert/zip.hpp").

# Folder, then the folders that it may include from.
layers='
src/include   minnow
src/base      minnow base
src/kernels   minnow base kernels
src/model     minnow base kernels model
src/session   minnow base kernels model session
src/text      minnow base kernels model text
src/api       minnow base kernels model session text api
src/hosted    minnow base hosted
tools         minnow base kernels model session text api hosted tools
'
# Only these may know that there is an operating system.
may_be_hosted='src/hosted tools'

breaches=$(
  find src tools -name '*.[ch]pp' -o -name '*.h' | sort | while read -r file; do
    case $file in
      src/*) folder=$(echo "$file" | cut -d/ -f1,2) ;;
      *) folder=${file%%/*} ;;
    esac
    permitted=$(echo "$layers" | awk -v folder="$folder" '$1 == folder { $1 = ""; print $0 " " }')
    [ -n "$permitted" ] || echo "$file: $folder is not in the table of layers"
    sed -n 's/^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*<\(.*\)>.*/\1/p' "$file" | while read -r header; do
      for place in src src/include .; do
        [ ! -f "$place/$header" ] || echo "$file: includes <$header>, which is not quoted"
      done
    done
    sed -n 's/^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*"\(.*\)".*/\1/p' "$file" | while read -r header; do
      case $permitted in
        *" ${header%%/*} "*) ;;
        *) echo "$file: includes \"$header\"" ;;
      esac
      if [ "$header" = minnow/hosted.hpp ] || [ "$header" = minnow/hosted.h ]; then
        case " $may_be_hosted src/include " in
          *" $folder "*) ;;
          *) echo "$file: includes \"$header\"" ;;
        esac
      fi
      case $header in
        tools/*) [ -f "$header" ] ;;
        *) [ -f "src/$header" ] || [ -f "src/include/$header" ] ;;
      esac || echo "$file: \"$header\" is not written from src/ or, for tools/, from the top"
    done
  done
)
[ -z "$breaches" ] || { echo "$breaches"; exit 1; }
