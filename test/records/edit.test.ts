import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { recordingServer, refusal } from '../helpers/recording-server.ts';
import { failed, runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';
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

function keptText(message: string): string {
  const [, path = ''] = /the text is kept in (\S+\.yaml)/.exec(message) ?? [];
  const text = readFileSync(path, 'utf8');
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
  ['true', 'unchanged'],
  [': > "$1"', 'emptied'],
])('edit sends nothing for %s and exits 0', async (line) => {
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
  ['YAML', `echo 'name: [open' > "$1"`, /edit pet 1: Flow .* at line \d, column \d+;/, 'name: [open'],
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
  expect(server.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
});

test.each([
  ['fails', 'exit 3', 1, 'the text is kept in '],
  ['is ended by Ctrl-C', 'kill -INT $$', 130, 'error: interrupted; the text is kept in '],
])('an editor that %s keeps the text', async (_, line, code, message) => {
  const shop = openShop();
  const run = await shop.run('pets edit 1', { env: editor(line) });
  expect(run).toMatchObject({ code, stdout: '' });
  expect(run.stderr).toContain(message);
  expect(keptText(run.stderr)).toContain('name: "Bella"');
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
