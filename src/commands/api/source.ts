import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { fieldValue } from '../../api/http.ts';
import { linkTarget } from '../../api/links.ts';
import { type DescriptionSource, parseDocument } from '../../binding/description.ts';
import type { CallOptions } from '../../client/call.ts';
import type { Client, RawAnswer } from '../../client/client.ts';
import type { Context } from '../../context.ts';
import { CliError, messageOf, UnavailableError, UsageError } from '../../errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../json.ts';
import { systemReason } from '../../system-error.ts';

/** Many times the size of the largest public descriptions. */
const maxBytes = 64 * 1024 * 1024;
const maxDocuments = 200;
const accept =
  'application/openapi+json, application/json, application/yaml, application/linkset+json, */*;q=0.5';
const noClose = async () => {};

/** An open description; close it after use. */
export interface OpenSource extends DescriptionSource {
  close(): Promise<void>;
}

/**
 * Opens a description, together with the documents that it may refer to: for a file those in its own folder, for a URL
 * those of its own origin. If the URL is not a description itself, a link or a well-known path leads to one.
 *
 * @param location a file, a URL, `-` for stdin; undefined for the base URL.
 * @throws UsageError if there is none, or it cannot be read; UnavailableError if the service does not answer.
 */
export async function openSource(
  context: Context,
  location: string | undefined,
  withToken: boolean,
): Promise<OpenSource> {
  const source = await open(context, location, withToken);
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

async function open(context: Context, given: string | undefined, withToken: boolean): Promise<OpenSource> {
  const location = given ?? (await context.settings()).get('base-url');
  if (location === undefined)
    throw new UsageError(
      'api bind: no description is given, and no base URL is set',
      'name a file or a URL, or give --base-url <url>',
    );
  if (/^https?:\/\//i.test(location)) return openUrl(context, location, withToken);
  return location === '-' ? openStdin(context) : openFile(context, location);
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
      throw new UsageError(`description refers to ${path}: ${systemReason(error)}`);
    });
    if (!real.startsWith(folder.endsWith(sep) ? folder : folder + sep))
      throw refused(path, 'a file may refer to files in its own folder only');
    return readText(real, path);
  };
}

/** @throws UsageError if it cannot be the URL of a file. */
function toPath(url: string): string {
  try {
    return url.startsWith('file:') ? fileURLToPath(url) : decodeURIComponent(url);
  } catch (error) {
    throw new UsageError(`description ${url}: ${messageOf(error)}`);
  }
}

/** The path that a shell passes for `<(command)`: a pipe with a writer. */
const shellPipe = /^\/(dev|proc\/self)\/fd\/\d+$/;

/** Reads regular files only, because reading a pipe without a writer, or a device, would never end. */
async function readText(path: string, shown: string): Promise<string> {
  try {
    const found = await stat(path);
    if (found.size > maxBytes) throw tooLarge(shown);
    if (found.isFile() || shellPipe.test(path)) return toText(await readFile(path), shown);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new UsageError(`description ${shown}: ${systemReason(error as Error)}`);
  }
  throw new UsageError(
    `description ${shown}: is not a regular file`,
    'give what a pipe holds on stdin: petstore api bind -',
  );
}

/** A service from which documents of one origin are read. */
interface Site {
  readonly origin: string;
  get(url: string, options?: CallOptions): Promise<RawAnswer>;
  close(): Promise<void>;
}

async function openSite(context: Context, location: string, withToken: boolean): Promise<Site> {
  const { origin } = new URL(location);
  const { connectTo } = await import('../../connect.ts');
  const client: Client = await connectTo(context, origin, withToken);
  return {
    origin,
    get: (path, options) => client.request({ method: 'GET', path, fields: { accept } }, options),
    close: () => client.close(),
  };
}

async function openUrl(context: Context, location: string, withToken: boolean): Promise<OpenSource> {
  if (!URL.canParse(location)) throw new UsageError(`${location} is not a valid URL`);
  let site = await openSite(context, location, withToken);
  try {
    const tried: string[] = [];
    const first = await askFirst(site, new URL(location).href, tried);
    if (first && new URL(first.url).origin !== site.origin) {
      // After a redirect from http to https, the description and its other documents are read from there.
      await site.close();
      site = await openSite(context, first.url, withToken);
    }
    const { origin, get, close } = site;
    const found =
      (first && (await findBy(site, first, tried))) ?? (await findBelow(site, first?.url ?? location, tried));
    if (!found) throw notFound(location, first?.status, tried);
    await context.notice(`found the description at ${found.url}`);
    const read = async (url: string) => {
      if (!URL.canParse(url) || new URL(url).origin !== origin)
        throw refused(url, 'a description may refer to documents of its own origin only');
      const answer = await get(url);
      if (answer.error) throw answer.error;
      return toText(answer.body, url);
    };
    return { url: found.url, text: found.text, read, close };
  } catch (error) {
    await site.close();
    throw error;
  }
}

/** The paths where servers often have their description, in the order in which they are tried. */
const wellKnownPaths = [
  '/openapi.json',
  '/openapi.yaml',
  '/v3/api-docs',
  '/swagger/v1/swagger.json',
  '/swagger.json',
  '/api/openapi.json',
  '/.well-known/api-catalog',
] as const;

/** A description found at a URL. */
interface Found {
  readonly url: string;
  readonly text: string;
  readonly document: JsonObject;
}

/** The answer of the given address; undefined if it redirects to another origin, which is never asked. */
async function askFirst(site: Site, url: string, tried: string[]): Promise<RawAnswer | undefined> {
  try {
    return await site.get(url);
  } catch (error) {
    if (!(error instanceof UnavailableError) || error.reason !== 'redirect') throw error;
    tried.push(`${url} (${error.message})`);
    return undefined;
  }
}

/** The description for an answer: the answer itself, or the target of its Link `service-desc` or `describedby`. */
async function findBy(site: Site, answer: RawAnswer, tried: string[]): Promise<Found | undefined> {
  const itself = await examine(answer, tried);
  if (itself) return itself;
  const link = fieldValue(answer.fields, 'link');
  for (const relation of ['service-desc', 'describedby']) {
    const target = linkTarget(link, relation);
    const linked = target === undefined ? undefined : await look(site, target, answer.url, tried);
    if (linked) return linked;
  }
  return undefined;
}

/**
 * The description at a well-known path below a URL, or else below its origin.
 *
 * @throws UsageError if two well-known paths have different ones.
 */
async function findBelow(site: Site, url: string, tried: string[]): Promise<Found | undefined> {
  const { origin, pathname } = new URL(url);
  for (const base of new Set([origin + pathname.replace(/\/+$/, ''), origin])) {
    const found = (
      await Promise.all(wellKnownPaths.map((path) => lookWellKnown(site, base + path, tried)))
    ).flat();
    const [one] = found;
    const other = found.find(({ document }) => !isDeepStrictEqual(document, one?.document));
    if (one && other)
      throw new UsageError(
        `api bind: ${found.length} descriptions, and they differ: ${found.map((each) => each.url).join(', ')}`,
        `name the one that is meant: petstore api bind ${one.url}`,
      );
    if (one) return one;
  }
  return undefined;
}

/** The error that lists what was tried. */
function notFound(url: string, status: number | undefined, tried: readonly string[]): UsageError {
  return new UsageError(
    `api bind ${url}: no description found; tried ${tried.join('; ')}`,
    status === 401 || status === 403
      ? 'the service wants a credential: --with-token sends the token of the profile to its own origins'
      : 'name the URL of the OpenAPI document itself, or a file',
  );
}

/** The description at a URL of the same origin; undefined if there is none, and `tried` then gets the reason. */
async function look(site: Site, target: string, base: string, tried: string[]): Promise<Found | undefined> {
  if (!URL.canParse(target, base)) return undefined;
  const { href, origin } = new URL(target, base);
  if (origin !== site.origin) {
    tried.push(`${href} (of another origin)`);
    return undefined;
  }
  const answer = await ask(site, href, tried);
  return answer && examine(answer, tried);
}

/** The same for a well-known path; a catalog (RFC 9727) may name several. */
async function lookWellKnown(site: Site, url: string, tried: string[]): Promise<Found[]> {
  if (!url.endsWith('/api-catalog')) {
    const found = await look(site, url, url, tried);
    return found ? [found] : [];
  }
  const answer = await ask(site, url, tried);
  const targets = answer ? catalogTargets(answer) : [];
  if (answer && targets.length === 0) tried.push(`${url} (${answer.status}, names no description)`);
  const found = await Promise.all(targets.map((target) => look(site, target, url, tried)));
  return found.filter((each) => each !== undefined);
}

async function ask(site: Site, url: string, tried: string[]): Promise<RawAnswer | undefined> {
  try {
    return await site.get(url, { retries: 0 });
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    tried.push(`${url} (${error.message})`);
    return undefined;
  }
}

/** Many servers answer 200 with a web page, so it must parse and contain `openapi` or `swagger`. */
async function examine(answer: RawAnswer, tried: string[]): Promise<Found | undefined> {
  const { status, url, body } = answer;
  if (status >= 200 && status < 300)
    try {
      const text = toText(body, url);
      const document = await parseDocument(text, url);
      if ('openapi' in document || 'swagger' in document) return { url, text, document };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
  tried.push(`${url} (${status}${status < 300 ? ', not a description' : ''})`);
  return undefined;
}

/** The targets of `service-desc` in a linkset (RFC 9264, 4.2). */
function catalogTargets({ status, body }: RawAnswer): string[] {
  if (status !== 200) return [];
  try {
    const catalog = parseJson(toText(body, 'api-catalog'));
    const linkset = isJsonObject(catalog) && Array.isArray(catalog.linkset) ? catalog.linkset : [];
    const targets = linkset
      .filter(isJsonObject)
      .flatMap((context) => context['service-desc'] ?? [])
      .filter(isJsonObject);
    return targets.flatMap(({ href }) => (typeof href === 'string' ? [href] : [])).slice(0, 20);
  } catch {
    return [];
  }
}

function toText(bytes: Uint8Array, shown: string): string {
  if (bytes.length > maxBytes) throw tooLarge(shown);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`description ${shown}: is not UTF-8 text`);
  }
}

function tooLarge(shown: string): UsageError {
  return new UsageError(`description ${shown}: is larger than ${maxBytes / 1024 / 1024} MiB`);
}

function refused(url: string, why: string): UsageError {
  return new UsageError(`description refers to ${url}: ${why}`, 'bundle it into one document first');
}
