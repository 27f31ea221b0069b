#!/usr/bin/env bash
# An HTTP/2 client may end a request without a body by an empty DATA frame. HAProxy and nghttpx pass such a POST or DELETE on to an HTTP/1.1
# service as `Transfer-Encoding: chunked` with nothing in it, which Fastify takes for a body of a type that it does not know: 415. nginx
# in front says `Content-Length: 0`, and the same request is 200.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # apt changes its user
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
for package in haproxy=2.6.12-1+deb12u4 liblua5.3-0=5.3.6-2 libopentracing-c-wrapper0=1.1.3-3+b1 libopentracing1=1.6.0-4 \
  nghttp2-proxy=1.52.0-1+deb12u3 libnghttp2-14=1.52.0-1+deb12u3 libev4=1:4.33-1 libjemalloc2=5.3.0-1 libc-ares2=1.18.1-3 \
  libbpf1=1:1.1.2-0+deb12u1 nginx=1.22.1-9+deb12u11; do
  apt-get download -qq "$package" 2>/dev/null
done
for file in *.deb; do dpkg -x "$file" debian; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund fastify@5.12.8 >/dev/null 2>&1
libraries="$folder/debian/usr/lib/$(uname -m)-linux-gnu"
run() { LD_LIBRARY_PATH=$libraries "$@"; }
cat >service.cjs <<'END'
const service = require('fastify')();
service.post('/orders/1/complete', async () => 'completed');
service.delete('/pets/1', async () => 'deleted');
service.listen({ port: 0, host: '127.0.0.1' }).then((url) => console.log(url.slice('http://'.length)));
END
node service.cjs >address &
until [ -s address ]; do sleep 0.1; done
service=$(cat address)
free() { node -e "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })"; }
declare -A ports=([haproxy]=$(free) [nghttpx]=$(free) [nginx]=$(free))
cat >haproxy.cfg <<END
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  bind 127.0.0.1:${ports[haproxy]} proto h2
  default_backend back
backend back
  server service $service
END
run debian/usr/sbin/haproxy -f haproxy.cfg -db >haproxy.log 2>&1 &
run debian/usr/sbin/nghttpx --conf=/dev/null --workers=1 -f "127.0.0.1,${ports[nghttpx]};no-tls" -b "${service/:/,}" >nghttpx.log 2>&1 &
cat >nginx.conf <<END
daemon off;
pid $folder/pid;
events {}
http {
  access_log off;
  client_body_temp_path $folder/t1; proxy_temp_path $folder/t2; fastcgi_temp_path $folder/t3; uwsgi_temp_path $folder/t4; scgi_temp_path $folder/t5;
  server { listen 127.0.0.1:${ports[nginx]} http2; location / { proxy_pass http://$service; proxy_http_version 1.1; } }
}
END
run debian/usr/sbin/nginx -e "$folder/nginx.log" -c "$folder/nginx.conf" 2>/dev/null &
cat >try.mjs <<'END'
import { connect } from 'node:http2';
const send = (port, method, path, endStream) =>
  new Promise((resolve, reject) => {
    const client = connect(`http://127.0.0.1:${port}`).on('error', reject);
    const request = client.request({ ':method': method, ':path': path }, { endStream });
    if (!endStream) request.end();
    request.on('response', (headers) => resolve(headers[':status'])).on('error', reject).resume().on('end', () => client.close());
  });
for (const gateway of process.argv.slice(2)) {
  const [name, port] = gateway.split('=');
  const seen = [];
  for (const endStream of [true, false])
    for (const [method, path] of [['POST', '/orders/1/complete'], ['DELETE', '/pets/1']])
      seen.push(await send(port, method, path, endStream));
  console.log(`${name}: ${seen.join(' ')}`);
}
END
for port in "${ports[@]}"; do for _ in $(seq 100); do (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done; done
echo "Fastify $(node -p "require('fastify/package.json').version"), $(run debian/usr/sbin/haproxy -v | sed -n 1p), $(run debian/usr/sbin/nghttpx --version), $(run debian/usr/sbin/nginx -v 2>&1)"
echo 'POST and DELETE ended with the head, then ended by an empty frame'
seen=$(node try.mjs "haproxy=${ports[haproxy]}" "nghttpx=${ports[nghttpx]}" "nginx=${ports[nginx]}")
echo "$seen"
[ "$seen" = 'haproxy: 200 200 415 415
nghttpx: 200 200 415 415
nginx: 200 200 200 200' ]
