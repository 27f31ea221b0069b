import { describe, expect, it } from 'vitest';
import {
  type Decision,
  decide,
  type Intent,
  mayBeWrittenAfter,
  type Outcome,
  type Row,
  type RowAttempt,
  type Value,
} from '../../src/bulk/decide.ts';

// The rules as a table. Each line has a row, the attempts to write it, the value that was read, and the decision.

type Marks = Partial<Omit<Row, 'line' | 'id' | 'intent'>>;

const max = Number.MAX_SAFE_INTEGER;
/** The row was sent by a plan with these values; `later` is what the next plan of another run has read. */
const sent = (before: Value, after: Value, later?: Value): Marks => ({
  ...{ mayBeWritten: true, mayBeApplied: true, before, after, laterReading: later },
});
/** The same, but every attempt was refused. */
const refused = (before: Value, after: Value, later?: Value): Marks => ({
  ...sent(before, after, later),
  mayBeApplied: false,
});
const create = { mayCreate: true };
const obstacle: Outcome = { state: 'failed', reason: { code: 'written_later', message: '' } };

function rowOf(intent: Intent, marks: Marks = {}): Row {
  return {
    line: 1,
    id: 7n,
    intent,
    mayCreate: false,
    before: undefined,
    after: undefined,
    mayBeWritten: false,
    mayBeApplied: false,
    outcome: undefined,
    ...marks,
  };
}

function set(value: Value, marks?: Marks): Row {
  return rowOf({ kind: 'set', value }, marks);
}

function expecting(value: Value, expected: Value, marks?: Marks): Row {
  return rowOf({ kind: 'set', value, expected }, marks);
}

function add(change: number, marks?: Marks): Row {
  return rowOf({ kind: 'add', change }, marks);
}

/** `write 5`, `failed changed`, `applied`. */
function wordsOf(decision: Decision): string {
  if (decision.state === 'write') return `write ${JSON.stringify(decision.after)}`;
  return [decision.state, decision.reason?.code].filter(Boolean).join(' ');
}

type Case = readonly [what: string, row: Row, now: Value, becomes: string];

const tables: Readonly<Record<string, readonly Case[]>> = {
  'set to v, not sent': [
    ['is v', set(5), 5, 'unchanged'],
    ['is v, as a bigint', set(5), 5n, 'unchanged'],
    ['is 0', set(0), 0, 'unchanged'],
    ['is something else', set(5), 3, 'write 5'],
    ['is something else than planned', set(5, { before: 3, after: 5 }), 4, 'write 5'],
    ['is too large for a number', set(5), 2n ** 60n, 'write 5'],
  ],
  'set to v, sent': [
    ['is after', set(5, sent(3, 5)), 5, 'applied'],
    ['is after of a refused one', set(5, refused(3, 5)), 5, 'applied'],
    ['is before', set(5, sent(3, 5)), 3, 'write 5'],
    ['is neither', set(5, sent(3, 5)), 4, 'write 5'],
  ],
  'set to v, expecting e, not sent': [
    ['is v', expecting(5, 3), 5, 'unchanged'],
    ['is e', expecting(5, 3), 3, 'write 5'],
    ['is neither', expecting(5, 3), 4, 'failed changed'],
    ['is nothing', expecting(5, 3), null, 'failed no_entry'],
    ['is nothing, and may be created', expecting(5, 3, create), null, 'failed no_entry'],
  ],
  'set to v, expecting e, sent': [
    ['is after', expecting(5, 3, sent(3, 5)), 5, 'applied'],
    ['is before', expecting(5, 3, sent(3, 5)), 3, 'write 5'],
    ['is neither', expecting(5, 3, sent(3, 5)), 4, 'unknown changed'],
    ['is neither, after a refusal', expecting(5, 3, refused(3, 5)), 4, 'unknown changed'],
    ['is gone', expecting(5, 3, sent(3, 5)), null, 'unknown gone'],
  ],
  'add d, not sent': [
    ['is a count', add(5), 10, 'write 15'],
    ['is a count, to take from', add(-3), 10, 'write 7'],
    ['down to 0', add(-10), 10, 'write 0'],
    ['below 0', add(-11), 10, 'failed below_zero'],
    ['up to the largest count', add(1), max - 1, `write ${max}`],
    ['above the largest count', add(1), max, 'failed too_large'],
    ['is too large for a number', add(1), 2n ** 60n, 'failed too_large'],
    ['0', add(0), 10, 'unchanged'],
    ['is another count than planned', add(5, { before: 10, after: 15 }), 11, 'write 16'],
    ['is what it would have become', add(5, { before: 10, after: 15 }), 15, 'write 20'],
  ],
  'add d, sent': [
    ['is after', add(5, sent(10, 15)), 15, 'applied'],
    ['is after, but was refused', add(5, refused(10, 15)), 15, 'unknown changed'],
    ['is before', add(5, sent(10, 15)), 10, 'write 15'],
    ['is before of a refused one', add(5, refused(10, 15)), 10, 'write 15'],
    ['is neither', add(5, sent(10, 15)), 14, 'unknown changed'],
    ['is gone', add(5, sent(10, 15)), null, 'unknown gone'],
  ],
  'nothing there': [
    ['to set nothing', set(null), null, 'unchanged'],
    ['to set v', set(5), null, 'failed no_entry'],
    ['to set v, and may be created', set(5, create), null, 'write 5'],
    ['to add', add(5), null, 'failed no_entry'],
    ['to add, and may be created', add(5, create), null, 'write 5'],
    ['to take from, and may be created', add(-5, create), null, 'failed below_zero'],
    ['to set v, sent from nothing', set(5, { ...create, ...sent(null, 5) }), null, 'write 5'],
    ['to add, sent from nothing', add(5, { ...create, ...sent(null, 5) }), null, 'write 5'],
    ['to add, sent from nothing, not to be created', add(5, sent(null, 5)), null, 'failed no_entry'],
    ['to set v, sent from a record', set(5, { ...create, ...sent(3, 5) }), null, 'unknown gone'],
    ['to add, sent from a record', add(5, { ...create, ...sent(3, 8) }), null, 'unknown gone'],
  ],
  'a record to remove, because a run created it': [
    ['is as created', expecting(null, 5), 5, 'write null'],
    ['is gone', expecting(null, 5), null, 'unchanged'],
    ['is something else', expecting(null, 5), 6, 'failed changed'],
    ['is gone after it was sent', expecting(null, 5, sent(5, null)), null, 'applied'],
    ['is still there after it was sent', expecting(null, 5, sent(5, null)), 5, 'write null'],
    ['is something else after it was sent', expecting(null, 5, sent(5, null)), 6, 'unknown changed'],
  ],
  'add d, sent, and planned by another run since': [
    ['that saw after', add(5, sent(10, 15, 15)), 22, 'applied'],
    ['that saw before', add(5, sent(10, 15, 10)), 15, 'write 20'],
    ['that saw neither', add(5, sent(10, 15, 12)), 15, 'unknown changed'],
    ['that saw after of a refused one', add(5, refused(10, 15, 15)), 15, 'unknown changed'],
    ['that saw nothing', add(5, sent(10, 15, null)), 15, 'unknown gone'],
    ['that saw before, and now below 0', add(-5, sent(10, 5, 10)), 3, 'failed below_zero'],
    ['that saw nothing, as the plan had', add(5, { ...create, ...sent(null, 5, null) }), 5, 'write 10'],
    [
      'a row that was not sent ignores it',
      add(5, { before: 10, after: 15, laterReading: 10 }),
      12,
      'write 17',
    ],
    ['a row that sets ignores it', set(5, sent(3, 5, 3)), 5, 'applied'],
  ],
  'the undo of an unknown row that added': [
    ['that was applied', add(-5, { undoneRow: add(5, sent(10, 15)) }), 15, 'write 10'],
    ['that was not applied', add(-5, { undoneRow: add(5, sent(10, 15)) }), 10, 'unchanged'],
    ['that is still unknown', add(-5, { undoneRow: add(5, sent(10, 15)) }), 12, 'unknown changed'],
    [
      'that was applied, and sold from since',
      add(-5, { undoneRow: add(5, sent(10, 15, 15)) }),
      3,
      'failed below_zero',
    ],
    ['that was sent itself', add(-5, { ...sent(15, 10), undoneRow: add(5, sent(10, 15)) }), 10, 'applied'],
  ],
  'written or booked by another run': [
    ['is not written', set(5, { obstacle }), 3, 'failed written_later'],
    ['is not written, and could not be', add(-5, { obstacle }), 3, 'failed written_later'],
    ['is as it should be', set(5, { obstacle }), 5, 'unchanged'],
    ['was sent before', set(5, { obstacle, ...sent(3, 5) }), 3, 'write 5'],
  ],
  'fields of a record': [
    ['are the same', set({ name: 'Rex' }), { name: 'Rex' }, 'unchanged'],
    ['are the same but for outer spaces', set({ name: 'Rex' }), { name: ' Rex ' }, 'unchanged'],
    ['are empty and absent', set({ photo: '' }), {}, 'unchanged'],
    [
      'are the same instant',
      set({ shipDate: '2026-01-01T00:00:00Z' }),
      { shipDate: '2026-01-01T01:00:00+01:00' },
      'unchanged',
    ],
    ['differ', set({ name: 'Rex' }), { name: 'Mia' }, 'write {"name":"Rex"}'],
    [
      'are neither as expected nor as sent',
      expecting({ name: 'Rex' }, { name: 'Mia' }, sent({ name: 'Mia' }, { name: 'Rex' })),
      { name: 'Tom' },
      'unknown changed',
    ],
    ['have no record', set({ name: 'Rex' }), null, 'failed no_entry'],
  ],
};

for (const [title, cases] of Object.entries(tables))
  describe(title, () => {
    it.each(cases)('%s', (_what, row, now, becomes) => {
      expect(wordsOf(decide(row, now))).toBe(becomes);
    });
  });

it('the message of an unknown row has the values before, sent and now', () => {
  const decision = decide(add(5, sent(10, 15)), 12);
  expect(decision).toMatchObject({
    reason: { message: 'it was 10 before, 15 was sent, and it is 12 now' },
  });
});

it('the message of a row that expects another value has both values', () => {
  expect(decide(expecting(5, 3), 4)).toMatchObject({
    reason: { message: '4 now, not 3 as expected' },
  });
});

describe('a row may be written', () => {
  const before = 3;
  const after = 5;
  const plain = set(after, { before, after });
  const conditional = expecting(after, before, { before, after });
  const lost: RowAttempt = { isSent: true };
  const unsent: RowAttempt = { isSent: false };
  const answered = (status: number, readBack?: Value): RowAttempt => ({ isSent: true, status, readBack });
  const cases: readonly (readonly [what: string, row: Row, attempts: RowAttempt[], isPossible: boolean])[] = [
    ['not without an attempt', plain, [], false],
    ['not by a request that never left', plain, [unsent], false],
    ['by a lost answer', plain, [lost], true],
    ['by a lost answer, whatever is read later', plain, [lost, answered(500, before)], true],
    ['by an answer, if the record was not read', plain, [answered(500)], true],
    ['by an answer, if the record is not as before', plain, [answered(500, 4)], true],
    ['not by an answer, if the record is as before', plain, [answered(500, before)], false],
    [
      'not by an answer, if it is as before after the next',
      plain,
      [answered(500, 4), answered(500, before)],
      false,
    ],
    ['not by a 412, if the record has another value', plain, [answered(412, 4)], false],
    ['by a 412, if the record has the value that was sent', plain, [answered(412, after)], true],
    [
      'by a 412 of a row that expects, if the record has another value',
      conditional,
      [answered(412, 4)],
      true,
    ],
    [
      'not by a 412 of a row that expects, if the record is as before',
      conditional,
      [answered(412, before)],
      false,
    ],
    ['by an answer before a 412', plain, [answered(500, 4), answered(412, 4)], true],
  ];
  it.each(cases)('%s', (_what, row, attempts, isPossible) => {
    expect(mayBeWrittenAfter(row, attempts)).toBe(isPossible);
  });
});
