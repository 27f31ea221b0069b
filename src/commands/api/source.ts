import { readFile, realpath } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DescriptionSource } from '../../binding/description.ts';
import type { Context } from '../../context.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { fileErrorReason } from '../../file-error.ts';

/** Many times what the largest public descriptions have. */
const maxBytes = 64 * 1024 * 1024;
const maxDocuments = 200;
const accept = 'application/openapi+json, application/json, application/yaml, */*;q=0.5';
const noClose = async () => {};

/** A description that is open until it is closed. */
interface OpenSource extends DescriptionSource {
  close(): Promise<void>;
}

/**
 * A description and what it may refer to: a file those in its own folder, a URL those of its own origin.
 *
 * @throws UsageError for a file that cannot be read; ApiError or UnavailableError where the service does not give it.
 */
export async function openSource(context: Context, location: string): Promise<OpenSource> {
  const open = /^https?:\/\//i.test(location) ? openUrl : location === '-' ? openStdin : openFile;
  const source = await open(context, location);
  let count = 1;
  return {
    ...source,
    read: async (url) => {
      count += 1;
      if (count > maxDocuments)
        throw new UsageError(`description ${source.url}: refers to more than ${maxDocuments} documents`);
      return source.read(url);
    },
  };
}

async function openFile({ io }: Context, location: string): Promise<OpenSource> {
  const path = location.startsWith('file:') ? toPath(location) : resolve(io.cwd, location);
  const text = await readText(path, location);
  return {
    url: pathToFileURL(path).href,
    text,
    read: readerIn(await realpath(dirname(path))),
    close: noClose,
  };
}

async function openStdin({ io }: Context): Promise<OpenSource> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of io.stdin.bytes()) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge('stdin');
    chunks.push(chunk);
  }
  const url = pathToFileURL(resolve(io.cwd, 'stdin')).href;
  return {
    url,
    shown: 'stdin',
    text: toText(Buffer.concat(chunks), 'stdin'),
    read: readerIn(await realpath(io.cwd)),
    close: noClose,
  };
}

function readerIn(folder: string): (url: string) => Promise<string> {
  return async (url) => {
    if (/^https?:/i.test(url)) throw refused(url, 'a file may refer to files in its own folder only');
    const path = toPath(url);
    const real = await realpath(path).catch((error) => {
      throw new UsageError(`description refers to ${path}: ${fileErrorReason(error)}`);
    });
    if (!real.startsWith(folder.endsWith(sep) ? folder : folder + sep))
      throw refused(path, 'a file may refer to files in its own folder only');
    return readText(real, path);
  };
}

/** @throws UsageError where it cannot be the address of a file. */
function toPath(url: string): string {
  try {
    return url.startsWith('file:') ? fileURLToPath(url) : decodeURIComponent(url);
  } catch (error) {
    throw new UsageError(`description ${url}: ${messageOf(error)}`);
  }
}

async function openUrl(context: Context, location: string): Promise<OpenSource> {
  if (!URL.canParse(location)) throw new UsageError(`${location} is no valid URL`);
  const first = await openOrigin(context, location);
  try {
    const { url, text } = await first.read(new URL(location).href);
    const { origin } = new URL(url);
    if (origin === first.origin) return { url, text, read: readerAt(first), close: first.close };
    // A redirect has led from http to https: there the description lies, and what it refers to.
    await first.close();
    const moved = await openOrigin(context, origin);
    return { url, text, read: readerAt(moved), close: moved.close };
  } catch (error) {
    await first.close();
    throw error;
  }
}

interface Origin {
  readonly origin: string;
  read(url: string): Promise<{ readonly url: string; readonly text: string }>;
  close(): Promise<void>;
}

async function openOrigin(context: Context, location: string): Promise<Origin> {
  const { origin } = new URL(location);
  const { connectTo } = await import('../../connect.ts');
  const client = await connectTo(context, origin);
  return {
    origin,
    read: async (path) => {
      const answer = await client.request({ method: 'GET', path, fields: { accept } });
      if (answer.refusal) throw answer.refusal;
      return { url: answer.url, text: toText(answer.body, path) };
    },
    close: () => client.close(),
  };
}

function readerAt({ origin, read }: Origin): (url: string) => Promise<string> {
  return async (url) => {
    if (URL.canParse(url) && new URL(url).origin === origin) return (await read(url)).text;
    throw refused(url, 'a description may refer to documents of its own origin only');
  };
}

async function readText(path: string, shown: string): Promise<string> {
  const bytes = await readFile(path).catch((error) => {
    throw new UsageError(`description ${shown}: ${fileErrorReason(error)}`);
  });
  return toText(bytes, shown);
}

function toText(bytes: Uint8Array, shown: string): string {
  if (bytes.length > maxBytes) throw tooLarge(shown);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`description ${shown}: is no UTF-8 text`);
  }
}

function tooLarge(shown: string): UsageError {
  return new UsageError(`description ${shown}: is larger than ${maxBytes / 1024 / 1024} MiB`);
}

function refused(url: string, why: string): UsageError {
  return new UsageError(`description refers to ${url}: ${why}`, 'bundle it into one document first');
}
