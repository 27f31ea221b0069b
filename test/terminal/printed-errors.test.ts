import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const notFound = { status: 404, body: { status: 404, code: 'not_found', message: 'pet 7 does not exist' } };

test('an error without a service names every way to one', async () => {
  const { stderr: local } = await runCli('pets list');
  const hint =
    'give --base-url <url>, choose .*, create one with `petstore profile create .*, or use --offline ';
  expect(local).toMatch(new RegExp(`^error: no service to call: no base URL is set\nhint: ${hint}.*\n$`));
});

test('a failure that several records share names each of them, with one hint', async () => {
  await using server = await recordingServer({}, () => ({ status: 401, body: { message: 'who are you' } }));
  const { stderr } = await runAt(server, 'pets get 1 2 3');
  expect(stderr).toMatch(/^(error: who are you \(GET \S+\/pets\/[123]: 401\)\n){3}hint: give a token.*\n$/);
  const json = await runAt(server, 'pets get 1 2 3 -o json');
  expect(JSON.parse(json.stderr).error.errors).toHaveLength(3);
});

test('foreign text in an error becomes visible escapes', async () => {
  const message = 'bad \x1b[2J\nname\u202e';
  await using server = await recordingServer({}, () => ({
    status: 422,
    body: { ...notFound.body, message },
  }));
  expect((await runAt(server, 'orders get 1')).stderr).toContain('bad \\x1b[2J name\\u202e (GET');
  expect((await runAt(server, 'orders get 1 --json')).stderr).toContain('"bad \\u001b[2J name\\u202e"');
});

test.each([
  ['invalid_flag', '--offline pets create --name  --category 1', {}],
  ['invalid_input', '--offline pets list', { PETSTORE_BASE_URL: 'x' }],
  ['invalid_input', '--offline pets update --from broken.csv', {}],
  ['no_target', 'pets list', {}],
  ['confirmation_needed', '--offline pets delete 3', {}],
  ['confirmation_needed', '--offline pets delete 3 --yes --confirm prod', {}],
  ['invalid_input', '--offline offline reset --yes', { PETSTORE_OFFLINE_STORE: ':memory:' }],
  ['invalid_flag', '--offline pets lst', {}],
  ['insecure', 'pets list --base-url http://shop.example -H Authorization:x', {}],
  ['file_exists', 'offline pull --base-url http://127.0.0.1:9 --to broken.csv', {}],
])('the JSON of a usage error has the code %s: %s %j', async (code, line, env) => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'broken.csv'), 'id,nmae\n3,Luna\n');
  const run = await runCli(`${line} -o json`, { cwd, env });
  expect(run.code).toBe(2);
  expect(JSON.parse(run.stderr).error).toMatchObject({ kind: 'usage', code });
});

test.each([
  ['on a terminal', [], { terminals: ['stderr'] }, true],
  ['on a terminal with --quiet', ['-q'], { terminals: ['stderr'] }, false],
  ['in a pipe', [], {}, false],
  ['in a pipe with -v', ['-v'], {}, true],
  ['with -v and --quiet', ['-v', '-q'], {}, false],
] as const)(
  '%s a command says once that an operation is deprecated and when it ends, or never',
  async (_, words, options, isShown) => {
    const headers = { deprecation: '@1767225600', sunset: 'Tue, 01 Jan 2030 00:00:00 GMT' };
    const body = { id: 1, name: 'Bella', categoryId: 1, status: 'sold' };
    await using server = await recordingServer({}, ({ path }) =>
      path.startsWith('/pets/') ? { headers, body } : { body: [] },
    );
    const { code, stderr } = await runAt(server, ['pets', 'get', '1', '1', ...words], options);
    expect(code).toBe(0);
    const notice = /^note: getPet is deprecated and ends on 2030-01-01$/gm;
    expect(stderr.match(notice) ?? []).toHaveLength(isShown ? 1 : 0);
  },
);
