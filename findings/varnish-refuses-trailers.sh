#!/usr/bin/env bash
# Varnish answers 503 in place of a service that sends 102 or 103 before its answer, or ends a chunked one with a trailer field
# (RFC 9112, 7.1.2); if it has passed on the head by then, the answer is cut. The request has reached the service each time: a write
# that is done is reported as failed, with `Retry-After: 5`, so that a client may send it again.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; sleep 1; rm -rf "$folder"' EXIT
cd "$folder"
for package in varnish=7.1.1-2+deb12u1 libvarnishapi3=7.1.1-2+deb12u1 libjemalloc2=5.3.0-1; do
  apt-get download -qq "$package" 2>/dev/null
done
for file in *.deb; do dpkg -x "$file" .; done
export LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu:$folder/usr/lib/x86_64-linux-gnu/varnish"
printf 'vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "19178"; }\n' >default.vcl
echo "version: $(usr/sbin/varnishd -V 2>&1 | sed -n 1p)"
usr/sbin/varnishd -j none -F -a 127.0.0.1:19177 -f "$folder/default.vcl" -n "$folder/state" >/dev/null 2>&1 &
cat >try.mjs <<'END'
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
let done = 0;
const service = http.createServer((request, answer) => {
  request.resume().on('end', () => {
    done += 1;
    if (request.url === '/103') answer.writeEarlyHints({ link: '</style.css>; rel=preload' });
    if (request.url === '/102') answer.writeProcessing();
    if (request.url === '/trailer') {
      answer.writeHead(200, { trailer: 'x-checksum' });
      answer.write('ok');
      answer.addTrailers({ 'x-checksum': '1' });
    }
    answer.end();
  });
});
service.listen(19178, '127.0.0.1');
await sleep(4000);
const put = (path, port) =>
  new Promise((resolve) => {
    const request = http.request({ port, path, method: 'PUT', agent: false, timeout: 20_000 }, (answer) => {
      const seen = `${answer.statusCode} Retry-After: ${answer.headers['retry-after'] ?? 'none'}`;
      answer.resume().on('end', () => resolve(seen)).on('error', () => resolve(`${seen}, cut`));
    });
    request.on('timeout', () => request.destroy(new Error('no answer in 20 s')));
    request.on('error', (error) => resolve(error.message)).end('x');
  });
const rows = [];
for (const path of ['/plain', '/trailer', '/103', '/102'])
  for (const [name, port] of [['directly', 19178], ['through Varnish', 19177]]) {
    done = 0;
    rows.push(`PUT ${path} ${name}: ${await put(path, port)}, done ${done} time`);
    console.log(rows.at(-1));
  }
const isSo = rows.every((row) => row.endsWith('done 1 time')) &&
  rows.map((row) => /503 Retry-After: 5|trailer.*, cut/.test(row)).join() === 'false,false,false,true,false,true,false,true';
process.exit(isSo ? 0 : 1);
END
node try.mjs
