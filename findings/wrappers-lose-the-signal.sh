#!/usr/bin/env bash
# A program that is killed, as by the system when memory runs out, ends with 137 in a shell. What runs it for a schedule or a pipe
# often says otherwise: a script of Yarn 4.18 ends with 129, which is SIGHUP, whatever the signal was; chronic (moreutils) with 1;
# the queue tsp (task-spooler) with 255; xargs with 125. npm and mispipe (moreutils) say 137.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @yarnpkg/cli-dist@4.18.1 >/dev/null 2>&1
for package in moreutils=0.67-1 task-spooler=1.0.1+dfsg1-1 libipc-run-perl=20220807.0-1 libio-pty-perl=1:1.17-1; do
  apt-get download -qq "$package" 2>/dev/null
done
for file in *.deb; do dpkg -x "$file" debian; done
perl=$(perl -e 'print join ".", (split /\./, sprintf "%vd", $^V)[0, 1]')
PERL5LIB="$folder/debian/usr/share/perl5:$folder/debian/usr/lib/$(uname -m)-linux-gnu/perl5/$perl"
export PERL5LIB PATH="$folder/debian/usr/bin:$PATH" TS_SOCKET="$folder/socket" TMPDIR="$folder" YARN_ENABLE_TELEMETRY=0 HOME="$folder"
printf '#!/bin/sh\nkill -%s $$\n' '"$1"' >die && chmod +x die
mkdir project && cd project
echo '{ "name": "project", "private": true, "scripts": { "die": "../die" } }' >package.json && touch yarn.lock
yarn() { node ../node_modules/@yarnpkg/cli-dist/bin/yarn.js "$@"; }
yarn install >/dev/null
# code <command>: its exit code
code() {
  local code=0
  "$@" >/dev/null 2>&1 || code=$?
  echo "$code"
}
queue() { tsp ../die "$1" && tsp -w; }
for signal in KILL TERM; do
  seen+=("$(code ../die $signal) $(code yarn run die $signal) $(code npm run die $signal) $(code chronic ../die $signal) $(code queue $signal) $(code mispipe "../die $signal" true) $(code xargs ../die <<<$signal)")
done
tsp -K
echo "Yarn $(yarn --version), npm $(npm --version), moreutils 0.67, task-spooler 1.0.1, $(xargs --version | sed -n 1p)"
echo "shell, yarn run, npm run, chronic, tsp -w, mispipe, xargs"
printf 'SIGKILL: %s\nSIGTERM: %s\n' "${seen[@]}"
[ "${seen[0]}/${seen[1]}" = '137 129 137 1 255 137 125/143 129 143 1 255 143 125' ]
