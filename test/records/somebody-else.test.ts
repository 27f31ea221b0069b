import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runTyping } from '../helpers/person.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

// Between the requests of a command somebody else writes the same record. What that person wrote stays.

const shownPet = { id: 1, name: 'Rex', categoryId: 1 };
const changedPet = { ...shownPet, status: 'pending' };

/** A service without ETags whose pet has a status from its second reading on. */
function serviceOfAnother() {
  let readings = 0;
  return recordingServer({}, ({ method, path }) => {
    if (method !== 'GET') return method === 'DELETE' ? { status: 204 } : { body: changedPet };
    if (path !== '/pets/1') return { status: 404, body: { code: 'not_found', message: 'no', status: 404 } };
    readings += 1;
    return { body: readings === 1 ? shownPet : changedPet };
  });
}

test('a field that somebody has added while the record was in the editor is not overwritten', async () => {
  await using server = await serviceOfAnother();
  const editor = join(temporaryFolder(), 'editor.sh');
  writeFileSync(editor, '#!/bin/sh\necho "status: sold" >> "$1"\n');
  chmodSync(editor, 0o755);
  const env = { EDITOR: editor, PATH: process.env.PATH ?? '' };
  const run = await runAt(server, 'pets edit 1 --yes', { env });
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toContain('status "pending" now, not no status as expected');
  expect(server.calls().filter((call) => !call.startsWith('GET'))).toEqual([]);
});

test('a pet that has got a field since the question is not deleted', async () => {
  await using server = await serviceOfAnother();
  const run = await runTyping(
    ['pets', 'delete', '1', '--base-url', server.url],
    [['Delete pet 1 (Rex) on', 'y\r']],
  );
  expect(run.code).toBe(1);
  expect(run.stderr).toContain('pet 1 was changed in the meantime: status "pending" now');
  expect(server.calls()).not.toContain('DELETE /pets/1');
});
