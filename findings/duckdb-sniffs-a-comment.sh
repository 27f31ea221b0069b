#!/usr/bin/env bash
# DuckDB guesses not only the separator of a CSV file but also a comment sign. If the first column holds numbers, one row whose id is
# written `#3` is enough: this row is gone, and each cell of the others ends at its `#`, so `Rex #2` is `Rex ` and `#5` is null.
# There is no error and no warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null 2>&1
printf 'id,name\n1,Rex #2\n2,#5\n4,Ida\n' >without.csv
printf 'id,name\n1,Rex #2\n2,#5\n#3,Tom\n4,Ida\n' >with.csv
cat >try.mjs <<'END'
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
const read = async (from) => JSON.stringify((await connection.runAndReadAll(`from ${from}`)).getRowsJson());
console.log(await read("'without.csv'"));
console.log(await read("'with.csv'"));
console.log(await read("read_csv('with.csv', comment = '')"));
END
echo "DuckDB $(node -p "require('./package-lock.json').packages['node_modules/@duckdb/node-api'].version")"
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = '[["1","Rex #2"],["2","#5"],["4","Ida"]]
[["1","Rex "],["2",null],["4","Ida"]]
[["1","Rex #2"],["2","#5"],["#3","Tom"],["4","Ida"]]' ]
