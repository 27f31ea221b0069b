import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// What is promised of bulk runs with "never", "always" or "only", and the tests that would notice if it were broken.
const promises: Readonly<Record<string, readonly string[]>> = {
  'the counts become those of the file, and nothing else changes': [
    'sets the counts that differ, and nothing else',
  ],
  'wherever a run stops, its report is true': ['what bulk runs say is true and a delivery is booked once'],
  'an invalid row sends nothing; a broken file ends the run, also with --skip-invalid': [
    'sends no request if a row is invalid',
    'refuses all of %.40j',
  ],
  'a plan is whole or there is none': ['a plan that cannot be read whole'],
  'a row with `expected` applies only if the count is that': [
    'applies a row only if the count is the expected one',
  ],
  'a broken guard writes nothing and leaves no run': [
    'stopped by a guard, dry or without a change leaves no',
  ],
  'there are never two requests for one pet at once': ['never has two requests for one pet at once'],
  'a bound row is written only if the count is still the one that was read': [
    'writes only if the count is still the one that the plan saw',
    'reads the count again before each further attempt',
  ],
  'a row is failed only if no attempt of it can have been applied': [
    'a row is failed only if its answer proves a refusal',
    'a row that was sent and never answered is unknown, never failed',
  ],
  'a missing entry is written only with --create-missing': ['or created with --create-missing'],
  'nothing is resumed silently; `resume` and `undo` never take an older run': [
    'apply again is a new run, and writes what still differs; resume then names the older one',
    'never by an undo of an older run',
  ],
  'a delivery is booked once': ['a delivery is not booked again', 'a row is not booked twice by %s'],
  'an undo sets back only what its run wrote, and never a later change': [
    'undo sets back what the last run wrote, and only that',
    "undo never overwrites somebody's later change",
    'removes an entry only if it has the ETag that the plan saw',
  ],
  'only shards of one n run side by side': ['shards of one n run side by side'],
  'nothing is written from a journal that cannot be read': [
    'a line that cannot be read makes the run unreadable',
  ],
  'rejects never replace a file without --force, and those of a delivery hold only final rows': [
    'never overwrites a file without --force',
    'the rejects of a delivery hold only rows that failed for a reason of their own',
  ],
  'an edit plans only the rows that were changed': ['writes only the rows that were changed'],
  '--quiet never leaves out the document of -o json': ['-q prints no summary and no notes'],
};

const tests = readdirSync('test/bulk')
  .filter((name) => name.endsWith('.test.ts') && name !== 'sentences.test.ts')
  .map((name) => readFileSync(join('test/bulk', name), 'utf8'))
  .join('\n');

test.each(Object.entries(promises))('%s', (_, titles) => {
  expect(titles.filter((title) => !tests.includes(title))).toEqual([]);
});
