#!/usr/bin/env bash
# Fastify writes an answer by its schema and does not check it. A field that the schema calls an integer loses its fraction
# silently: 1.7 is sent as 1, and -1.7 as -1. The handler that answers so is wrong, and nobody finds out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund fastify@5.12.8 >/dev/null 2>&1
cat >try.mjs <<'END'
import Fastify from 'fastify';
const app = Fastify();
const answer = { type: 'object', properties: { count: { type: 'integer' }, name: { type: 'string' } } };
const values = [{ count: 1.7 }, { count: -1.7 }, { count: '12.9' }, { count: null, name: null }];
app.get('/stock/:row', { schema: { response: { 200: answer } } }, async (request) => values[request.params.row]);
for (const [row, value] of values.entries())
  console.log(`${JSON.stringify(value)}: ${(await app.inject(`/stock/${row}`)).body}`);
END
echo "fastify $(node -p "require('./package-lock.json').packages['node_modules/fastify'].version")"
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = '{"count":1.7}: {"count":1}
{"count":-1.7}: {"count":-1}
{"count":"12.9"}: {"count":12}
{"count":null,"name":null}: {"count":0,"name":""}' ]
