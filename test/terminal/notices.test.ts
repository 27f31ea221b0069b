import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lifecycleLines } from '../../src/api/lifecycle.ts';
import { notShownToday } from '../../src/output/once-a-day.ts';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const ends = { deprecation: 'ends on 2027-12-31, in 305 days', stability: undefined };
const beta = { deprecation: undefined, stability: 'is beta and may change' };
const line = 'warning: pets get uses an endpoint that ends on 2027-12-31, in 305 days';
const noon = new Date('2027-03-01T12:00:00Z');

test('a notice names the command, and two endpoints with the same notice get one line', () => {
  expect(lifecycleLines('pets get', [ends, beta, ends])).toEqual([
    line,
    'warning: pets get uses an endpoint that is beta and may change',
  ]);
  expect(lifecycleLines('pets get', [{ deprecation: undefined, stability: undefined }])).toEqual([]);
});

test('a notice is shown once a day', async () => {
  const stateDir = join(temporaryFolder(), 'state');
  expect(await notShownToday([line], stateDir, noon)).toEqual([line]);
  expect(await notShownToday([line, 'another'], stateDir, noon)).toEqual(['another']);
  expect(await notShownToday([line], stateDir, new Date('2027-03-02T00:00:00Z'))).toEqual([line]);
  expect(await readFile(join(stateDir, 'notices.json'), 'utf8')).not.toContain('another');
});

test('a notice is shown if nothing can be remembered', async () => {
  expect(await notShownToday([line], '/dev/null/state', noon)).toEqual([line]);
  const stateDir = temporaryFolder();
  await writeFile(join(stateDir, 'notices.json'), '{"day":"2027-03-01","shown":7');
  expect(await notShownToday([line], stateDir, noon)).toEqual([line]);
});

test('a command shows its notice once a day, but in a JSON error every time', async () => {
  const options = { env: { PETSTORE_STATE_DIR: join(temporaryFolder(), 'state') } };
  const get = (...words: string[]) => runCli(['--offline', 'pets', 'get', ...words], options);
  const notice = /^warning: pets get uses an endpoint that ends on 2027-12-31/;
  expect((await get('1', '-q')).stderr).toBe('');
  expect((await get('1')).stderr).toMatch(notice);
  expect((await get('1')).stderr).toBe('');
  for (let time = 0; time < 2; time += 1) {
    const { error } = JSON.parse((await get('999999', '-o', 'json')).stderr);
    expect(error.warnings).toEqual([
      expect.stringMatching(/^pets get uses an endpoint that ends on 2027-12-31/),
    ]);
  }
  expect(JSON.parse((await get('999999', '-o', 'json', '-q')).stderr).error).not.toHaveProperty('warnings');
});
