import { STATUS_CODES } from 'node:http';
import { headerLines, isSafeMethod } from '../../api/http.ts';
import type { Operation } from '../../api/operations.ts';
import { confirmWrite } from '../../asking.ts';
import type { Answer } from '../../client/call.ts';
import type { Client } from '../../client/client.ts';
import { dryRunOutput } from '../../client/shown-request.ts';
import type { RawRequest } from '../../client/user-request.ts';
import type { Context } from '../../context.ts';
import type { Output } from '../../output/printer.ts';
import { CliError, InputError, parseAt, systemReason, UsageError } from '../../process/errors.ts';
import { printJson } from '../../process/exact-json.ts';
import { readFileOrStdin } from '../../process/files.ts';
import { sanitize } from '../../process/text.ts';
import { parseAssignment, parseJsonText } from '../../records/body-fields.ts';

/** The values of the arguments and flags of `api request`. */
interface RequestValues {
  readonly method: string;
  readonly path: string;
  readonly field: readonly string[] | undefined;
  readonly input: string | undefined;
  readonly include: boolean | undefined;
}

/** The control characters that a terminal may get unescaped. */
const layout = '\n\t';

/** Sends a request and prints the body of the response unchanged. A status of 400 or above is then an error. */
export async function sendRaw(context: Context, values: RequestValues): Promise<Output> {
  const { method, path, field = [], input, include } = values;
  const { flags, io } = context;
  const fields = field.map((text) => parseAt('-f', text, () => parseAssignment(text)));
  const client = await context.client();
  const operation = findOperationAt(client, method, path);
  const isSafe = isSafeMethod(method);
  if (input !== undefined && isSafe) throw new UsageError(`api request: ${method} takes no --input`);
  const isQuery = input !== undefined || isSafe || method === 'DELETE';
  const json = isQuery || fields.length === 0 ? undefined : toRequestBody(fields);
  const body = input === undefined ? json : await readBodyFile(context, input);
  const hasType = flags.headers?.some((header) => /^\s*content-type\s*:/i.test(header));
  const request: RawRequest = {
    method,
    path,
    query: isQuery ? fields.map(({ name, value }) => [name, value] as const) : [],
    headers: body === undefined || hasType ? {} : { 'content-type': 'application/json' },
    body,
  };
  if (!isSafe) await confirmWrite(context, { what: `send ${method} ${path}` });
  if (flags.dryRun) return dryRunOutput([client.preview(request)], false);
  if (operation?.hidesTryIt)
    await context.notice(
      'warning',
      `the service asks tools not to try out ${operation.id} (x-hideTryItPanel)`,
    );
  const response = await client.send(request);
  try {
    if (include) await io.stdout.write(headOf(response, context), { isRaw: true });
    await printBody(context, response);
  } catch (error) {
    // The user must know that the write was answered, before they repeat it.
    if (error instanceof CliError) await context.notice('warning', `the service answered ${response.status}`);
    // The error of the service is reported even if the reader of stdout has gone.
    throw response.error ?? error;
  }
  return { kind: 'nothing', error: response.error };
}

function headOf({ status, headers }: Answer, { io }: Context): string {
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  const text = [statusLine, ...headerLines(headers), ''].join('\n');
  return `${io.stdout.isTerminal ? sanitize(text, layout) : text}\n`;
}

/** Prints the bytes unchanged, but on a terminal as text without control sequences. */
async function printBody({ io }: Context, { body }: Answer): Promise<void> {
  if (body.length === 0) return;
  if (!io.stdout.isTerminal) return io.stdout.write(body, { isRaw: true });
  const text = new TextDecoder().decode(Buffer.from(body));
  await io.stdout.write(`${sanitize(text.replace(/\r?\n$/, ''), layout)}\n`, { isRaw: true });
}

const maxBodyBytes = 64 * 1024 * 1024;

/** Reads a file, or stdin for `-`. @throws InputError if the file cannot be read. */
function readBodyFile({ io }: Context, input: string): Promise<Uint8Array> {
  return readFileOrStdin(io, input, maxBodyBytes).catch((error) => {
    throw new InputError(`--input ${input}: ${systemReason(error)}`);
  });
}

/** Joins the values of `-f` in a JSON object. @throws ValueError for invalid JSON. */
function toRequestBody(fields: readonly ReturnType<typeof parseAssignment>[]): string {
  const entries = fields.map(({ name, value, isJson }) => [
    name,
    isJson ? parseAt(`-f ${name}`, value, () => parseJsonText(value)) : value,
  ]);
  return printJson(Object.fromEntries(entries));
}

/** Finds the operation of the contract with the method and the path of a request. */
function findOperationAt({ contract, baseUrl }: Client, method: string, path: string): Operation | undefined {
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
    expected.every((part, index) => (part.startsWith('{') ? parts[index] !== '' : part === parts[index]))
  );
}
