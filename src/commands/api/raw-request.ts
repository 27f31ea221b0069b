import { resolve } from 'node:path';
import { fieldValue, type HttpFields } from '../../api/http.ts';
import { describeLifecycle } from '../../api/lifecycle.ts';
import type { Operation } from '../../api/operations.ts';
import { fieldTypes } from '../../api/schemas.ts';
import { confirmWrite } from '../../asking.ts';
import { statusText } from '../../checks/finding.ts';
import type { Client, RawAnswer } from '../../client/client.ts';
import { type RawRequest, rawMethods } from '../../client/request.ts';
import type { Context } from '../../context.ts';
import { CliError, messageOf, UsageError } from '../../process/errors.ts';
import { type JsonObject, type JsonValue, parseJson, printJson } from '../../process/exact-json.ts';
import { collectBytes, readWhole } from '../../process/read-file.ts';
import { systemReason } from '../../process/system-error.ts';
import { sanitizeExcept } from '../../process/text.ts';
import { showRequests } from '../../records/show-requests.ts';

/** The arguments of `api request`. */
interface RequestArguments {
  readonly method: string;
  readonly path: string;
  /** Each as `key=value` or `key:=json`. */
  readonly fields: readonly string[];
  /** A file, or `-` for stdin. */
  readonly input: string | undefined;
  /** True to print the status line and the headers too. */
  readonly include: boolean;
}

const withoutBody = ['GET', 'HEAD', 'OPTIONS', 'DELETE'];
const safe = ['GET', 'HEAD', 'OPTIONS'];
/** Control characters for layout, which a terminal may show. */
const layout = '\n\t';

/** Sends a request and prints the body of the answer unchanged; a status of 400 or above is then an error. */
export async function sendRaw(context: Context, args: RequestArguments): Promise<void> {
  const { path, input } = args;
  const method = readMethod(args.method);
  const fields = args.fields.map(readField);
  const { output } = context.flags;
  if (output !== undefined && output !== 'json')
    throw new UsageError(
      `--output ${output}: api request prints the body as it came`,
      'give -o json, or none',
    );
  const client = await context.client();
  const operation = operationAt(client, method, path);
  if (input !== undefined && safe.includes(method))
    throw new UsageError(`api request: ${method} takes no --input`);
  const isQuery = input !== undefined || withoutBody.includes(method);
  const json = isQuery || fields.length === 0 ? undefined : printJson(toBody(fields, operation));
  const body = input === undefined ? json : await readBodyFile(context, input);
  const request: RawRequest = {
    method,
    path,
    query: isQuery ? fields.map(({ key, text }) => [key, text] as const) : [],
    fields: body === undefined ? {} : contentType(context),
    body,
  };
  if (!safe.includes(method)) await confirmWrite(context, { what: `send ${method} ${path}` });
  if (context.flags.dryRun) return showRequests(context, [client.toRawRequest(request)]);
  if (operation?.hideTryIt)
    await context.warn(
      `warning: the service asks tools not to offer ${operation.id} to be tried (x-hideTryItPanel)`,
    );
  const answer = await client.request(request);
  if (operation)
    context.lifecycle.set(operation.id, describeLifecycle(operation, answer.fields, context.now()));
  try {
    if (args.include) await context.io.stdout.write(headOf(answer, context), { isRaw: true });
    await printBody(context, answer);
  } catch (error) {
    // If a full disk ends the output, the user must know that the write was answered before sending it again.
    if (error instanceof CliError) await context.warn(`note: the service answered ${answer.status}`);
    throw error;
  }
  if (answer.error) throw answer.error;
  if (answer.status === 304)
    await context.warn(
      'note: the service answered 304: nothing has changed since the version that the request names',
    );
}

function readMethod(text: string): string {
  const method = text.toUpperCase();
  if (rawMethods.some((each) => each === method)) return method;
  throw new UsageError(`api request ${text}: is not a method`, `one of ${rawMethods.join(', ')}`);
}

/** JSON, unless `--header` says otherwise. */
function contentType({ flags }: Context): HttpFields {
  const hasOwnType = flags.headers?.some((header) => /^\s*content-type\s*:/i.test(header)) ?? false;
  return hasOwnType ? {} : { 'content-type': 'application/json' };
}

function headOf({ status, fields }: RawAnswer, { io }: Context): string {
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  );
  const text = [`HTTP/1.1 ${statusText(status)}`, ...lines, ''].join('\n');
  return `${io.stdout.isTerminal ? sanitizeExcept(text, layout) : text}\n`;
}

/** Prints the bytes unchanged; on a terminal as text without control sequences. */
async function printBody({ io }: Context, { body, fields }: RawAnswer): Promise<void> {
  if (body.length === 0) return;
  if (!io.stdout.isTerminal) return io.stdout.write(body, { isRaw: true });
  const type = fieldValue(fields, 'content-type') ?? '';
  const text = new TextDecoder(/charset=iso-8859-1/i.test(type) ? 'latin1' : 'utf-8').decode(body);
  await io.stdout.write(`${sanitizeExcept(text.replace(/\r?\n$/, ''), layout)}\n`, { isRaw: true });
}

/** The longest body that is sent, in bytes. */
const maxBodyBytes = 64 * 1024 * 1024;

/** The bytes of a file, or of stdin for `-`. @throws UsageError if the file cannot be read. */
async function readBodyFile({ io }: Context, input: string): Promise<Uint8Array> {
  try {
    if (input === '-') return await collectBytes(io.stdin.bytes(), maxBodyBytes);
    return await readWhole(resolve(io.cwd, input), maxBodyBytes);
  } catch (error) {
    throw new UsageError(`--input ${input}: ${systemReason(error)}`);
  }
}

/** One `-f`. */
interface RawField {
  readonly key: string;
  readonly text: string;
  /** True if written with `:=`: the text is JSON. */
  readonly isJson: boolean;
}

/** @throws UsageError if it is neither `key=value` nor `key:=json`. */
function readField(written: string): RawField {
  const [, key, colon, text] = /^([^=]*?)(:?)=(.*)$/s.exec(written) ?? [];
  if (key === undefined || key === '' || text === undefined)
    throw new UsageError(`-f ${written}: must be key=value, or key:=json`);
  return { key, text, isJson: colon === ':' };
}

/**
 * The fields as one JSON object, each with its type in the operation.
 *
 * @throws UsageError for invalid JSON, or a value of another type.
 */
function toBody(fields: readonly RawField[], operation: Operation | undefined): JsonObject {
  const types = operation?.body ? fieldTypes(operation.body.name) : new Map<string, string>();
  const typeOf = (name: string) => types.get(name) ?? operation?.body?.fields[name]?.bounds?.type;
  return Object.fromEntries(fields.map((field) => [field.key, toValue(field, typeOf(field.key))]));
}

function toValue(field: RawField, type: string | undefined): JsonValue {
  const { text, isJson } = field;
  if (isJson) return parse(field);
  if (type === 'string') return text;
  if (/^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(text)) return parse(field);
  return text;
}

function parse({ key, text, isJson }: RawField): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new UsageError(`-f ${key}${isJson ? ':=' : '='}${text}: ${messageOf(error)}`);
  }
}

/** The operation of the contract with the method and path of a raw request, if there is one. */
function operationAt({ contract, baseUrl }: Client, method: string, path: string): Operation | undefined {
  const below = path.startsWith(`${baseUrl}/`) ? path.slice(baseUrl.length) : path;
  const [barePath = ''] = below.split(/[?#]/);
  return [...contract.operations.values()].find(
    (operation) => operation.method === method && fitsTemplate(barePath, operation.path),
  );
}

function fitsTemplate(path: string, template: string): boolean {
  const parts = path.replace(/^\/*/, '/').split('/');
  const expected = template.split('/');
  return (
    parts.length === expected.length &&
    expected.every((part, at) => (part.startsWith('{') ? parts[at] !== '' : part === parts[at]))
  );
}
