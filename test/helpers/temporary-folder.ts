import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A folder of the test's own, removed when the test ends. Not by a hook of this file: test files share the module, so
 * only the first of them would get the hook.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
