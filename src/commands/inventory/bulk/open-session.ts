import { resolve } from 'node:path';
import { createFileSink, createStreamSink, Events } from '../../../bulk/events.ts';
import { checkNewFile, type NewFile } from '../../../bulk/new-file.ts';
import { pacedClient } from '../../../bulk/paced-client.ts';
import { Session } from '../../../bulk/session.ts';
import type { Context } from '../../../context.ts';
import { readPet } from '../../../records/read-pet.ts';
import { type RunFlags, toRetryWait } from './flags.ts';
import type { BulkJob } from './job.ts';

/** A session for the job, as flags and settings have it. */
export async function openSession(context: Context, job: BulkJob, flags: RunFlags): Promise<Session> {
  const settings = await context.settings();
  const client = await context.client('many');
  const { rows, index, write, earlier } = job;
  const session: Session = new Session({
    client,
    rows,
    index,
    write,
    replay: earlier?.replay,
    concurrency: settings.get('concurrency'),
    rate: settings.get('rate'),
    maxRetryWaitMs: toRetryWait(flags),
    readPetStatus: async (petId) => (await readPet(context, paced, petId)).value.status ?? 'available',
  });
  const paced = pacedClient(client, session);
  return session;
}

/** The file of `--rejects`; undefined where the default name is meant. @throws UsageError where it is there already. */
export async function rejectsFile(
  { io }: Context,
  { rejects, force }: RunFlags,
): Promise<NewFile | undefined> {
  if (rejects === undefined) return undefined;
  const file = {
    path: resolve(io.cwd, rejects),
    name: rejects,
    flag: '--rejects',
    mayReplace: force === true,
  };
  await checkNewFile(file);
  return file;
}

/** Tells the outcomes of a session as `--events` asks; gives what ends that. */
export async function startEvents(
  context: Context,
  session: Session,
  flags: RunFlags,
): Promise<() => Promise<void>> {
  const { events, force } = flags;
  if (events === undefined) return async () => {};
  const { rows } = session.ledger;
  const file = {
    path: resolve(context.io.cwd, events),
    name: events,
    flag: '--events',
    mayReplace: force === true,
  };
  const sink = events === '-' ? createStreamSink(context.io.stdout) : await createFileSink(file);
  const told = new Events(rows, sink);
  session.tellEvents(told);
  for (let row = 0; row < rows.length; row += 1) {
    const state = rows.state(row);
    if (state !== 'invalid' && state !== 'skipped') continue;
    told.settled(row, { state });
    await told.ready();
  }
  return () => told.close();
}
