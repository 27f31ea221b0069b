import { spawn, spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { cliPath, nodeBinary, type Outcome, outcomeOf, spawnCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { testIf } from '../helpers/tools.ts';
import { type Case, cases, type Result, runCases } from './cases.ts';
import type { Setup } from './modes.ts';

/** Commands that send few requests, over node:http, and one of those that may send many, over undici. */
const commands = {
  few: { list: 'inventory list -o ids', create: 'categories create --name Dogs', set: 'inventory set 1 5' },
  // It ends as a list does: both may be sent again.
  many: { list: 'inventory delete 1 --yes' },
} as const;

describe.each(Object.entries(commands))(
  'the built program, for %s requests, with a service that',
  (_, lines) => {
    const line = ({ ask }: Case) => (lines as Readonly<Record<string, string>>)[ask];
    const chosenCases = cases.filter((testCase) => testCase.spoilsProcess && line(testCase));
    let results: ReadonlyMap<Case, Result>;
    beforeAll(async () => {
      results = await runCases(chosenCases, 8, async (setup, testCase) => {
        const { code, stderr, milliseconds: ms } = await play(`${line(testCase)}`, setup, testCase);
        return { exit: code, text: stderr, ms };
      });
    }, 300_000);

    test.each(chosenCases)('$name', (testCase) => {
      const { exit, text, requests } = results.get(testCase)!;
      expect(text).toMatch(testCase.says ?? (testCase.exit === 0 ? /^(?!.*error:)/s : /^error: /m));
      expect(text).not.toMatch(/\n {4}at |s3cret-word/);
      expect(exit).toBe(testCase.exit);
      expect(requests).toBeGreaterThanOrEqual(testCase.requests[0]);
      expect(requests).toBeLessThanOrEqual(testCase.requests[1]);
    });
  },
);

/** Runs the built program in a setup. */
async function play(line: string, setup: Setup, testCase: Case): Promise<Outcome> {
  const folder = temporaryFolder();
  const words =
    `${line} --timeout ${testCase.timeoutMs ?? 30_000}ms --retries ${testCase.retries ?? 4}`.split(' ');
  if (setup.caCert !== undefined) writeFileSync(join(folder, 'ca.pem'), setup.caCert);
  const trust = setup.caCert !== undefined && { PETSTORE_CA_CERT: join(folder, 'ca.pem') };
  const env = { ...setup.env, ...trust, PETSTORE_STATE_DIR: join(folder, 'state') };
  return await spawnCli([...words, '--base-url', setup.baseUrl], { env, cwd: folder });
}

/** Only root may replace the list of name servers for one process, and listen on their port. */
const mayReplaceNameServers = spawnSync('unshare', ['--mount', 'true']).status === 0;
const obstacle = mayReplaceNameServers ? undefined : 'needs unshare, and root';

/** An address of this machine that no other run of the tests uses at the same time. */
function ownAddress(at: number): string {
  const number = 2 ** 23 + (process.pid % 2 ** 20) * 4 + at;
  return `127.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}

/** A name server that receives requests and never answers. Before it listens, a lookup would fail at once. */
async function nameServer(address: string): Promise<Socket & Disposable> {
  const socket = createSocket('udp4').bind(53, address);
  await once(socket, 'listening');
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
  ['Ctrl-C', ownAddress(0), ['pets', 'list', '--base-url', 'http://pets.invalid'], 130],
  ['--timeout', ownAddress(1), ['pets', 'list', '--base-url', 'http://pets.invalid', '--timeout', '1s'], 6],
  ['a Tab', ownAddress(2), ['__complete', '--', '--base-url', 'http://pets.invalid', 'pets', 'get', ''], 0],
])('%s does not wait long for a name server that never answers', async (_, address, argv, code) => {
  using server = await nameServer(address);
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
