import { builtInContract } from '../../api/contract.ts';
import { type Description, parseDocument, readDescription } from '../../binding/description.ts';
import type { Answer } from '../../client/call.ts';
import { connectToDocuments } from '../../connect.ts';
import { addressOf, type Context } from '../../context.ts';
import { monotonicMs } from '../../process/deadline.ts';
import { CliError, InputError, systemReason, UsageError } from '../../process/errors.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { readFileOrStdin } from '../../process/files.ts';

/** The largest file, in bytes. Public descriptions are far smaller. */
const maxDescriptionBytes = 32 * 1024 * 1024;

/**
 * Reads a description from a file, a URL or stdin (`-`). If a URL is not a description, the usual paths below it are tried.
 *
 * @param argument undefined means the base URL.
 * @throws InputError if there is no description, or it cannot be read.
 * @throws CliError if the service does not answer.
 */
export async function readDescriptionAt(
  context: Context,
  argument: string | undefined,
  withToken: boolean,
): Promise<Description> {
  const { io, settings } = context;
  const location = argument ?? addressOf(settings, builtInContract);
  if (/^https?:\/\//i.test(location) && URL.canParse(location))
    return requireDescription(context, location, withToken);
  const label = location === '-' ? 'stdin' : location;
  const bytes = await readFileOrStdin(io, location, maxDescriptionBytes).catch((error) => {
    throw new InputError(`description ${label}: ${systemReason(error)}`);
  });
  return readDescription({ label, document: await parseDocument(bytes, label) });
}

/** The usual paths of descriptions, in the order in which they are tried. */
const usualPaths = [
  '/openapi.json',
  '/openapi.yaml',
  '/v3/api-docs',
  '/swagger.json',
  '/swagger/v1/swagger.json',
  '/api-json',
  '/api/schema',
  '/doc',
  '/openapi/json',
];

/**
 * Reads the description at a URL, or at the first usual path below it. Sends nothing to another origin.
 *
 * @throws UsageError if there is none.
 * @throws CliError if the service does not answer at the URL.
 */
async function requireDescription(context: Context, start: string, withToken: boolean): Promise<Description> {
  const { href, origin, pathname, username, password } = new URL(start);
  if (username || password)
    throw new UsageError(
      `api bind ${start}: the address must not carry a user name or password`,
      'give a token with PETSTORE_TOKEN and --with-token, or a header with -H',
    );
  const isFile = /\.(json|ya?ml)$/i.test(pathname);
  const below = isFile ? [] : usualPaths.map((path) => origin + pathname.replace(/\/+$/, '') + path);
  const client = await connectToDocuments(context, origin, { withToken });
  const headers = { accept: 'application/openapi+json, application/json, application/yaml, */*;q=0.5' };
  let guessesEndMs: number | undefined;
  for (const url of [href, ...below]) {
    const isGuess = url !== href;
    // All guesses have one deadline together.
    if (isGuess) guessesEndMs ??= monotonicMs() + context.settings.get('timeout');
    const options = isGuess ? { retries: 0, deadlineMs: guessesEndMs } : {};
    const response = await client.send({ method: 'GET', path: url, headers }, options).catch((error) => {
      const { noAnswer } = error instanceof CliError ? error.details : {};
      // A redirect may lead to a login. A guess without an answer is no description.
      if (noAnswer === 'redirect' || (isGuess && noAnswer !== undefined)) return undefined;
      throw error;
    });
    const document = response && (await (isFile ? requireDocument : documentIn)(response, url));
    if (document) {
      await context.notice('status', `found the description at ${url}`);
      return await readDescription({ url, label: url, document });
    }
  }
  const further = pathname === '/' ? '' : `search from the root with \`petstore api bind ${origin}\`, or `;
  throw new UsageError(
    `api bind ${start}: no description found`,
    `${further}name the URL of the OpenAPI document itself, or a file; --with-token sends the token, -v shows the requests`,
  );
}

/** Parses the description at its own URL. @throws InputError if the response has none. */
async function requireDocument({ status, headers, body }: Answer, url: string): Promise<JsonObject> {
  if (status < 200 || status >= 300)
    throw new InputError(
      `description ${url}: the answer is ${status} with ${headers['content-type'] ?? 'no content type'}`,
      `search from the root with \`petstore api bind ${new URL(url).origin}\`; --with-token sends the token`,
    );
  return await parseDocument(Buffer.from(body), url);
}

/** Parses the description in a response. Many servers answer 200 with a web page, so it must parse and state its version. */
async function documentIn({ status, body }: Answer, url: string): Promise<JsonObject | undefined> {
  if (status < 200 || status >= 300) return undefined;
  try {
    const document = await parseDocument(Buffer.from(body), url);
    return 'openapi' in document || 'swagger' in document ? document : undefined;
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}
