#!/usr/bin/env bash
# An answer in chunks that breaks off before its last chunk is cut (RFC 9112, 8). HAProxy passes the cut on to an HTTP/1.1 client, but to
# an HTTP/2 one it ends the stream as if it were whole, where it should reset it. The same service, the same gateway: what is an error
# in HTTP/1.1 is a short list in HTTP/2.
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
# The service lists two of its pets, and breaks off.
cat >service.cjs <<'END'
const server = require('node:http').createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.write('id\n1\n2\n');
  setTimeout(() => request.socket.destroy(), 100);
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
url=https://127.0.0.1:$gateway/pets
for _ in $(seq 100); do curl -sk -o /dev/null --http2 "$url" && break; sleep 0.1; done
# list <flag of curl>: exit code 0 for a whole answer, 18 for one that is cut
list() {
  local code=0 status
  status=$(curl -sk "$1" -o body -w '%{http_code}' "$url") || code=$?
  echo "exit code $code, status $status, $(wc -l <body) lines"
}
haproxy -v | sed -n 1p
curl --version | sed -n 1p | cut -d' ' -f1,2
old=$(list --http1.1)
new=$(list --http2)
printf '%s\n' "HTTP/1.1: $old" "HTTP/2: $new"
[ "$old" = 'exit code 18, status 200, 3 lines' ]
[ "$new" = 'exit code 0, status 200, 3 lines' ]
