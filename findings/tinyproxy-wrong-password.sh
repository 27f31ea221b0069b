#!/usr/bin/env bash
# A proxy that asks for a password answers 407 with Proxy-Authenticate (RFC 9110, 15.5.8). tinyproxy does so if none is
# given, but a wrong one gets 401 with WWW-Authenticate: the answer of a service that wants another token.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq tinyproxy-bin=1.11.1-2.1+deb12u1 2>/dev/null
dpkg -x tinyproxy-bin_*.deb .
printf 'Port 19173\nListen 127.0.0.1\nTimeout 10\nMaxClients 10\nBasicAuth me right\nConnectPort 19174\n' >proxy.conf
usr/bin/tinyproxy -d -c proxy.conf >/dev/null 2>&1 &
cat >try.mjs <<'END'
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
await sleep(1000);
const ask = (method, password) =>
  new Promise((resolve, reject) => {
    const headers = password ? { 'proxy-authorization': `Basic ${Buffer.from(`me:${password}`).toString('base64')}` } : {};
    const path = method === 'CONNECT' ? '127.0.0.1:19174' : 'http://127.0.0.1:19174/';
    const request = http.request({ port: 19173, method, path, headers });
    request.on('response', resolve).on('connect', resolve).on('error', reject).end();
  });
for (const method of ['GET', 'CONNECT'])
  for (const password of [undefined, 'wrong']) {
    const { statusCode, headers } = await ask(method, password);
    const challenge = ['proxy-authenticate', 'www-authenticate'].filter((name) => name in headers).join();
    console.log(`${method}, ${password ?? 'no'} password: ${statusCode} ${challenge}`);
  }
process.exit();
END
echo "version: $(usr/bin/tinyproxy -v)"
node try.mjs | tee said
[ "$(cut -d: -f2 said | tr '\n' ';')" = ' 407 proxy-authenticate; 401 www-authenticate; 407 proxy-authenticate; 401 www-authenticate;' ]
