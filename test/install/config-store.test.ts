import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { cliPath, nodeBinary, spawnCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

// These run the built program, because the build leaves out parts of conf.

const note = 'n'.repeat(20_000);

function largeConfig() {
  const folder = temporaryFolder();
  const path = join(folder, 'config.json');
  const text = JSON.stringify({ profiles: { a: { 'base-url': 'http://127.0.0.1:9', note } } });
  fs.writeFileSync(path, text, { mode: 0o600 });
  return { folder, path, text, env: { PETSTORE_CONFIG_DIR: folder } };
}

test('on a full disk the config keeps its old content, and the error says so', () => {
  const { folder, path, text, env } = largeConfig();
  // No file can grow beyond 8 KiB; without the trap the signal would end the process.
  const script = `trap '' XFSZ; ulimit -f 16; exec "$@"`;
  const words = [nodeBinary, cliPath, 'config', 'set', 'timeout', '5s'];
  const options = { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' } as const;
  const run = spawnSync('sh', ['-c', script, 'sh', ...words], options);
  expect(run).toMatchObject({ status: 1, stdout: '' });
  expect(run.stderr).toMatch(new RegExp(`^error: write ${path}: file too large`));
  expect(fs.readFileSync(path, 'utf8')).toBe(text);
  expect(fs.readdirSync(folder)).toEqual(['config.json']);
  // Nor is a part of a code cache left.
  expect(fs.readdirSync('dist').filter((name) => /cache\.\d+$/.test(name))).toEqual([]);
});

test('the file is replaced and not overwritten, in a snap too', async () => {
  const { path, env } = largeConfig();
  const before = fs.statSync(path).ino;
  const run = await spawnCli(['config', 'set', 'timeout', '5s'], { env: { ...env, SNAP: '/snap/shop/1' } });
  expect(run).toMatchObject({ code: 0, stderr: 'timeout is 5s\n' });
  expect(fs.statSync(path).ino).not.toBe(before);
  expect(JSON.parse(fs.readFileSync(path, 'utf8'))).toMatchObject({
    timeout: '5s',
    profiles: { a: { note } },
  });
  expect(fs.statSync(path).mode & 0o777).toBe(0o600);
});

test('a command that reads makes no folder, and reads a config in a read-only folder', async () => {
  const parent = temporaryFolder();
  const folder = join(parent, 'config');
  const env = { PETSTORE_CONFIG_DIR: folder };
  expect(await spawnCli(['config', 'explain'], { env })).toMatchObject({ code: 0, stderr: '' });
  for (const line of ['config get output', 'config path', 'profile list', '--offline pets list'])
    expect(await runCli(line, { env })).toMatchObject({ code: 0, stderr: '' });
  expect(fs.existsSync(folder)).toBe(false);
  fs.mkdirSync(folder);
  fs.writeFileSync(join(folder, 'config.json'), '{"output": "csv"}', { mode: 0o600 });
  fs.chmodSync(folder, 0o500);
  expect(await spawnCli(['config', 'get', 'output'], { env })).toMatchObject({ code: 0, stdout: 'csv\n' });
  expect(fs.readdirSync(folder)).toEqual(['config.json']);
});
