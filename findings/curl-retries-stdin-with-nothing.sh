#!/usr/bin/env bash
# `curl --retry` with `-T -` sends the body of stdin once. When the service answers 503, the further tries have an empty body, because
# stdin is at its end by then. The service takes the empty one, and curl ends with 0: a record or a file is replaced by nothing.
# `--data-binary @-` keeps the body and sends it each time.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # apt changes its user
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq curl=7.88.1-10+deb12u15 libcurl4=7.88.1-10+deb12u15 2>/dev/null
for file in *.deb; do dpkg -x "$file" .; done
LD_LIBRARY_PATH="$folder/usr/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH
# The service answers the first write to each path with 503, and the second with what it has received.
cat >service.cjs <<'END_OF_SERVICE'
const busy = new Set();
const server = require('node:http').createServer((request, response) => {
  let body = '';
  request.on('data', (data) => (body += data));
  request.on('end', () => {
    if (busy.has(request.url)) return response.end(`${body.length} bytes`);
    busy.add(request.url);
    response.writeHead(503, { 'Retry-After': '1' }).end();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
END_OF_SERVICE
node service.cjs >port &
until [ -s port ]; do sleep 0.1; done
send() { # send <path> <flags of curl>
  local code=0
  usr/bin/curl -q -s --retry 2 "${@:2}" "http://127.0.0.1:$(cat port)/$1" <record.json || code=$?
  echo ", exit code $code"
}
echo '{"name":"Rex"}' >record.json
echo "curl $(usr/bin/curl --version | cut -d' ' -f2 | sed -n 1p), a body of $(wc -c <record.json) bytes and a service that is busy once"
upload=$(send 1 -T -)
named=$(send 2 -T record.json)
data=$(send 3 -X PUT --data-binary @-)
printf '%s\n' "-T -: $upload" "-T record.json: $named" "--data-binary @-: $data"
[ "$upload/$named/$data" = '0 bytes, exit code 0/15 bytes, exit code 0/15 bytes, exit code 0' ]
