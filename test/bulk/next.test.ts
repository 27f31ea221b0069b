import { expect, test } from 'vitest';
import { isFields, type RecordValue } from '../../src/api/record-values.ts';
import { waitingFor } from '../../src/bulk/run-row.ts';
import type { Attempt } from '../../src/client/answer-table.ts';
import type { JudgedWrite } from '../../src/client/judge-write.ts';
import { CliError } from '../../src/process/errors.ts';
import { type Event, next, type Situation } from '../../src/writes/next.ts';
import { type Doubt, type Intent, type Outcome, type PlannedWrite, reasonOf } from '../../src/writes/row.ts';
import { initialState, type State, type Step, type Transition } from '../../src/writes/state.ts';

// Everything that can happen to one row: every state that `next` reaches meets every event that can follow. No step may break a
// rule, and each kind of row comes to each of its outcomes.

type Verdict = JudgedWrite['verdict'];
type Action = PlannedWrite['action'];
const [mia, rex] = [{ name: 'Mia' }, { name: 'Rex' }];
/** What a reading may show: before, after, before plus after, and the values of somebody else. */
const shownCounts: readonly RecordValue[] = [5, 10, 15, 7];
const shownFields: readonly RecordValue[] = [mia, rex, { name: 'Tom' }];
const record = { fields: {}, original: {} };
const [begin, stopped] = [{ kind: 'begin' }, { kind: 'stopped' }] as const;
const read = (now: RecordValue, etag?: string): Event => {
  return { kind: 'read', now, reading: { record: { ...record, etag } } };
};
const unread = (status: number): Event => {
  return {
    kind: 'not-read',
    error: new CliError(status < 500 ? 'failed' : 'unavailable', 'no', { status, retryable: status >= 500 }),
  };
};
const answer = (verdict: Verdict, status: number, id?: bigint): Event => {
  const reason = { code: verdict === 'empty' ? 'unread' : 'rejected', message: 'no' } as const;
  const error = new CliError('failed', 'no', { status });
  const write = {
    verdict,
    id,
    reason,
    error,
    attempt: { request: { method: 'PUT', url: 'http://shop/1' }, response: { status } } as Attempt,
  };
  return { kind: 'sent', write };
};
/** The verdicts after which a write may have been applied. */
const doubts = ['empty', 'unclear', 'pending', 'lost', 'unrepeatable'] as const;
const verdicts: readonly Verdict[] = [
  ...doubts,
  ...(['shown', 'conflict', 'condition-failed', 'missing', 'busy', 'rejected'] as const),
];
const sendings = verdicts.flatMap((verdict) => {
  const status = verdict === 'condition-failed' ? 412 : verdict === 'conflict' ? 409 : 400;
  return [answer(verdict, status, 7n), answer(verdict, status)];
});

const planned = (before: RecordValue, after: RecordValue, action: Action = 'set'): PlannedWrite => {
  return { before, after, action };
};
const ends = 'applied failed unknown unprocessed';
const endsOrNothing = 'applied failed unchanged unknown unprocessed';
/** Each kind of row, the plan for it, and the outcomes to which it comes where its record can be read. */
const rows: readonly (readonly [Intent, PlannedWrite, outcomes: string])[] = [
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

const limits = { timeoutMs: 1000, retries: 1, retriesUnreachable: true, concurrency: 1 };
const abilities = {
  canReadEach: true,
  canRead: true,
  createsBy: 'PUT' as const,
  mayCreate: true,
  readsFirst: false,
  isEmbedded: false,
  defaults: {},
  writeOnly: new Set<string>(),
};
const usual: Situation = {
  abilities,
  limits,
  believesEmpty: false,
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
    believesEmpty: true,
    abilities: { ...abilities, readsFirst: true, mayCreate: false },
  },
  'of the embedded store': { ...usual, abilities: { ...abilities, isEmbedded: true } },
  'whose record PUT cannot create': { ...usual, abilities: { ...abilities, createsBy: 'POST' } },
};

/** Names a state of a row by all its members except the attempts, which only messages count. */
function keyOf({ id, intent, attempts, reading, lastAttempt, ...others }: State): string {
  const read = reading && `read ${reading.record?.etag}`;
  return JSON.stringify([others, read, lastAttempt && `${lastAttempt.verdict} ${lastAttempt.id}`]);
}

/** What a row has that an earlier session may have sent. */
const uncertain = (doubt: Doubt) => ({ state: { kind: 'unsettled', doubt } as const });
const isUncertain = ({ doubt }: State) => doubt !== undefined;

/** What one step shows: the state before it, the event and what follows. */
function viewOf(state: State, event: Event, [after, step]: Transition, isRound: boolean) {
  const { intent } = state;
  const outcome = step.kind === 'end' ? (step.outcome?.kind ?? 'unprocessed') : undefined;
  return {
    state,
    event,
    after,
    outcome,
    intent,
    isRound,
    written: step.kind === 'write' ? step.planned : undefined,
    verdict: event.kind === 'sent' ? event.write.verdict : undefined,
    isRead: event.kind === 'read',
    isDenied: outcome === 'failed' || outcome === 'unprocessed',
    isTransient: (step.kind === 'end' && step.outcome && reasonOf(step.outcome)?.isTransient) === true,
  };
}

/** A fault of `next`: what it returns instead. */
type Mutant = (result: Transition, event: Event) => Transition;
const endsAs =
  (from: Outcome['kind'], outcome: Outcome): Mutant =>
  ([after, step]) => [
    after,
    step.kind === 'end' && step.outcome?.kind === from ? { ...step, outcome } : step,
  ];
const sendsAfter =
  (event: Event['kind'], instead: Step['kind'], change: Partial<PlannedWrite> = {}): Mutant =>
  ([after, step], { kind }) =>
    event === kind && step.kind === instead && after.planned
      ? [after, { kind: 'write', planned: { ...after.planned, ...change }, waitMs: 0 }]
      : [after, step];
const turns =
  (change: Partial<State>, at?: Step['kind']): Mutant =>
  ([after, step]) => [(at ?? step.kind) === step.kind ? { ...after, ...change } : after, step];
const reason = { code: 'rejected', message: 'no' } as const;
const asFailed = endsAs('unknown', { kind: 'failed', reason });
const asUnchanged = endsAs('applied', { kind: 'unchanged' });
const asApplied = (['unchanged', 'unknown'] as const).map((kind) => endsAs(kind, { kind: 'applied' }));
const asTransient = endsAs('failed', { kind: 'failed', reason: { ...reason, isTransient: true } });
const forgetsDoubt = turns({ doubt: undefined }, 'end');

type IsBroken = (view: ReturnType<typeof viewOf>) => boolean;

/** The rules: what breaks each, and faults of `next` that do so. */
const rules: readonly (readonly [name: string, isBroken: IsBroken, faults: readonly Mutant[]])[] = [
  [
    'a row that was perhaps written ends as certainly not written',
    ({ state, isDenied, outcome }) => isUncertain(state) && (isDenied || outcome === 'unchanged'),
    [asFailed, asUnchanged],
  ],
  [
    'a row whose refused write may have been sent twice is certain without a reading',
    ({ state, after, outcome, isRead, isDenied }) =>
      (state.isPerhapsSentTwice || after.isPerhapsSentTwice) &&
      (isDenied || (outcome !== undefined && !after.isPerhapsSentTwice)) &&
      !isRead,
    [asFailed, turns({ isPerhapsSentTwice: false }, 'end')],
  ],
  [
    'a row is called unchanged without a reading',
    ({ outcome, isRead }) => outcome === 'unchanged' && !isRead,
    [asUnchanged],
  ],
  [
    'a row is applied by nothing',
    ({ outcome, isRead, verdict, state: { aim, doubt, isPerhapsSentTwice } }) =>
      outcome === 'applied' && !verdict && !(isRead && (doubt || isPerhapsSentTwice || aim === 'confirm')),
    asApplied,
  ],
  [
    'a row that may be applied is less in doubt',
    ({ state, after }) =>
      (isUncertain(state) && !isUncertain(after)) || (state.doubt === 'sent' && after.doubt !== 'sent'),
    [forgetsDoubt, turns({ doubt: 'refused' })],
  ],
  [
    'what an uncertain row was sent with has changed',
    ({ state, after, written }) =>
      isUncertain(state) &&
      (after.planned?.before !== state.planned?.before ||
        [after.planned, written ?? after.planned].some((each) => each?.after !== state.planned?.after)),
    [turns({ planned: planned(7, 10) }), sendsAfter('read', 'write', { after: 12 })],
  ],
  [
    'an uncertain row is sent without a reading right before',
    ({ after, written, isRead }) => isUncertain(after) && written !== undefined && !isRead,
    [sendsAfter('begin', 'read')],
  ],
  [
    'a row is certain after an attempt that may have been applied',
    ({ verdict, after, outcome }) =>
      doubts.some((each) => each === verdict) && !isUncertain(after) && outcome !== 'applied',
    [forgetsDoubt],
  ],
  [
    'a create that was refused with 409 or 412 is left for a resume',
    ({ intent, verdict, isTransient }) =>
      intent.kind === 'create' && (verdict === 'conflict' || verdict === 'condition-failed') && isTransient,
    [asTransient],
  ],
  [
    'a row is sent over another value than it expects',
    ({ event, state, written, intent }) => {
      const created = intent.kind === 'remove' ? intent.created : undefined;
      const expected = 'expected' in intent ? intent.expected : created;
      const isOther = event.kind === 'read' && expected !== undefined && event.now !== expected;
      return isOther && written !== undefined && !isUncertain(state);
    },
    [sendsAfter('read', 'end')],
  ],
  [
    'a create is sent again after a doubt',
    ({ after, written, intent }) => isUncertain(after) && written !== undefined && intent.kind === 'create',
    [sendsAfter('sent', 'end')],
  ],
  [
    'a row is sent after its last reading',
    ({ written, state: { aim, planned }, intent }) =>
      written !== undefined &&
      aim !== 'decide' &&
      (intent.kind !== 'add' || written.before === planned?.before),
    [sendsAfter('read', 'end')],
  ],
  ['a row does not end', ({ isRound }) => isRound, [turns({ retries: 0 })]],
];

/** Makes each step that can follow for a row, and returns its outcomes, and the rules that are broken with an example of each. */
function walk([intent, pair]: (typeof rows)[number], situation: Situation, makeStep = next) {
  const shown = isFields(pair.after) ? shownFields : shownCounts;
  const readings = [null, ...shown].map((now) => read(now));
  readings.push(read(shown[0] ?? null, '"a"'), unread(500), unread(400), stopped);
  const events = { begin: [begin], read: readings, write: [...sendings, stopped] };
  const faults = new Map<string, object>();
  const reached = new Set<string>();
  // A walk makes many errors, and nobody reads where: a stack costs more than the step.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const seen = new Set<string>();
  const path = new Set<string>();
  const visit = (state: State, last: keyof typeof events, key: string) => {
    if (seen.has(key)) return;
    seen.add(key);
    path.add(key);
    for (const event of events[last]) {
      const [after, step] = makeStep(state, event, situation);
      const nextKey = step.kind === 'end' ? '' : step.kind + keyOf(after);
      const isRound = path.has(nextKey) || path.size > 60;
      const view = viewOf(state, event, [after, step], isRound);
      for (const [rule, isBroken] of rules) if (isBroken(view)) faults.set(rule, { state, event });
      if (step.kind === 'end') reached.add(step.outcome?.kind ?? 'unprocessed');
      else if (!isRound) visit(after, step.kind, nextKey);
    }
    path.delete(key);
  };
  const id = intent.kind === 'create' ? undefined : 7n;
  for (const start of [{ planned: undefined }, {}, uncertain('sent'), uncertain('refused')]) {
    // A row that adds is planned again ten times at most. The walk begins after eight.
    const state = { ...initialState({ id, intent, planned: pair, ...start }), replans: 8 };
    visit(state, 'begin', `begin ${keyOf(state)}`);
  }
  Error.stackTraceLimit = stackTraceLimit;
  return { faults: Object.fromEntries(faults), reached: [...reached].sort().join(' ') };
}

test.each(Object.entries(situations))('a row %s keeps every rule, whatever happens to it', (_, situation) => {
  for (const row of rows) {
    // Only a reading shows that nothing is to be done.
    const reached = situation.abilities.canReadEach ? row[2] : ends;
    expect(walk(row, situation), JSON.stringify(row[0])).toEqual({ faults: {}, reached });
  }
});

test.each(rules)('the walk finds each fault by which %s', (rule, _, faults) => {
  for (const [at, fault] of faults.entries()) {
    const mutated: typeof next = (state, event, each) => fault(next(state, event, each), event);
    const found = rows.toReversed().some((row) => rule in walk(row, usual, mutated).faults);
    expect(found, `fault ${at + 1}`).toBe(true);
  }
});

const set: Intent = { kind: 'set', value: 10, expected: 5 };
const add: Intent = { kind: 'add', change: 5 };
const remove: Intent = { kind: 'remove', expected: 5 };

interface Start {
  readonly doubt?: Doubt;
  readonly pair?: PlannedWrite;
  readonly situation?: Situation;
}

/** Returns what follows the last event to a row, by default one that is to write 10 in place of 5. */
function follow(intent: Intent, events: readonly Event[], { doubt, ...start }: Start = {}) {
  const { pair = planned(5, 10), situation = usual } = start;
  let state = initialState({ id: 7n, intent, planned: pair, ...(doubt && uncertain(doubt)) });
  let step: Step | undefined;
  for (const event of events) [state, step] = next(state, event, situation);
  return { state, step, outcome: step?.kind === 'end' ? step.outcome : undefined };
}

test('a reading that the service asks to wait for comes no earlier', () => {
  const error = new CliError('unavailable', 'busy', { status: 429, retryable: true, retryAfterMs: 9000 });
  const { step } = follow(add, [{ kind: 'not-read', error }]);
  expect(step).toMatchObject({ kind: 'read', waitMs: 9000 });
});

test('a refusal of an earlier session stays in doubt, whatever a reading shows', () => {
  expect(follow(add, [read(7)], { doubt: 'refused' }).outcome?.kind).toBe('unknown');
});

test('a row that was refused with 409 is sent again only if its record has changed since', () => {
  const lastStep = (first?: string, second?: string, now = 5) =>
    follow({ kind: 'set', value: 10 }, [read(5, first), answer('conflict', 409), read(now, second)]);
  for (const { outcome } of [lastStep('"a"', '"a"'), lastStep()])
    expect(outcome).toMatchObject({ kind: 'failed', reason: { code: 'rejected' } });
  for (const { step } of [lastStep('"a"', '"b"'), lastStep(undefined, undefined, 6)])
    expect(step?.kind).toBe('write');
});

test('an uncertain row that the service cannot show is for a person, not for a further resume', () => {
  const situation = { ...usual, abilities: { ...abilities, canReadEach: false } };
  const { outcome } = follow(add, [begin], { doubt: 'sent', situation });
  expect(outcome).toMatchObject({ kind: 'unknown', reason: { code: 'unbound' } });
  expect(outcome && waitingFor({ intent: add, state: outcome })).toBe('person');
});

test('an uncertain row that is then refused for good is for a person, one that may pass is for a resume', () => {
  const waitAfter = (status: number) => {
    const { outcome } = follow(set, [begin, read(5), answer('rejected', status)], { doubt: 'sent' });
    return outcome && waitingFor({ intent: set, state: outcome });
  };
  expect([waitAfter(422), waitAfter(401)]).toEqual(['person', 'resume']);
});

// A gateway may have sent the refused write twice, and its first half may have been applied.
test.each<[Intent, Verdict, last: Event, outcome: string, text?: string]>([
  [set, 'condition-failed', unread(400), 'unknown unread'],
  [set, 'condition-failed', read(10), 'applied'],
  [set, 'condition-failed', read(5), 'failed stale', 'the ETag'],
  [add, 'condition-failed', unread(400), 'unknown unread'],
  [add, 'condition-failed', read(10), 'unknown changed'],
  [remove, 'missing', unread(400), 'unknown unread'],
  [remove, 'missing', read(null), 'applied'],
  [remove, 'missing', read(5), 'failed stale', 'does not find the record'],
])('%j that was refused (%s) ends by the last reading %j: %s', (intent, verdict, last, ends, text = '') => {
  const pair = intent.kind === 'remove' ? planned(5, null, 'remove') : planned(5, 10);
  const events = [begin, read(5), answer(verdict, verdict === 'missing' ? 404 : 412), last];
  const situation = { ...usual, limits: { ...limits, retries: 0 } };
  const { outcome } = follow(intent, events, { pair, situation });
  const reason = outcome && reasonOf(outcome);
  expect([outcome?.kind, reason?.code].filter(Boolean).join(' ')).toBe(ends);
  if (outcome?.kind === 'unknown') expect(outcome.doubt).toBe('refused');
  expect(reason?.message ?? '').toContain(text);
});

test('an uncertain row that sets is not applied because a POST finds nothing', () => {
  const events = [begin, read(5), answer('missing', 404), read(5)];
  const situation = { ...usual, limits: { ...limits, retries: 0 } };
  expect(follow(set, events, { doubt: 'sent', pair: planned(5, 10), situation }).outcome?.kind).toBe(
    'unknown',
  );
});

test('a stop after a success without a record says both', () => {
  const { outcome } = follow(set, [read(5), answer('empty', 204), stopped]);
  const message = 'no; petstore was stopped before it read the record';
  expect(outcome).toMatchObject({ kind: 'unknown', reason: { code: 'interrupted', message } });
});

test('a count that stays although 0 was sent is no sum', () => {
  const toZero: Intent = { kind: 'set', value: 0, expected: 5 };
  const { outcome } = follow(toZero, [read(5), answer('empty', 204), read(5)], { pair: planned(5, 0) });
  expect(outcome).toMatchObject({ kind: 'unknown', reason: { code: 'other_value' } });
});

test('a row that replaces what somebody has set since its plan keeps that value, which an undo sets back', () => {
  const tom = { name: 'Tom' };
  const { step } = follow({ kind: 'set', value: rex }, [read(tom)], { pair: planned(mia, rex) });
  expect(step).toMatchObject({ kind: 'write', planned: { before: tom, after: rex } });
});

test('a refused row is uncertain if its record shows all that was sent but a field that no answer has', () => {
  const situation = { ...usual, abilities: { ...abilities, writeOnly: new Set(['pin']) } };
  const sent = { ...rex, pin: 1 };
  const events = [read(mia), answer('condition-failed', 412), read(rex)];
  const { state, step } = follow({ kind: 'set', value: sent }, events, { situation });
  expect([state.doubt, step]).toMatchObject(['refused', { kind: 'write', planned: { before: mia } }]);
});

test('a create is tried again by itself if a record that its request needs cannot be read', () => {
  const situation = { ...usual, abilities: { ...abilities, canReadEach: false, canRead: false } };
  const { step } = follow({ kind: 'create', fields: rex }, [begin, unread(503)], { situation });
  expect(step).toMatchObject({ kind: 'write', planned: { action: 'create' } });
});
