#!/usr/bin/env bash
# json-server 0.17 deletes more than it is asked to: with a pet go the orders whose `petId` is this pet, and also those whose
# pet was not there before. An order that names no pet stays. The answer is 200 with `{}` and says nothing of them.
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund json-server@0.17.4 >/dev/null 2>&1
cat >db.json <<'END'
{
  "pets": [{ "id": 1 }, { "id": 2 }],
  "orders": [{ "id": 10, "petId": 1 }, { "id": 11, "petId": 2 }, { "id": 12, "petId": 77 }, { "id": 13 }]
}
END
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
const orders = async () => (await (await fetch(`${base}/orders`)).json()).map((order) => order.id).join();
const before = await orders();
const answer = await fetch(`${base}/pets/1`, { method: 'DELETE' });
console.log(`orders before: ${before}; DELETE /pets/1: ${answer.status} ${await answer.text()}; orders after: ${await orders()}`);
END
seen=$(node ask.mjs "$(cat port)")
echo "$seen"
[ "$seen" = 'orders before: 10,11,12,13; DELETE /pets/1: 200 {}; orders after: 11,13' ]
