#!/usr/bin/env bash
# tinyproxy closes a connection after each answer, but sends no `Connection: close`, also if the client asks to keep it. By
# RFC 9112 (9.3, 9.6) such an HTTP/1.1 answer says that the connection stays open. A client that keeps connections loses the
# next request if it sends it before it sees the end: Node gets ECONNRESET, and cannot know whether a POST was done.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq tinyproxy-bin=1.11.1-2.1+deb12u1 2>/dev/null
dpkg -x tinyproxy-bin_*.deb .
printf 'Port 19171\nListen 127.0.0.1\nTimeout 10\nMaxClients 10\nAllow 127.0.0.1\n' >proxy.conf
usr/bin/tinyproxy -d -c proxy.conf >/dev/null 2>&1 &
cat >try.mjs <<'END'
import http from 'node:http';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
const service = http.createServer((_, answer) => answer.end('ok')).listen(19172, '127.0.0.1');
await sleep(1000);
// What tinyproxy sends, byte for byte.
const socket = net.connect(19171, '127.0.0.1');
socket.write('GET http://127.0.0.1:19172/ HTTP/1.1\r\nHost: 127.0.0.1:19172\r\nConnection: keep-alive\r\n\r\n');
let text = '';
for await (const chunk of socket) text += chunk;
const head = text.slice(0, text.indexOf('\r\n\r\n'));
console.log(`${head.split('\r\n')[0]}; Connection: ${/^connection: (.*)$/im.exec(head)?.[1] ?? 'not sent'}; then closed`);
// What a client that keeps its connection gets.
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const post = () =>
  new Promise((resolve) => {
    const options = { agent, port: 19171, method: 'POST', path: 'http://127.0.0.1:19172/' };
    const request = http.request(options, (answer) => answer.resume().on('end', () => resolve(answer.statusCode)));
    request.on('error', (error) => resolve(error.code)).end('x');
  });
const results = [];
for (let turn = 0; turn < 6; turn += 1) results.push(await post());
console.log(`six POSTs, one after the other: ${results.join(' ')}`);
service.close();
process.exit(text.includes('onnection:') || !results.includes('ECONNRESET') ? 1 : 0);
END
usr/bin/tinyproxy -v
echo "Node $(node --version)"
node try.mjs
