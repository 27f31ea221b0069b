import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { version } from '../../package.json';
import { globalFlags } from '../../src/cli/global-flags.ts';
import { isGroup, ownFlags } from '../../src/cli/verb.ts';
import { program } from '../../src/commands/index.ts';
import { main } from '../../src/main.ts';
import { commandsOf } from '../helpers/commands.ts';
import { listenHere } from '../helpers/listen.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('a noun with no verb prints its help on stderr and exits 2', async () => {
  const run = await runCli(['pets']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('<verb>');
});

test('--help goes to stdout and exits 0', async () => {
  const run = await runCli(['pets', 'list', '--help']);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(run.stdout).toContain('--status');
});

test('a typo gets a suggestion', async () => {
  const run = await runCli(['pets', 'lst']);
  expect(run.code).toBe(2);
  expect(run.stderr).toBe(
    "error: petstore pets: unknown command 'lst'\nhint: (Did you mean one of list, ls?)\n",
  );
});

test.each([
  ['pets show 3', 'did you mean get?'],
  ['pets add', 'did you mean create?'],
  ['inventory update 3 5', 'did you mean set?'],
  ['profile switch shop', 'did you mean use?'],
  ['get pets', 'did you mean `petstore pets get`?'],
  ['remove order 5', 'did you mean `petstore orders delete`?'],
  ['undo', 'did you mean `petstore inventory undo`?'],
  ['use shop', 'did you mean `petstore profile use`?'],
  ['petz', '(Did you mean one of pet, pets?)'],
  ['help bulkk', 'did you mean `petstore help bulk`?'],
  ['list', 'see `petstore --help`'],
  ['pets 3', 'did you mean `petstore pets get 3`?'],
  ['inventory Luna', 'did you mean `petstore inventory get Luna`?'],
])('petstore %s: %s', async (words, hint) => {
  const run = await runCli(words.split(' '));
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toMatch(/^error: petstore.*: unknown command '.*'$/m);
  expect(run.stderr).toContain(`hint: ${hint}\n`);
});

test('a usage error is one JSON object if the words ask for JSON', async () => {
  const run = await runCli(['pets', 'list', '--nonsense', '-o', 'json']);
  expect(run.code).toBe(2);
  expect(JSON.parse(run.stderr)).toMatchObject({
    error: { kind: 'usage', message: "petstore pets list: unknown option '--nonsense'" },
  });
});

test.each([
  ['--version'],
  ['--version', '-o', 'json'],
  ['--quiet', '--version'],
  ['--profile', 'none', '--version'],
])('%s %s %s prints the version', async (...argv) => {
  const env = { PETSTORE_OUTPUT: 'wrong' };
  expect(await runCli(argv, { env })).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('help and completion tell of --version, which no command takes', async () => {
  expect((await runCli(['--help'])).stdout).toMatch(/^Flags:\n {2} *--version {2}print the version$/m);
  expect((await runCli(['__complete', '--', '--vers'])).stdout).toBe('--version\tprint the version\n');
  expect((await runCli(['pets', 'list', '--version'])).code).toBe(2);
});

test('petstore alone shows an introduction and exits 0', async () => {
  const run = await runCli([]);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(run.stdout).toContain('petstore --offline pets list');
});

test("help before the words of a command is that command's help", async () => {
  const asked = await runCli(['help', 'pets', 'list']);
  expect(asked).toEqual(await runCli(['pets', 'list', '--help']));
  expect(asked.code).toBe(0);
});

test.each([[['pets', 'help', 'list']], [['--help', 'pets', 'list']], [['pets', '-h', 'list']]])(
  'help is found wherever the words ask for it: %j',
  async (argv) => {
    expect(await runCli(argv)).toEqual(await runCli(['pets', 'list', '--help']));
  },
);

test('the last of several formats counts, for errors too', async () => {
  const one = '--offline --limit 1'.split(' ');
  const list = async (...words: string[]) => (await runCli([...words, ...one])).stdout;
  expect(await list('pets', 'list', '-o', 'csv', '--json')).toMatch(/^\[/);
  expect(await list('pets', 'list', '--json', '-o', 'csv')).toMatch(/^id,/);
  expect(await list('-o', 'csv', 'pets', 'list', '--json')).toMatch(/^\[/);
  expect(await list('--json', 'pets', 'list', '-o', 'csv')).toMatch(/^id,/);
  expect(await list('pets', 'list', '-o=csv')).toMatch(/^id,/);
  const env = { PETSTORE_OUTPUT: 'json' };
  expect((await runCli(['orders', 'get', 'x', '-o', 'table'], { env })).stderr).toMatch(/^error: id 'x'/);
});

test('an error in a flag is printed in the format of the config', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), '{"output":"json"}', { mode: 0o600 });
  const env = { PETSTORE_CONFIG_DIR: folder };
  const run = await runCli(['pets', 'list', '--timeout', '0', '--offline'], { env });
  expect(JSON.parse(run.stderr)).toMatchObject({ error: { kind: 'usage' } });
});

test('an error of the embedded store names the path alone, because the store has no address', async () => {
  const { stderr } = await runCli(['categories', 'get', '99', '--offline']);
  expect(stderr).toContain('error: get a category: GET /categories/99: category 99 does not exist');
});

test('help for a command that does not exist is a usage error', async () => {
  for (const argv of [
    ['help', 'pest'],
    ['pest', '--help'],
    ['--output', 'json', 'pets', 'lst', '-h'],
  ]) {
    const run = await runCli(argv);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(/did you mean/i);
  }
});

test.each([
  [['inventory', 'runs', '--below', '2'], "petstore inventory runs: unknown option '--below'"],
  [['--limit', '2', 'pets', 'list'], "petstore: unknown option '--limit'"],
  [['pets', '-q', '2'], "petstore pets: unknown command '2'"],
  [['--dry-run', 'petz'], "petstore: unknown command 'petz'"],
])('%j: %s', async (argv, message) => {
  expect((await runCli(argv)).stderr).toContain(`error: ${message}\n`);
});

test('a flag of a verb that stands after its noun leads to the verb', async () => {
  expect((await runCli(['orders', '--overdue'])).stderr).toBe(
    "error: petstore orders: unknown option '--overdue'\nhint: did you mean `petstore orders list --overdue`?\n",
  );
});

test('the value of a flag that does not exist is not printed, because it may be a token', async () => {
  const { stderr } = await runCli(['pets', 'list', '--token=s3cret']);
  expect(stderr).toContain("error: petstore pets list: unknown option '--token'\nhint: a token comes from");
  expect(stderr).not.toContain('s3cret');
});

test.each([
  [['pets', 'list', 'Luna'], 'too many arguments'],
  [['pets', 'list', '--limit'], "option '--limit <n>' argument missing"],
  [['pets', 'list', '--sattus', 'sold'], "unknown option '--sattus'\nhint: (Did you mean --status?)"],
  [['pets', 'list', '--watch', '--fail-if', 'any'], "option '--fail-if <which>' cannot be used with"],
])('%j is refused in the words of commander: %s', async (argv, message) => {
  const run = await runCli(argv);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(`error: petstore pets list: ${message}`);
});

test('the value of a flag is its next word, whatever it begins with', async () => {
  const { stdout } = await runCli([
    '--offline',
    'pets',
    'create',
    '--name',
    '-vest',
    '--category',
    '1',
    '--dry-run',
  ]);
  expect(stdout).toContain('"name": "-vest"');
  expect((await runCli(['--offline', 'inventory', 'adjust', '3', '-1', '--dry-run'])).code).toBe(0);
});

test('an error in the words names the command and points to its help', async () => {
  const run = await runCli(['pet', 'get']);
  expect(run.code).toBe(2);
  expect(run.stderr).toBe(
    "error: petstore pets get: missing required argument 'id or name'\nhint: see `petstore pets get --help`\n",
  );
});

test('help shows topics', async () => {
  const run = await runCli(['help', 'exit-codes']);
  expect(run.code).toBe(0);
  expect(run.stdout).toContain('130  interrupted');
});

test('a global flag counts before and after the noun and the verb', async () => {
  for (const argv of [
    ['--nonsense', 'pets', 'list'],
    ['pets', '--nonsense', 'list'],
    ['pets', 'list', '--nonsense'],
  ]) {
    expect((await runCli(argv)).code).toBe(2);
  }
  for (const argv of [
    ['--offline', 'pets', 'list', '-o', 'ids'],
    ['pets', '--offline', '-o', 'ids', 'list'],
    ['-o', 'ids', 'pets', 'list', '--offline'],
  ]) {
    expect((await runCli(argv)).stdout.split('\n')[0]).toBe('1');
  }
});

test('the flags of writes count before the noun and the verb too, and no other verb takes them there', async () => {
  const create = ['create', '--name', 'Rex', '--category', '1'];
  for (const argv of [
    ['--dry-run', '--confirm', 'offline', 'pets', ...create],
    ['pets', '--dry-run', ...create],
    ['pets', ...create, '--dry-run'],
  ]) {
    const run = await runCli(['--offline', ...argv]);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout).toMatch(/^POST /);
  }
  for (const argv of [
    ['--dry-run', 'pets', 'list'],
    ['pets', '--confirm', 'x', 'list'],
  ]) {
    const run = await runCli(['--offline', ...argv]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(/^error: petstore pets list: unknown option '--(dry-run|confirm)'\n/);
  }
});

test("JSON holds an error of the service in the service's own words", async () => {
  const run = await runCli(['--offline', 'pets', 'get', '999', '-o', 'json']);
  expect(run.code).toBe(5);
  expect(JSON.parse(run.stderr).error).toMatchObject({
    kind: 'not-found',
    code: 'not_found',
    message: 'pet 999 does not exist',
    status: 404,
    method: 'GET',
  });
});

test.each([
  ['terminal', ['stderr'] as const, '\r\x1b[Kerror: interrupted\n'],
  ['pipe', [], 'error: interrupted\n'],
])('on a %s ^C is erased before the error', async (_, terminals, ending) => {
  const io = fakeIo({ terminals, env: { NO_COLOR: '1' } });
  const silent = createServer(() => io.raise('SIGINT'));
  const port = await listenHere(silent);
  onTestFinished(() => void silent.close());
  const code = main(['pets', 'list', '--base-url', `http://127.0.0.1:${port}`], io);
  expect(await code).toBe(130);
  expect(io.written('stderr')).toMatch(new RegExp(`${ending.replace('[', '\\[')}$`));
});

test('no argument or flag of a command has the key of another', async () => {
  for await (const { path, command } of commandsOf(program)) {
    if (isGroup(command)) continue;
    const keys = [command.args, ownFlags(command), globalFlags].flatMap((each) => Object.keys(each ?? {}));
    expect(new Set(keys).size, path.join(' ')).toBe(keys.length);
  }
});
