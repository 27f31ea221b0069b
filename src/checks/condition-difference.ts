import { type HttpResponse, headerValue } from '../api/http.ts';
import {
  type Condition,
  comparisonText,
  findUnmet,
  holds,
  meetsHeader,
  meetsStatus,
} from '../input/condition.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { excerpt } from '../process/text.ts';
import { type Finding, fail, statusText } from './finding.ts';

/**
 * Compares an answer with a condition.
 *
 * @returns a failure with the first part that the answer does not meet; undefined if it meets all.
 */
export function differenceTo(
  condition: Condition,
  answer: Omit<HttpResponse, 'body'> & { readonly text: string; readonly json?: JsonValue },
  mask: Mask,
): Finding | undefined {
  const { header, status, values, body, path } = condition;
  const { headers, json } = answer;
  const text = answer.text.trim();
  const prefix = path === undefined ? '' : `GET ${path}: `;
  const fault = (reason: string, expected: string, got: string | undefined, pointer?: string) =>
    fail(prefix + reason, { expected, got, pointer });
  if (!meetsStatus(condition, answer.status)) {
    const reason = `${path === undefined ? 'it' : `GET ${path}`} answered ${statusText(answer.status)}`;
    return fail(reason, { expected: status ?? 'a 2xx', got: text });
  }
  if (header && !meetsHeader(condition, headers)) {
    const { name } = header;
    const value = headerValue(headers, name);
    const reason = value === undefined ? `there is no header ${name}` : `${name} is ${excerpt(value, mask)}`;
    return fault(reason, comparisonText(name, header), value);
  }
  if (body && !holds(body, text))
    return fault(`the text is ${excerpt(text, mask) || 'empty'}`, comparisonText('text', body), text);
  if (values.length > 0 && json === undefined) return fault('the body is not JSON', 'JSON', text);
  const unmet = json === undefined ? undefined : findUnmet(values, json);
  if (!unmet) return undefined;
  const { comparison, actual } = unmet;
  const { pointer } = comparison;
  const clause = actual === undefined ? 'absent' : excerpt(actual, mask) || 'empty';
  const expected = comparisonText(pointer, comparison);
  return fault(`${pointer} is ${clause}`, expected, actual ?? 'no such value', pointer);
}
