import { builtInContract, type Operation } from '../api/contract.ts';
import type { HttpFields, HttpResponse } from '../api/http.ts';
import type { Entry, Page } from './collection.ts';
import { deprecationFields } from './deprecation-fields.ts';
import type { Reply } from './handlers/handler.ts';
import { handlers } from './handlers/index.ts';
import { createReadInput, type ReadInput } from './input.ts';
import { printers } from './record-text.ts';
import type { Refusal } from './refusal.ts';
import type { Store } from './store.ts';
import type { Target } from './target.ts';

/** An operation with all that answering it takes; the types of its parts hold together by the table. */
export interface Endpoint {
  readonly operation: Operation;
  readonly read: ReadInput;
  handle(store: Store, input: Record<string, unknown>): Page<object> | Reply<object>;
  print(record: object): string;
  /** Fields of every answer, refusals too. */
  readonly announced: HttpFields;
  /** Fields of every answer with a body. */
  readonly json: HttpFields;
}

/** @param sunset of every deprecated operation, YYYY-MM-DD, instead of the table's. */
export function createEndpoints(sunset: string | undefined): Endpoint[] {
  return [...builtInContract.operations.values()].map((operation) => {
    const announced = operation.deprecated ? deprecationFields(sunset ?? operation.sunset) : {};
    return {
      operation,
      read: createReadInput(operation),
      handle: handlers[operation.id] as unknown as Endpoint['handle'],
      print: operation.result ? (printers[operation.result] as Endpoint['print']) : () => '',
      announced,
      json: { 'content-type': 'application/json', ...announced },
    };
  });
}

export function toResponse(
  result: Page<object> | Reply<object>,
  endpoint: Endpoint,
  target: Target,
): HttpResponse {
  if ('entries' in result) return toPage(result, endpoint, target);
  if (result.status === 204) return { status: 204, fields: endpoint.announced, body: '' };
  if ('entry' in result)
    return { status: 200, fields: endpoint.json, body: textOf(result.entry, endpoint.print) };
  const body = endpoint.print(result.value);
  if (result.status === 200) return { status: 200, fields: endpoint.json, body };
  const location = endpoint.operation.method === 'POST' ? `${target.path}/${result.id}` : target.path;
  // V8 makes a shape of its own for each object whose fields come behind a spread.
  return { status: 201, fields: { location, ...endpoint.json }, body };
}

export function toRefused(refusal: Refusal, { announced }: Endpoint): HttpResponse {
  const { status, fields, body } = refusal.toResponse();
  return { status, fields: { ...fields, ...announced }, body };
}

function toPage({ entries, after }: Page<object>, { print, json }: Endpoint, target: Target): HttpResponse {
  let body = '[';
  let before = '';
  for (const entry of entries) {
    body += before + textOf(entry, print);
    before = ',';
  }
  body += ']';
  if (after === undefined) return { status: 200, fields: json, body };
  const link = `<${nextPage(target, after)}>; rel="next"`;
  return { status: 200, fields: { link, ...json }, body };
}

function textOf(entry: Entry<object>, print: Endpoint['print']): string {
  if (entry.text === undefined) {
    entry.text = print(entry.record);
    // A text made of parts is put together when it is first looked at: done here, once, it is not done for every list.
    entry.text.charCodeAt(0);
  }
  return entry.text;
}

/** The same list from the record after `after`. */
function nextPage({ origin, path, query }: Target, after: bigint): string {
  const others = query.includes('after=') ? query.replace(/(^|&)after=[^&]*/, '').replace(/^&/, '') : query;
  return `${origin}${path}?${others}${others && '&'}after=${after}`;
}
