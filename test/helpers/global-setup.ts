import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingTools } from './tools.ts';

/**
 * Builds `dist` once before the tests, so that a test never spawns an old build, and says which tests will be skipped. All temporary
 * files of the tests lie in one folder, which the returned function removes after the last test.
 */
export function setup(): () => void {
  execFileSync(process.execPath, ['.ci/build.mjs'], { stdio: 'inherit' });
  const missing = missingTools().join(', ');
  if (missing !== '') process.stdout.write(`Tests that need these tools are skipped: ${missing}\n`);
  const folder = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
