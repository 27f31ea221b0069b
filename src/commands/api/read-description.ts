import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type Description,
  decodeText,
  forbiddenReference,
  maxBytes,
  readDescription,
} from '../../binding/description.ts';
import type { Context } from '../../context.ts';
import { InputError, messageOf } from '../../process/errors.ts';
import type { Io } from '../../process/io.ts';
import { collectBytes, readWhole } from '../../process/read-file.ts';
import { systemReason } from '../../process/system-error.ts';

/**
 * Reads a description, with the documents that it refers to: for a file those in its own folder, for a URL those of its
 * own origin. If the URL is not a description itself, a link or a well-known path leads to one.
 *
 * @param argument a file, a URL, `-` for stdin; undefined for the base URL.
 * @throws UsageError if there is none, or it cannot be read; UnavailableError if the service does not answer.
 */
export async function readDescriptionAt(
  context: Context,
  argument: string | undefined,
  withToken: boolean,
): Promise<Description> {
  const { io } = context;
  const location = argument ?? context.settings.get('base-url');
  if (location === undefined)
    throw new InputError(
      'api bind: no description is given, and no base URL is set',
      'name a file or a URL, or give --base-url <url>',
    );
  if (/^https?:\/\//i.test(location))
    return (await import('./find-description.ts')).findDescription(context, location, withToken);
  if (location === '-') {
    const url = pathToFileURL(resolve(io.cwd, 'stdin')).href;
    const read = (other: string) => readBeside(io.cwd, other);
    return readDescription({ url, label: 'stdin', content: await readStdin(io), read });
  }
  const path = location.startsWith('file:') ? toPath(location) : resolve(io.cwd, location);
  return readDescription({
    url: pathToFileURL(path).href,
    content: await readDocument(path, location),
    read: (other) => readBeside(dirname(path), other),
  });
}

async function readStdin({ stdin }: Io): Promise<string> {
  return decodeText(await readLimited('stdin', collectBytes(stdin.bytes(), maxBytes)), 'stdin');
}

/** The text of a file that a description refers to. @throws UsageError if it is not in the description's folder. */
async function readBeside(folder: string, url: string): Promise<string> {
  const why = 'a file may refer to files in its own folder only';
  if (/^https?:/i.test(url)) throw forbiddenReference(url, why);
  const path = toPath(url);
  const real = await realpath(path).catch((error) => {
    throw new InputError(`description refers to ${path}: ${systemReason(error)}`);
  });
  const allowed = await realpath(folder);
  if (!real.startsWith(allowed.endsWith(sep) ? allowed : allowed + sep)) throw forbiddenReference(path, why);
  // A pipe may never end, so only the user may name one.
  if (!(await stat(real)).isFile())
    throw new InputError(`description refers to ${path}: is not a regular file`);
  return readDocument(real, path);
}

/** @throws UsageError if it cannot be the URL of a file. */
function toPath(url: string): string {
  try {
    return url.startsWith('file:') ? fileURLToPath(url) : decodeURIComponent(url);
  } catch (error) {
    throw new InputError(`description ${url}: ${messageOf(error)}`);
  }
}

/** Reads any file: a pipe, such as `<(command)`, too. @throws UsageError that names it */
async function readDocument(path: string, label: string): Promise<string> {
  return decodeText(await readLimited(label, readWhole(path, maxBytes)), label);
}

async function readLimited(label: string, bytes: Promise<Buffer>): Promise<Buffer> {
  try {
    return await bytes;
  } catch (error) {
    throw new InputError(`description ${label}: ${systemReason(error)}`);
  }
}
