#!/usr/bin/env bash
# process.exit does not end a process that looks up a name: Node joins the thread of getaddrinfo, which nothing can cancel.
# With a name server that does not answer, a program ends as long after its exit as the resolver waits, 5 to 30 s by
# default. (process.execve and a signal do end it.) Needs root, to name another server in a mount namespace of its own.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node@26.10.0 >/dev/null 2>&1
printf 'nameserver 127.9.9.9\noptions timeout:4 attempts:1\n' >resolv.conf
node -e "require('node:dgram').createSocket('udp4').bind(53, '127.9.9.9')" &
sleep 1
cat >try.js <<'END'
require('node:dns').lookup('pets.invalid', () => {});
setTimeout(() => {
  if (process.argv[2] === 'execve') process.execve(process.execPath, [process.execPath, '-e', 'process.exit(7)'], {});
  process.exit(7);
}, 500);
END
seconds() {
  local began code=0
  began=$(date +%s%N)
  unshare --mount sh -c 'mount --bind "$0" /etc/resolv.conf && exec "$@"' "$folder/resolv.conf" node_modules/.bin/node try.js "$1" || code=$?
  [ "$code" = 7 ]
  echo $((($(date +%s%N) - began) / 1000000000))
}
exit=$(seconds exit)
execve=$(seconds execve)
echo "Node $(node_modules/.bin/node --version): exit after 0.5 s, ended after $exit s; with process.execve after $execve s"
[ "$exit" -ge 4 ] && [ "$execve" -lt 4 ]
