#!/usr/bin/env bash
# A client that has sent `Connection: close` must not send another request on that connection (RFC 9112, 9.6). An agent of
# Node with keepAlive does, unless the answer has the header too. A server that takes the client at its word closes without
# a header of its own, and the next request is lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node@26.10.0 >/dev/null 2>&1
cat >try.mjs <<'END'
import http from 'node:http';
import net from 'node:net';
import { once } from 'node:events';
// Answers the first request of a connection, and never a further one.
const counts = [];
const server = net.createServer((socket) => {
  const at = counts.push(0) - 1;
  socket.on('error', () => {}).on('data', (bytes) => {
    counts[at] += 1;
    if (!/^connection: close\r$/im.test(bytes.toString())) throw new Error('the header was not sent');
    if (counts[at] === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    else socket.destroy();
  });
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address();
const agent = new http.Agent({ keepAlive: true });
const get = () =>
  new Promise((resolve) => {
    const request = http.get({ agent, port, headers: { connection: 'close' } }, (answer) =>
      answer.resume().on('end', () => setImmediate(resolve, answer.statusCode)),
    );
    request.on('error', (error) => resolve(error.code));
  });
const results = [await get(), await get(), await get()];
console.log(`Node ${process.version}: ${results.join(' ')}; requests of each connection: ${counts.join(' ')}`);
process.exit(counts[0] === 2 && results[1] === 'ECONNRESET' ? 0 : 1);
END
node_modules/.bin/node try.mjs
