#!/usr/bin/env bash
# Varnish, as installed, answers 503 with `Retry-After: 5` whenever it gets no answer from the service, to a POST too, and
# also if the service has carried it out and only the answer is lost. A client that takes 503 with Retry-After for "not now,
# send it again" does everything twice.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # varnishd and apt change their user
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download varnish=7.1.1-2+deb12u1 libvarnishapi3=7.1.1-2+deb12u1 libjemalloc2=5.3.0-1 libedit2=3.1-20221030-2 >/dev/null
for package in *.deb; do dpkg -x "$package" root; done
library=root/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH="$folder/$library:$folder/$library/varnish"
cat >service.cjs <<'END'
let orders = 0;
const server = require('node:http').createServer((request, response) => {
  if (request.method !== 'POST') return response.end(String(orders));
  request.resume().on('end', () => {
    orders += 1;
    request.socket.destroy();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
END
node service.cjs >port &
until [ -s port ]; do sleep 0.1; done
printf 'vcl 4.0;\nbackend default { .host = "127.0.0.1"; .port = "%s"; }\n' "$(cat port)" >default.vcl
gateway=$(node -e "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })")
root/usr/sbin/varnishd -F -a "127.0.0.1:$gateway" -f "$folder/default.vcl" -n "$folder/work" -p vmod_path="$folder/$library/varnish/vmods" >log 2>&1 &
for _ in $(seq 100); do curl -s -o /dev/null "http://127.0.0.1:$gateway/" && break; sleep 0.1; done
echo "version: $(root/usr/sbin/varnishd -V 2>&1 | sed -n 1p)"
answer=$(curl -s -i -d '{}' "http://127.0.0.1:$gateway/orders" | tr -d '\r' | grep -i '^HTTP/\|^retry-after')
orders=$(curl -s "http://127.0.0.1:$(cat port)/")
echo "$answer"
echo "orders that the service has stored: $orders"
[ "$answer $orders" = $'HTTP/1.1 503 Backend fetch failed\nRetry-After: 5 1' ]
