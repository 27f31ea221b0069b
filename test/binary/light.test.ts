import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spawnCli } from '../helpers/spawn-cli.ts';

/** The packages in each chunk, by its name. */
let packagesOf: ReadonlyMap<string, readonly string[]>;
let folder: string;
let server: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-light-'));
  packagesOf = new Map(Object.entries(JSON.parse(readFileSync('dist/packages.json', 'utf8'))));
  server = createServer((_, response) => response.setHeader('content-type', 'application/json').end('[]'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const light = ['commander', 'valibot'];

test.each([
  ['--version', [], []],
  ['--help', [], []],
  ['pets --help', [], light],
  ['completion bash', [], light],
  ['__complete -- pets list --status s', [], light],
  ['pets list', ['PETSTORE_BASE_URL'], light],
  ['--offline pets list', [], light],
])('petstore %s loads no package but those it needs', async (line, variables, allowed) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const loaded = await packagesLoadedBy(
    line.split(' '),
    variables.includes('PETSTORE_BASE_URL') ? { PETSTORE_BASE_URL: url } : {},
  );
  expect(loaded.filter((name) => !allowed.includes(name))).toEqual([]);
});

/** What each costs a start milliseconds. */
const heavyModules = ['net', 'http', 'stream', 'crypto', 'perf_hooks', 'fs/promises'];

test.each([
  '--version',
  '--help',
  'pets list --help',
  '__complete -- pets list --status s',
  '--offline pets list',
])('petstore %s loads no heavy module of Node', async (line) => {
  const loaded = await loadedBy(line.split(' '));
  expect(loaded.filter((name) => heavyModules.includes(name.replace('node:', '')))).toEqual([]);
});

async function packagesLoadedBy(argv: readonly string[], env: Record<string, string>): Promise<string[]> {
  const files = await loadedBy(argv, env);
  return [...new Set(files.flatMap((file) => packagesOf.get(basename(file)) ?? []))];
}

/** The files, chunks and modules of Node that a run loads. */
async function loadedBy(argv: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  const list = join(folder, 'loaded.txt');
  const preload = `--require=${join(process.cwd(), 'test/helpers/loaded-files.cjs')}`;
  const { code, stderr } = await spawnCli(argv, {
    env: { ...env, NODE_OPTIONS: preload, LOADED_FILES: list },
  });
  expect(code, stderr).toBe(0);
  return readFileSync(list, 'utf8').split('\n');
}
