#!/usr/bin/env bash
# conf imports atomically, which imports when-exit, which handles every signal from then on: it sends the signal to its own
# process once more. A program with a handler of its own gets each signal twice, as if the user had pressed Ctrl-C twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund conf@15.1.0 atomically@2.1.1 when-exit@2.1.5 >/dev/null
cat >count.mjs <<'END'
import { setTimeout as sleep } from 'node:timers/promises';
if (process.argv[2]) await import(process.argv[2]);
let count = 0;
process.on('SIGINT', () => {
  count += 1;
});
process.kill(process.pid, 'SIGINT');
await sleep(500);
console.log(count);
process.exit();
END
version() { node -p "require('./package-lock.json').packages['node_modules/$1'].version"; }
alone=$(node count.mjs)
with=$(node count.mjs conf)
echo "conf $(version conf), when-exit $(version when-exit), Node $(node --version)"
echo "handler of SIGINT: called $alone time without conf, $with times with it"
[ "$alone $with" = '1 2' ]
