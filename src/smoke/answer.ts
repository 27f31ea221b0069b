import { STATUS_CODES } from 'node:http';
import type { Operation } from '../api/contract.ts';
import { CliError } from '../errors.ts';
import { type JsonObject, type JsonValue, parseJson, printJson } from '../json.ts';
import { checkBody } from './body-check.ts';
import { fail, type Verdict } from './check.ts';
import { documentedAnswer } from './documented.ts';
import { detailsOf, type Exchange, mediaTypeOf } from './exchange.ts';
import type { SchemaFault } from './schema.ts';

/** What an answer must be. */
export interface Expectation {
  readonly isStatus: (status: number) => boolean;
  /** How the statuses are called in a report, as `200`. */
  readonly statuses: string;
  /** The body's schema where the description has none for the status. */
  readonly schema?: JsonObject | undefined;
}

/** A body that is as documented, or what is wrong with the answer; the body is undefined where none is documented. */
type Judgement = { readonly body: JsonValue | undefined } | { readonly fault: Verdict };

/** Judges an answer by its status, then its media type, then its body. */
export function judge(operation: Operation, answer: Exchange, expectation: Expectation): Judgement {
  if (!expectation.isStatus(answer.status))
    return { fault: wrongStatus(operation, answer, expectation.statuses) };
  const documented = documentedAnswer(operation, answer.status);
  const schema = documented?.schema ?? expectation.schema;
  const mediaTypes = documented?.mediaTypes.length ? documented.mediaTypes : ['application/json'];
  if (!schema && !documented?.mediaTypes.length) return { body: undefined };
  const mediaType = mediaTypeOf(answer);
  if (!mediaTypes.some((range) => isWithin(mediaType, range))) {
    const reason = mediaType ? `the content type is ${mediaType}` : 'the answer has no content type';
    return fault(reason, { expected: mediaTypes.join(' or '), got: excerpt(answer) });
  }
  if (!isJson(mediaType)) return { body: undefined };
  return judgeBody();

  function judgeBody(): Judgement {
    if (!answer.isUtf8) return fault('the body is no UTF-8', { expected: 'UTF-8', got: excerpt(answer) });
    const body = tryParse(answer.text);
    if (body instanceof Error)
      return fault(`the body is not JSON: ${body.message}`, { expected: 'JSON', got: excerpt(answer) });
    const wrong = schema && holdAgainst(schema, body);
    if (!wrong) return { body };
    const { reason, pointer, expected } = wrong;
    return fault(reason, { expected, pointer, got: excerpt(answer, printJson(wrong.got)) });
  }

  /** @throws CliError where the description's schema is itself wrong. */
  function holdAgainst(schema: JsonObject, body: JsonValue): SchemaFault | undefined {
    try {
      const { fault, remark } = checkBody(schema, body, limitMsFor(answer.text));
      if (remark !== undefined) answer.remark(`${operation.id}: ${remark}`);
      return fault;
    } catch (error) {
      const why = (error as Error).message;
      throw new CliError('failed', `the schema that ${operation.id} has cannot be used: ${why}`);
    }
  }

  function fault(reason: string, more: Partial<Verdict>): Judgement {
    return { fault: fail(reason, { ...detailsOf(answer), operation, ...more }) };
  }
}

/** @param expected as `200`. */
export function wrongStatus(operation: Operation, answer: Exchange, expected: string): Verdict {
  const details = { ...detailsOf(answer), operation, expected, got: excerpt(answer) };
  return fail(`answered ${statusText(answer.status)}`, details);
}

/** The success that an operation documents. */
export function successOf({ success }: Operation): Expectation {
  return { isStatus: (status) => success.includes(status), statuses: success.join(' or ') };
}

/** A status with its reason phrase, as `404 Not Found`. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** The first 200 bytes of what came, secrets masked before anything is cut off. */
export function excerpt({ mask, text: whole }: Pick<Exchange, 'mask' | 'text'>, part = whole): string {
  const text = mask(part);
  const bytes = Buffer.from(text);
  if (bytes.length <= 200) return text;
  return `${bytes
    .subarray(0, 200)
    .toString('utf8')
    .replace(/\ufffd+$/, '')}...`;
}

/** Whether a media type is one of a range, as `application/*`. */
function isWithin(mediaType: string, range: string): boolean {
  return (
    range === '*/*' ||
    range === mediaType ||
    (range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1)))
  );
}

function isJson(mediaType: string): boolean {
  return /[/+]json$/.test(mediaType);
}

/** A long list takes its time, and is no hostile one for that. */
function limitMsFor(text: string): number {
  return 2000 * (1 + Math.floor(text.length / 1_000_000));
}

function tryParse(text: string): JsonValue | Error {
  try {
    return parseJson(text);
  } catch (error) {
    return error as SyntaxError;
  }
}
