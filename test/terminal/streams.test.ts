import { expect, test } from 'vitest';
import { openStreams } from '../../src/output/streams.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const names = [
  '::error::x',
  'a\n::set-output name=x::y',
  '##[group]x',
  '##vso[task.complete]',
  'section_start:1:x',
];

/** Lists pets with these names from an embedded store. */
async function listed(format: string, env: Record<string, string>): Promise<string> {
  const options = { env: { PETSTORE_OFFLINE_STORE: `${temporaryFolder()}/store.json`, ...env } };
  for (const name of names) {
    const created = await runCli(
      ['--offline', 'pets', 'create', '--name', name, '--category', '1', '--status', 'sold', '-q'],
      options,
    );
    expect(created.code).toBe(0);
  }
  const { stdout } = await runCli(['--offline', 'pets', 'list', '--fields', 'name', '-o', format], options);
  return stdout;
}

const runners = ['GITHUB_ACTIONS', 'GITLAB_CI', 'TF_BUILD'];
const formats = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml'];

test.each(runners.flatMap((runner) => formats.map((format) => [runner, format] as const)))(
  'with %s set nothing in %s is obeyed',
  async (runner, format) => {
    const shown = await listed(format, { [runner]: 'true' });
    expect(shown).not.toMatch(/^\s*(::|section_start:)|##\[|##vso\[/m);
  },
);

test('JSON keeps its values if commands are broken up', async () => {
  const shown = await listed('json', { GITHUB_ACTIONS: 'true' });
  expect(JSON.parse(shown).map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(names));
});

test('nothing is broken up outside of a CI job', async () => {
  expect(await listed('csv', {})).toContain('##[group]x');
});

test('commands that the program writes stay; secrets are masked on stderr alone', async () => {
  const fake = fakeIo({ env: { GITHUB_ACTIONS: 'true' } });
  const secrets = createSecrets();
  secrets.add('s3cret');
  const { stdout, stderr } = openStreams(fake, secrets).io;
  await stdout.write('::error::s3cret\n', { commands: true });
  await stderr.write(Buffer.from('::error::s3cret\n'));
  expect(fake.written('stdout')).toBe('::error::s3cret\n');
  expect(fake.written('stderr')).toBe(':\\u003aerror::***\n');
});

/** What stdout shows in a CI job of text that is written in these pieces. */
async function inCiJob(pieces: Iterable<string>): Promise<string> {
  const fake = fakeIo({ env: { TF_BUILD: 'True' } });
  const { stdout } = openStreams(fake, createSecrets()).io;
  for (const piece of pieces) await stdout.write(piece);
  return fake.written('stdout');
}

test.each([
  ['::error::x', ':\\u003aerror::x'],
  ['a\n \t::error::x', 'a\n \t:\\u003aerror::x'],
  ['a\r::error::x', 'a\r:\\u003aerror::x'],
  ['section_start:1:a', 'section_start\\u003a1:a'],
  ['##[error]x', '##\\u005berror]x'],
  ['a ##VSO[task.complete]', 'a ##VSO\\u005btask.complete]'],
])('a CI runner does not obey %j', async (text, broken) => {
  expect(await inCiJob([text])).toBe(broken);
  expect(await inCiJob(text)).toBe(broken);
});

test.each(['std::string', 'a\nstd::string', 'a section_start:1', '# [x] ## y', 'x: :'])(
  '%j is not a command to a CI runner and stays',
  async (text) => {
    expect(await inCiJob([text])).toBe(text);
    expect(await inCiJob(text)).toBe(text);
  },
);
