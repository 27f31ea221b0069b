#!/usr/bin/env bash
# A server may send interim answers (102, 103 Early Hints) before the real one; a proxy that does not forward them skips them
# (RFC 9110, 15.2). nginx 1.22 with `proxy_http_version 1.1` takes the 103 for the whole answer of the service and sends the
# client nothing: it waits until its own time is over, and the write is done. Without an interim answer all is well.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq nginx=1.22.1-9+deb12u11 2>/dev/null
dpkg -x nginx_*.deb .
mkdir logs
cat >nginx.conf <<END
daemon off;
pid $folder/pid;
error_log $folder/logs/error.log;
events {}
http {
  access_log off;
  client_body_temp_path $folder/t1; proxy_temp_path $folder/t2; fastcgi_temp_path $folder/t3; uwsgi_temp_path $folder/t4; scgi_temp_path $folder/t5;
  server {
    listen 127.0.0.1:19175;
    location / { proxy_pass http://127.0.0.1:19176; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
END
usr/sbin/nginx -v 2>&1
usr/sbin/nginx -e logs/error.log -c "$folder/nginx.conf" 2>/dev/null &
cat >try.mjs <<'END'
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
let done = 0;
const service = http.createServer((request, answer) => {
  request.resume().on('end', () => {
    done += 1;
    if (request.url === '/hints') answer.writeEarlyHints({ link: '</style.css>; rel=preload' });
    if (request.url === '/processing') answer.writeProcessing();
    answer.end('ok');
  });
});
service.listen(19176, '127.0.0.1');
await sleep(1000);
const put = (path, port) =>
  new Promise((resolve) => {
    const request = http.request({ port, path, method: 'PUT', timeout: 5000 }, (answer) =>
      answer.resume().on('end', () => resolve(answer.statusCode)),
    );
    request.on('timeout', () => request.destroy(new Error('no answer in 5 s'))).on('error', (error) => resolve(error.message));
    request.end('x');
  });
const rows = [];
for (const path of ['/plain', '/hints', '/processing'])
  for (const [name, port] of [['directly', 19176], ['through nginx', 19175]]) {
    done = 0;
    rows.push(`PUT ${path} ${name}: ${await put(path, port)}, done ${done} time`);
  }
console.log(rows.join('\n'));
const isSo = rows.every((row) => row.endsWith('done 1 time')) &&
  rows.map((row) => /no answer/.test(row)).join() === 'false,false,false,true,false,true';
process.exit(isSo ? 0 : 1);
END
node try.mjs
