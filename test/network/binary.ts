import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import type { Ask, Case, Scene } from './cases.ts';
import type { Result } from './run-cases.ts';

/** A command line for each request: one set of commands sends few requests, the other many. */
type Commands = Readonly<Partial<Record<Ask, { readonly argv: readonly string[]; readonly stdin?: string }>>>;

/** Commands that send few requests, over node:http. */
export const few: Commands = {
  list: { argv: ['inventory', 'list', '-o', 'ids'] },
  set: { argv: ['inventory', 'set', '1', '5'] },
  create: { argv: ['categories', 'create', '--name', 'Dogs'] },
  delete: { argv: ['inventory', 'delete', '1', '--yes'] },
};

/** Commands that send many, over undici. */
export const many: Commands = {
  set: {
    argv: ['inventory', 'apply', '-', '--yes'],
    stdin: 'petId,quantity\n1,5\n',
  },
};

/** Runs the built program in a scene. */
export async function playBinary(
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
