#!/usr/bin/env bash
# A process that only ends a connection should leave its standard streams alone. Node opens process.stderr the first time that
# it destroys a socket, although nothing is printed. If stderr is a pipe, its open file becomes non-blocking, and that holds
# for every process that shares the pipe: a shell, or a sibling whose long message then fails with EAGAIN.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node@26.10.0 >/dev/null 2>&1
cat >try.mjs <<'END'
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
// The shell that has started this process shares its stderr.
const mode = () => {
  const [, flags] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/${process.ppid}/fdinfo/2`, 'utf8'));
  return parseInt(flags, 8) & 0o4000 ? 'non-blocking' : 'blocking';
};
const server = net.createServer(() => {});
await once(server.listen(0, '127.0.0.1'), 'listening');
const socket = net.connect(server.address().port, '127.0.0.1');
await once(socket, 'connect');
const before = mode();
socket.destroy();
const after = mode();
console.log(`Node version ${process.version}: the shell's stderr is ${before} before a socket is destroyed, and ${after} after it`);
process.exit(before === 'blocking' && after === 'non-blocking' ? 0 : 1);
END
bash -c 'node_modules/.bin/node try.mjs; exit $?' 2> >(cat >&2)
