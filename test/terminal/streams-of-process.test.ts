import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { misbehave } from '../helpers/misbehaving-server.ts';
import { type RecordingServer, recordingServer } from '../helpers/recording-server.ts';
import { failed } from '../helpers/run-cli.ts';
import {
  cliPath,
  handlesSignals,
  nodeBinary,
  type Outcome,
  outcomeOf,
  startCli,
} from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { testWith } from '../helpers/tools.ts';
import { accept } from '../network/modes.ts';

const testInBash = testWith('bash');

const manyRows = 6000;
const fewRows = 300;

/** Whether the second page is missing, or an error. */
type Mode = 'whole' | 'broken';

function petsPage(rows: number): string {
  const name = 'One pet of a very large shop. '.repeat(30);
  return JSON.stringify(
    Array.from({ length: rows }, (_, at) => ({ name, id: at + 1, categoryId: 1, status: 'sold' })),
  );
}

let server: RecordingServer;

/** Answers `/<mode>/<rows>/pets` with a page of so many rows. */
beforeAll(async () => {
  const pages = new Map([manyRows, fewRows].map((rows) => [String(rows), petsPage(rows)]));
  server = await recordingServer({}, ({ path }) => {
    const [, mode, rows = ''] = path.split('/');
    if (path.includes('after')) return { status: 500, body: '' };
    const headers = mode === 'whole' ? {} : { link: `</${mode}/${rows}/pets?after=1>; rel="next"` };
    return { headers, body: pages.get(rows) };
  });
});
afterAll(() => server[Symbol.asyncDispose]());

function words(mode: Mode, rows = fewRows): string[] {
  return ['pets', 'list', '-o', 'jsonl', '--retries', '0', '--base-url', `${server.url}/${mode}/${rows}`];
}

/** Runs the program as `$petstore` in a shell, which has the pipes and files that a test asks for. */
function inShell(script: string, rows = fewRows): Promise<Outcome> {
  const folders = 'PETSTORE_CONFIG_DIR=/nonexistent PETSTORE_STATE_DIR=/dev/null/state';
  const petstore = ['env', folders, nodeBinary, cliPath, ...words('whole', rows)].join(' ');
  return outcomeOf(spawn('bash', ['--norc', '-c', `petstore='${petstore}'; ${script}`]));
}

test.each([
  ['whole', 0],
  ['broken', 6],
] as const)('5 MB into a slow reader arrive whole: %s, exit code %i', async (mode, code) => {
  const child = startCli(words(mode, manyRows));
  let bytes = 0;
  let tail = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    tail = chunk.subarray(-200).toString();
    child.stdout?.pause();
    setTimeout(() => child.stdout?.resume(), 4);
  });
  const [exit] = await once(child, 'close');
  expect(exit).toBe(code);
  expect(bytes).toBeGreaterThan(5_000_000);
  expect(tail.trimEnd().split('\n').at(-1)).toContain(`"id":${manyRows},`);
});

testInBash('5 MB into a pipe with a slow reader arrive whole', async () => {
  const run = await inShell('$petstore | { sleep 0.1; tail -1; }', manyRows);
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining(`"id":${manyRows},`), stderr: '' });
});

testInBash.each(['jsonl', 'table'])(
  'a reader that leaves early ends the run in silence: %s',
  async (format) => {
    const run = await inShell(`$petstore -o ${format} | head -c 10; echo " codes \${PIPESTATUS[*]}"`);
    expect(run.stdout).toMatch(/ codes 0 0\n$/);
    expect(run.stderr).toBe('');
  },
);

testInBash('--fail-if sets the exit code even if the reader leaves early', async () => {
  const run = await inShell('$petstore --fail-if any | head -1 > /dev/null; echo $PIPESTATUS');
  expect(run).toMatchObject({ stdout: '8\n', stderr: '' });
});

testInBash('a full disk is a failure with its reason', async () => {
  for (const line of ['$petstore', `${nodeBinary} ${cliPath} --version`]) {
    expect(await inShell(`${line} > /dev/full`)).toMatchObject(
      failed(1, 'write to stdout: no space left on device'),
    );
  }
});

testInBash('a stderr that is closed or full changes no exit code', async () => {
  const run = await inShell(`$petstore --sort x 2>&-; echo $?; $petstore --sort x 2>/dev/full; echo $?
    \${petstore/pets list/api operations} -o ids --fields sunset 2>/dev/full >/dev/null; echo $?`);
  expect(run.stdout).toBe('2\n2\n0\n');
});

test.concurrent.each(['jsonl', 'table'])(
  'Ctrl-C ends a command whose reader is stalled: %s',
  async (format) => {
    const child = startCli([...words('whole', manyRows), '-o', format]);
    const exit = once(child, 'exit');
    await once(child.stdout ?? child, 'readable');
    child.kill('SIGINT');
    const [code] = await exit;
    expect(code).toBe(130);
    child.stdout?.destroy();
  },
);

testInBash('SIGTERM ends a command whose stderr is stalled', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const full = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(full, Buffer.alloc(4096));
  }).toThrow('EAGAIN');
  await using server = await misbehave(accept);
  const env = { ...process.env, PETSTORE_CONFIG_DIR: '/nonexistent/petstore-config' };
  const argv = [cliPath, 'pets', 'list', '--base-url', server.url];
  const child = spawn(nodeBinary, argv, { env, stdio: ['ignore', 'ignore', openSync(pipe, 'r+')] });
  const exit = once(child, 'exit');
  await handlesSignals(child);
  child.kill('SIGTERM');
  expect(await exit).toEqual([143, null]);
});
