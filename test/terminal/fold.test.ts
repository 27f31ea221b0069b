import { expect, test } from 'vitest';
import { foldProse, toProse } from '../../src/output/fold.ts';
import { fakeIo } from '../helpers/run-cli.ts';

test('prose is broken at spaces, and further lines begin under the first', () => {
  expect(foldProse('one two three four five six seven', 34, 10)).toBe(
    'one two three four five\n          six seven',
  );
});

test.each([undefined, 24])('nothing is folded into %s columns with little room', (columns) => {
  expect(foldProse('one two three four five six', columns, 10)).toBe('one two three four five six');
});

test('prose is masked and sanitized before it is folded', () => {
  const fake = fakeIo({ terminals: ['stderr'], columns: 30 });
  const io = { ...fake, mask: (text: string) => text.replaceAll('one secret', '***') };
  expect(toProse(io, 'error with one secret in\x1b it, at the end', 7)).toBe(
    'error with *** in\\x1b\n       it, at the end',
  );
});

test('a command that fits in a line is not broken, because people copy it', () => {
  expect(foldProse('fix the cause, then run: petstore inventory apply a.csv (again)', 50, 6)).toBe(
    'fix the cause, then run:\n      petstore inventory apply a.csv (again)',
  );
  expect(foldProse('list them with `petstore pets list`, or not', 24, 0)).toBe(
    'list them with\n`petstore pets list`, or\nnot',
  );
  expect(foldProse('go on with: petstore inventory apply rejects.csv', 24, 0)).toBe(
    'go on with: petstore\ninventory apply\nrejects.csv',
  );
});
