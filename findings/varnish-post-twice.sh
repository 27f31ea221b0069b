#!/usr/bin/env bash
# Varnish, as installed, sends a request without a body once more if the connection to the service, which it had used before,
# closes without an answer: a POST too, although the service may have carried it out, and POST is not idempotent (RFC 9110,
# 9.2.2). The client sees one answer, 200. A POST with a body is not sent again.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # varnishd and apt change their user
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download varnish=7.1.1-2+deb12u1 libvarnishapi3=7.1.1-2+deb12u1 libjemalloc2=5.3.0-1 libedit2=3.1-20221030-2 >/dev/null
for package in *.deb; do dpkg -x "$package" root; done
library=root/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH="$folder/$library:$folder/$library/varnish"
# The service carries out each POST; of every connection it answers the first one, and closes after the others.
cat >service.cjs <<'END'
let count = 0;
const server = require('node:http').createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url === '/count') return response.end(String(count));
  count += 1;
  request.socket.posts = (request.socket.posts ?? 0) + 1;
  request.resume().on('end', () => (request.socket.posts > 1 ? request.socket.destroy() : response.end('{}')));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
END
node service.cjs >port &
until [ -s port ]; do sleep 0.1; done
printf 'vcl 4.0;\nbackend default { .host = "127.0.0.1"; .port = "%s"; }\n' "$(cat port)" >default.vcl
gateway=$(node -e "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })")
root/usr/sbin/varnishd -F -a "127.0.0.1:$gateway" -f "$folder/default.vcl" -n "$folder/work" -p vmod_path="$folder/$library/varnish/vmods" >log 2>&1 &
for _ in $(seq 100); do curl -s -o /dev/null "http://127.0.0.1:$gateway/" && break; sleep 0.1; done
posts() { # posts <flags of curl>: six POSTs through Varnish
  before=$(curl -s "http://127.0.0.1:$(cat port)/count")
  for _ in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code} ' -X POST "$@" "http://127.0.0.1:$gateway/orders"; done
  echo "and the service has carried out $(($(curl -s "http://127.0.0.1:$(cat port)/count") - before))"
}
echo "version: $(root/usr/sbin/varnishd -V 2>&1 | sed -n 1p)"
bare=$(posts -H 'content-length: 0')
whole=$(posts -d '{}')
echo "six POSTs without a body: $bare"
echo "six POSTs with a body: $whole"
[[ $bare == '200 200 200 200 200 200 and'* && ${bare##* } -gt 6 && ${whole##* } == 6 ]]
