#!/usr/bin/env bash
# DuckDB's client for Node drops U+FEFF from the beginning of every text that it returns, whatever it came from: DuckDB itself
# counts four characters, the program gets three. (A TextDecoder takes the first character of each text for a byte order mark.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null
cat >read.mjs <<'END'
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const reader = await connection.runAndReadAll("select name, length(name) from (select chr(65279) || 'Rex' as name)");
const [[name, length]] = reader.getRows();
console.log(`DuckDB: ${length} characters, Node: ${name.length}`);
END
echo "@duckdb/node-api $(node -p "require('./package-lock.json').packages['node_modules/@duckdb/node-api'].version"), Node $(node --version)"
seen=$(node read.mjs)
echo "$seen"
[ "$seen" = 'DuckDB: 4 characters, Node: 3' ]
