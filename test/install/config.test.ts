import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { spawnCli, startCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('reading works without a home and with folders that cannot be written to', async () => {
  const env = { PETSTORE_CONFIG_DIR: '', PETSTORE_STATE_DIR: '' };
  expect(await spawnCli(['config', 'get', 'output'], { env })).toMatchObject({ code: 0, stdout: 'table\n' });
  const closed = { PETSTORE_CONFIG_DIR: '/proc/closed', PETSTORE_STATE_DIR: '/proc/closed' };
  expect(await spawnCli(['config', 'list', '-o', 'json'], { env: closed })).toMatchObject({
    code: 0,
    stdout: '[]\n',
  });
  expect(await spawnCli(['config', 'set', 'timeout', '5s'], { env: closed })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('/proc/closed'),
  });
});

test('a change that is killed leaves the old config or the new one, and the next change works', async () => {
  const env = configured({ timeout: '1s' });
  const read = () => JSON.parse(readFileSync(join(env.PETSTORE_CONFIG_DIR, 'config.json'), 'utf8'));
  for (let turn = 0; turn < 8; turn += 1) {
    const child = startCli(['config', 'set', 'retries', String(turn)], { env });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    setTimeout(() => child.kill('SIGKILL'), 60 + Math.random() * 120);
    await ended;
    expect(read()).toMatchObject({ timeout: '1s' });
  }
  expect(await spawnCli(['config', 'set', 'retries', '9'], { env })).toMatchObject({ code: 0 });
  expect(read()).toEqual({ timeout: '1s', retries: 9 });
}, 20_000);

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

function configured(config: unknown) {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  return { PETSTORE_CONFIG_DIR: folder };
}
