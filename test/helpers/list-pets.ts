import { printJson } from '../../src/process/exact-json.ts';
import { recordingServer } from './recording-server.ts';
import { type Run, type RunOptions, runAt } from './run-cli.ts';

export const rex = { id: 1n, name: 'Rex', categoryId: 7n, status: 'available', chip: 'x1' };
export const mia = { id: 9223372036854775807n, name: 'Mia', categoryId: 8n, status: 'sold' };

export const terminal: RunOptions = { terminals: ['stdout', 'stderr'] };

/** Lists the pets of a service that has these pages and no categories. The service refuses a page that is undefined. */
export async function listPages(
  pages: readonly (readonly object[] | undefined)[],
  flags = '',
  options?: RunOptions,
): Promise<Run> {
  await using server = await recordingServer({ '/categories': [] }, ({ path }) => {
    const at = Number(new URL(path, 'http://x').searchParams.get('after') ?? 0);
    if (at < pages.length && !pages[at]) return { status: 400 };
    const headers = at + 1 < pages.length ? { link: `</pets?after=${at + 1}>; rel="next"` } : {};
    return { body: printJson(pages[at] ?? []), headers };
  });
  return await runAt(server, `pets list${flags && ` ${flags}`}`, options);
}

export async function printPets(pets: readonly object[], flags = '', options?: RunOptions): Promise<string> {
  return (await listPages([pets], flags, options)).stdout;
}
