import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingKeys, variableName } from '../../src/config/keys.ts';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const repairs = [
  ['help'],
  ['--version'],
  ['pets', '--help'],
  ['completion', 'bash'],
  ['config', 'path'],
  ['config', 'list'],
  ['config', 'explain'],
  ['profile', 'list'],
  ['serve', '--port', '0', '--', 'true'],
];
const services = [
  ['pets', 'list', '--offline'],
  ['inventory', 'adjust', '3', '+1', '--offline'],
  ['overview', '--offline'],
];

test.each(repairs)('%s %s works in spite of a wrong variable', async (...argv) => {
  expect(await runCli(argv, { env: { PETSTORE_TIMEOUT: 'soon' } })).toMatchObject({ code: 0 });
});

test.each(services)('%s %s ends with 2 and names the wrong variable and its value', async (...argv) => {
  const { code, stderr } = await runCli(argv, { env: { PETSTORE_TIMEOUT: 'soon' } });
  expect(code).toBe(2);
  expect(stderr).toContain("PETSTORE_TIMEOUT 'soon': is not a duration");
});

test('list and explain warn of each wrong value, unknown key and unknown profile', async () => {
  const { env, path } = config({ profile: 'gone', timeout: 'soon', timeot: '5s' });
  for (const verb of ['list', 'explain']) {
    const { code, stderr } = await runCli(['config', verb], { env: { ...env, PETSTORE_RETRIES: '-1' } });
    expect(code).toBe(0);
    for (const text of [
      `${path}: there is no profile 'gone'`,
      `timeout in ${path} 'soon'`,
      `${path}: unknown key 'timeot'`,
      "PETSTORE_RETRIES '-1'",
    ])
      expect(stderr.replace(/\s+/g, ' ')).toContain(text);
  }
});

test('what is wrong in the file can be set right with the commands of the config', async () => {
  const { env } = config({ profile: 'gone', timeout: 'soon', timeot: '5s', output: 'csv' });
  for (const line of ['config unset profile', 'config set timeout 5s', 'config unset timeot'])
    expect(await runCli(line.split(' '), { env })).toMatchObject({ code: 0 });
  expect(await runCli(['pets', 'list', '--offline'], { env })).toMatchObject({ code: 0, stderr: '' });
});

test('a file that cannot be read stops each command that calls a service', async () => {
  const { env, path } = config({});
  writeFileSync(path, '{');
  const { code, stderr } = await runCli(['pets', 'list', '--offline'], { env });
  expect(code).toBe(2);
  expect(stderr).toContain(`${path}: it is not valid JSON`);
});

test('each key of the config has a variable that gives it', async () => {
  const values: Readonly<Record<string, string>> = {
    timeout: '7s',
    retries: '9',
    'token-command': 'pass show shop',
    'import-map': 'petId=article,quantity=stock',
    'import-thousands': '.',
    protected: 'true',
  };
  const env = Object.fromEntries(
    Object.entries(values).map(([key, text]) => [variableName(key as never), text]),
  );
  const { stdout } = await runCli(['config', 'explain', '-o', 'json'], { env });
  const explained: { key: string; origin: string | null }[] = JSON.parse(stdout);
  for (const key of Object.keys(values))
    expect(explained.find((each) => each.key === key)?.origin).toBe(variableName(key as never));
  expect(explained.filter(({ key }) => settingKeys.includes(key as never))).toHaveLength(settingKeys.length);
});

/** A config folder of its own, by the variable that names it, and the file in it. */
function config(content: object) {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify(content));
  return { path, env: { PETSTORE_CONFIG_DIR: folder } };
}
