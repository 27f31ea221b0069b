import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type ConfigFolder, openConfig } from '../helpers/config-folder.ts';
import { listenHere } from '../helpers/listen.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

let config: ConfigFolder;

// Loading the program for the first time takes longer than a Tab waits.
beforeAll(async () => {
  await using server = await recordingServer({}, () => ({ body: [] }));
  await runCli(['categories', 'list', '--base-url', server.url]);
});

beforeEach(() => {
  config = openConfig();
});

/** Returns the lines that the program offers for the last word. */
async function complete(line: string): Promise<string[]> {
  const { stdout } = await config.run(`__complete -- ${line}`);
  return stdout.trimEnd().split('\n');
}

const offered = (...words: readonly string[]) =>
  config.run(['__complete', '--', ...words, 'pets', 'list', '--category', '']);

/** A Tab waits 300 ms for the values of a service, which can be too short on a busy machine: its clock is stopped. */
function waitForValues(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

const none = { code: 0, stdout: '', stderr: '' };
const categories = (...names: readonly string[]) => names.map((name, at) => ({ id: at + 1, name }));

test.each([
  ['pets list --fields ', ['id', 'name', 'category', 'status', 'categoryId']],
  ['pets list --fields id,n', ['id,name']],
  ['pets list --status=s', ['--status=sold']],
  ['pets list --status=sold,p', ['--status=sold,pending']],
  ['smoke --skip reach,t', ['reach,tls', 'reach,tls/valid', 'reach,tls/protocol', 'reach,tls/expiry']],
  ['-qo ', ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'ids']],
  ['serve -- ', [':file']],
  ['pets create --from ', [':file']],
  ['pest ', ['']],
  ['config unset prof', ['profile']],
  ['config --dry', ['']],
  ['runs --dry', ['']],
  ['inventory --dry', ['--dry-run\tshow the request or the plan, and write nothing']],
])('petstore %s<Tab> offers %j', async (line, offers) => {
  waitForValues();
  config.write({ profiles: { shop: {} } });
  expect(await complete(line)).toEqual(offers);
});

test.each<readonly [line: string, offers: readonly (string | RegExp)[]]>([
  ['pets get 1', [/^1\tBella$/m]],
  ['inventory set ', [/^Bella$/m]],
  ['orders complete ', [/^7\t\d+ of [A-Z].*\n8\t.*\n9\t.*\n10\t.*$/]],
  ['pets get Lu', ['Luna']],
  ['inventory adjust be', ['Bella']],
  ['orders list --pet Lu', ['Luna']],
])('petstore --offline %s<Tab> offers %j of the store', async (line, [offer = '']) => {
  waitForValues();
  const offers = (await complete(`--offline ${line}`)).join('\n');
  if (typeof offer === 'string') expect(offers).toBe(offer);
  else expect(offers).toMatch(offer);
});

test.each([
  ['cannot be shown or typed is not offered', ['Dogs', 'a\nb', '\x1b[31m', 'Zo\u00eb'], 'Dogs\nZoë\n'],
  ['reads as something else has its id', ['5', 'cats', 'Cats', '-y'], '1\t5\n2\tcats\n3\tCats\n4\t-y\n'],
])('a category whose name %s', async (_, names, stdout) => {
  waitForValues();
  await using server = await recordingServer({}, () => ({ body: categories(...names) }));
  expect(await offered('--base-url', server.url)).toMatchObject({ stdout });
});

test('the script of each shell is printed', async () => {
  const files = { bash: 'petstore.bash', zsh: '_petstore', fish: 'petstore.fish' };
  for (const [shell, file] of Object.entries(files))
    expect((await runCli(['completion', shell])).stdout).toBe(readFileSync(`completions/${file}`, 'utf8'));
  expect(await runCli(['completion'])).toMatchObject(failed(2, "missing required argument 'shell'"));
});

test('a Tab runs no token-command, and offers no values of the service then', async () => {
  await using server = await recordingServer({}, () => ({ body: categories('Dogs') }));
  const mark = join(temporaryFolder(), 'mark');
  config.write({ 'base-url': server.url, 'token-command': `touch ${mark}` });
  expect(await offered()).toEqual(none);
  expect(await complete('undo --dry-run --fields pet')).toEqual(['petId']);
  expect(server.calls()).toEqual([]);
  expect(existsSync(mark)).toBe(false);
});

test('a Tab prints nothing for a missing profile or service, and does not wait for a silent one', async () => {
  const server = createServer(() => {});
  const port = await listenHere(server);
  onTestFinished(() => void server.close());
  for (const url of ['http://127.0.0.1:1', '::', `http://127.0.0.1:${port}`])
    expect(await offered('--base-url', url)).toEqual(none);
  expect(await offered('--profile', 'nobody')).toEqual(none);
});
