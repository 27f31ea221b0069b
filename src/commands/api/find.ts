import { isDeepStrictEqual } from 'node:util';
import { fieldValue } from '../../api/http.ts';
import { linkTarget } from '../../api/links.ts';
import {
  type Description,
  decodeText,
  forbiddenReference,
  parseDocument,
  readDescription,
} from '../../binding/description.ts';
import type { CallOptions } from '../../client/call.ts';
import type { Client, RawAnswer } from '../../client/client.ts';
import { connectTo } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { UnavailableError, UsageError } from '../../process/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../process/exact-json.ts';

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

const accept =
  'application/openapi+json, application/json, application/yaml, application/linkset+json, */*;q=0.5';

/** A search for the description of one service. It never asks another origin. */
interface Search {
  /** Its base URL is the origin. */
  readonly client: Client;
  /** The URLs that were asked, in order, each with the reason why it led to no description; empty if it did. */
  readonly tried: Map<string, string>;
}

/** A description found at a URL. */
interface Found {
  readonly url: string;
  readonly document: JsonObject;
}

/**
 * Finds and reads the description of the service at a URL.
 *
 * @throws UsageError that lists what was tried; UnavailableError if the service does not answer.
 */
export async function findDescription(
  context: Context,
  location: string,
  withToken: boolean,
): Promise<Description> {
  if (!URL.canParse(location)) throw new UsageError(`${location} is not a valid URL`);
  const { href, origin } = new URL(location);
  const search = { client: await connectTo(context, origin, { withToken }), tried: new Map() };
  try {
    const first = await ask(search, href, true);
    if (first && new URL(first.url).origin !== origin) {
      // After a redirect from http to https, the description and its other documents are read from there.
      await search.client.close();
      search.client = await connectTo(context, new URL(first.url).origin, { withToken });
    }
    const found =
      (first && (await findBy(search, href, first))) ?? (await findBelow(search, href, first?.url ?? href));
    if (!found) throw notFound(location, first?.status, search.tried);
    await context.print(`found the description at ${found.url}`);
    return await readDescription({
      url: found.url,
      content: found.document,
      read: (url) => readOther(search, url),
    });
  } finally {
    await search.client.close();
  }
}

/** The text of a document that the description refers to. */
async function readOther({ client }: Search, url: string): Promise<string> {
  if (!URL.canParse(url) || new URL(url).origin !== client.baseUrl)
    throw forbiddenReference(url, 'a description may refer to documents of its own origin only');
  const { error, body } = await get(client, url);
  if (error) throw error;
  return decodeText(body, url);
}

function get(client: Client, path: string, options?: CallOptions): Promise<RawAnswer> {
  return client.request({ method: 'GET', path, fields: { accept } }, options);
}

/**
 * The answer of a URL; undefined if there is none.
 *
 * @param isGiven the user named it: it must answer, unless it redirects to another origin.
 */
async function ask({ client, tried }: Search, url: string, isGiven = false): Promise<RawAnswer | undefined> {
  try {
    return await get(client, url, isGiven ? {} : { retries: 0 });
  } catch (error) {
    if (!(error instanceof UnavailableError) || (isGiven && error.reason !== 'redirect')) throw error;
    tried.set(url, error.message);
    return undefined;
  }
}

/** The description for the answer of a URL: itself, or the target of its Link `service-desc` or `describedby`. */
async function findBy(search: Search, asked: string, answer: RawAnswer): Promise<Found | undefined> {
  const itself = await examine(search, asked, answer);
  if (itself) return itself;
  const link = fieldValue(answer.fields, 'link');
  for (const relation of ['service-desc', 'describedby']) {
    const target = linkTarget(link, relation);
    const linked = target === undefined ? undefined : await look(search, target, answer.url);
    if (linked) return linked;
  }
  return undefined;
}

/**
 * The description at a well-known path below a URL, or else below the URL that it redirects to, or else below the origin.
 *
 * @throws UsageError if two well-known paths have different ones.
 */
async function findBelow(search: Search, asked: string, answered: string): Promise<Found | undefined> {
  const { origin } = new URL(answered);
  const below = [asked, answered].map((url) => origin + new URL(url).pathname.replace(/\/+$/, ''));
  for (const base of new Set([...below, origin])) {
    const urls = wellKnownPaths.map((path) => base + path);
    for (const each of urls) search.tried.set(each, search.tried.get(each) ?? '');
    const looks = await Promise.all(urls.map((each) => lookWellKnown(search, each)));
    const found = looks.flat().filter((each) => each !== undefined);
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
function notFound(url: string, status: number | undefined, tried: Search['tried']): UsageError {
  const failed = [...tried].filter(([, why]) => why !== '').map(([each, why]) => `${each} (${why})`);
  return new UsageError(
    `api bind ${url}: no description found; tried ${failed.join('; ')}`,
    status === 401 || status === 403
      ? 'the service wants a credential: --with-token sends the token of the profile to its own origins'
      : 'name the URL of the OpenAPI document itself, or a file',
  );
}

/** The description at a URL of the same origin; undefined if there is none, and `tried` then gets the reason. */
async function look(search: Search, target: string, base: string): Promise<Found | undefined> {
  if (!URL.canParse(target, base)) return undefined;
  const { href, origin } = new URL(target, base);
  if (origin !== search.client.baseUrl) {
    search.tried.set(href, 'of another origin');
    return undefined;
  }
  const answer = await ask(search, href);
  return answer && examine(search, href, answer);
}

/** The same for a well-known path; a catalog (RFC 9727) may name several. */
async function lookWellKnown(search: Search, url: string): Promise<(Found | undefined)[]> {
  if (!url.endsWith('/api-catalog')) return [await look(search, url, url)];
  const answer = await ask(search, url);
  const targets = answer ? catalogTargets(answer) : [];
  if (answer && targets.length === 0) search.tried.set(url, `${answer.status}, names no description`);
  return Promise.all(targets.map((target) => look(search, target, url)));
}

/** Many servers answer 200 with a web page, so it must parse and contain `openapi` or `swagger`. */
async function examine(
  { tried }: Search,
  asked: string,
  { status, url, body }: RawAnswer,
): Promise<Found | undefined> {
  if (status >= 200 && status < 300)
    try {
      const text = decodeText(body, url);
      const document = await parseDocument(text, url);
      if ('openapi' in document || 'swagger' in document) return { url, document };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
  tried.set(asked, `${status}${status < 300 ? ', not a description' : ''}`);
  return undefined;
}

/** The targets of `service-desc` in a linkset (RFC 9264, 4.2). */
function catalogTargets({ status, url, body }: RawAnswer): string[] {
  if (status !== 200) return [];
  try {
    const catalog = parseJson(decodeText(body, url));
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
