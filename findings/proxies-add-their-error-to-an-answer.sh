#!/usr/bin/env bash
# mockttp and http-mitm-proxy, between a client and a service whose answer in chunks breaks off, put the text of their own error
# behind what has come, and then the last chunk. The client gets 200 and a whole answer, with records and the words of a program in it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund mockttp@4.6.5 http-mitm-proxy@1.1.0 >/dev/null 2>&1
cat >try.mjs <<'END'
import http from 'node:http';
import { Proxy } from 'http-mitm-proxy';
import { getLocal } from 'mockttp';
const service = http.createServer((request, response) => {
  response.write('[{"id":1}');
  setTimeout(() => response.destroy(), 200);
});
await new Promise((resolve) => service.listen(0, '127.0.0.1', resolve));
const first = getLocal();
await first.start();
await first.forAnyRequest().thenPassThrough();
const second = new Proxy();
second.onError(() => undefined);
await new Promise((resolve) => second.listen({ port: 0, host: '127.0.0.1', sslCaDir: './authority' }, resolve));
const host = `127.0.0.1:${service.address().port}`;
const ask = (port) =>
  new Promise((resolve) => {
    http.get({ host: '127.0.0.1', port, path: `http://${host}/pets`, headers: { host }, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (data) => (text += data));
      answer.on('end', () => resolve(`${answer.statusCode} ${text}`));
      answer.on('error', (error) => resolve(`${answer.statusCode} ${text}, then ${error.code}`));
    });
  });
const direct = await new Promise((resolve) => {
  http.get(`http://${host}/pets`, (answer) => answer.resume().on('error', (error) => resolve(error.code)));
});
console.log(`no proxy: ${direct}`);
console.log(`mockttp: ${await ask(first.port)}`);
console.log(`http-mitm-proxy: ${await ask(second.httpPort)}`);
process.exit();
END
version() { node -p "require('./package-lock.json').packages['node_modules/$1'].version"; }
echo "mockttp $(version mockttp), http-mitm-proxy $(version http-mitm-proxy), Node $(node --version)"
seen=$(node try.mjs 2>/dev/null)
echo "$seen"
[ "$seen" = 'no proxy: ECONNRESET
mockttp: 200 [{"id":1}Error: aborted
http-mitm-proxy: 200 [{"id":1}SERVER_TO_PROXY_RESPONSE_ERROR: Error: aborted' ]
