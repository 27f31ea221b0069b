#!/usr/bin/env bash
# curl sends a POST with a body again, without `--retry`, if the connection was used before and the service closes it without an answer.
# The service has carried out both; curl prints 200 and ends with 0. On a new connection curl says 52, an empty answer.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # apt changes its user
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq curl=7.88.1-10+deb12u15 libcurl4=7.88.1-10+deb12u15 2>/dev/null
for file in *.deb; do dpkg -x "$file" .; done
LD_LIBRARY_PATH="$folder/usr/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH
# The service carries out each POST, and closes without an answer after the first.
cat >service.cjs <<'END_OF_SERVICE'
let count = 0;
const server = require('node:http').createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url === '/count') return response.end(`${count}`, () => (count = 0));
  if (request.method === 'GET') return response.end('[]');
  count += 1;
  request.resume().on('end', () => (count === 1 ? request.socket.destroy() : response.end('{}')));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
END_OF_SERVICE
node service.cjs >port &
until [ -s port ]; do sleep 0.1; done
service=http://127.0.0.1:$(cat port)
order() { # order <what curl asks before, on the same connection>
  local code=0
  usr/bin/curl -q -s -o answer "$@" -o answer -w '%{http_code}' -d '{"petId":1}' "$service/orders" || code=$?
  echo ", exit code $code, carried out $(curl -s "$service/count") times"
}
echo "curl $(usr/bin/curl --version | sed -n '1s/^curl \([^ ]*\).*/\1/p')"
fresh=$(order)
kept=$(order "$service/orders" --next -s)
printf '%s\n' "a POST on a new connection: $fresh" "on a kept one: $kept"
[ "$fresh/$kept" = '000, exit code 52, carried out 1 times/200, exit code 0, carried out 2 times' ]
