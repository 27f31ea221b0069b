#!/usr/bin/env bash
# Node reads a bundle of certificates (`ca`) up to the first one that is broken, and says nothing. The usual fault is a file without a line
# break at its end, to which `cat` adds the next. NODE_EXTRA_CA_CERTS warns that it ignores such a bundle, yet what stands before the
# fault is trusted. curl and Python refuse the bundle.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node@26.10.0 >/dev/null 2>&1
PATH="$folder/node_modules/.bin:$PATH"
for name in first second third; do
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=localhost" -addext subjectAltName=DNS:localhost \
    -keyout "$name.key" -out "$name.pem" 2>/dev/null
done
{ cat first.pem; head -c -1 second.pem; cat third.pem; } >bundle.pem
cat >serve.mjs <<'END'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
const [name, port] = process.argv.slice(2);
const pair = { key: readFileSync(`${name}.key`), cert: readFileSync(`${name}.pem`) };
createServer(pair, (_, response) => response.end('ok')).listen(port, '127.0.0.1', () => console.log('ready'));
END
cat >get.mjs <<'END'
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
const [port, file] = process.argv.slice(2);
get({ host: 'localhost', port, family: 4, ...(file && { ca: readFileSync(file) }) }, ({ statusCode }) => {
  console.log(statusCode);
  process.exit();
}).on('error', ({ code }) => console.log(code));
END
cat >get.py <<'END'
import ssl
try:
    ssl.create_default_context(cafile="bundle.pem")
    print("takes it")
except ssl.SSLError:
    print("refuses it")
END
node serve.mjs first 19184 >ready1 &
node serve.mjs third 19185 >ready3 &
until [ -s ready1 ] && [ -s ready3 ]; do sleep 0.1; done
seen=$(echo "ca, certificate 1 of the bundle: $(node get.mjs 19184 bundle.pem 2>&1)"
  echo "ca, certificate 3: $(node get.mjs 19185 bundle.pem 2>&1)"
  echo "NODE_EXTRA_CA_CERTS, certificate 1: $(NODE_EXTRA_CA_CERTS=bundle.pem node get.mjs 19184 2>extra)"
  echo "its warning: $(grep -o 'Ignoring extra certs' extra)"
  code=0; curl -sS -o none --cacert bundle.pem https://localhost:19184/ 2>/dev/null || code=$?
  echo "curl: exit code $code"
  echo "Python $(python3 get.py)")
echo "Node $(node --version), $(curl --version | cut -d' ' -f1-2 | head -1), $(python3 --version); the second certificate of three has no line break:"
echo "$seen"
[ "$seen" = 'ca, certificate 1 of the bundle: 200
ca, certificate 3: DEPTH_ZERO_SELF_SIGNED_CERT
NODE_EXTRA_CA_CERTS, certificate 1: 200
its warning: Ignoring extra certs
curl: exit code 77
Python refuses it' ]
