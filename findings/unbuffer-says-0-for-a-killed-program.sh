#!/usr/bin/env bash
# unbuffer of expect, which CI puts before a program so that its output comes line by line, ends with the code of the program, but with 0
# if the program was killed, as by the system when memory runs out. A job that died is green.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # apt changes its user
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for package in expect=5.45.4-2+b1 tcl-expect=5.45.4-2+b1 tcl8.6=8.6.13+dfsg-2 libtcl8.6=8.6.13+dfsg-2 \
  libtommath1=1.2.0-6+deb12u1; do
  apt-get download -qq "$package" 2>/dev/null
done
for file in *.deb; do dpkg -x "$file" .; done
architecture=$(uname -m)-linux-gnu
export LD_LIBRARY_PATH="$folder/usr/lib/$architecture" TCL_LIBRARY="$folder/usr/share/tcltk/tcl8.6" TCLLIBPATH="$folder/usr/lib/tcltk/$architecture"
code() {
  local code=0
  "$@" >/dev/null 2>&1 || code=$?
  echo "$code"
}
unbuffer() { usr/bin/tclsh8.6 usr/bin/unbuffer "$@"; }
echo "expect $(dpkg-deb -f expect_*.deb Version)"
for end in 'exit 3' 'kill -KILL $$' 'kill -TERM $$'; do
  seen+=("sh $(code sh -c "$end"), unbuffer $(code unbuffer sh -c "$end")")
  echo "$end: ${seen[-1]}"
done
[ "${seen[0]}/${seen[1]}/${seen[2]}" = 'sh 3, unbuffer 3/sh 137, unbuffer 0/sh 143, unbuffer 0' ]
