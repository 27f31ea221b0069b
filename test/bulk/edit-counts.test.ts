import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failed } from '../helpers/run-cli.ts';
import { shelves } from '../helpers/stock-server.ts';
import { stockShop, type Workspace } from '../helpers/stock-shop.ts';

/** Makes an editor that runs the shell commands on the file. */
function editorOf(workspace: Workspace, commands: string): Record<string, string> {
  const path = join(workspace.folder, 'editor.sh');
  writeFileSync(path, `#!/bin/sh\n${commands}\n`);
  chmodSync(path, 0o700);
  return { EDITOR: path };
}

/** Reads from an error the name of the file that keeps the text. */
function keptFile(stderr: string): string {
  return /the text is kept in ([^\s;"]+)/.exec(stderr.replaceAll('\n', ' '))?.[1] ?? '';
}

test('opens counts with names in an editor, and writes only the rows that were changed', async () => {
  await using shop = await stockShop(shelves(6, (petId) => petId));
  const env = editorOf(
    shop,
    `cp "$1" ${join(shop.folder, 'seen.csv')}\nsed -i 's/^2,\\(.*\\),2,2,/2,\\1,20,2,/' "$1"`,
  );
  // Meanwhile somebody else may sell pets whose rows were not changed.
  shop.misbehave = ({ method, petId }) => {
    if (method === 'GET' && petId === '2') shop.stock.set('1', 0);
    return undefined;
  };
  const summary = await shop.report('inventory edit --below 4 --yes', { env });
  expect(shop.read('seen.csv')).toMatch(
    /^#.*\n#.*\npetId,name,quantity,expected,status\n1,".*",1,1,available\n2,".*",2,2,available\n3,".*",3,3,available\n$/,
  );
  expect(summary).toMatchObject({ code: 0, rows: 1, applied: 1 });
  expect(shop.writes().map(({ petId, quantity }) => [petId, quantity])).toEqual([['2', 20]]);
  const [listed] = JSON.parse((await shop.run('runs -o json')).stdout);
  expect(listed).toMatchObject({ file: 'edit', rows: 1 });
  expect((await shop.run('undo --dry-run -q')).stderr).toMatch(/^undoing r1: edit, 20.*, 1 of 1 row$/m);
});

test('sends nothing if the text is unchanged, and needs an editor', async () => {
  await using shop = await stockShop(shelves(3, (petId) => petId));
  for (const commands of ['true', ': > "$1"']) {
    const same = await shop.run('inventory edit --yes', { env: editorOf(shop, commands) });
    expect(same.code).toBe(0);
    expect(same.stderr).toContain('nothing was changed, and nothing was sent\n');
  }
  expect(await shop.run('inventory edit --yes', { env: { EDITOR: '' } })).toMatchObject(
    failed(2, 'no editor is set, and there is no terminal'),
  );
  expect(shop.writes()).toEqual([]);
});

test('invalid text opens the editor once more with the reason of each row, and is kept', async () => {
  await using shop = await stockShop(shelves(3, (petId) => petId));
  const seen = join(shop.folder, 'seen.csv');
  const env = editorOf(shop, `cat "$1" >> ${seen}\nsed -i 's/^\\([23],.*\\),\\(.\\),\\2,/\\1,x,\\2,/' "$1"`);
  const wrong = await shop.run('inventory edit --yes', { env });
  expect(wrong.code).toBe(2);
  for (const petId of [2, 3])
    expect(shop.read('seen.csv')).toMatch(
      new RegExp(`^# error: ${petId},.*: quantity 'x': must be a whole number`, 'm'),
    );
  expect(readFileSync(keptFile(wrong.stderr), 'utf8')).toMatch(/^2,".*",x,2,available$/m);
  expect(shop.writes()).toEqual([]);
});

test.each([
  ['--dry-run', ['--dry-run'], 0, ''],
  ['a state folder that cannot be written', ['--yes'], 1, 'PETSTORE_STATE_DIR names another folder'],
  ['no confirmation', [], 2, 'needs confirmation, but there is no terminal'],
])('the text is kept and named after %s', async (_, words, code, why) => {
  await using shop = await stockShop(shelves(3, (petId) => petId));
  shop.write('plain', '');
  const env = {
    ...editorOf(shop, `sed -i 's/^2,\\(.*\\),2,2,/2,\\1,9,2,/' "$1"`),
    ...(code === 1 && { PETSTORE_STATE_DIR: join(shop.folder, 'plain', 'state') }),
  };
  const run = await shop.run(['inventory', 'edit', ...words], { env });
  expect(run).toMatchObject({ code, stderr: expect.stringContaining(why) });
  expect(readFileSync(keptFile(run.stderr), 'utf8')).toMatch(/^2,".*",9,2,available$/m);
  expect(shop.writes()).toEqual([]);
  // A command takes it as it is.
  const applied = await shop.report(['inventory', 'apply', keptFile(run.stderr), '--yes']);
  expect(applied).toMatchObject({ code: 0, applied: 1 });
  expect(shop.writes().map(({ petId, quantity }) => [petId, quantity])).toEqual([['2', 9]]);
});
