import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Description, readDescription } from '../../binding/description.ts';
import { decodeText, maxBytes, parseDocument } from '../../binding/parse-document.ts';
import { forbiddenReference } from '../../binding/references.ts';
import type { Context } from '../../context.ts';
import { InputError, messageOf } from '../../process/errors.ts';
import { collectBytes, readWhole } from '../../process/read-file.ts';
import { systemReason } from '../../process/system-error.ts';

/**
 * Reads a description and the documents that it refers to. A file may refer to files in its own folder, a URL
 * to its own origin. If the URL is not a description itself, a link or a usual path leads to one.
 *
 * @param argument a file, a URL, or `-` for stdin. Undefined means the base URL.
 * @throws InputError if there is no description, or it cannot be read.
 * @throws CliError if the service does not answer.
 */
export async function readDescriptionAt(
  context: Context,
  argument: string | undefined,
  withToken: boolean,
): Promise<Description> {
  const { io, settings } = context;
  const location = argument ?? settings.get('base-url');
  if (location === undefined)
    throw new InputError(
      'api bind: no description is given, and no base URL is set',
      'name a file or a URL, or give --base-url <url>',
    );
  if (/^https?:\/\//i.test(location))
    return (await import('./find-description.ts')).findDescription(context, location, withToken);
  const isStdin = location === '-';
  const label = isStdin ? 'stdin' : location;
  const path = isStdin ? resolve(io.cwd, 'stdin') : toPath(location, io.cwd);
  const text = await readText(
    label,
    isStdin ? collectBytes(io.stdin.bytes(), maxBytes) : readWhole(path, maxBytes),
  );
  return readDescription({
    url: pathToFileURL(path).href,
    label,
    document: await parseDocument(text, label),
    read: (url) => readBeside(dirname(path), url),
  });
}

/**
 * Reads a file that a description refers to.
 *
 * @throws InputError if it is not in the folder of the description.
 */
async function readBeside(folder: string, url: string): Promise<string> {
  const why = 'a file may refer to files in its own folder only';
  if (/^https?:/i.test(url)) throw forbiddenReference(url, why);
  const path = toPath(url, folder);
  const real = await realpath(path).catch((error) => {
    throw new InputError(`description refers to ${path}: ${systemReason(error)}`);
  });
  const allowed = await realpath(folder);
  if (!real.startsWith(allowed.endsWith(sep) ? allowed : allowed + sep)) throw forbiddenReference(path, why);
  // A pipe may never end, so only the user may name one.
  if (!(await stat(real)).isFile())
    throw new InputError(`description refers to ${path}: is not a regular file`);
  return readText(path, readWhole(real, maxBytes));
}

/** Converts a file URL or a path to an absolute path. @throws InputError for an invalid file URL. */
function toPath(location: string, folder: string): string {
  try {
    return location.startsWith('file:') ? fileURLToPath(location) : resolve(folder, location);
  } catch (error) {
    throw new InputError(`description ${location}: ${messageOf(error)}`);
  }
}

async function readText(label: string, bytes: Promise<Buffer>): Promise<string> {
  const content = await bytes.catch((error) => {
    throw new InputError(`description ${label}: ${systemReason(error)}`);
  });
  return decodeText(content, label);
}
