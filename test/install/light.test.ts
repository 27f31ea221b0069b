import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RecordingServer, recordingServer } from '../helpers/recording-server.ts';
import { spawnCli } from '../helpers/spawn-cli.ts';

let folder: string;
let server: RecordingServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-light-'));
  server = await recordingServer({}, () => ({ body: [] }));
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** What each costs a start milliseconds. */
const heavyModules = 'child_process net http stream crypto zlib perf_hooks fs/promises'.split(' ');
const forHttp = ['child_process', 'net', 'http', 'stream'];

test.each([
  ['--version', []],
  ['--help', []],
  ['pets --help', []],
  ['pets list --help', []],
  ['completion bash', ['fs/promises']],
  ['__complete -- pets list --status s', []],
  ['--offline pets list', []],
  ['pets list', forHttp],
])(
  'petstore %s loads no package beside its bundle, and no heavy module of Node but %j',
  async (line, allowed) => {
    const loaded = await loadedBy(
      line.split(' '),
      allowed === forHttp ? { PETSTORE_BASE_URL: server.url } : {},
    );
    expect(loaded.filter((file) => file.includes('/dist/') && !file.endsWith('/petstore.js'))).toEqual([]);
    const heavy = loaded
      .map((name) => name.replace('node:', ''))
      .filter((name) => heavyModules.includes(name));
    expect(heavy.filter((name) => !allowed.includes(name))).toEqual([]);
  },
);

/** The files and the modules of Node that a run loads. */
async function loadedBy(argv: readonly string[], env: Record<string, string>): Promise<string[]> {
  const list = join(folder, 'loaded.txt');
  const preload = `--require=${join(process.cwd(), 'test/helpers/loaded-files.cjs')}`;
  const { code, stderr } = await spawnCli(argv, {
    env: { ...env, NODE_OPTIONS: preload, LOADED_FILES: list },
  });
  expect(code, stderr).toBe(0);
  return readFileSync(list, 'utf8').split('\n');
}
