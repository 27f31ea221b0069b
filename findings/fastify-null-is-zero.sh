#!/usr/bin/env bash
# Fastify has Ajv convert what does not fit, in a JSON body too, and Ajv makes a number of null: a body whose `count` is an integer
# may say null, and the handler gets 0. The text '' is refused, where a reader of forms would expect it the other way round.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund fastify@5.12.8 >/dev/null 2>&1
cat >try.mjs <<'END'
import Fastify from 'fastify';
const app = Fastify();
const properties = { count: { type: 'integer' }, name: { type: 'string' }, open: { type: 'boolean' } };
app.put('/stock', { schema: { body: { type: 'object', properties } } }, async (request) => request.body);
for (const payload of [{ count: null }, { name: null }, { open: null }, { count: true }, { count: '' }]) {
  const answer = await app.inject({ method: 'PUT', url: '/stock', payload });
  console.log(`${JSON.stringify(payload)}: ${answer.statusCode}${answer.statusCode === 200 ? ` ${answer.body}` : ''}`);
}
END
echo "fastify $(node -p "require('./package-lock.json').packages['node_modules/fastify'].version")"
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = '{"count":null}: 200 {"count":0}
{"name":null}: 200 {"name":""}
{"open":null}: 200 {"open":false}
{"count":true}: 200 {"count":1}
{"count":""}: 400' ]
