import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { pathOf } from './tools.ts';

/** The path of a browser on this machine; undefined if there is none. */
export const browserPath = process.env.PETSTORE_TEST_BROWSER ?? pathOf('chromium');

export interface Browser extends AsyncDisposable {
  readonly context: BrowserContext;
}

/** Opens a browser with a new profile, which sends only the requests of its pages. */
export async function openBrowser(): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-browser-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: browserPath ?? '',
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return {
    context,
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
