#!/usr/bin/env bash
# wget sends a POST, PUT or DELETE again when the service closes the connection without an answer: 20 times, unless `--tries` says
# otherwise. A service that carries each of them out books an order 20 times.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # apt changes its user
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq wget=1.21.3-1+deb12u1 libpsl5=0.21.2-1 2>/dev/null
for file in *.deb; do dpkg -x "$file" .; done
LD_LIBRARY_PATH="$folder/usr/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH
# The service carries out each request, and closes without an answer.
cat >service.cjs <<'END_OF_SERVICE'
let count = 0;
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/count') return response.end(`${count}`, () => (count = 0));
  count += 1;
  request.resume().on('end', () => request.socket.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
END_OF_SERVICE
node service.cjs >port &
until [ -s port ]; do sleep 0.1; done
service=http://127.0.0.1:$(cat port)
write() { # write <flags of wget>
  local code=0
  # Between two tries wget waits up to 10 seconds, which only takes time here.
  usr/bin/wget --no-config -q --waitretry=0 -O answer "$@" "$service/orders" || code=$?
  echo "$(curl -s "$service/count") times, exit code $code"
}
usr/bin/wget --version | sed -n 1p
post=$(write --post-data='{"petId":1}')
delete=$(write --method=DELETE)
once=$(write --tries=1 --post-data='{"petId":1}')
printf '%s\n' "a POST is sent $post" "a DELETE $delete" "a POST with --tries=1 $once"
[ "$post/$delete/$once" = '20 times, exit code 4/20 times, exit code 4/1 times, exit code 4' ]
