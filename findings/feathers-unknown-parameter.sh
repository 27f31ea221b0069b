#!/usr/bin/env bash
# Feathers takes every query parameter for a condition on a field, also where one record is asked for. With a parameter that is no
# field a list is empty with 200, and a record that is there is 404, for a PATCH too. Its own parameters begin with `$`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @feathersjs/feathers@5.0.50 @feathersjs/express@5.0.50 @feathersjs/memory@5.0.50 >/dev/null 2>&1
cat >try.mjs <<'END'
import feathersExpress, { errorHandler, json, rest } from '@feathersjs/express';
import { feathers } from '@feathersjs/feathers';
import { memory } from '@feathersjs/memory';
const app = feathersExpress(feathers());
app.use(json()).configure(rest()).use('pets', memory({})).use(errorHandler({ logger: false }));
for (const name of ['Rex', 'Tom']) await app.service('pets').create({ name });
const server = await app.listen(0);
const base = `http://127.0.0.1:${server.address().port}`;
const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
for (const [method, path] of [
  ['GET', '/pets?$limit=1'],
  ['GET', '/pets?limit=1'],
  ['GET', '/pets/1'],
  ['GET', '/pets/1?trace=on'],
  ['PATCH', '/pets/1?trace=on'],
]) {
  const answer = await fetch(base + path, { method, headers, body: method === 'PATCH' ? '{"name":"Ida"}' : undefined });
  console.log(`${method} ${path}: ${answer.status}${answer.ok ? ` ${await answer.text()}` : ''}`);
}
process.exit();
END
echo "@feathersjs/feathers $(node -p "require('./package-lock.json').packages['node_modules/@feathersjs/feathers'].version")"
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = 'GET /pets?$limit=1: 200 [{"name":"Rex","id":0}]
GET /pets?limit=1: 200 []
GET /pets/1: 200 {"name":"Tom","id":1}
GET /pets/1?trace=on: 404
PATCH /pets/1?trace=on: 404' ]
