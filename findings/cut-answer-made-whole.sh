#!/usr/bin/env bash
# An answer in chunks that breaks off before its last chunk is cut (RFC 9112, 8). Caddy, lighttpd and h2o, as Debian 12 has
# them, add the last chunk themselves, so that the client gets what was cut as a whole answer. HAProxy does not.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # apt changes its user
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download caddy=2.6.2-5 lighttpd=1.4.69-1 h2o=2.2.5+dfsg2-7 haproxy=2.6.12-1+deb12u4 \
  libyaml-0-2=0.2.5-1 liblua5.3-0=5.3.6-2 libopentracing-c-wrapper0=1.1.3-3+b1 libopentracing1=1.6.0-4 >/dev/null
for package in *.deb; do dpkg -x "$package" debian; done
library=debian/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH="$folder/$library"
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
service=$(cat port)
free() { node -e "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })"; }
declare -A ports=([caddy]=$(free) [lighttpd]=$(free) [h2o]=$(free) [haproxy]=$(free))

printf '{\nadmin off\n}\nhttp://127.0.0.1:%s {\nreverse_proxy 127.0.0.1:%s\n}\n' "${ports[caddy]}" "$service" >Caddyfile
HOME=$folder debian/usr/bin/caddy run --config Caddyfile --adapter caddyfile >caddy.log 2>&1 &

cat >lighttpd.conf <<END
server.modules = ( "mod_proxy" )
server.document-root = "$folder"
server.bind = "127.0.0.1"
server.port = ${ports[lighttpd]}
proxy.server = ( "" => ( ( "host" => "127.0.0.1", "port" => $service ) ) )
END
debian/usr/sbin/lighttpd -D -m "$folder/debian/usr/lib/lighttpd" -f lighttpd.conf >lighttpd.log 2>&1 &

cat >h2o.conf <<END
listen: { host: 127.0.0.1, port: ${ports[h2o]} }
hosts: { default: { paths: { /: { proxy.reverse.url: "http://127.0.0.1:$service/" } } } }
END
[ "$(id -u)" = 0 ] && echo 'user: root' >>h2o.conf
debian/usr/bin/h2o -c h2o.conf >h2o.log 2>&1 &

cat >haproxy.cfg <<END
defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
listen pets
  bind 127.0.0.1:${ports[haproxy]}
  server s 127.0.0.1:$service
END
debian/usr/sbin/haproxy -db -f haproxy.cfg >haproxy.log 2>&1 &

seen=
for name in caddy lighttpd h2o haproxy; do
  for _ in $(seq 100); do curl -s -o /dev/null "http://127.0.0.1:${ports[$name]}/" || [ $? = 18 ] && break; sleep 0.1; done
  status=0
  curl -s -o /dev/null "http://127.0.0.1:${ports[$name]}/" || status=$?
  seen+="$name $status "
done
echo "$(debian/usr/bin/caddy version | sed -n 1p || true) (caddy), $(debian/usr/sbin/lighttpd -v | sed -n 1p), $(debian/usr/bin/h2o -v | sed -n 1p), $(debian/usr/sbin/haproxy -v | sed -n 1p)"
echo "exit code of curl, 0 for a whole answer and 18 for one that is cut: $seen"
[ "$seen" = 'caddy 0 lighttpd 0 h2o 0 haproxy 18 ' ]
