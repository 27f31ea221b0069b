import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outcomeOf, startCli } from '../helpers/spawn-cli.ts';

test('a server keeps its documentation when an update replaces the program', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-replaced-'));
  for (const part of ['bin', 'dist']) cpSync(part, join(folder, part), { recursive: true });
  const child = startCli(['serve', '--port', '0'], { cli: join(folder, 'bin/petstore.js') });
  try {
    const url = await new Promise<string>((resolve) =>
      child.stdout?.once('data', (line) => resolve(String(line).trim())),
    );
    const ended = outcomeOf(child);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    rmSync(folder, { recursive: true });
    for (const path of ['/docs', '/docs.css', '/docs.js', '/openapi.json', '/openapi.yaml', '/pets'])
      expect({ path, status: (await fetch(url + path)).status }).toEqual({ path, status: 200 });
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0 });
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
