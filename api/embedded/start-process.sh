#!/bin/bash
# Starts a process of the service under its own user, with its own view of the machine's files, and keeps the process id.
#   start-process.sh OPERATION… -- COMMAND…
# Operations, in this order: `hide FOLDER` puts an empty folder over it; `show PATH` puts the real one back below a hidden
# folder. They need a mount namespace of their own (unshare --mount).
set -euo pipefail
umask 022

# Open the visible paths before hiding any parent folder.
declare -A opened
operations=()
while [ "$1" != -- ]; do
  operations+=("$1" "$2")
  if [ "$1" = show ]; then
    exec {descriptor}<"$2"
    opened[$2]=$descriptor
  fi
  shift 2
done
shift

for ((index = 0; index < ${#operations[@]}; index += 2)); do
  path=${operations[index + 1]}
  if [ "${operations[index]}" = hide ]; then
    /usr/bin/mount -n -t tmpfs -o mode=755,size=64k,nosuid,nodev mediajobs "$path"
    continue
  fi
  source=/proc/self/fd/${opened[$path]}
  if [ -d "$source" ]; then
    /usr/bin/mkdir -p "$path"
  else
    /usr/bin/mkdir -p "$(/usr/bin/dirname "$path")"
    : >>"$path"
  fi
  # Not canonicalized: the path that the descriptor refers to is hidden by now.
  /usr/bin/mount -n -c --rbind "$source" "$path"
done

for path in "${!opened[@]}"; do
  descriptor=${opened[$path]}
  exec {descriptor}<&-
done
# Its files are accessible to its user and group only.
umask 007
exec "$@"
