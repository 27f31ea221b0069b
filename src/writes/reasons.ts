import * as v from 'valibot';
import { isNoAnswer } from '../client/answer-table.ts';
import type { ErrorKind, NoAnswer } from '../process/errors.ts';

// The codes that say why a row failed, is unknown, or needed no write. Errors, reports, rejects and JSON all show the same code.

interface ReasonRule {
  /** The kind of the error of a command on one record, if the row failed without an error of the service. By default `failed`. */
  readonly kind?: ErrorKind;
  /** What the user can do, a sentence. */
  readonly hint?: string;
  /** Set if only a person can settle an unknown row, because no further reading can. */
  readonly needsPerson?: true;
  /** Set if the service does with a write something else than asked, so that a run sends nothing more. */
  readonly stopsRun?: true;
  /** True if a failed row may succeed later, whatever the error was. */
  readonly isTransient?: true;
}

const forPerson: ReasonRule = { needsPerson: true };

const rules = {
  // The record is not as the row needs it.
  no_record: { kind: 'not-found' },
  no_entry: { kind: 'not-found' },
  changed: { ...forPerson, hint: 'look at the record and decide again; nothing was overwritten' },
  below_zero: { kind: 'usage' },
  too_large: { kind: 'usage' },
  // The service refused the write. `stale`: it refuses a tag, or does not find a record, that its readings show.
  rejected: {},
  stale: {
    isTransient: true,
    hint: 'see `petstore help gateways`: no cache may answer the GET requests of petstore',
  },
  // The write may have been applied.
  perhaps_made: forPerson,
  accepted: forPerson,
  other_value: forPerson,
  other_count: { ...forPerson, stopsRun: true },
  unread: {},
  // An undo does not know which record the row has made: several creates were answered with it, or no answer showed its id.
  shared_id: {},
  no_id: {},
  // It could not be read: no operation, a stop, or a store that was not saved.
  unbound: forPerson,
  interrupted: {},
  not_saved: {},
  // Another run or a person decides it.
  booked: {},
  booked_otherwise: {},
  not_settled: {},
  later_run: forPerson,
  settled: {},
} as const satisfies Record<string, ReasonRule>;

/** A code of the table, or why there was no valid answer. */
export type ReasonCode = keyof typeof rules | NoAnswer;

/** Why a row failed, is unknown, or needed no write. Secrets in texts of the service are masked. */
export const reasonSchema = v.object({
  code: v.custom<ReasonCode>((code) => Object.hasOwn(rules, String(code)) || isNoAnswer(String(code))),
  /** The service's own code of a write that it rejected. */
  serviceCode: v.optional(v.string()),
  /** A clause. */
  message: v.string(),
  /** The status of the last answer. */
  status: v.optional(v.number()),
  requestId: v.optional(v.string()),
  /** True if the same row may succeed later without a change to it. */
  isTransient: v.optional(v.boolean()),
  /** The run that must be undone before this row can be, or the run in which a person must settle a row first. */
  waitsFor: v.optional(v.object({ run: v.string(), row: v.optional(v.string()) })),
});
export type Reason = Readonly<v.InferOutput<typeof reasonSchema>>;

export function reasonRule(code: ReasonCode): ReasonRule {
  return isNoAnswer(code) ? {} : rules[code];
}

/** Returns the code to print. For a write that the service rejected, that is the service's own code, else the status. */
export function shownCode({ code, serviceCode, status }: Reason): string {
  return serviceCode ?? (code === 'rejected' && status !== undefined ? `${status}` : code);
}
