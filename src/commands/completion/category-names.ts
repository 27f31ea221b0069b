import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sinceStartMs } from '../../clock.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { ensurePrivateFolder, writeFileAtomic } from '../../files.ts';
import { sanitize } from '../../output/sanitize.ts';

/** How long category names are taken from the cache, in milliseconds. */
const freshMs = 60_000;
/** A Tab waits this long for the process to end, and the process at least so long for the service, in milliseconds. */
const budgetMs = 240;
const leastPatienceMs = 100;

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
  const names = await withDeadline(fetchNames(context, patienceMs), patienceMs).catch(() => undefined);
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

/** Also for what takes long before the first request, such as a command that prints the token. */
async function withDeadline<Value>(work: Promise<Value>, timeoutMs: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  return Promise.race([work, end]).finally(() => clearTimeout(timer));
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
