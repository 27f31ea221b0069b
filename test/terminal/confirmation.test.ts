import { expect, test } from 'vitest';
import { openConfig } from '../helpers/config-folder.ts';
import { type Answers, runTyping } from '../helpers/person.ts';
import { type RecordingServer, recordingServer } from '../helpers/recording-server.ts';
import { type RunOptions, runCli } from '../helpers/run-cli.ts';

const entry = { petId: 5, quantity: 1, status: 'sold' };

function service(): Promise<RecordingServer> {
  return recordingServer({}, ({ method, path }) => {
    if (method === 'DELETE') return { status: 204 };
    if (method === 'PUT') return { body: { ...entry, quantity: 2 } };
    return { body: path.startsWith('/pets') ? { id: 5, name: 'Rex', categoryId: 1 } : entry };
  });
}

/** The environment of a user whose profile `prod` is protected, and whose profile `staging` is not. */
function withProfiles({ url }: RecordingServer, defaults: object = {}): RunOptions {
  const profiles = { prod: { 'base-url': url, protected: true }, staging: { 'base-url': url } };
  return { env: openConfig({ ...defaults, profiles }).env };
}

test.each([
  ['inventory set 5 2 --profile staging', ['PUT /store/inventory/5']],
  ['pets delete 5 --profile staging --yes', ['DELETE /pets/5']],
  ['inventory set 5 2 --profile prod --confirm prod', ['PUT /store/inventory/5']],
  ['pets delete 5 --profile prod --dry-run', []],
])('%s asks nobody, and writes %j', async (line, writes) => {
  await using server = await service();
  const { code, stderr } = await runTyping(line.split(' '), [], withProfiles(server));
  expect(code).toBe(0);
  expect(stderr).not.toContain('?');
  expect(server.calls().filter((call) => !call.startsWith('GET '))).toEqual(writes);
});

const needed = 'this needs a confirmation, but there is no terminal';
const locked = 'prod is protected, but there is no terminal';

test.each([
  ['pets delete 5 --profile staging', `delete pet 5: ${needed}\nhint: use --yes\n`],
  ['pets delete 5 --profile prod --confirm prod', `delete pet 5: ${needed}\nhint: use --yes\n`],
  ['pets delete 5 --profile prod', `delete pet 5: ${locked}\nhint: use --confirm prod and --yes\n`],
  [
    'inventory set 5 1 --profile prod --yes',
    `set the stock of pet 5 to 1: ${locked}\nhint: use --confirm prod\n`,
  ],
  [
    'inventory set 5 1 --profile staging --confirm prod',
    '--confirm prod: this command writes to staging, nothing was written\n',
  ],
])('%s stops, and writes nothing', async (line, message) => {
  await using server = await service();
  const stderr = `error: ${message}`;
  expect(await runCli(line, withProfiles(server))).toEqual({ code: 2, stdout: '', stderr });
  expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
});

test.each<[string, Answers, number]>([
  ['pets delete 5 --offline', [['in stock) in the embedded store?', 'n\r']], 2],
  ['pets delete 5 --profile staging', [['1 in stock) on staging (<url>)?', '\x03']], 130],
  ['pets delete 5 --profile staging', [['1 in stock) on staging (<url>)?', 'y\r']], 0],
  ['pets delete 5 --base-url <url>', [['1 in stock) on <url>?', 'y\r']], 0],
  ['pets delete 5 --profile prod', [['prod is protected. Type its name to delete pet 5 (Rex', 'prod \r']], 0],
  ['pets delete 5 --profile prod', [['prod is protected. Type its name to delete pet 5 (Rex', 'yes\r']], 2],
])('%s asks for a yes, or only for the name if the profile is protected', async (line, answers, code) => {
  await using server = await service();
  const here = (text: string) => text.replace('<url>', server.url);
  const dialogue = answers.map(([question, keys]) => [here(question), keys] as const);
  const run = await runTyping(here(line).split(' '), dialogue, { ...withProfiles(server), columns: 200 });
  expect(run).toMatchObject({ code, stdout: '' });
  expect(run.stderr.includes('nothing was written')).toBe(code !== 0);
  expect(server.calls().includes('DELETE /pets/5')).toBe(code === 0);
});

test('a base URL that is protected without a profile is confirmed by its host', async () => {
  await using server = await service();
  const options = withProfiles(server, { protected: true });
  const { host } = new URL(server.url);
  const confirm = (name: string) =>
    runCli(`inventory set 5 1 --base-url ${server.url} --confirm ${name}`, options);
  expect((await confirm('shop')).stderr).toContain(`--confirm shop: this command writes to ${host}`);
  expect(await confirm(host)).toMatchObject({ code: 0 });
});
