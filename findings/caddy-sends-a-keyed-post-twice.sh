#!/usr/bin/env bash
# Caddy does not send a POST again when a kept connection to the service closes without an answer: the client gets 502. But it does so
# with a POST without a body that bears an `Idempotency-Key`, which a service that does not know this header carries out twice. The
# client sees one answer, 200. A POST with a body is sent once.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # apt changes its user
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq caddy=2.6.2-5 2>/dev/null
dpkg -x caddy_*.deb .
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
service=http://127.0.0.1:$(cat port)
gateway=$(node -e "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })")
printf '{\nadmin off\n}\nhttp://127.0.0.1:%s {\nreverse_proxy %s\n}\n' "$gateway" "$service" >Caddyfile
HOME=$folder usr/bin/caddy run --config Caddyfile --adapter caddyfile >log 2>&1 &
for _ in $(seq 100); do curl -s -o /dev/null "http://127.0.0.1:$gateway/count" && break; sleep 0.1; done
posts() { # posts <flags of curl>: six POSTs through Caddy
  before=$(curl -s "$service/count")
  for _ in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code} ' -X POST "$@" "http://127.0.0.1:$gateway/orders"; done
  echo "and the service has carried out $(($(curl -s "$service/count") - before))"
}
echo "Caddy $(usr/bin/caddy version)"
plain=$(posts)
keyed=$(posts -H 'Idempotency-Key: 1')
body=$(posts -H 'Idempotency-Key: 1' -d '{}')
printf '%s\n' "six POSTs without a body: $plain" "with an Idempotency-Key: $keyed" "with it and a body: $body"
[[ ${plain##* } == 6 && $plain == *502* && $keyed == '200 200 200 200 200 200 and'* && ${keyed##* } -gt 6 && ${body##* } == 6 && $body == *502* ]]
