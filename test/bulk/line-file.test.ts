import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LineFile } from '../../src/bulk/line-file.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('a line that is appended after the file was closed is refused, and is not written to another file', async () => {
  const path = join(temporaryFolder(), 'lines');
  const file = LineFile.create(path);
  file.append('one');
  await file.close();
  expect(() => file.append('two')).toThrow('is closed');
  await file.close();
  expect(readFileSync(path, 'utf8')).toBe('one\n');
});
