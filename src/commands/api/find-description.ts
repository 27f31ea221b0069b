import { headerValue, linkTarget } from '../../api/http.ts';
import { type Description, readDescription } from '../../binding/description.ts';
import { decodeText, parseDocument } from '../../binding/parse-document.ts';
import { forbiddenReference } from '../../binding/references.ts';
import type { Client, RawResponse } from '../../client/client.ts';
import { connectToDocuments } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CliError, UsageError } from '../../process/errors.ts';
import type { JsonObject } from '../../process/exact-json.ts';

/** The usual paths of descriptions, in the order in which they are tried. */
const usualPaths = [
  '/openapi.json',
  '/openapi.yaml',
  '/v3/api-docs',
  '/swagger/v1/swagger.json',
  '/swagger.json',
] as const;

const accept = 'application/openapi+json, application/json, application/yaml, */*;q=0.5';

/**
 * Finds and reads the description of the service at a URL. Tries the URL itself, then the link in its answer,
 * then the usual paths below the URL and its origin, unless it names a file. Sends nothing to another origin.
 *
 * @throws UsageError that lists the attempts.
 * @throws CliError if the service does not answer.
 */
export async function findDescription(
  context: Context,
  location: string,
  withToken: boolean,
): Promise<Description> {
  if (!URL.canParse(location)) throw new UsageError(`${location} is not a valid URL`);
  const { href, origin, pathname, username, password } = new URL(location);
  if (username || password)
    throw new UsageError(
      `api bind ${location}: the address must not carry a user name or password`,
      'give a token with PETSTORE_TOKEN and --with-token, or a header with -H',
    );
  const client = await connectToDocuments(context, origin, { withToken });
  try {
    // The address may redirect to a login at another origin although its description is open.
    const first = await get(client, href).catch((error: unknown) => {
      if (error instanceof CliError && error.details.reason === 'redirect') return error.message;
      throw error;
    });
    const { url: from, headers } = typeof first === 'string' ? { url: href, headers: {} } : first;
    const link = linkTarget(headerValue(headers, 'link'), 'service-desc');
    const linked = link !== undefined && URL.canParse(link, from) ? [new URL(link, from).href] : [];
    const isFile = /\.\w+$/.test(pathname);
    const bases = isFile ? [] : [...new Set([origin + pathname.replace(/\/+$/, ''), origin])];
    const below = bases.flatMap((base) => usualPaths.map((path) => base + path));
    const failures: string[] = [];
    for (const url of new Set([href, ...linked, ...below])) {
      const document = await documentIn(url === href ? first : await tryUrl(client, url), url);
      if (typeof document === 'string') {
        failures.push(`${url} (${document})`);
        continue;
      }
      await context.print(`found the description at ${url}`);
      return await readDescription({ url, label: url, document, read: (other) => readOther(client, other) });
    }
    const status = typeof first === 'string' ? undefined : first.status;
    throw new UsageError(
      `api bind ${location}: no description found; tried ${failures.join('; ')}`,
      status === 401 || status === 403
        ? 'the service wants a credential: --with-token sends the token to it'
        : 'name the URL of the OpenAPI document itself, or a file',
    );
  } finally {
    await client.close();
  }
}

function get(client: Client, path: string, retries?: number): Promise<RawResponse> {
  return client.request({ method: 'GET', path, headers: { accept } }, { retries });
}

/** Reads a document that the description refers to. @throws InputError if the document has another origin. */
async function readOther(client: Client, url: string): Promise<string> {
  if (!URL.canParse(url) || new URL(url).origin !== client.baseUrl)
    throw forbiddenReference(url, 'a description may refer to documents of its own origin only');
  const { error, body } = await get(client, url);
  if (error) throw error;
  return decodeText(body, url);
}

/** Requests a URL. Returns the response, or a clause that says why there is none. */
async function tryUrl(client: Client, url: string): Promise<RawResponse | string> {
  if (new URL(url).origin !== client.baseUrl) return 'of another origin';
  return get(client, url, 0).catch((error: unknown) => {
    if (error instanceof CliError && error.details.reason !== undefined) return error.message;
    throw error;
  });
}

/**
 * Parses the description in a response, or returns a clause that says why there is none. Many servers answer
 * 200 with a web page, so a description must parse and contain `openapi` or `swagger`.
 */
async function documentIn(response: RawResponse | string, url: string): Promise<JsonObject | string> {
  if (typeof response === 'string') return response;
  const { status, body } = response;
  if (status < 200 || status >= 300) return String(status);
  try {
    const document = await parseDocument(decodeText(body, url), url);
    if ('openapi' in document || 'swagger' in document) return document;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
  }
  return `${status}, not a description`;
}
