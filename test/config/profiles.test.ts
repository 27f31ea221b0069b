import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { spawnCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('eight processes that make fifty changes each keep all four hundred', async () => {
  const folder = temporaryFolder();
  const worker = join(folder, 'worker.cjs');
  const contents = `
    import { editConfig, setValue } from './src/config/edit.ts';
    import { processIo } from './src/process/io.ts';
    const [, , writer] = process.argv;
    (async () => {
      for (let turn = 0; turn < 50; turn += 1)
        await editConfig(processIo(), (config) => setValue(config, { profile: 'p' + writer + '.' + turn, key: 'retries' }, turn));
    })();`;
  await build({
    stdin: { contents, resolveDir: resolve(import.meta.dirname, '../..'), loader: 'ts' },
    bundle: true,
    platform: 'node',
    outfile: worker,
    logLevel: 'error',
  });
  const env = { PETSTORE_CONFIG_DIR: join(folder, 'config') };
  await Promise.all(
    Array.from({ length: 8 }, (_, writer) =>
      promisify(execFile)(process.execPath, [worker, String(writer)], { env }),
    ),
  );
  expect(Object.keys(readConfig(folder).profiles ?? {})).toHaveLength(400);
  expect(readdirSync(env.PETSTORE_CONFIG_DIR)).toEqual(['config.json']);
}, 30_000);

test('commands that set different keys at the same time keep them all', async () => {
  const folder = temporaryFolder();
  const env = { PETSTORE_CONFIG_DIR: join(folder, 'config') };
  const values = { timeout: '5s', retries: '2', concurrency: '4', rate: '9', color: 'never', output: 'csv' };
  const runs = await Promise.all(
    Object.entries(values).map(([key, value]) => spawnCli(['config', 'set', key, value], { env })),
  );
  expect(runs.map(({ code }) => code)).toEqual(runs.map(() => 0));
  expect(readConfig(folder)).toEqual({ ...values, retries: 2, concurrency: 4, rate: 9 });
});

function readConfig(folder: string): { readonly profiles?: Record<string, unknown> } {
  return JSON.parse(readFileSync(join(folder, 'config', 'config.json'), 'utf8'));
}
