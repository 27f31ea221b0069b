import { expect, test } from 'vitest';
import { isFields, type RecordValue, type ServiceRecord } from '../../src/api/record-values.ts';
import { needsPerson } from '../../src/bulk/run-row.ts';
import type { Attempt } from '../../src/client/answer-table.ts';
import type { JudgedWrite } from '../../src/client/judge-write.ts';
import { CliError } from '../../src/process/errors.ts';
import { type Event, next, type Situation } from '../../src/writes/next.ts';
import type { RecordPort } from '../../src/writes/port.ts';
import type { Intent, Planned, Row } from '../../src/writes/row.ts';
import { type Settled, settleAll } from '../../src/writes/settle.ts';
import { initialState, type State } from '../../src/writes/state.ts';

// Everything that can happen to one row: every state that `next` reaches meets every event that can follow. No step may break a
// rule, and each kind of row comes to each of its outcomes.

type Verdict = JudgedWrite['verdict'];
const [mia, rex] = [{ name: 'Mia' }, { name: 'Rex' }];
/** What a reading may show: before, after, before plus after, and the values of somebody else. */
const shownCounts: readonly RecordValue[] = [5, 10, 15, 7];
const shownFields: readonly RecordValue[] = [mia, rex, { name: 'Tom' }];
const record = { fields: {}, original: {} };
const [reading, tagged] = [{ record }, { record: { ...record, etag: '"a"' } }];
/** What may come of a reading: no record either. */
const readingsOf = (shown: readonly RecordValue[]): readonly Event[] => [
  ...[null, ...shown].map((now): Event => ({ kind: 'read', now, reading })),
  { kind: 'read', now: shown[0] ?? null, reading: tagged },
  { kind: 'not-read', error: new CliError('unavailable', 'no answer', { status: 500 }) },
  { kind: 'not-read', error: new CliError('failed', 'no', { status: 400 }) },
  { kind: 'stopped' },
];
/** The verdicts after which a write may have been applied. */
const doubts = ['empty', 'unclear', 'pending', 'lost', 'unrepeatable'] as const;
const verdicts: readonly Verdict[] = [
  ...doubts,
  ...(['shown', 'conflict', 'condition-failed', 'missing', 'busy', 'rejected'] as const),
];
const answers: readonly Event[] = verdicts.flatMap((verdict) =>
  [7n, undefined].map((id): Event => {
    const status = verdict === 'condition-failed' ? 412 : 400;
    const error = new CliError('failed', 'no', { status });
    const attempt = { response: { status } } as Attempt;
    const reason = { code: 'rejected', message: 'no' } as const;
    const write: JudgedWrite = { verdict, id, reason, error, attempt };
    return { kind: 'sent', write };
  }),
);

const planned = (before: RecordValue, after: RecordValue, action: Planned['action'] = 'set'): Planned => ({
  before,
  after,
  action,
});
const ends = 'applied failed unknown unprocessed';
const endsOrNothing = 'applied failed unchanged unknown unprocessed';
/** Each kind of row, the plan for it, and the outcomes to which it comes where its record can be read. */
const rows: readonly (readonly [Intent, Planned, outcomes: string])[] = [
  [{ kind: 'set', value: 10 }, planned(5, 10), endsOrNothing],
  [{ kind: 'set', value: 10 }, planned(null, 10, 'create'), endsOrNothing],
  [{ kind: 'set', value: 10, expected: 5 }, planned(5, 10), endsOrNothing],
  [{ kind: 'set', value: rex }, planned(mia, rex), endsOrNothing],
  [{ kind: 'set', value: rex, expected: mia }, planned(mia, rex), endsOrNothing],
  [{ kind: 'add', change: 5 }, planned(5, 10), ends],
  [{ kind: 'add', change: 10 }, planned(null, 10, 'create'), ends],
  [{ kind: 'add', change: -6 }, planned(7, 1), ends],
  [{ kind: 'add', change: 5, expected: 5 }, planned(5, 10), ends],
  [{ kind: 'add', change: -5, created: 5 }, planned(5, null, 'remove'), endsOrNothing],
  [{ kind: 'add', change: -5, created: 5 }, planned(15, 10), endsOrNothing],
  [{ kind: 'create', fields: rex }, planned(null, rex, 'create'), ends],
  [{ kind: 'remove' }, planned(5, null, 'remove'), ends],
  [{ kind: 'remove', expected: 5 }, planned(5, null, 'remove'), ends],
  [{ kind: 'remove', created: 5 }, planned(5, null, 'remove'), endsOrNothing],
];

const limits = { timeoutMs: 1000, retries: 1, retriesUnreachable: true };
const abilities = {
  canReadEach: true,
  canList: true,
  canRead: true,
  canRemove: true,
  canRemoveFields: true,
  createsBy: 'PUT' as const,
  mayCreate: true,
  isEmbedded: false,
  readsFirst: false,
  writeOnly: new Set<string>(),
  readOnly: new Set<string>(),
};
const usual: Situation = {
  abilities,
  limits,
  trustsEmpty: false,
  remainingMs: Number.POSITIVE_INFINITY,
  random: 0,
};
const situations: Readonly<Record<string, Situation>> = {
  'with a retry': usual,
  'without retries': { ...usual, limits: { ...limits, retries: 0 } },
  'after its deadline': { ...usual, remainingMs: 0 },
  'that is not read before its write': { ...usual, abilities: { ...abilities, canReadEach: false } },
  'that cannot be read': { ...usual, abilities: { ...abilities, canReadEach: false, canRead: false } },
  'that is read before its write, and whose success is trusted': {
    ...usual,
    trustsEmpty: true,
    abilities: { ...abilities, readsFirst: true, mayCreate: false },
  },
  'of the embedded store': { ...usual, abilities: { ...abilities, isEmbedded: true } },
  'whose record PUT cannot create': { ...usual, abilities: { ...abilities, createsBy: 'POST' } },
};

const numbers = new Map<object, number>();

/** Names a state of a row by all its members except the attempts, which only messages count. Parts of events are numbered. */
function keyOf({ id, intent, attempts, reading, lastWrite, ...others }: State): string {
  const parts = [reading, lastWrite].map((part) => {
    if (part && !numbers.has(part)) numbers.set(part, numbers.size);
    return part && numbers.get(part);
  });
  return JSON.stringify([others, ...parts]);
}

const isUncertain = ({ doubt }: State) => doubt !== undefined && doubt !== 'refused';

/** Names the rule that a step breaks. */
function faultOf(state: State, event: Event, [after, step]: ReturnType<typeof next>) {
  const { planned, intent } = state;
  const outcome = step.kind === 'end' ? step.outcome?.kind : undefined;
  const isDenied = step.kind === 'end' && (outcome === 'failed' || outcome === undefined);
  if (isUncertain(state) && isDenied) return 'a row that was perhaps written is called failed or unprocessed';
  const isOpen = state.doubt === 'refused' || after.doubt === 'refused';
  if (isOpen && isDenied && event.kind !== 'read')
    return 'a row whose refused write may have been sent twice ends as failed or unprocessed without a reading';
  if (isOpen && step.kind === 'end' && event.kind !== 'read' && after.doubt !== 'refused')
    return 'a row whose refused write may have been sent twice ends without a reading and without its doubt';
  if (outcome === 'unchanged' && event.kind !== 'read') return 'a row is called unchanged without a reading';
  if (outcome === 'applied' && event.kind !== 'read' && event.kind !== 'sent')
    return 'a row is applied by nothing';
  if (isUncertain(state) && !isUncertain(after)) return 'a row that was perhaps written is certain again';
  if (state.doubt === 'sent' && after.doubt !== 'sent') return 'a row that may be applied is less in doubt';
  if (
    isUncertain(state) &&
    (after.planned?.before !== planned?.before || after.planned?.after !== planned?.after)
  )
    return 'what an uncertain row was sent with has changed';
  if (isUncertain(after) && step.kind === 'write' && event.kind !== 'read')
    return 'an uncertain row is sent without a reading right before';
  if (
    event.kind === 'sent' &&
    doubts.some((verdict) => verdict === event.write.verdict) &&
    !isUncertain(after) &&
    outcome !== 'applied'
  )
    return 'a row is certain after an attempt that may have been applied';
  const mayBeResumed = step.kind === 'end' && step.outcome?.reason?.isTransient === true;
  if (
    intent.kind === 'create' &&
    event.kind === 'sent' &&
    event.write.verdict === 'condition-failed' &&
    mayBeResumed
  )
    return 'a create that was refused with 409 or 412 is left for a resume';
  if (step.kind !== 'write') return undefined;
  const created = intent.kind === 'remove' ? intent.created : undefined;
  const wanted = 'expected' in intent ? intent.expected : created;
  if (event.kind === 'read' && !isUncertain(state) && wanted !== undefined && event.now !== wanted)
    return 'a row is sent over another value than the one that it expects';
  if (isUncertain(after) && intent.kind === 'create') return 'a create is sent again after a doubt';
  if (isUncertain(state) && step.planned.after !== planned?.after)
    return 'an uncertain row is sent another value';
  if (state.aim !== 'decide' && !(intent.kind === 'add' && step.planned.before !== planned?.before))
    return 'a row is sent after its last reading';
  return undefined;
}

test.each(Object.entries(situations))('a row %s keeps every rule, whatever happens to it', (_, situation) => {
  for (const [intent, pair, outcomes] of rows) {
    const readings = readingsOf(isFields(pair.after) ? shownFields : shownCounts);
    const reached = new Set<string>();
    const starts: Pick<Row, 'planned' | 'doubt'>[] = [
      {},
      { planned: pair },
      { planned: pair, doubt: 'sent' },
      { planned: pair, doubt: 'refused' },
    ];
    const id = intent.kind === 'create' ? undefined : 7n;
    const todo = starts.map((start) => ({
      depth: 0,
      // A row that adds is planned again ten times at most. The walk begins after eight.
      state: { ...initialState({ id, intent, ...start }), replans: 8 },
      events: [{ kind: 'begin' }] as readonly Event[],
    }));
    const seen = new Set<string>();
    for (let each = todo.pop(); each; each = todo.pop()) {
      const { state, events, depth } = each;
      const key = `${events[0]?.kind} ${keyOf(state)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      if (depth > 60) expect.fail(`it does not end: ${key}`);
      for (const event of events) {
        const result = next(state, event, situation);
        const fault = faultOf(state, event, result);
        const toText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
        if (fault !== undefined) expect.fail(`${fault}: ${JSON.stringify({ state, event }, toText, 2)}`);
        const [after, step] = result;
        if (step.kind === 'end') reached.add(step.outcome?.kind ?? 'unprocessed');
        if (step.kind === 'read') todo.push({ state: after, events: readings, depth: depth + 1 });
        if (step.kind === 'write')
          todo.push({ state: after, events: [...answers, { kind: 'stopped' }], depth: depth + 1 });
      }
    }
    // Only a reading shows that nothing is to be done.
    const expected = situation.abilities.canReadEach ? outcomes : ends;
    expect([...reached].sort().join(' '), JSON.stringify(intent)).toBe(expected);
  }
});

test('a reading that the service asks to wait for comes no earlier', () => {
  const state = initialState({ id: 7n, intent: add, planned: planned(5, 10) });
  const details = { status: 429, retryAfterMs: 9000 };
  const error = new CliError('unavailable', 'busy', details);
  expect(next(state, { kind: 'not-read', error }, usual)[1]).toMatchObject({ kind: 'read', waitMs: 9000 });
});

test('a refusal of an earlier session stays in doubt, whatever a reading shows', () => {
  const state = initialState({ id: 7n, intent: add, planned: planned(5, 10), doubt: 'refused' });
  const [, step] = next(state, { kind: 'read', now: 7, reading: { record } }, usual);
  expect(step).toMatchObject({ kind: 'end', outcome: { kind: 'unknown' } });
});

test('a row that was refused with 409 is sent again only if its record has changed since', () => {
  const reading = { record: { ...record, etag: '"a"' } };
  const attempt = { response: { status: 409 } } as Attempt;
  const write: JudgedWrite = { verdict: 'conflict', attempt, reason: { code: 'rejected', message: 'no' } };
  const row = initialState({ id: 7n, intent: set, planned: planned(5, 10) });
  const state: State = { ...row, reading, lastWrite: write, doubt: 'refused', attempts: 1 };
  const [, step] = next(state, { kind: 'read', now: 5, reading }, usual);
  expect(step).toMatchObject({ kind: 'end', outcome: { kind: 'failed', reason: { code: 'rejected' } } });
  const other = { record: { ...record, etag: '"b"' } };
  expect(next(state, { kind: 'read', now: 5, reading: other }, usual)[1]).toMatchObject({ kind: 'write' });
  // Without tags the value decides.
  const untagged: State = { ...state, intent: { kind: 'set', value: 10 }, reading: { record } };
  const stepAt = (now: number) => next(untagged, { kind: 'read', now, reading: { record } }, usual)[1].kind;
  expect([stepAt(5), stepAt(6)]).toEqual(['end', 'write']);
});

const set: Intent = { kind: 'set', value: 10, expected: 5 };
const add: Intent = { kind: 'add', change: 5 };
const remove: Intent = { kind: 'remove', expected: 5 };
const read = (now: RecordValue): Event => ({ kind: 'read', now, reading: { record: undefined } });
const unread: Event = { kind: 'not-read', error: new CliError('failed', 'no', { status: 400 }) };

test('an uncertain row that the service cannot show is for a person, not for a further resume', () => {
  const row = { id: 7n, intent: add, planned: planned(5, 10), doubt: 'sent' } as const;
  const situation = { ...usual, abilities: { ...abilities, canReadEach: false } };
  const [, step] = next(initialState(row), { kind: 'begin' }, situation);
  const outcome = step.kind === 'end' ? step.outcome : undefined;
  expect(outcome).toMatchObject({ kind: 'unknown', reason: { code: 'unbound' } });
  expect(needsPerson({ ...row, outcome })).toBe(true);
});

// A gateway may have sent the refused write twice, and its first half may have been applied.
test.each<[Intent, Verdict, last: Event, outcome: string, doubt: string | undefined]>([
  [set, 'condition-failed', unread, 'unknown unread', 'refused'],
  [set, 'condition-failed', read(10), 'applied', 'refused'],
  [set, 'condition-failed', read(5), 'failed stale', undefined],
  [add, 'condition-failed', unread, 'unknown unread', 'refused'],
  [add, 'condition-failed', read(10), 'unknown changed', 'refused'],
  [remove, 'missing', unread, 'unknown unread', 'refused'],
  [remove, 'missing', read(null), 'applied', 'refused'],
  [remove, 'missing', read(5), 'failed stale', undefined],
])('%j that was refused (%s) ends by the last reading %j: %s', (intent, verdict, last, outcome, doubt) => {
  const situation = { ...usual, limits: { ...limits, retries: 0 } };
  const pair = intent.kind === 'remove' ? planned(5, null, 'remove') : planned(5, 10);
  const attempt = { response: { status: verdict === 'missing' ? 404 : 412 } } as Attempt;
  const write: JudgedWrite = { verdict, attempt, reason: { code: 'rejected', message: 'no' } };
  let state = initialState({ id: 7n, intent, planned: pair });
  let step: ReturnType<typeof next>[1] | undefined;
  for (const event of [{ kind: 'begin' } as const, read(5), { kind: 'sent', write } as const, last])
    [state, step] = next(state, event, situation);
  const ended = step?.kind === 'end' ? step.outcome : undefined;
  expect([ended?.kind, ended?.reason?.code].filter(Boolean).join(' ')).toBe(outcome);
  expect(state.doubt).toBe(doubt);
  if (ended?.reason?.code === 'stale')
    expect(ended.reason.message).toContain(verdict === 'missing' ? 'does not find the record' : 'the tag');
});

test('a stop after a success without a record does not say that no answer came', () => {
  const write: JudgedWrite = { verdict: 'empty', attempt: { response: { status: 204 } } as Attempt };
  let state = initialState({ id: 7n, intent: set, planned: planned(5, 10) });
  let step: ReturnType<typeof next>[1] | undefined;
  for (const event of [read(5), { kind: 'sent', write }, { kind: 'stopped' }] as const)
    [state, step] = next(state, event, usual);
  const message = 'petstore was stopped before the record was read';
  expect(step).toMatchObject({ outcome: { kind: 'unknown', reason: { code: 'interrupted', message } } });
});

test.each([
  [{ a: 1, b: 2 }, 'unknown'],
  [{ a: 0 }, 'applied'],
])('a reading after %j, which a 204 was to make {a: 1}, leaves the next 204 %s', async (was, expected) => {
  // The service does only the first write.
  const [before, after] = [{ meta: was }, { meta: { a: 1 } }];
  const rows = [7n, 8n].map((id) => ({
    id,
    intent: { kind: 'set', value: after } as const,
    planned: planned(before, after),
  }));
  const attempt = { response: { status: 204 } } as Attempt;
  const port = {
    abilities,
    limits,
    isRun: true,
    read: async (id: bigint) => ({ record: { fields: id === 7n ? after : before, original: {} } }),
    valueOf: (_: Intent, shown: ServiceRecord | undefined) => shown?.fields ?? null,
    prepareRequest: async () => ({ operation: 'updatePet', input: {} }),
    send: async () => ({ verdict: 'empty', attempt }),
  } as unknown as RecordPort;
  const outcomes: (string | undefined)[] = [];
  const keepOutcome = async (_: unknown, { outcome }: Settled) => void outcomes.push(outcome?.kind);
  const options = { stopped: new AbortController().signal, concurrency: 1 };
  await settleAll(port, rows, options, { keepOutcome });
  expect(outcomes).toEqual(['applied', expected]);
});

test('a row that replaces what somebody has set since its plan keeps that value, which an undo sets back', () => {
  const state = initialState({ id: 7n, intent: { kind: 'set', value: rex }, planned: planned(mia, rex) });
  const [, step] = next(state, { kind: 'read', reading, now: { name: 'Tom' } }, usual);
  expect(step).toMatchObject({ kind: 'write', planned: { before: { name: 'Tom' }, after: rex } });
});
