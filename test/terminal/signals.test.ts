import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Signal } from '../../src/process/errors.ts';
import { Stop } from '../../src/process/signals.ts';
import { answer, misbehave, type Script } from '../helpers/misbehaving-server.ts';
import { cliPath, handlesSignals, nodeBinary, outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { testWith } from '../helpers/tools.ts';
import * as mode from '../network/modes.ts';

const later = { status: 503, headers: { 'retry-after': '20' } };

interface Stall {
  readonly name: string;
  readonly script: Script;
  /** The base URL; that of the server by default. */
  readonly baseUrl?: (port: number) => string;
  readonly isProxy?: true;
}

const stalls: readonly Stall[] = [
  { name: 'a service that says nothing', script: mode.accept },
  { name: 'a service that never answers', script: mode.always(mode.silence) },
  { name: 'a body that drips', script: mode.always(mode.dripBody) },
  { name: 'a stall in TLS', script: mode.accept, baseUrl: (port) => `https://127.0.0.1:${port}` },
  {
    name: 'a silent proxy',
    script: mode.always(mode.silence),
    baseUrl: () => 'https://a.invalid',
    isProxy: true,
  },
  { name: 'a long Retry-After', script: mode.always((exchange) => answer(exchange, later)) },
];

test.concurrent.each([
  ...stalls.map((stall) => ({ ...stall, signal: 'SIGINT', code: 130 }) as const),
  { ...(stalls[0] as Stall), signal: 'SIGTERM', code: 143 } as const,
])(
  '$signal ends $name with $code, long before its deadline',
  async ({ script, baseUrl, isProxy, signal, code }) => {
    await using server = await misbehave(script);
    const target = baseUrl?.(server.port) ?? server.url;
    const env = isProxy ? { HTTPS_PROXY: server.url } : {};
    const child = startCli(['inventory', 'list', '--base-url', target, '--timeout', '60s'], { env });
    const outcome = outcomeOf(child);
    while (server.connections === 0 && child.exitCode === null) await sleep(20);
    await handlesSignals(child);
    await sleep(100);
    child.kill(signal);
    expect(await outcome).toMatchObject({ code, stdout: '', stderr: 'error: interrupted\n' });
  },
);

const list = 'pets list --base-url https://127.0.0.1:1';

test.concurrent.each([
  ['pets create --offline --yes --from pipe', {}, 'SIGINT', 130],
  ['inventory apply --offline --yes pipe', {}, 'SIGTERM', 143],
  ['api request POST /pets --offline --input pipe', {}, 'SIGHUP', 129],
  ['api bind pipe', {}, 'SIGINT', 130],
  [list, { PETSTORE_CA_CERT: 'pipe' }, 'SIGTERM', 143],
  [list, { PETSTORE_CLIENT_CERT: 'pipe' }, 'SIGTERM', 143],
] as const)('%s %j at its named pipe is ended by %s', async (line, env, signal, code) => {
  const cwd = temporaryFolder();
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  const child = startCli(line.split(' '), { cwd, env: { PETSTORE_STATE_DIR: join(cwd, 'state'), ...env } });
  const outcome = outcomeOf(child);
  await handlesSignals(child);
  await sleep(300);
  child.kill(signal);
  expect(await outcome).toMatchObject({ code, stderr: 'error: interrupted\n' });
});

test.concurrent('Ctrl-C ends the parsing of a long description with exit code 130', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'long.yaml');
  const keys = Array.from({ length: 1_200_000 }, (_, at) => `  key${at}: value\n`).join('');
  writeFileSync(file, `openapi: 3.0.3\nx-long:\n${keys}`);
  const child = startCli(['api', 'bind', file], { env: { PETSTORE_CONFIG_DIR: folder } });
  const outcome = outcomeOf(child);
  await handlesSignals(child);
  await sleep(300);
  // It is not visible from outside when the parsing begins, and a key that is pressed right before is heard only after it.
  const pressing = setInterval(() => child.kill('SIGINT'), 200);
  const { code, stderr } = await outcome;
  clearInterval(pressing);
  // Before and after the parsing the program itself ends.
  expect(child.signalCode === 'SIGINT' ? 130 : code).toBe(130);
  expect(stderr).toMatch(/^(error: interrupted\n)?$/);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('synchronous work ends at %s', async (signal) => {
  const outfile = join(temporaryFolder(), 'work.cjs');
  const contents = `
    import { writeSync } from 'node:fs';
    import { withDefaultSignals } from './src/process/io.ts';
    process.on('${signal}', () => {});
    withDefaultSignals(() => { writeSync(1, 'working'); for (;;); });`;
  const stdin = { contents, resolveDir: process.cwd(), loader: 'ts' } as const;
  await build({ stdin, bundle: true, platform: 'node', outfile, logLevel: 'error' });
  const child = spawn(nodeBinary, [outfile]);
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill(signal);
  expect(await exit).toEqual([null, signal]);
});

/** Starts the program in a terminal of its own, closes that once the text is drawn, and returns the exit code. */
async function codeWhenClosed(argv: readonly string[], text: string) {
  const folder = temporaryFolder();
  const result = join(folder, 'code');
  const program = [nodeBinary, cliPath, ...argv].map((word) => `'${word}'`).join(' ');
  const start = `sh -c 'echo $$ > ${folder}/pid; exec "$@"' sh ${program}`;
  const line = `trap '' HUP; ${start}; echo "code $?" > '${result}'`;
  const shell = { PATH: process.env.PATH, SHELL: '/bin/sh', TERM: 'xterm' };
  const env = { ...shell, PETSTORE_STATE_DIR: folder, PETSTORE_CONFIG_DIR: folder };
  const child = spawn('script', ['-qefc', line, '/dev/null'], { env });
  let drawn = '';
  child.stdout.on('data', (piece) => {
    drawn += piece;
  });
  while (!drawn.includes(text)) {
    if (child.exitCode !== null) throw new Error(drawn);
    await sleep(10);
  }
  // Without its other end the terminal is gone, and a shell hangs up its jobs.
  child.kill('SIGKILL');
  process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGHUP');
  while (!existsSync(result) || !readFileSync(result, 'utf8').endsWith('\n')) await sleep(10);
  return readFileSync(result, 'utf8').trim();
}

testWith('script').each([
  ['a list that is watched', ['pets', 'list', '--offline', '--watch'], 'Luna'],
  ['a question', ['pets', 'create', '--offline'], 'Name'],
])('a terminal that is closed ends %s with 129, and not with a native stack', async (_, argv, text) => {
  expect(await codeWhenClosed(argv, text)).toBe('code 129');
});

/** Starts work without an end, sends it signals, and returns its stop. */
function interrupt(...signals: readonly Signal[]) {
  const stop = new Stop();
  void stop.inTwoSteps(
    () => {},
    () => new Promise(() => {}),
  );
  for (const signal of signals) stop.onSignal(signal);
  return stop;
}

test('work that goes on 10.5 s after a signal, or 0.5 s after the second one, ends with the command', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [once, twice] = [interrupt('SIGINT'), interrupt('SIGINT', 'SIGTERM', 'SIGHUP')];
  vi.advanceTimersByTime(500);
  expect([once.ended.aborted, twice.ended.reason.exitCode]).toEqual([false, 143]);
  vi.advanceTimersByTime(10_000);
  expect(once.ended.reason.exitCode).toBe(130);
});
