import { execFileSync } from 'node:child_process';
import { missingTools } from './tools.ts';

/** Builds `dist` once before the tests, so that a test never spawns an old build, and says which tests will be skipped. */
export function setup(): void {
  execFileSync(process.execPath, ['.ci/build.mjs'], { stdio: 'inherit' });
  const missing = missingTools().join(', ');
  if (missing !== '') process.stdout.write(`Tests that need these tools are skipped: ${missing}\n`);
}
