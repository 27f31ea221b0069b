import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { fieldValue } from '../api/http.ts';
import { type BodyName, bodySchemas } from '../api/schemas.ts';
import { isJsonObject, type JsonValue, parseJson } from '../json.ts';
import { describeIssues } from './issues.ts';
import { maxBodyBytes, payloadTooLarge, Refusal } from './refusal.ts';
import type { TargetedRequest } from './target.ts';

const jsonMediaType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

/** @throws Refusal where it is no JSON, or breaks the schema. */
export function readBody(name: BodyName, request: TargetedRequest): unknown {
  const value = readJson(request);
  // To valibot an array is an object too, and one whose fields are all optional would let it through.
  if (!isJsonObject(value)) throw new Refusal('validation_failed', 'the body must be an object');
  const result = v.safeParse(bodySchemas[name], value);
  if (result.success) return result.output;
  throw new Refusal('validation_failed', describeIssues(result.issues));
}

function readJson({ fields, body = '' }: TargetedRequest): JsonValue {
  const mediaType = fieldValue(fields, 'content-type') ?? '';
  if (mediaType !== 'application/json' && !jsonMediaType.test(mediaType))
    throw new Refusal('unsupported_media_type', 'a body must be sent as application/json, in UTF-8');
  if (fields['content-encoding'] !== undefined)
    throw new Refusal('unsupported_media_type', 'a body must be sent without a content encoding');
  if (Buffer.byteLength(body) > maxBodyBytes) throw payloadTooLarge();
  try {
    return parseJson(typeof body === 'string' ? body : decodeUtf8(body));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : String(error);
    throw new Refusal('invalid_json', `the body is not JSON: ${why}`);
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString();
  // What is no UTF-8 is decoded to U+FFFD, and nearly no text has one: the bytes need no look of their own.
  if (text.includes('\ufffd') && !isUtf8(buffer)) throw new SyntaxError('it is not UTF-8');
  return text;
}
