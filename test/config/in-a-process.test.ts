import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { spawnCli, startCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const pets = { '/pets': [] };

test('a token of a profile reaches its own service, and no other that the command line names', async () => {
  await using own = await recordingServer(pets);
  await using other = await recordingServer(pets);
  const env = configured({
    profile: 'own',
    profiles: { own: { 'base-url': own.url, 'token-command': `${process.execPath} -p "'s3cret'"` } },
  });
  await spawnCli(['pets', 'list', '-o', 'ids'], { env });
  expect(own.seen.map(({ headers }) => headers.authorization)).toContain('Bearer s3cret');
  for (const run of [
    await spawnCli(['pets', 'list', '-o', 'ids', '--base-url', other.url], { env }),
    await spawnCli(['pets', 'list', '-o', 'ids'], { env: { ...env, PETSTORE_BASE_URL: other.url } }),
  ]) {
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr.match(/is not sent: it belongs to/g)).toHaveLength(1);
  }
  expect(other.seen.length).toBeGreaterThan(0);
  expect(other.seen.map(({ headers }) => headers.authorization)).not.toContain('Bearer s3cret');
});

test('a token is never shown, at any level of tracing', async () => {
  await using server = await recordingServer({}, () => ({
    status: 403,
    body: { code: 'no', message: 'not s3cret-token', status: 403 },
  }));
  const env = { ...configured({}), PETSTORE_TOKEN: 's3cret-token', PETSTORE_BASE_URL: server.url };
  for (const words of [
    'pets list -vv',
    'config explain',
    'doctor -vv',
    'pets delete 1 --yes --dry-run -vv',
  ]) {
    const { stdout, stderr } = await spawnCli(words.split(' '), { env });
    expect(stdout + stderr).not.toContain('s3cret-token');
  }
});

test('a protected profile refuses writes that do not name it, and allows reads', async () => {
  await using server = await recordingServer(pets, ({ method }) =>
    method === 'POST' ? { status: 201, body: { id: 1, name: 'Rex', categoryId: 1 } } : { body: [] },
  );
  const env = configured({
    profile: 'prod',
    profiles: { prod: { 'base-url': server.url, protected: true } },
  });
  const create = ['categories', 'create', '--name', 'Dogs'];
  expect(await spawnCli([...create, '--yes'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--confirm prod'),
  });
  expect(await spawnCli([...create, '--confirm', 'staging'], { env })).toMatchObject({ code: 2 });
  expect(server.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(await spawnCli(['pets', 'list', '-o', 'ids'], { env })).toMatchObject({ code: 0 });
  await spawnCli([...create, '--confirm', 'prod'], { env });
  expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

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

function configured(config: unknown) {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  return { PETSTORE_CONFIG_DIR: folder };
}
