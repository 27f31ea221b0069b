#!/usr/bin/env bash
# Bun does not load an installed undici: `import 'undici'` gets a stand-in of Bun's own, on top of its fetch. That sends a PUT or a
# DELETE once more if a connection that it had used before closes without an answer, so the program sees 200 where the real package
# reports an error. A POST is not sent again. A copy of undici under another name is loaded as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts bun@1.4.5 undici@7.30.2 real@npm:undici@7.30.2 >/dev/null 2>&1
bun=$(find node_modules/@oven -name bun -type f | sed -n 1p)
# The service counts each write when it has read it; of every connection it answers the first request, and closes after the others.
cat >service.cjs <<'END'
let seen = 0;
const server = require('node:http').createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.socket.requests = (request.socket.requests ?? 0) + 1;
  request.resume().on('end', () => {
    if (request.url === '/seen') return response.end(String(seen));
    if (request.method === 'GET') seen = 0;
    else seen += 1;
    if (request.socket.requests > 1) request.socket.destroy();
    else response.end('{}');
  });
});
server.listen(0, '127.0.0.1', () => require('node:fs').writeFileSync('port', `${server.address().port}`));
END
cat >client.mjs <<'END'
import { get } from 'node:http';
import process from 'node:process';
const { request } = await import(process.argv[2]);
const base = `http://127.0.0.1:${process.argv[3]}`;
const results = [];
for (const method of ['PUT', 'DELETE', 'POST']) {
  await (await request(`${base}/stock`)).body.text();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const answer = await request(`${base}/stock`, { method, ...(method === 'DELETE' ? {} : { body: '{"count":5}' }) }).then(
    async (response) => `${response.statusCode} ${await response.body.text()}`,
    () => 'error',
  );
  const seen = await new Promise((resolve) => {
    get(`${base}/seen`, { agent: false }, (response) => response.on('data', (data) => resolve(`${data}`)));
  });
  results.push(`${method} ${answer}, sent ${seen}x`);
}
console.log(results.join('; '));
process.exit();
END
node service.cjs &
service=$!
trap 'kill "$service"; rm -rf "$folder"' EXIT
until [ -s port ]; do sleep 0.1; done
echo "Bun $("$bun" --version), Node $(node --version), undici $(node -p "require('undici/package.json').version")"
in_node=$(node client.mjs undici "$(cat port)")
in_bun=$("$bun" client.mjs undici "$(cat port)")
renamed=$("$bun" client.mjs real "$(cat port)")
printf '%s\n' "Node: $in_node" "Bun: $in_bun" "Bun, under another name: $renamed"
once='PUT error, sent 1x; DELETE error, sent 1x; POST error, sent 1x'
[ "$in_node" = "$once" ]
[ "$in_bun" = 'PUT 200 {}, sent 2x; DELETE 200 {}, sent 2x; POST error, sent 1x' ]
[ "$renamed" = "$once" ]
