import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { openStreams } from '../../src/output/streams.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { listed, rex } from '../helpers/list-pets.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, runAt } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

const names = [
  '::error::x',
  'a\n::set-output name=x::y',
  '##[group]x',
  '##vso[task.complete]',
  'section_start:1:x',
];
const pets = names.map((name) => ({ ...rex, name }));

test.each(['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml'])(
  'a CI runner obeys nothing in %s',
  async (format) => {
    const flags = `--fields name -o ${format}`;
    for (const runner of ['GITHUB_ACTIONS', 'GITLAB_CI', 'TF_BUILD']) {
      const shown = await listed(pets, flags, { env: { [runner]: 'true' } });
      expect(shown, runner).not.toMatch(/^\s*(::|section_start:)|##\[|##vso\[/m);
      if (format === 'json') expect(JSON.parse(shown)).toEqual(names.map((name) => ({ name })));
      if (format === 'yaml') expect(parseYaml(shown)).toEqual(names.map((name) => ({ name })));
      if (format === 'csv') expect(shown).toContain('\n"::error::x"\n');
    }
    expect(await listed(pets, flags)).toContain('##[group]x');
  },
);

test('a CSV that a CI job prints gives the original names back when it is read', async () => {
  using shop = openShop();
  const env = { GITHUB_ACTIONS: 'true' };
  await shop.run(['pets', 'update', '1', '--name', '::error::x']);
  const { stdout } = await shop.run('pets list --fields name,id -o csv', { env });
  expect(stdout).toContain('\n"::error::x",1\n');
  const { stdout: shown } = await shop.run('pets list -o yaml --fields name', { env });
  expect(parseYaml(shown)).toContainEqual({ name: '::error::x' });
});

test('a file, and the body of a raw request, stay as they are in a CI job', async () => {
  const bytes = Buffer.from('::error::x\n##[y\u00ff', 'latin1');
  const fake = fakeIo({ env: { GITHUB_ACTIONS: 'true' } });
  const file = openStreams({ ...fake, stdout: { ...fake.stdout, isFile: true } }, createSecrets()).io;
  await file.stdout.write('::error::x\n##[y\n');
  expect(fake.written('stdout')).toBe('::error::x\n##[y\n');
  await using server = await recordingServer({}, () => ({ body: bytes.toString('latin1') }));
  const run = await runAt(server, 'api request GET /pets', { env: { GITHUB_ACTIONS: 'true' } });
  expect(run.stdout).toBe(bytes.toString('latin1'));
});

test('commands that the program writes stay; secrets are masked on stderr alone', async () => {
  const fake = fakeIo({ env: { GITHUB_ACTIONS: 'true' } });
  const secrets = createSecrets();
  secrets.add('s3cret');
  const { stdout, stderr } = openStreams(fake, secrets).io;
  await stdout.write('::error::s3cret\n', { isRaw: true });
  await stderr.write(Buffer.from('::error::s3cret\n'));
  expect(fake.written('stdout')).toBe('::error::s3cret\n');
  expect(fake.written('stderr')).toBe(':\\u003aerror::***\n');
});

test.each([
  ['::error::x', ':\\u003aerror::x'],
  ['a\n \t::error::x', 'a\n \t:\\u003aerror::x'],
  ['a\r::error::x', 'a\r:\\u003aerror::x'],
  ['section_start:1:a', 'section_start\\u003a1:a'],
  ['##[error]x', '##\\u005berror]x'],
  ['a ##VSO[task.complete]', 'a ##VSO\\u005btask.complete]'],
  ['a\nstd::string', 'a\nstd::string'],
  ['a section_start:1', 'a section_start:1'],
  ['# [x] ## y', '# [x] ## y'],
  ['x: :', 'x: :'],
])('a CI job shows %j as %j, in whatever pieces it comes', async (text, shown) => {
  for (const pieces of [[text], text]) {
    const fake = fakeIo({ env: { TF_BUILD: 'True' } });
    const { stdout } = openStreams(fake, createSecrets()).io;
    for (const piece of pieces) await stdout.write(piece);
    expect(fake.written('stdout')).toBe(shown);
  }
});
