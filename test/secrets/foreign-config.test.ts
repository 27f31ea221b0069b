import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const isRoot = process.geteuid?.() === 0;

/** A config folder whose config names a token-command that leaves a mark. */
function configFolder(baseUrl: string) {
  const folder = temporaryFolder();
  const mark = join(folder, 'mark');
  const profile = { 'base-url': baseUrl, 'token-command': `touch ${mark}` };
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ profile: 'p', profiles: { p: profile } }), { mode: 0o600 });
  return { folder, file, mark, env: { PETSTORE_CONFIG_DIR: folder } };
}

type Spoil = readonly [how: string, spoil: (file: string) => void, says: RegExp];
const spoils: readonly Spoil[] = [
  ['others may write', (file) => chmodSync(file, 0o602), /others may write it \(owner \d+, mode 0602\)/],
  ['its group may write', (file) => chmodSync(file, 0o660), /others may write it \(owner \d+, mode 0660\)/],
  ['is of another user', (file) => chownSync(file, 12345, 12345), /another user \(owner 12345, mode 0600\)/],
];
/** Only root can give a file to another user. */
const possible = isRoot ? spoils : spoils.slice(0, 2);

describe.each(possible)('a config that %s', (_, spoil, says) => {
  test('is exit 2 for every command that calls a service, and none of it is used', async () => {
    await using server = await recordingServer({});
    const { file, mark, env } = configFolder(server.url);
    spoil(file);
    for (const line of ['pets list', `pets list --base-url ${server.url}`, 'smoke', 'pets delete 1']) {
      const run = await runCli(line, { env });
      expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(says) });
    }
    expect(server.seen).toEqual([]);
    expect(existsSync(mark)).toBe(false);
  });

  test('is named by the commands that repair it', async () => {
    const { file, mark, env } = configFolder('http://127.0.0.1:9');
    spoil(file);
    for (const line of ['config path', 'config show', 'config explain', 'profile list'])
      expect(await runCli(line, { env })).toMatchObject({ code: 0, stderr: expect.stringMatching(says) });
    expect(existsSync(mark)).toBe(false);
  });
});

test('the error has the command that makes a config private again', async () => {
  const { folder, file } = configFolder('http://127.0.0.1:9');
  chmodSync(file, 0o666);
  const env = { PETSTORE_CONFIG_DIR: folder };
  const { stderr } = await runCli('pets list', { env });
  const [, command = ''] = /`(chmod 600 .*)`/.exec(stderr) ?? [];
  execFileSync('sh', ['-c', command]);
  expect((await runCli('config get base-url', { env })).stdout).toBe('http://127.0.0.1:9\n');
});

test('a contract that others may write is exit 2', async () => {
  const { folder, env } = configFolder('http://127.0.0.1:9');
  const file = join(folder, 'contracts', 'origins', 'http%3A%2F%2F127.0.0.1%3A9.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{}');
  chmodSync(file, 0o666);
  const run = await runCli(['pets', 'list'], { env });
  expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('others may write it') });
});
