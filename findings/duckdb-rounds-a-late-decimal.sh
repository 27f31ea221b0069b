#!/usr/bin/env bash
# DuckDB takes the types of a file from its first 20,480 lines or records. In a column of whole numbers until then a later 1.7 becomes 2,
# in CSV and in JSON; no error, and `sum` counts it as 2. A later text in the same place is refused. With the 1.7 at the
# beginning of the file it is exact.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null 2>&1
cat >try.mjs <<'END'
import { writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
for (const [place, value] of [['last', 1.7], ['first', 1.7], ['last', 'A17']]) {
  const whole = Array.from({ length: 25_000 }, (_, index) => ({ id: index + 1, price: 1 }));
  const other = { id: 0, price: value };
  const records = place === 'last' ? [...whole, other] : [other, ...whole];
  writeFileSync('prices.csv', ['id,price', ...records.map(({ id, price }) => `${id},${price}`)].join('\n') + '\n');
  writeFileSync('prices.json', JSON.stringify(records));
  for (const file of ['prices.csv', 'prices.json']) {
    const seen = await connection
      .runAndReadAll(`select price, (select sum(price) from '${file}') from '${file}' where id = 0`)
      .then((result) => result.getRowsJson()[0].map(Number).join(', the sum '), () => 'an error');
    console.log(`${place} ${value} in ${file}: ${seen}`);
  }
}
END
echo "DuckDB $(node -p "require('./package-lock.json').packages['node_modules/@duckdb/node-api'].version")"
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = 'last 1.7 in prices.csv: 2, the sum 25002
last 1.7 in prices.json: 2, the sum 25002
first 1.7 in prices.csv: 1.7, the sum 25001.7
first 1.7 in prices.json: 1.7, the sum 25001.7
last A17 in prices.csv: an error
last A17 in prices.json: an error' ]
