import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import { type Ask, type Case, cases, type Result, runCases, type Scene } from './cases.ts';

/** A command line for each request: one set of commands sends few requests, the other many. */
type Commands = Readonly<Partial<Record<Ask, { readonly argv: readonly string[]; readonly stdin?: string }>>>;

/** Commands that send few requests, over node:http. */
const few: Commands = {
  list: { argv: ['inventory', 'list', '-o', 'ids'] },
  set: { argv: ['inventory', 'set', '1', '5'] },
  create: { argv: ['categories', 'create', '--name', 'Dogs'] },
  delete: { argv: ['inventory', 'delete', '1', '--yes'] },
};

/** Commands that send many, over undici. */
const many: Commands = {
  set: {
    argv: ['inventory', 'apply', '-', '--yes'],
    stdin: 'petId,quantity\n1,5\n',
  },
};

const chosen = cases.filter((one) => one.spoilsProcess);

describe.each([
  { kind: 'few', commands: few, played: chosen },
  { kind: 'many', commands: many, played: chosen.flatMap(asWrite) },
])('the built program, for $kind requests, with a service that', ({ commands, played }) => {
  let results: ReadonlyMap<Case, Result>;
  beforeAll(async () => {
    results = await runCases(played, (scene, one) => playBinary(commands, scene, one), 8);
  }, 300_000);

  test.each(played)('$name', (one) => {
    const { exit, text, requests, ms } = results.get(one)!;
    expect(text).toMatch(one.says ?? (one.exit === 0 ? /^(?!.*error:)/s : /^error: /m));
    expect(text).not.toMatch(/\n {4}at |s3cret-word/);
    expect(exit).toBe(one.exit);
    expect(requests).toBeGreaterThanOrEqual(one.requests[0]);
    expect(requests).toBeLessThanOrEqual(one.requests[1]);
    if (one.ms) expect(ms).toBeLessThan(one.ms[1] + 5000);
  });
});

/** The case as a bulk write meets it: one row, whose summary says why in words of its own. */
function asWrite(one: Case): Case[] {
  if (one.notAsWrite || (one.ask !== 'list' && one.ask !== 'set')) return [];
  const { says: _, ...rest } = one;
  const [least, most] = one.requests;
  // A row that is not there is a failed row, and one that was refused may be read once more to say what it is now.
  return [{ ...rest, ask: 'set', exit: one.exit === 5 ? 1 : one.exit, requests: [least, most + 1] }];
}

/** Runs the built program in a scene. */
async function playBinary(
  commands: Commands,
  scene: Scene,
  one: Case,
): Promise<Pick<Result, 'exit' | 'text' | 'ms'>> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-tls-'));
  try {
    const child = await startBinary(commands, scene, one, folder);
    const { code, stdout, stderr, milliseconds } = await outcomeOf(child);
    // Commands on many records print their summary with its reasons on stdout.
    return { exit: code, text: code === 0 ? stderr : stderr + stdout, ms: milliseconds };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function startBinary(commands: Commands, scene: Scene, one: Case, folder: string) {
  const { argv, stdin = '' } = commands[one.ask] ?? { argv: [] };
  const { timeoutMs = 30_000, retries = 4 } = one;
  const flags = ['--base-url', scene.baseUrl, '--timeout', `${timeoutMs}ms`, '--retries', String(retries)];
  const files = await tlsFlags(scene, folder);
  const env = { ...scene.env, PETSTORE_STATE_DIR: join(folder, 'state') };
  const child = startCli([...argv, ...flags, ...files], { env, cwd: folder });
  child.stdin?.end(stdin);
  return child;
}

async function tlsFlags({ caCert, clientCert }: Scene, folder: string): Promise<string[]> {
  const given: [string, string | undefined][] = [
    ['--ca-cert', caCert],
    ['--client-cert', clientCert?.cert],
    ['--client-key', clientCert?.key],
  ];
  const flags = given.map(async ([flag, text]) => {
    if (text === undefined) return [];
    const file = join(folder, `${flag.slice(2)}.pem`);
    await writeFile(file, text, { mode: 0o600 });
    return [flag, file];
  });
  return (await Promise.all(flags)).flat();
}
