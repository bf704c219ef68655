#!/usr/bin/env bash
# gpush for a machine that has a GPU and Python, and neither a JDK nor a network: packs what ./gpush has built and a
# Java that has only what it needs, about 45 MB.
# usage: bench/gpu_machine.sh FILE.tar.xz [FILE OR FOLDER…]      packs; more files come along
# There:   tar xJf FILE.tar.xz && GPUSH_JAVA_HOME=$PWD/jre GPUSH_REBUILD=0 gpush/gpush up --gpus 1
set -euo pipefail
[[ $# -gt 0 ]] || { sed -n '4,5s/^# *//p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
lib=$root/app/target/gpush/lib
[[ -d $lib ]] || { echo "gpu_machine.sh: there is no $lib; try: ./gpush version" >&2; exit 3; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
modules=java.base,java.instrument,java.logging,java.management,java.naming,java.net.http,java.rmi
modules+=,java.security.jgss,java.sql,java.xml,jdk.crypto.ec,jdk.httpserver,jdk.management,jdk.net,jdk.security.auth,jdk.unsupported,jdk.zipfs
"$("$root/scripts/jdk25")/bin/jlink" --add-modules "$modules" --strip-debug --no-header-files --no-man-pages --vm server \
  --output "$folder/jre"
mkdir -p "$folder/gpush/app/target/gpush"
cp -r "$lib" "$folder/gpush/app/target/gpush/"
cp -r "$root/gpush" "$root/examples" "$folder/gpush/"
[[ $# -lt 2 ]] || cp -r "${@:2}" "$folder/"
tar cJf "$1" -C "$folder" .
ls -l "$1"
