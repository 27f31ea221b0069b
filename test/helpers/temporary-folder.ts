import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * Creates a folder for the running test, and removes it when the test ends. A hook of this file would not do: test files
 * share the module, so only the first file would get the hook.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
