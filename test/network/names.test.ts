import { spawn, spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { cliPath, nodeBinary, outcomeOf } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { testIf } from '../helpers/tools.ts';

/** Only root may replace the list of name servers for one process, and listen on their port. */
const mayReplaceNameServers = spawnSync('unshare', ['--mount', 'true']).status === 0;
const obstacle = mayReplaceNameServers ? undefined : 'needs unshare, and root';
const hasExecve = spawnSync(nodeBinary, ['-p', '!!process.execve']).stdout.toString() === 'true\n';

/** A name server at an address of this machine, which asks to be answered. */
function nameServer(address: string): Socket & Disposable {
  const socket = createSocket('udp4').bind(53, address);
  return Object.assign(socket, { [Symbol.dispose]: () => socket.close() });
}

/** Starts the program with one name server. */
function start(address: string, ...argv: readonly string[]) {
  const list = join(temporaryFolder(), 'resolv.conf');
  writeFileSync(list, `nameserver ${address}\n`);
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const words = ['--mount', 'sh', '-c', script, list, nodeBinary, cliPath, ...argv];
  const env = { PATH: process.env.PATH, PETSTORE_CONFIG_DIR: '/nonexistent/petstore-config' };
  const child = spawn('unshare', words, { env });
  return { child, outcome: outcomeOf(child) };
}

testIf(obstacle).concurrent.each([
  ['Ctrl-C', '127.7.7.7', ['pets', 'list', '--base-url', 'http://pets.invalid'], 130],
  ['--timeout', '127.7.7.6', ['pets', 'list', '--base-url', 'http://pets.invalid', '--timeout', '1s'], 6],
  ['a Tab', '127.7.7.8', ['__complete', '--', '--base-url', 'http://pets.invalid', 'pets', 'get', ''], 0],
])('%s does not wait long for a name server that never answers', async (_, address, argv, code) => {
  using server = nameServer(address);
  const asked = once(server, 'message');
  const { child, outcome } = start(address, ...argv);
  // On a busy machine a Tab gives up before it asks.
  await Promise.race([asked, outcome]);
  const began = performance.now();
  if (code === 130) child.kill('SIGINT');
  expect(await outcome).toMatchObject({ code, stdout: '' });
  // A process that waited for the answer could not end before the 10 s of glibc.
  expect(performance.now() - began).toBeLessThan(9000);
});

testIf(obstacle ?? (hasExecve ? undefined : 'needs process.execve'))(
  'a name server that takes 4 s is waited for',
  async () => {
    await using service = await recordingServer({ '/pets': [], '/categories': [] });
    using server = nameServer('127.7.7.9');
    server.on('message', async (query, from) => {
      await sleep(4000);
      server.send(answerOf(query), from.port, from.address);
    });
    const { port } = new URL(service.url);
    const { outcome } = start(
      '127.7.7.9',
      'pets',
      'list',
      '-o',
      'json',
      '--base-url',
      `http://pets.invalid:${port}`,
    );
    expect(await outcome).toMatchObject({ code: 0, stdout: '[]\n' });
  },
);

/** The answer to a query for one name: 127.0.0.1 to one for IPv4, no address to any other. @see RFC 1035, 4.1 */
function answerOf(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const isV4 = query.readUInt16BE(end - 4) === 1;
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isV4 ? 1 : 0, 0, 0, 0, 0]);
  const address = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 127, 0, 0, 1];
  return Buffer.concat([header, query.subarray(12, end), Buffer.from(isV4 ? address : [])]);
}
