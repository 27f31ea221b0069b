import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { answer, misbehave, type Script } from '../helpers/misbehaving-server.ts';
import { handlesSignals, outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
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
  ...stalls.map((stall) => ({ ...stall, signal: 'SIGINT', code: 130, says: 'interrupted' }) as const),
  { ...(stalls[0] as Stall), signal: 'SIGTERM', code: 143, says: 'terminated' } as const,
])(
  '$signal ends $name with $code, long before its deadline',
  async ({ script, baseUrl, isProxy, signal, code, says }) => {
    await using server = await misbehave(script);
    const target = baseUrl?.(server.port) ?? server.url;
    const env = isProxy ? { HTTPS_PROXY: server.url } : {};
    const child = startCli(['inventory', 'list', '--base-url', target, '--timeout', '60s'], { env });
    const outcome = outcomeOf(child);
    while (server.connections === 0 && child.exitCode === null) await sleep(20);
    await handlesSignals(child);
    await sleep(100);
    child.kill(signal);
    expect(await outcome).toMatchObject({ code, stdout: '', stderr: `error: ${says}\n` });
  },
);

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
