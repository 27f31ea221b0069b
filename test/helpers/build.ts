import { execFileSync } from 'node:child_process';

/** Builds `dist` once before the tests, so that a test never spawns an old build. */
export function setup(): void {
  execFileSync(process.execPath, ['.ci/build.mjs'], { stdio: 'inherit' });
}
