import { expect, test } from 'vitest';
import { openStreams } from '../../src/output/streams.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { breakRunnerCommands } from '../../src/process/text.ts';
import { printPets, rex } from '../helpers/list-pets.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';

const names = ['::error::x', 'a\n::set-output name=x::y', '##[group]x', '##vso[a.b]', 'section_start:1:x'];
const pets = names.map((name) => ({ ...rex, name }));

test.each(['GITHUB_ACTIONS', 'GITLAB_CI', 'TF_BUILD'])(
  'with %s a runner obeys nothing in a table or on stderr',
  async (runner) => {
    const env = { [runner]: 'true' };
    const shown = await printPets(pets, '--fields name', { env });
    expect(shown).not.toMatch(/^\s*(::|section_start:)|##\[|##vso\[/m);
    expect(await printPets(pets, '--fields name')).toContain('##[group]x');
    const { stderr } = await runCli(['pets', 'get', '##[group]x', '--offline'], { env });
    expect(stderr).toContain('##\\u005bgroup]x');
  },
);

test.each(['json', 'jsonl', 'csv', 'tsv', 'yaml', 'ids'])(
  '%s is the same data in a CI job',
  async (format) => {
    const flags = `--fields name -o ${format}`;
    expect(await printPets(pets, flags, { env: { GITHUB_ACTIONS: 'true' } })).toBe(
      await printPets(pets, flags),
    );
  },
);

test('annotations stay; secrets are masked on stderr alone', async () => {
  const fake = fakeIo({ env: { GITHUB_ACTIONS: 'true' } });
  const secrets = createSecrets();
  secrets.add('s3cret');
  const { stdout, stderr } = openStreams(fake, secrets).io;
  await stdout.write('::error::s3cret\n', { isRaw: true });
  await stderr.write('::error::s3cret\n');
  expect(fake.written('stdout')).toBe('::error::s3cret\n');
  expect(fake.written('stderr')).toBe(':\\u003aerror::***\n');
});

test.each([
  ['::error::x', ':\\u003aerror::x'],
  ['a\r::error::x', 'a\r:\\u003aerror::x'],
  ['section_start:1:a', 'section_start\\u003a1:a'],
  ['##[error]x', '##\\u005berror]x'],
  ['a ##VSO[task.complete]', 'a ##VSO\\u005btask.complete]'],
  ['a\nstd::string', 'a\nstd::string'],
  ['x: :', 'x: :'],
])('a CI job shows %j as %j', (text, shown) => {
  expect(breakRunnerCommands(text)).toBe(shown);
});
