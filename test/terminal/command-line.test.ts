import { expect, test } from 'vitest';
import { version } from '../../package.json';
import { failed, runCli } from '../helpers/run-cli.ts';

test('a noun with no verb prints its help on stderr and exits 2', async () => {
  const run = await runCli('pets');
  expect(run).toMatchObject(failed(2, /^Usage: petstore pets <verb> /));
});

test('petstore alone shows an introduction and exits 0', async () => {
  const stdout = expect.stringContaining('petstore --offline pets list');
  expect(await runCli([])).toMatchObject({ code: 0, stdout, stderr: '' });
});

test.each(['help pets list', '--help pets list', 'pets -h list', 'pets list --help', 'pets list -yh'])(
  'petstore %s shows the help of the command on stdout',
  async (line) => {
    const run = await runCli(line);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('--status'), stderr: '' });
    expect(run).toEqual(await runCli('pets list --help'));
  },
);

test.each(['version', '--version', '--version -o json', '--quiet --version', '--profile shop --version'])(
  'petstore %s prints the version',
  async (line) => {
    const run = await runCli(line, { env: { PETSTORE_OUTPUT: 'wrong' } });
    expect(run).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  },
);

test.each([
  ['petz', "unknown command 'petz'\nhint: did you mean pets?\n"],
  ['list', "unknown command 'list'\nhint: see `petstore --help`\n"],
  ['runs r7', "unknown command 'r7'\nhint: see `petstore runs --help`\n"],
  ['pet get', "pets get: missing required argument 'id or name'\nhint: see `petstore pets get --help`"],
  ['pets help list', "pets: unknown command 'help'\nhint: see `petstore pets --help`"],
  ['help zebra', "unknown command 'zebra'\nhint: see `petstore --help`"],
  ['pest --help', "unknown command 'pest'\nhint: did you mean pet?"],
  ['runs --below 2', "runs: unknown flag '--below'"],
  ['pets upate Bella --status sold', "unknown command 'upate'\nhint: did you mean update?\n"],
  ['pets --status sold', "unknown flag '--status'\nhint: see `petstore pets --help`\n"],
  ['pets -q 2', "pets: unknown command '2'"],
  ['--dry-run petz', "unknown command 'petz'"],
  ['--version --bogus', "petstore: unknown flag '--bogus'"],
  ['--nonsense pets list', "pets list: unknown flag '--nonsense'\nhint: see `petstore pets list --help`"],
  ['--token s3cret pets list', "pets list: unknown flag '--token'\nhint: see `petstore pets list --help`"],
  ['--token s3cret', "petstore: unknown flag '--token'\nhint: put a flag of a command after the"],
  ['-qX s3cret', "petstore: unknown flag '-X'"],
  ['pets list --nonsense', "pets list: unknown flag '--nonsense'"],
  ['--dry-run pets list', "pets list: unknown flag '--dry-run'"],
  ['pets --confirm x list', "pets list: unknown flag '--confirm'"],
  ['pets list --dry-run', "pets list: unknown flag '--dry-run'\nhint: see `petstore pets list --help`"],
  ['pets list --name Small mammals', "pets list: too many arguments: 'mammals'\nhint: see"],
  ['smoke http://x', "smoke: too many arguments: 'http://x'\nhint: give the URL with --base-url"],
  ['pets list --quiet s3cret', 'pets list: too many arguments\nhint: see'],
  ['pets list -H X-Key: Bearer s3cret', 'pets list: too many arguments\nhint: see'],
  ['config set token Basic s3cret', 'config set: too many arguments\nhint: see'],
  ['orders delete 9 --test', "unknown flag '--test'\nhint: see `petstore orders delete --help`"],
  ['inventory apply x --agai', "unknown flag '--agai'\nhint: see"],
  ['pets list --quiet=false', "pets list: unknown flag '--quiet=…'"],
  ['pets list --limit', 'pets list: --limit needs a value\n'],
  ['pets list -o', 'pets list: --output needs a value: one of table, json, jsonl, csv, tsv, yaml, ids\n'],
  ['pets list --sattus sold', "pets list: unknown flag '--sattus'\nhint: did you mean --status?"],
  ['pets list --watch --fail-if any', 'pets list: --fail-if cannot be used with --watch'],
  // The value may be a token, and is not printed.
  ['pets list --token=s3cret', "pets list: unknown flag '--token'\nhint: see"],
  [
    '--rate 5 inventory apply x',
    "petstore: unknown flag '--rate'\nhint: put it after the command: petstore inv",
  ],
])('petstore %s is refused: %s', async (line, message) => {
  const { code, stdout, stderr } = await runCli(line);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: petstore/);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('s3cret');
});

test('a topic may have flags, help may follow flags, show is get, and inventory add is adjust', async () => {
  expect(await runCli('help formats -q')).toEqual(await runCli('help formats'));
  expect(await runCli('-q help pets list')).toEqual(await runCli('help pets list'));
  for (const noun of ['pets', 'categories', 'orders', 'inventory'])
    expect(await runCli(`${noun} show 3 --offline`)).toEqual(await runCli(`${noun} get 3 --offline`));
  const adjust = 'inventory adjust 3 2 --offline --dry-run';
  expect(await runCli(adjust.replace('adjust', 'add'))).toEqual(await runCli(adjust));
});

test('the last of several formats counts, for errors too', async () => {
  const flags = '--offline --limit 1'.split(' ');
  const list = async (...words: string[]) => (await runCli([...words, ...flags])).stdout;
  expect(await list('pets', 'list', '-o', 'csv', '--json')).toMatch(/^\[/);
  expect(await list('pets', 'list', '--json', '-o', 'csv')).toMatch(/^id,/);
  expect(await list('-o', 'csv', 'pets', 'list', '--json')).toMatch(/^\[/);
  expect(await list('--json', 'pets', 'list', '-o', 'csv')).toMatch(/^id,/);
  const env = { PETSTORE_OUTPUT: 'json' };
  expect((await runCli(['orders', 'get', 'x', '-o', 'table'], { env })).stderr).toMatch(/^error: id 'x'/);
});

test('the value of a flag is its next word, whatever it begins with', async () => {
  const { stdout } = await runCli('--offline pets create --name -vest --category 1 --dry-run');
  expect(stdout).toContain('"name": "-vest"');
  expect((await runCli('--offline inventory adjust 3 -1 --dry-run')).code).toBe(0);
});

test.each([
  ['--offline pets list -o ids', /^1\n/],
  ['pets --offline -o ids list', /^1\n/],
  ['-o ids pets list --offline', /^1\n/],
  ['--dry-run --confirm offline --offline pets create --name Rex --category 1', /^POST /],
  ['pets --dry-run create --name Rex --category 1 --offline', /^POST /],
])('a flag of several commands counts before and after the noun and the verb: %s', async (line, stdout) => {
  expect(await runCli(line)).toMatchObject({ code: 0, stdout: expect.stringMatching(stdout), stderr: '' });
});
