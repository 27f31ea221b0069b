import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder. It is removed after the last test: see global-setup.ts. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'petstore-'));
}
