#!/usr/bin/env bash
# conf writes its file with atomically, which writes the new text with one write(2) and does not look at how much of it was
# written. On a disk that is almost full the system writes a part of it; atomically then renames the part over the old file.
# `set` reports no error, and the config is lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund conf@15.1.0 atomically@2.1.1 >/dev/null
cat >write.mjs <<'END'
import { readFileSync, statSync } from 'node:fs';
import Conf from 'conf';
const conf = new Conf({ cwd: process.argv[2], configName: 'config' });
if (process.argv[3] === 'small') conf.set('name', 'shop');
else
  try {
    conf.set('note', 'n'.repeat(20_000));
    console.log('set: no error');
  } catch (error) {
    console.log(`set: ${error.code}`);
  }
try {
  JSON.parse(readFileSync(conf.path, 'utf8'));
  console.log('the file can be read');
} catch {
  console.log(`the file has ${statSync(conf.path).size} bytes and is no JSON`);
}
END
echo "conf $(node -p "require('./package-lock.json').packages['node_modules/conf'].version"), atomically $(node -p "require('./package-lock.json').packages['node_modules/atomically'].version"), Node $(node --version)"
node write.mjs "$folder" small
# A limit of 8 KiB for a file stands for the full disk; without the trap its signal would end Node.
seen=$(trap '' XFSZ; ulimit -f 8; node write.mjs "$folder" large)
echo "$seen"
[ "$seen" = $'set: no error\nthe file has 8192 bytes and is no JSON' ]
