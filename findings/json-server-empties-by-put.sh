#!/usr/bin/env bash
# json-server 0.17 reads a body only if its type is application/json. A PUT of another JSON type is taken for a PUT of nothing:
# the record is replaced by its id alone, and the answer is 200. A PATCH of application/merge-patch+json changes nothing, with 200.
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund json-server@0.17.4 >/dev/null 2>&1
echo '{ "pets": [{ "id": 1, "name": "Rex" }, { "id": 2, "name": "Tom" }] }' >db.json
cat >serve.cjs <<'END'
const jsonServer = require('json-server');
const app = jsonServer.create();
app.use(jsonServer.defaults({ logger: false }), jsonServer.router('db.json'));
const server = app.listen(0, '127.0.0.1', () => require('node:fs').writeFileSync('port', `${server.address().port}`));
END
node serve.cjs &
server=$!
for _ in $(seq 100); do [ -s port ] && break || sleep 0.1; done
echo "json-server $(node -p "require('json-server/package.json').version")"
cat >ask.mjs <<'END'
const base = `http://127.0.0.1:${process.argv[2]}`;
for (const [method, id, type] of [
  ['PATCH', 1, 'application/merge-patch+json'],
  ['PUT', 2, 'application/vnd.shop.v1+json'],
]) {
  const body = JSON.stringify({ name: 'Ida' });
  const answer = await fetch(`${base}/pets/${id}`, { method, body, headers: { 'Content-Type': type } });
  const now = await (await fetch(`${base}/pets/${id}`)).json();
  console.log(`${method} ${type}: ${answer.status}, now ${JSON.stringify(now)}`);
}
END
seen=$(node ask.mjs "$(cat port)")
echo "$seen"
[ "$seen" = 'PATCH application/merge-patch+json: 200, now {"id":1,"name":"Rex"}
PUT application/vnd.shop.v1+json: 200, now {"id":2}' ]
