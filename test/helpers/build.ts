import { execFileSync } from 'node:child_process';

/** Builds `dist` once for a run: the tests that spawn the binary must never meet an old one. */
export function setup(): void {
  execFileSync(process.execPath, ['.ci/build.mjs'], { stdio: 'inherit' });
}
