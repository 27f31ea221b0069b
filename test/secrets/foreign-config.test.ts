import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openConfig } from '../helpers/config-folder.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const isRoot = process.geteuid?.() === 0;

/** A config whose token-command leaves a mark. */
function markingConfig(baseUrl: string) {
  const mark = join(temporaryFolder(), 'mark');
  const profile = { 'base-url': baseUrl, 'token-command': `touch ${mark}` };
  return { ...openConfig({ profile: 'p', profiles: { p: profile } }), mark };
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
  test('ends every command that calls a service with 2, and none of it is used', async () => {
    await using server = await recordingServer({});
    const { path, mark, run } = markingConfig(server.url);
    spoil(path);
    const stderr = expect.stringMatching(says);
    for (const line of ['pets list', `pets list --base-url ${server.url}`, 'smoke', 'pets delete 1'])
      expect(await run(line)).toMatchObject({ code: 2, stdout: '', stderr });
    expect(server.requests).toEqual([]);
    expect(existsSync(mark)).toBe(false);
  });

  test('is named by the commands that repair it', async () => {
    const { path, mark, run } = markingConfig('http://127.0.0.1:9');
    spoil(path);
    for (const line of ['config path', 'config show', 'config explain', 'profile list'])
      expect(await run(line)).toMatchObject({ code: 0, stderr: expect.stringMatching(says) });
    expect(existsSync(mark)).toBe(false);
  });
});

test('the error has the command that makes a config private again', async () => {
  const { path, run } = markingConfig('http://127.0.0.1:9');
  chmodSync(path, 0o666);
  const { stderr } = await run('pets list');
  const [, command = ''] = /`(chmod 600 .*)`/.exec(stderr) ?? [];
  execFileSync('sh', ['-c', command]);
  expect((await run('config get base-url')).stdout).toBe('http://127.0.0.1:9\n');
});

test('a contract that others may write is exit 2', async () => {
  const { folder, run } = markingConfig('http://127.0.0.1:9');
  const file = join(folder, 'contracts', 'origins', 'http%3A%2F%2F127.0.0.1%3A9.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{}');
  chmodSync(file, 0o666);
  expect(await run('pets list')).toMatchObject(failed(2, 'others may write it'));
});
