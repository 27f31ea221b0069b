#!/usr/bin/env bash
# Deno's fetch sends a request once more if a connection that it had used before closes without an answer: a POST with a body too,
# although the service has read it whole and may have carried it out. The program sees one answer, 200. Node's fetch reports an
# error and leaves the decision to the program.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts deno@2.9.6 >/dev/null 2>&1
deno=$(ls node_modules/@deno/*/deno)
# The service counts each POST when it has read it; of every connection it answers the first request, and closes after the others.
cat >service.cjs <<'END'
let count = 0;
const server = require('node:http').createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url === '/count') return response.end(String(count));
  request.socket.requests = (request.socket.requests ?? 0) + 1;
  request.resume().on('end', () => {
    if (request.method === 'POST') count += 1;
    if (request.socket.requests > 1) request.socket.destroy();
    else response.end('{}');
  });
});
server.listen(0, '127.0.0.1', () => require('node:fs').writeFileSync('port', `${server.address().port}`));
END
cat >client.mjs <<'END'
import process from 'node:process';
const base = `http://127.0.0.1:${process.argv[2]}`;
await (await fetch(`${base}/stock`)).text();
await new Promise((resolve) => setTimeout(resolve, 100));
const answer = await fetch(`${base}/stock`, { method: 'POST', body: '{"add":5}' }).then(
  async (response) => `${response.status} ${await response.text()}`,
  () => 'an error',
);
console.log(answer);
process.exit();
END
ask() {
  rm -f port
  node service.cjs &
  until [ -s port ]; do sleep 0.1; done
  answer=$("$@" client.mjs "$(cat port)")
  echo "$answer, the service has read $(curl -s "http://127.0.0.1:$(cat port)/count") POST"
  kill "$!"
}
echo "$("$deno" --version | sed -n 1p), Node $(node --version)"
with_node=$(ask node)
with_deno=$(ask "$deno" run --quiet -A)
echo "Node: $with_node"
echo "Deno: $with_deno"
[ "$with_node; $with_deno" = 'an error, the service has read 1 POST; 200 {}, the service has read 2 POST' ]
