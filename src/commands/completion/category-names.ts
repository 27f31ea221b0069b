import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sinceStartMs } from '../../clock.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { withDeadline } from '../../deadline.ts';
import { ensurePrivateFolder, writeFileAtomic } from '../../files.ts';
import { sanitize } from '../../text.ts';

/** How long category names are taken from the cache, in milliseconds. */
const freshMs = 60_000;
/** A Tab waits this long for the process to end, and the process at least so long for the service, in milliseconds. */
const budgetMs = 240;
const leastPatienceMs = 150;

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
  const patienceMs = Math.max(leastPatienceMs, Math.round(budgetMs - sinceStartMs()));
  // The deadline is also for what takes long before the first request, such as a command that prints the token.
  const fetched = withDeadline(fetchNames(context, patienceMs), patienceMs, () => undefined);
  const names = await fetched.catch(() => undefined);
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

async function fetchNames(context: Context, patienceMs: number): Promise<string[]> {
  const client = await context.client();
  const names: string[] = [];
  const options = { timeoutMs: patienceMs, signal: AbortSignal.timeout(patienceMs) };
  for await (const page of client.list('listCategories', {}, options))
    names.push(...page.map(({ name }) => name));
  // A name that cannot be shown as it is cannot be typed either.
  return names.filter((name) => sanitize(name) === name);
}

/** Undefined where there is none, or none that can be read: the next one takes its place. */
async function readCache(file: string): Promise<Cache | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  try {
    const cache: Cache | null = JSON.parse(text);
    return Array.isArray(cache?.names) ? cache : undefined;
  } catch {
    return undefined;
  }
}

async function saveCache(file: string, cache: Cache): Promise<void> {
  await ensurePrivateFolder(dirname(file));
  await writeFileAtomic(file, JSON.stringify(cache));
}
