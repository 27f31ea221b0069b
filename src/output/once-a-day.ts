import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../process/exact-json.ts';
import { ensurePrivateFolder, writeFileAtomic } from '../process/files.ts';
import { dayOf } from '../process/text.ts';

/**
 * The lines that have not been shown today (UTC). A file in the state directory remembers those shown; if it cannot be
 * read or written, all lines count as new.
 */
export async function notShownToday(
  lines: readonly string[],
  stateDir: string,
  now: Date,
): Promise<string[]> {
  const file = join(stateDir, 'notices.json');
  const day = dayOf(now);
  const shown = await readShown(file, day).catch((): string[] => []);
  const fresh = lines.filter((line) => !shown.includes(line));
  if (fresh.length > 0) {
    const text = `${JSON.stringify({ day, shown: [...shown, ...fresh] })}\n`;
    await ensurePrivateFolder(stateDir)
      .then(() => writeFileAtomic(file, text))
      .catch(() => {});
  }
  return fresh;
}

async function readShown(file: string, today: string): Promise<string[]> {
  const content = parseJson(await readFile(file, 'utf8'));
  if (!isJsonObject(content) || content.day !== today || !Array.isArray(content.shown)) return [];
  return content.shown.filter((line) => typeof line === 'string');
}
