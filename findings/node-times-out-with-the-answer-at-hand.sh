#!/usr/bin/env bash
# After a stop (Ctrl-Z and `fg`, a machine that slept) Node runs the timers that are due before it reads its sockets. Its fetch and http
# report a timeout, although the answer arrived within a tenth of the time, so that a write which is done looks lost. Python reads the
# answer; so does undici with its own timeout for headers.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node@26.10.0 undici@7.30.2 >/dev/null 2>&1
PATH="$folder/node_modules/.bin:$PATH"
# A service that stops its client, answers after 0.2 s, and lets the client go on after 4 s.
cat >serve.mjs <<'END'
import { createServer } from 'node:http';
createServer((request, response) => {
  const client = Number(request.headers.client);
  process.kill(client, 'SIGSTOP');
  setTimeout(() => response.end('done'), 200);
  setTimeout(() => process.kill(client, 'SIGCONT'), 4000);
}).listen(19183, '127.0.0.1', () => console.log('ready'));
END
cat >put.mjs <<'END'
import http from 'node:http';
import { request } from 'undici';
const url = 'http://127.0.0.1:19183/';
const headers = { client: String(process.pid) };
const ways = {
  fetch: async () => (await fetch(url, { method: 'PUT', headers, signal: AbortSignal.timeout(2000) })).text(),
  http: () =>
    new Promise((resolve) => {
      const put = http.request(url, { method: 'PUT', headers, timeout: 2000 });
      put.on('timeout', () => resolve('timeout')).on('response', (response) => response.on('data', resolve));
      put.end();
    }),
  undici: async () => (await request(url, { method: 'PUT', headers, headersTimeout: 2000 })).body.text(),
};
console.log(String(await ways[process.argv[2]]().catch(({ name }) => name)));
process.exit();
END
cat >put.py <<'END'
import os
from urllib.request import Request, urlopen
print(urlopen(Request("http://127.0.0.1:19183/", method="PUT", headers={"client": str(os.getpid())}), timeout=2).read().decode())
END
node serve.mjs >ready &
until [ -s ready ]; do sleep 0.1; done
seen=$(for way in fetch http undici; do echo "$way: $(node put.mjs "$way")"; done
  echo "Python: $(python3 put.py)")
echo "Node $(node --version), undici 7.30.2, $(python3 --version); an answer after 0.2 s, a time of 2 s, stopped for 4 s:"
echo "$seen"
[ "$seen" = 'fetch: TimeoutError
http: timeout
undici: done
Python: done' ]
