#!/usr/bin/env bash
# For a host with several addresses Node tries one after the other (autoSelectFamily). An address that has not connected in
# 0.25 s (0.5 s from Node 26) is given up for good, where RFC 8305 (5) lets it go on beside the next one. If that next one is
# dead, a host that takes longer to connect, as over a satellite or after one lost packet, is never reached. curl reaches it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node@26.10.0 >/dev/null 2>&1
# A server whose queue of connections is full: Linux drops the first packet of a further one, which is sent again after 1 s.
cat >full.mjs <<'END'
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
const [host, blockedMs] = process.argv.slice(2);
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'));
});
await once(server.listen({ host, port: 19179, backlog: 1 }), 'listening');
// Fill the queue, and keep Node from emptying it.
const filler = Array.from({ length: 4 }, () => connect(19179, host).on('error', () => {}));
process.stdout.write('full\n', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(blockedMs)));
setTimeout(() => filler.forEach((socket) => socket.destroy()), 0);
END
cat >get.mjs <<'END'
import http from 'node:http';
const addresses = process.argv.slice(2).map((address) => ({ address, family: 4 }));
const began = performance.now();
const end = (what) => {
  console.log(`${what} after ${((performance.now() - began) / 1000).toFixed(0)} s`);
  process.exit();
};
const lookup = (_host, _options, callback) => callback(null, addresses);
http.get({ host: 'two.test', port: 19179, lookup, timeout: 12_000, agent: false }, ({ statusCode }) => end(statusCode))
  .on('timeout', () => end('nothing')).on('error', ({ code }) => end(code));
END
# Starts the slow and the dead address, and waits until both are full.
start() {
  node full.mjs 127.0.39.1 2500 >slow &
  node full.mjs 127.0.39.2 100000 >dead &
  until grep -q full slow && grep -q full dead; do sleep 0.02; done
  sleep 0.1
}
stop() {
  jobs -p | xargs kill
  wait 2>/dev/null || true
}
start; alone=$(node_modules/.bin/node get.mjs 127.0.39.1); stop
start; both=$(node_modules/.bin/node get.mjs 127.0.39.1 127.0.39.2); stop
start; curl=$(curl --silent --max-time 20 --resolve two.test:19179:127.0.39.1,127.0.39.2 --output /dev/null --write-out '%{http_code}' http://two.test:19179/ || true); stop
echo "Node $(node_modules/.bin/node --version): the slow address alone: $alone; with a dead one behind it: $both"
echo "$(curl --version | sed -n 1p | cut -d' ' -f1,2): with a dead one behind it: $curl"
[[ $alone == '200 after'* && $both == 'nothing after'* && $curl == 200 ]]
