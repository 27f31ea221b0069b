import { offeredOperation } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { Client } from '../client/client.ts';
import { Pace, type StopReason } from '../client/pace.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../process/errors.ts';
import { Stop } from '../process/signals.ts';
import { createRecordPort, type RecordPort } from '../writes/port.ts';
import type { RunList } from './list-runs.ts';
import type { Run } from './run.ts';

/** The runs that a session is about. */
export interface SessionRuns {
  /** All runs of this user, as listed after the target was locked. A dry run locks nothing. */
  readonly list: RunList;
  readonly run: Run;
  /** Of an undo, the run that it takes back. */
  readonly undone?: Run | undefined;
}

/** What a session of a run works with. */
export interface Session extends SessionRuns {
  readonly client: Client;
  readonly port: RecordPort;
  /** Reads the inventory entries that go with the pets that are deleted; undefined for any other run. */
  readonly stocks: RecordPort | undefined;
  /** True if a row that finds no record creates it. */
  readonly mayCreate: boolean;
  /** The most rows at a time. */
  readonly concurrency: number;
  readonly stop: Stop<StopReason>;
  readonly progress: Progress;
}

/** What a session has done so far, for the live line and for `--max-errors`. */
export interface Progress {
  recordsRead: number;
  /** The rows that have an outcome, failed and unknown ones included. */
  ended: number;
  failed: number;
  unknown: number;
}

/** @throws UsageError if the service cannot read or write such values. */
export async function createSession(context: Context, runs: SessionRuns): Promise<Session> {
  const { run } = runs;
  const { settings } = context;
  const { noun, kind, flags } = run.header;
  const client = await context.client('bulk');
  const stop = new Stop<StopReason>();
  const pace = new Pace(settings.get('rate') ?? null, stop, settings.get('timeout'));
  const options = { pace, sendsEtags: settings.get('etags') };
  const port = createRecordPort(client, noun, options);
  checkOffers(client, port, run);
  const deletesPets = kind === 'delete' && noun === 'pets';
  return {
    ...runs,
    client,
    port,
    stocks: deletesPets ? createRecordPort(client, 'inventory', options) : undefined,
    mayCreate: flags.createMissing,
    concurrency: settings.get('concurrency'),
    stop,
    progress: { recordsRead: 0, ended: 0, failed: 0, unknown: 0 },
  };
}

/** @throws UsageError if the service lacks an operation that the rows of a run need. */
function checkOffers({ contract }: Client, port: RecordPort, { header: { noun, kind }, rows }: Run): void {
  const { get, list, create, update, delete: remove } = nouns[noun].operations;
  const needed = kind === 'create' ? create : kind === 'delete' ? remove : update;
  const sets = rows.some(({ intent }) => intent.kind === 'set' || intent.kind === 'add');
  if (kind !== 'undo' || sets) offeredOperation(contract, needed);
  if (kind !== 'create' && !port.canRead)
    throw new UsageError(`the service offers neither ${get} nor ${list}, so nothing can be planned`, {
      hint: 'see `petstore api operations`',
      code: 'unbound',
    });
}
