#!/usr/bin/env bash
# A kept connection to the service closes after it has read a PUT or POST, before the answer. HAProxy answers an HTTP/1.1 client with 502,
# but an HTTP/2 one with REFUSED_STREAM, which says that nothing was done and that the request may be sent again (RFC 9113, 8.7). curl
# does so, POSTs too: the service carries out one write six times.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # apt changes its user
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
for package in haproxy=2.6.12-1+deb12u4 liblua5.3-0=5.3.6-2 libopentracing-c-wrapper0=1.1.3-3+b1 libopentracing1=1.6.0-4; do
  apt-get download -qq "$package" 2>/dev/null
done
for file in *.deb; do dpkg -x "$file" .; done
LD_LIBRARY_PATH="$folder/usr/lib/$(uname -m)-linux-gnu"
haproxy() { LD_LIBRARY_PATH=$LD_LIBRARY_PATH usr/sbin/haproxy "$@"; }
# The service answers a GET, and closes the connection when it has carried out a write.
cat >service.cjs <<'END'
const writes = [];
const server = require('node:http').createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let body = '';
  request.on('data', (data) => (body += data)).on('end', () => {
    if (request.method === 'GET') return response.end(`${writes.splice(0).length}\n`);
    writes.push(body);
    request.socket.destroy();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
END
node service.cjs >port &
until [ -s port ]; do sleep 0.1; done
service=127.0.0.1:$(cat port)
gateway=$(node -e "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })")
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 2 -subj /CN=localhost 2>/dev/null
cat key.pem certificate.pem >both.pem
cat >haproxy.cfg <<END
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  bind 127.0.0.1:$gateway ssl crt both.pem alpn h2,http/1.1
  default_backend back
backend back
  server service $service
END
haproxy -f haproxy.cfg -db >log 2>&1 &
url=https://127.0.0.1:$gateway/stock
for _ in $(seq 100); do curl -sk -o /dev/null "$url" && break; sleep 0.1; done
# write <flags of curl>: the GET makes a connection to the service, the write uses it again
write() {
  curl -s "http://$service/" >/dev/null
  local code=0 status
  status=$(curl -sk "$url" -o /dev/null --next -sk "$@" -d '{"quantity":5}' -o /dev/null -w '%{http_code}' "$url") || code=$?
  echo "exit code $code, status $status, carried out $(curl -s "http://$service/") times"
}
haproxy -v | sed -n 1p
curl --version | sed -n 1p | cut -d' ' -f1,2
old=$(write --http1.1 -X PUT)
put=$(write --http2 -X PUT)
post=$(write --http2 -X POST)
printf '%s\n' "HTTP/1.1, PUT: $old" "HTTP/2, PUT: $put" "HTTP/2, POST: $post"
[ "$old" = 'exit code 0, status 502, carried out 1 times' ]
[ "$put" = 'exit code 56, status 000, carried out 6 times' ]
[ "$post" = "$put" ]
