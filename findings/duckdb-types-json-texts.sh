#!/usr/bin/env bash
# DuckDB guesses types within the texts of a JSON file. If all of a field look like a date, a time or a UUID they become one, and
# another text when they are written: `2024-1-5` is 2024-01-05, `12:30` is 12:30:00, and a UUID gets small letters. One text of
# another kind, or `007`, which stays as it is, and the field is a text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null 2>&1
cat >try.mjs <<'END'
import { readFileSync, writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
for (const names of [['2024-1-5'], ['12:30'], ['550E8400-E29B-41D4-A716-446655440000'], ['007'], ['12:30', 'Rex']]) {
  writeFileSync('in.json', JSON.stringify(names.map((name) => ({ name }))));
  await connection.run("copy (from 'in.json') to 'out.json' (array true)");
  const out = JSON.parse(readFileSync('out.json', 'utf8'));
  console.log(`${names.join()} -> ${out.map((row) => row.name).join()}`);
}
END
echo "DuckDB $(node -p "require('./package-lock.json').packages['node_modules/@duckdb/node-api'].version")"
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = '2024-1-5 -> 2024-01-05
12:30 -> 12:30:00
550E8400-E29B-41D4-A716-446655440000 -> 550e8400-e29b-41d4-a716-446655440000
007 -> 007
12:30,Rex -> 12:30,Rex' ]
