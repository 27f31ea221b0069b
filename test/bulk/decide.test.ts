import { describe, expect, it } from 'vitest';
import type { RecordValue } from '../../src/api/record-values.ts';
import { decide, type WriteAbilities, type WriteFacts } from '../../src/writes/decide.ts';
import { type Intent, type PlannedWrite, reasonOf } from '../../src/writes/row.ts';

// The rules as a table. Each line has what a row says, its state, the value that its record has now, and the decision.

const max = Number.MAX_SAFE_INTEGER;
/** What is known of a row before its record is read. */
type Known = Omit<WriteFacts, 'intent'>;
const certain: Known = {};
const planned = (before: RecordValue, after: RecordValue, action: PlannedWrite['action'] = 'set'): Known => ({
  planned: { action, before, after },
});
/** An attempt may have been applied. */
const sent = (before: RecordValue, after: RecordValue, action: PlannedWrite['action'] = 'set'): Known => ({
  ...planned(before, after, action),
  doubt: 'sent',
});
/** Only a refusal that is in doubt came, such as a 412. */
const refused = (before: RecordValue, after: RecordValue): Known => ({
  ...planned(before, after),
  doubt: 'refused',
});

const set = (value: RecordValue, expected?: RecordValue): Intent => ({ kind: 'set', value, expected });
const add = (change: number, created?: RecordValue): Intent => ({ kind: 'add', change, created });
const remove = (expected?: RecordValue): Intent => ({ kind: 'remove', expected });
const takeBack = (created: RecordValue, expected?: RecordValue) =>
  ({ ...remove(expected), created }) as Intent;
const addToTen: Intent = { kind: 'add', change: 5, expected: 10 };
const rex = { name: 'Rex', status: 'sold' };
const tom = { name: 'Tom' };
const created = { ...tom, categoryId: 1, at: '2026-01-01T00:00:00.123Z' };
const shown = { ...tom, categoryId: 1, 'category.name': 'Dogs', at: '2026-01-01T01:00:00.123456+01:00' };
const available = { ...tom, status: 'available' };
const mia = { name: 'Mia', status: 'sold' };
const [one, two] = [{ meta: { a: 1 } }, { meta: { a: 1, b: 2 } }];
const make: Intent = { kind: 'create', fields: rex };

/** `write 5`, `remove`, `applied`, `failed no_record: there is no such record`. */
function wordsOf(decision: ReturnType<typeof decide>): string {
  if (decision.kind !== 'write') {
    const reason = reasonOf(decision);
    return reason ? `${decision.kind} ${reason.code}: ${reason.message}` : decision.kind;
  }
  const { action, after } = decision.planned;
  return action === 'remove' ? 'remove' : `${action === 'set' ? 'write' : action} ${JSON.stringify(after)}`;
}

type Case = readonly [
  what: string,
  intent: Intent,
  known: Known,
  now: RecordValue,
  becomes: string,
  further?: Partial<WriteAbilities>,
];

// The messages of the reasons.
const noRecord = 'there is no such record';
const lacks = 'failed no_entry: the pet has no inventory entry';
const noEntry = `${lacks}: check the id, or apply with --create-missing`;
const perhapsMade = 'unknown perhaps_made: it may have been created: look for it before you create it again';
const otherName = 'failed changed: name "Mia" now, not name "Rex" as expected';
const appeared = 'failed changed: name "Mia" now, not no record as expected';
const goneMeanwhile = 'failed changed: no record now, not 3 as expected';
const furtherStatus = 'failed changed: status "available" now, not no status as expected';
const furtherId = 'failed changed: id 1 now, not no id as expected';
const noWay = `${lacks}, and the service offers no way to create one: check the id`;
const beyondDouble = `failed too_large: 9007199254740993 - 1 is above ${max}`;
const otherPet =
  'unknown changed: it was name "Rex", status "sold" before, a DELETE was sent, and it is name "Mia", status "sold" now';
const nowSeven = 'unknown changed: it was no record before, 5 was sent, and it is 7 now';
const fromThree = 'unknown changed: it was 3 before, 5 was sent, and';
const fromTen = 'unknown changed: it was 10 before, 15 was sent, and';
const mayCreate = { mayCreate: true };
const byNothing = { createsBy: undefined };
const mayOmit = { defaults: { status: 'available' } };
const byPut = { createsBy: 'PUT' } as const;

const tables: Readonly<Record<string, readonly Case[]>> = {
  'set v, certain': [
    ['is v', set(5), certain, 5, 'unchanged'],
    ['is v, as a bigint', set(5), certain, 5n, 'unchanged'],
    ['has another value', set(5), certain, 3, 'write 5'],
    ['has another value than planned', set(5), planned(3, 5), 4, 'write 5'],
    ['does not exist', set(5), certain, null, noEntry],
    ['does not exist and cannot be created', set(5), certain, null, noWay, byNothing],
    ['does not exist and may be created', set(5), certain, null, 'create 5', mayCreate],
    ['does not exist, and has several fields', set(rex), certain, null, `failed no_record: ${noRecord}`],
    ['differs in outer spaces', set({ name: 'Rex' }), certain, { name: 'Rex ' }, 'write {"name":"Rex"}'],
    ['has a field that is to go', set({ note: undefined }), certain, { note: 'x' }, 'write {}'],
    ['leaves out the default', set({ status: 'available' }), certain, {}, 'unchanged', mayOmit],
    ['lacks a field that is to go', set({ note: undefined }), certain, { note: null }, 'unchanged'],
  ],
  'set v, uncertain': [
    ['has a further member', set(one), sent({ meta: {} }, one), two, 'write {"meta":{"a":1}}'],
    ['has the new value', set(5), sent(3, 5), 5, 'applied'],
    ['leaves out the default', set({ status: 'available' }), sent(mia, available), tom, 'applied', mayOmit],
    ['has the new value after a refusal in doubt', set(5), refused(3, 5), 5, 'applied'],
    ['has the old value', set(5), sent(3, 5), 3, 'write 5'],
    ['has another value', set(5), sent(3, 5), 4, 'write 5'],
    ['is gone', set(5), sent(3, 5), null, `${fromThree} there is no record now`],
    ['was to be created, and somebody else has', set(5), sent(null, 5, 'create'), 7, nowSeven],
    ['was to be created by POST', set(5), sent(null, 5, 'create'), null, perhapsMade],
    ['was to be created by PUT', set(5), sent(null, 5, 'create'), null, 'create 5', byPut],
  ],
  'set v, expecting e, certain': [
    ['is v', set(5, 3), certain, 5, 'unchanged'],
    ['is e', set(5, 3), certain, 3, 'write 5'],
    ['has another value', set(5, 3), certain, 4, 'failed changed: 4 now, not 3 as expected'],
    ['does not exist', set(5, 3), certain, null, goneMeanwhile, mayCreate],
  ],
  'set v, expecting e, uncertain': [
    ['has the new value', set(5, 3), sent(3, 5), 5, 'applied'],
    ['has the old value', set(5, 3), sent(3, 5), 3, 'write 5'],
    ['has another value', set(5, 3), sent(3, 5), 4, `${fromThree} it is 4 now`],
    ['has another value after a refusal in doubt', set(5, 3), refused(3, 5), 4, `${fromThree} it is 4 now`],
  ],
  'add d, certain': [
    ['is a count', add(5), certain, 10, 'write 15'],
    ['down to 0', add(-10), certain, 10, 'write 0'],
    ['below 0', add(-11), certain, 10, 'failed below_zero: 10 - 11 is below 0'],
    ['up to the largest count', add(1), certain, max - 1, `write ${max}`],
    ['above the largest count', add(1), certain, max, `failed too_large: ${max} + 1 is above ${max}`],
    ['is beyond a double', add(-1), certain, 2n ** 53n + 1n, beyondDouble],
    ['adds 0', add(0), certain, 10, 'unchanged'],
    ['has another value than planned', add(5), planned(10, 15), 11, 'write 16'],
    ['has the planned value already', add(5), planned(10, 15), 15, 'write 20'],
    ['does not exist', add(5), certain, null, noEntry],
    ['does not exist, and less is to be there', add(-5), certain, null, noEntry],
    ['does not exist, and adds 0', add(0), certain, null, noEntry],
    ['does not exist and may be created', add(5), certain, null, 'create 5', mayCreate],
    ['is as expected', addToTen, certain, 10, 'write 15'],
    ['is not as expected', addToTen, certain, 11, 'failed changed: 11 now, not 10 as expected'],
  ],
  'add d, uncertain': [
    ['has the new value', add(5), sent(10, 15), 15, 'applied'],
    ['has the new value after a refusal in doubt', add(5), refused(10, 15), 15, `${fromTen} it is 15 now`],
    ['has the old value', add(5), sent(10, 15), 10, 'write 15'],
    ['has another value', add(5), sent(10, 15), 14, `${fromTen} it is 14 now`],
    ['is gone', add(5), sent(10, 15), null, `${fromTen} there is no record now`],
    ['was to be created by POST', add(5), sent(null, 5, 'create'), null, perhapsMade],
    ['was to be created by PUT', add(5), sent(null, 5, 'create'), null, 'create 5', byPut],
  ],
  create: [
    ['is certain', make, certain, null, `create ${JSON.stringify(rex)}`],
    ['is uncertain', make, sent(null, rex, 'create'), null, perhapsMade],
  ],
  'remove, certain': [
    ['is there', remove(), certain, rex, 'remove'],
    ['is as it was shown', remove(rex), certain, { ...rex }, 'remove'],
    ['has got a field since it was shown', remove(rex), certain, { ...rex, id: 1n }, furtherId],
    ['has changed', remove(rex), certain, mia, otherName],
    ['was not there when it was shown', remove(null), certain, { name: 'Mia' }, appeared],
    ['is not there, as it was shown', remove(null), certain, null, `failed no_record: ${noRecord}`],
    ['has changed since the plan', remove(), planned(rex, null, 'remove'), mia, otherName],
    ['lacks a default', remove(), planned(available, null, 'remove'), tom, 'remove', mayOmit],
    ['is not there', remove(), certain, null, `failed no_record: ${noRecord}`],
    ['is not there, in an undo', takeBack(rex), certain, null, 'unchanged'],
    ['has a further field than was sent', takeBack(rex), certain, { ...rex, id: 1n }, 'remove'],
    ['has got a field since it was made', takeBack(rex, rex), certain, { ...rex, id: 1n }, furtherId],
    ['shows a default', takeBack(tom, tom), certain, available, 'remove', mayOmit],
    ['shows the same in another form', takeBack(tom, created), certain, shown, 'remove'],
    ['shows what is no default', takeBack(tom, tom), certain, available, furtherStatus],
    ['has changed since it was created', takeBack(rex), certain, mia, otherName],
  ],
  'remove, uncertain': [
    ['is not there', remove(), sent(rex, null, 'remove'), null, 'applied'],
    ['is still there', remove(), sent(rex, null, 'remove'), rex, 'remove'],
    ['is another', remove(), sent(rex, null, 'remove'), mia, otherPet],
  ],
  'an undo of a row that created an entry and added': [
    ['is as it was created', add(-5, 5), certain, 5, 'remove'],
    ['has changed', add(-5, 5), certain, 7, 'write 2'],
    ['is gone', add(-5, 5), certain, null, 'unchanged'],
  ],
};

describe.each(Object.entries(tables))('%s:', (_, cases) => {
  it.each(cases.map((line) => [line[0], line] as const))('the record %s', (_what, line) => {
    const [, intent, known, now, becomes, rules = {}] = line;
    const given = { mayCreate: false, createsBy: 'POST' as const, defaults: {}, ...rules };
    const decision = decide({ intent, ...known }, now, given);
    expect(wordsOf(decision)).toBe(becomes);
    // An uncertain row keeps the value before its first attempt.
    if (decision.kind === 'write')
      expect(decision.planned.before).toEqual(known.doubt ? known.planned?.before : now);
  });
});
