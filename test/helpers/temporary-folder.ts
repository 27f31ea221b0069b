import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder. It is removed after the last test: see global-setup.ts. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'petstore-'));
}

/** Writes a text to a new file, which only its owner may read, and returns the path. */
export function temporaryFile(text: string): string {
  const path = join(temporaryFolder(), 'file');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}
