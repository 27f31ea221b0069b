import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'vitest';
import packages from './tools.json' with { type: 'json' };

/** A tool that Node does not bring. tools.json names the package of Debian that has it, which .ci/run installs. */
export type Tool = keyof typeof packages;

export function pathOf(tool: Tool): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, tool)).find(isExecutable);
}

/** Returns the `test` of tests that need these tools. Without one of them they are skipped, and the reason names it. */
export function testWith(...tools: readonly Tool[]) {
  const missing = tools.filter((tool) => pathOf(tool) === undefined);
  return testIf(missing.length === 0 ? undefined : `needs ${missing.join(' and ')}`);
}

export function testAsRoot() {
  return testIf(process.getuid?.() === 0 ? undefined : 'needs root');
}

export function missingTools(): Tool[] {
  return (Object.keys(packages) as Tool[]).filter((tool) => pathOf(tool) === undefined);
}

/** Returns the `test` of tests that are skipped if there is an obstacle, with that as the reason. */
export function testIf(obstacle: string | undefined) {
  return test.extend<{ requirements: undefined }>({
    requirements: [
      async ({ skip }, use) => {
        skip(obstacle !== undefined, obstacle);
        await use(undefined);
      },
      { auto: true },
    ],
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
