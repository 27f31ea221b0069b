import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { recordingServer, refusal } from '../helpers/recording-server.ts';
import { failed, runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';
import { shelves } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { testWith } from '../helpers/tools.ts';

// The editors of these tests are lines of sed.
const test = testWith('sed');

const folder = temporaryFolder();
let count = 0;

/** The environment that names an editor, which runs a line of shell on its file, "$1". */
function editor(line: string) {
  count += 1;
  const file = join(folder, `editor-${count}.sh`);
  writeFileSync(file, `#!/bin/sh\n${line}\n`);
  chmodSync(file, 0o755);
  return { PATH: process.env.PATH ?? '', EDITOR: file };
}

/** Reads from an error the name of the file that keeps the text. */
function keptFile(message: string): string {
  return /the text is kept in (\S+\.(?:yaml|csv))/.exec(message)?.[1] ?? '';
}

function keptText(message: string): string {
  const text = readFileSync(keptFile(message), 'utf8');
  expect(text).not.toMatch(/^#/m);
  return text;
}

test('edits a record as YAML, sends it, says what changed, and removes the file', async () => {
  const shop = openShop();
  const named = join(folder, 'named');
  const env = editor(`echo "$1" > ${named}; sed -i 's/Bella/Bellissima/' "$1"`);
  const run = await shop.run('pets edit bella -o json', { env, terminals: ['stderr'] });
  expect(run).toMatchObject({ code: 0 });
  expect(run.stderr).toContain('pet 1: name Bella -> Bellissima\n');
  expect(JSON.parse(run.stdout)).toMatchObject({ id: 1, name: 'Bellissima' });
  expect(existsSync(readFileSync(named, 'utf8').trim())).toBe(false);
});

test.each([
  ['left unchanged', 'true'],
  ['emptied', ': > "$1"'],
])('edit sends nothing for a text that is %s and exits 0', async (_, line) => {
  const shop = openShop();
  const run = await shop.run('categories edit 1', { env: editor(line) });
  const stderr = 'edit category 1: nothing was changed, and nothing was sent\n';
  expect(run).toEqual({ code: 0, stdout: '', stderr });
});

test('edit sends fields that it does not know back as they came', async () => {
  const unknown = '"tags":null,"price":0.1000000000000000055,"rate":1.5e-7';
  await using server = await recordingServer({}, ({ method, body }) => ({
    body: method === 'PUT' ? `{"id":1,${body.slice(1)}` : `{"id":1,"name":"Rex","categoryId":1,${unknown}}`,
  }));
  const env = editor(`sed -i 's/Rex/Max/' "$1"`);
  const run = await runAt(server, 'pets edit 1 -o json -q', { env });
  expect(run).toEqual({ code: 0, stdout: `{"id":1,"name":"Max","categoryId":1,${unknown}}\n`, stderr: '' });
});

test('a value that petstore would not write may stay', async () => {
  const order = { id: 1, petId: 2, quantity: -1, shipDate: '15.01.2027', complete: false };
  await using server = await recordingServer({}, ({ body }) => ({ body: body ? JSON.parse(body) : order }));
  const env = editor(`sed -i 's/false/true/' "$1"`);
  expect(await runAt(server, 'orders edit 1', { env })).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toEqual({ ...order, complete: true });
});

test('edit opens the editor again with the reason on top, and accepts a valid text then', async () => {
  const shop = openShop();
  const env = editor(
    `if grep -q '^# error: status .* must be one of' "$1"; then sed -i 's/lost/sold/' "$1"; else sed -i 's/status: .*/status: lost/' "$1"; fi`,
  );
  expect(await shop.run('pets edit 1', { env })).toMatchObject({ code: 0 });
  expect(await shop.json('pets get 1')).toMatchObject({ status: 'sold' });
});

const openings = join(folder, 'openings');

test.each([
  [
    'status',
    `echo x >> ${openings}; sed -i "s/status: .*/status: lost$(wc -l < ${openings})/" "$1"`,
    /edit pet 1: status 'lost2': must be one of available, pending, sold;/,
    'status: lost2',
  ],
  ['key', `sed -i 's/status:/stauts:/' "$1"`, /stauts: pets have no such field/, 'stauts:'],
  ['id', `sed -i 's/id: 1$/id: 2/' "$1"`, /edit pet 1: id must stay 1;/, 'status:'],
  ['name', `sed -i '/^name/d' "$1"`, /edit pet 1: name is required;/, 'status:'],
  ['YAML', `echo "n: [ # $(grep error "$1")" > "$1"`, /: Flow .* at line \d, column \d+;/, 'end with a ]\n'],
])(
  'a wrong %s is opened twice, then exits 2, sends nothing and keeps the text',
  async (_, line, message, kept) => {
    const shop = openShop();
    const run = await shop.run('pets edit 1', { env: editor(line) });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(message);
    expect(run.stderr).not.toContain('\\x0a');
    expect(keptText(run.stderr)).toContain(kept);
    expect(await shop.json('pets get 1')).toMatchObject({ id: 1, name: 'Bella', status: 'available' });
  },
);

test.each([
  ['without ETags', false],
  ['with ETags', true],
])('%s, overwrites nothing if the record has changed in the meantime', async (_, hasTags) => {
  let reads = 0;
  await using server = await recordingServer({}, ({ method }) => {
    if (method === 'PUT') return refusal(412);
    reads += 1;
    const headers = hasTags ? { etag: `"${reads}"` } : {};
    return { headers, body: { id: 1, petId: 2, quantity: reads } };
  });
  const env = editor(`sed -i 's/petId: 2/petId: 3/' "$1"`);
  const run = await runAt(server, 'orders edit 1', { env });
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toContain('order 1 was changed in the meantime');
  expect(keptText(run.stderr)).toContain('petId: 3');
  expect(server.writes()).toEqual([]);
});

test.each([
  ['fails', 'exit 3', 1, 'the text is kept in '],
  ['is ended by Ctrl-C', 'kill -INT $$', 130, 'error: interrupted; the text is kept in '],
])('an editor that %s keeps a text that was changed', async (_, line, code, message) => {
  const shop = openShop();
  const run = await shop.run('pets edit 1', { env: editor(`sed -i s/Bella/Bello/ "$1"; ${line}`) });
  expect(run).toMatchObject({ code, stdout: '' });
  expect(run.stderr).toContain(message);
  expect(keptText(run.stderr)).toContain('name: "Bello"');
  const unchanged = await shop.run('pets edit 1', { env: editor(line) });
  expect(unchanged).toMatchObject({ code, stderr: expect.not.stringContaining('kept') });
});

test('a dry run shows the request, sends nothing and keeps the text', async () => {
  const shop = openShop();
  const env = editor(`sed -i 's/Bella/Bello/' "$1"`);
  const run = await shop.run('pets edit 1 --dry-run', { env });
  expect(run.code).toBe(0);
  expect(run.stdout).toContain('PUT ');
  expect(keptText(run.stderr)).toContain('name: "Bello"');
  expect(await shop.json('pets get 1')).toMatchObject({ name: 'Bella' });
});

test.each([
  [{}, [], []],
  [{ CI: '1' }, ['stdin', 'stdout', 'stderr'], []],
  [{}, ['stdin', 'stdout', 'stderr'], ['--no-input']],
] as const)('without a named editor, exits 2 with %j and %j and %j', async (env, terminals, flags) => {
  expect(await runCli(['--offline', 'pets', 'edit', '1', ...flags], { env, terminals })).toMatchObject(
    failed(2, 'no editor is set'),
  );
});

test('opens counts with names in an editor, and writes only the rows that were changed', async () => {
  await using shop = await stockShop(shelves(6, (petId) => petId));
  const env = editor(
    `cp "$1" ${join(shop.folder, 'seen.csv')}\nsed -i 's/^2,\\(.*\\),2,2,/2,\\1,20,2,/' "$1"`,
  );
  // Meanwhile somebody else may sell pets whose rows were not changed.
  shop.misbehave = ({ method, petId }) => {
    if (method === 'GET' && petId === '2') shop.stock.set('1', 0);
    return undefined;
  };
  const summary = await shop.report('inventory edit --below 4 --yes', { env });
  expect(shop.read('seen.csv')).toMatch(
    /^#.*\n#.*\npetId,name,quantity,expected,status\n1,.*,1,1,available\n2,.*,2,2,available\n3,.*,3,3,available\n$/,
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
    const same = await shop.run('inventory edit --yes', { env: editor(commands) });
    expect(same.code).toBe(0);
    expect(same.stderr).toContain('nothing was changed, and nothing was sent\n');
  }
  expect(await shop.run('inventory edit --yes', { env: { EDITOR: '' } })).toMatchObject(
    failed(2, 'no editor is set, and there is no terminal'),
  );
  expect(shop.writes()).toEqual([]);
});

test('a count that petstore would not write may stay, or be replaced', async () => {
  await using shop = await stockShop([5, -3, -4]);
  const env = editor(`sed -i 's/^1,\\(.*\\),5,5,/1,\\1,6,5,/; s/^2,\\(.*\\),-3,-3,/2,\\1,7,-3,/' "$1"`);
  expect(await shop.report('inventory edit --yes', { env })).toMatchObject({ code: 0, applied: 2 });
  expect(Object.fromEntries(shop.stock)).toEqual({ 1: 6, 2: 7, 3: -4 });
});

test('invalid text opens the editor once more with the reason of each row, and is kept', async () => {
  await using shop = await stockShop(shelves(5, (petId) => petId));
  const seen = join(shop.folder, 'seen.csv');
  const change = `sed -i 's/^\\([23],.*\\),\\(.\\),\\2,/\\1,x,\\2,/; s/^1,/1,Maxx/' "$1"; echo 5,x,99,, >> "$1"`;
  const env = editor(`cat "$1" >> ${seen}\n${change}`);
  const wrong = await shop.run('inventory edit --below 4 --yes', { env });
  const file = keptFile(wrong.stderr);
  expect(wrong).toMatchObject(failed(2, `when the text is right, run: petstore inventory apply ${file}`));
  const text = shop.read('seen.csv');
  const faults = text.match(/^# error: [23],.*: quantity 'x': must be a whole number/gm);
  expect(faults?.map((fault) => fault[9])).toEqual(['2', '3']);
  expect(text).toMatch(/^# error: 1,Maxx.*: only the quantity can be changed here$/m);
  expect(text).toContain('# error: 5,x,99,,: pet 5 was not among these counts\n');
  expect(readFileSync(file, 'utf8')).toMatch(/^2,.*,x,2,available$/m);
  expect(shop.writes()).toEqual([]);
});

test.each([
  ['--dry-run', ['--dry-run'], 0, ''],
  ['a state folder that cannot be written', ['--yes'], 1, 'PETSTORE_STATE_DIR names another folder'],
  ['no confirmation', [], 2, 'this needs a confirmation, but there is no terminal'],
])('the text is kept and named after %s', async (_, words, code, why) => {
  await using shop = await stockShop(shelves(3, (petId) => petId));
  shop.write('plain', '');
  const env = {
    ...editor(`sed -i 's/^2,\\(.*\\),2,2,/2,\\1,9,2,/' "$1"`),
    ...(code === 1 && { PETSTORE_STATE_DIR: join(shop.folder, 'plain', 'state') }),
  };
  const run = await shop.run(['inventory', 'edit', ...words], { env });
  expect(run).toMatchObject({ code, stderr: expect.stringContaining(why) });
  expect(readFileSync(keptFile(run.stderr), 'utf8')).toMatch(/^2,.*,9,2,available$/m);
  expect(shop.writes()).toEqual([]);
  // A command takes it as it is.
  const applied = await shop.report(['inventory', 'apply', keptFile(run.stderr), '--yes']);
  expect(applied).toMatchObject({ code: 0, applied: 1 });
  expect(shop.writes().map(({ petId, quantity }) => [petId, quantity])).toEqual([['2', 9]]);
});
