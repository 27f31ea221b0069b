import { resolve } from 'node:path';
import {
  type Description,
  decodeText,
  maxBytes,
  parseDocument,
  readDescription,
} from '../../binding/description.ts';
import { isDeniedStatus } from '../../client/answer-table.ts';
import type { RawResponse } from '../../client/client.ts';
import { connectToDocuments } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CliError, InputError, messageOf, systemReason, UsageError } from '../../process/errors.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { collectBytes, readWhole } from '../../process/files.ts';

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
  const location = argument ?? settings.get('base-url');
  if (location === undefined)
    throw new InputError(
      'api bind: no description is given, and no base URL is set',
      'name a file or a URL, or give --base-url <url>',
    );
  if (/^https?:\/\//i.test(location)) return findDescription(context, location, withToken);
  const isStdin = location === '-';
  const label = isStdin ? 'stdin' : location;
  const reading = isStdin
    ? collectBytes(io.stdin.bytes(), maxBytes)
    : readWhole(resolve(io.cwd, location), maxBytes);
  const bytes = await reading.catch((error) => {
    throw new InputError(`description ${label}: ${systemReason(error)}`);
  });
  const document = await parseDocument(decodeText(bytes, label), label);
  return readDescription({ label, document });
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
 * @throws UsageError that lists the attempts.
 * @throws CliError if the service does not answer.
 */
async function findDescription(context: Context, location: string, withToken: boolean): Promise<Description> {
  if (!URL.canParse(location)) throw new UsageError(`${location} is not a valid URL`);
  const { href, origin, pathname, username, password } = new URL(location);
  if (username || password)
    throw new UsageError(
      `api bind ${location}: the address must not carry a user name or password`,
      'give a token with PETSTORE_TOKEN and --with-token, or a header with -H',
    );
  const isFile = /\.\w+$/.test(pathname);
  const below = isFile ? [] : usualPaths.map((path) => origin + pathname.replace(/\/+$/, '') + path);
  const failures: string[] = [];
  let wantsCredential = false;
  const client = await connectToDocuments(context, origin, { withToken });
  const headers = { accept: 'application/openapi+json, application/json, application/yaml, */*;q=0.5' };
  for (const url of [href, ...below]) {
    const retries = url === href ? undefined : 0;
    const response = await client
      .send({ method: 'GET', path: url, headers }, { retries })
      .catch((error: unknown) => {
        const { noAnswer } = error instanceof CliError ? error.details : {};
        // A service that cannot be reached has no description anywhere.
        if (url === href ? noAnswer === 'redirect' : noAnswer !== undefined) return messageOf(error);
        throw error;
      });
    const document = await documentIn(response, url);
    if (typeof document !== 'string') {
      await context.notice('status', `found the description at ${url}`);
      return await readDescription({ url, label: url, document });
    }
    wantsCredential ||= typeof response !== 'string' && isDeniedStatus(response.status);
    failures.push(`${url} (${document})`);
  }
  throw new UsageError(
    `api bind ${location}: no description found; tried ${failures.join('; ')}`,
    wantsCredential
      ? 'the service wants a credential: --with-token sends the token to it'
      : 'name the URL of the OpenAPI document itself, or a file',
  );
}

/**
 * Parses the description in a response, or returns a clause that says why there is none. Many servers answer 200 with a web page, so
 * a description must parse and contain `openapi` or `swagger`.
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
