#!/usr/bin/env bash
# nohup starts a program with SIGHUP ignored, so that it goes on when the terminal closes. Node sets every signal back to its
# default when it starts, and ends all the same; Bun and Perl go on. With setsid, which takes the program away from the terminal, no
# SIGHUP comes at all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@26.10.0 bun@1.4.5 >/dev/null 2>&1
bin=node_modules/.bin
script='console.log("ready"); setTimeout(() => {}, 3000)'
# end <command>: how a program ends that gets SIGHUP after it was started by nohup
end() {
  : >output
  nohup "$@" >output 2>&1 &
  until grep -q ready output; do sleep 0.1; done
  kill -HUP $!
  local code=0
  wait $! || code=$?
  echo "$code"
}
node=$(end "$bin/node" -e "$script")
bun=$(end "$bin/bun" -e "$script")
perl=$(end perl -e '$| = 1; print "ready"; sleep 3')
echo "exit codes, where 129 is the end by SIGHUP: Node $("$bin/node" --version) $node, Bun $("$bin/bun" --version) $bun, Perl $(perl -e 'print $^V') $perl"
[ "$node $bun $perl" = '129 0 0' ]
