import { cpSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Outcome, spawnCli } from '../helpers/spawn-cli.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-cache-'));
  for (const part of ['bin', 'dist']) cpSync(part, join(folder, part), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function caches(): string[] {
  return readdirSync(join(folder, 'dist')).filter((name) => name.endsWith('.cache'));
}

function listPets(): Promise<Outcome> {
  return spawnCli(['--offline', 'pets', 'list', '-o', 'ids'], { cli: join(folder, 'bin/petstore.js') });
}

test('the first run on a Node that has no code caches leaves them for the next, which does the same', async () => {
  for (const name of caches()) rmSync(join(folder, 'dist', name));
  const first = await listPets();
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const left = caches();
  expect(left.length).toBeGreaterThan(2);
  expect(await listPets()).toMatchObject({ code: 0, stdout: first.stdout, stderr: '' });
});

test('a code cache that cannot be used is passed over', async () => {
  const whole = await listPets();
  for (const name of caches()) truncateSync(join(folder, 'dist', name), 100);
  expect(await listPets()).toMatchObject({ code: 0, stdout: whole.stdout, stderr: '' });
});
