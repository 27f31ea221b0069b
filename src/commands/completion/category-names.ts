import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { ensurePrivateFolder, writeFileAtomic } from '../../files.ts';

/** How long category names are taken from the cache, and how long a Tab may wait for the service, in milliseconds. */
const freshMs = 60_000;
const patienceMs = 200;

interface Cache {
  readonly savedAt: number;
  readonly names: readonly string[];
}

/** The names of the service's categories, from the cache while it is fresh. */
export async function categoryNames(context: Context): Promise<readonly string[]> {
  const file = await cacheFile(context);
  const cache = await readCache(file);
  const now = context.now().getTime();
  if (cache && Math.abs(now - cache.savedAt) < freshMs) return cache.names;
  const names = await fetchNames(context).catch(() => undefined);
  if (!names) return cache?.names ?? [];
  await saveCache(file, { savedAt: now, names }).catch(() => {});
  return names;
}

/** One cache for each service: names of one must not be offered for another. */
async function cacheFile(context: Context): Promise<string> {
  const settings = await context.settings();
  const target = settings.offline ? 'offline' : (settings.get('base-url') ?? '');
  const name = createHash('sha256').update(target).digest('hex').slice(0, 16);
  return join(resolvePaths(context.io).stateDir, 'completion', `${name}.json`);
}

async function fetchNames(context: Context): Promise<string[]> {
  const client = await context.client();
  const names: string[] = [];
  const options = { timeoutMs: patienceMs, signal: AbortSignal.timeout(patienceMs) };
  for await (const page of client.list('listCategories', {}, options))
    names.push(...page.map(({ name }) => name));
  // A name with a line break cannot be offered line by line.
  return names.filter((name) => !/[\r\n]/.test(name));
}

async function readCache(file: string): Promise<Cache | undefined> {
  const cache: Cache | undefined = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
  return Array.isArray(cache?.names) ? cache : undefined;
}

async function saveCache(file: string, cache: Cache): Promise<void> {
  await ensurePrivateFolder(dirname(file));
  await writeFileAtomic(file, JSON.stringify(cache));
}
