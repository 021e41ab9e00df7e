#!/bin/sh
# one_object.sh OUT ARCHIVE CC... makes a static library of one object, in which only the public functions have
# names that could clash with a program's.
set -eu
out=$1 archive=$2
shift 2
"$@" -r -nostdlib -o "$out.o" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
objcopy --localize-hidden "$out.o"
rm -f "$out"
ar rcsD "$out" "$out.o"
rm "$out.o"
