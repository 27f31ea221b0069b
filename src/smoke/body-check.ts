import { readPattern } from '../api/pattern.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { withinTime } from '../time-limit.ts';
import { patternsOf, withoutExpressions, withReadablePatterns } from './expressions.ts';
import { createSchemaCheck, type SchemaCheck, type SchemaFault } from './schema.ts';

/** What came of holding a body against its schema. */
interface BodyFinding {
  readonly fault: SchemaFault | undefined;
  /** What of the schema could not be tried, a clause. */
  readonly remark: string | undefined;
}

/**
 * Holds a body against a schema of the service's own description, for so long: a pattern and a text that are made for
 * it can keep an expression busy for years. Then without all that is tried by expressions.
 *
 * @throws Error where the schema itself is wrong.
 */
export function checkBody(schema: JsonObject, body: JsonValue, limitMs: number): BodyFinding {
  const { patterns, unread, whole, plain } = prepare(schema);
  const late = () => 'late' as const;
  const found = withinTime(limitMs, () => whole(body), late);
  if (found !== 'late')
    return { fault: found, remark: unread && `no expression that can be tried: ${unread}` };
  const others = withinTime(limitMs, () => plain(body), late);
  const limit = `within ${limitMs / 1000} s`;
  if (others === 'late') return { fault: undefined, remark: `the body could not be checked ${limit}` };
  const subject = patterns.length === 1 ? `the pattern ${patterns[0]}` : 'the patterns';
  return { fault: others, remark: `${subject} could not be tried ${limit}` };
}

interface Prepared {
  readonly patterns: readonly string[];
  /** The first of them that is no expression. */
  readonly unread: string | undefined;
  readonly whole: SchemaCheck;
  /** Without expressions. */
  readonly plain: SchemaCheck;
}

const known = new WeakMap<JsonObject, Prepared>();

/** A description's schemas may be large, and each is asked for many times in a run. */
function prepare(schema: JsonObject): Prepared {
  const before = known.get(schema);
  if (before) return before;
  const patterns = patternsOf(schema);
  const prepared = {
    patterns,
    unread: patterns.find((pattern) => readPattern(pattern) === undefined),
    whole: createSchemaCheck(withReadablePatterns(schema)),
    plain: createSchemaCheck(withoutExpressions(schema)),
  };
  known.set(schema, prepared);
  return prepared;
}
