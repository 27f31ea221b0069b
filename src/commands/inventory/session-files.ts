import { resolve } from 'node:path';
import { Events, linesOfFile, linesOfStream } from '../../bulk/events.ts';
import { Journal } from '../../bulk/journal.ts';
import { type JournalHeader, version } from '../../bulk/journal-lines.ts';
import { checkNewFile, exists, type NewFile } from '../../bulk/new-file.ts';
import { mayWrite, type Plan } from '../../bulk/plan.ts';
import type { Job, Session } from '../../bulk/session.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../process/errors.ts';
import { realFile } from '../../process/files.ts';
import type { SessionFlags } from './flags.ts';
import { runStore } from './job.ts';

/** The files that a session writes, beside its journal. */
export interface SessionFiles {
  /** Of `--rejects`; undefined for the default. */
  readonly rejects: NewFile | undefined;
  /** Of `--events`; undefined also if they go to stdout. */
  readonly events: NewFile | undefined;
  /** True for `--events -`. */
  readonly eventsToStdout: boolean;
  /** True if the file of the events is from the run's earlier sessions. */
  readonly continues: boolean;
}

/** Checks the files for rejects and events before anything is sent. @throws UsageError if one cannot be created. */
export async function checkFiles({ io }: Context, job: Job, flags: SessionFlags): Promise<SessionFiles> {
  const toFile = (name: string, flag: string): NewFile => ({
    path: resolve(io.cwd, name),
    name,
    flag,
    mayReplace: flags.force === true,
  });
  const rejects = flags.rejects === undefined ? undefined : toFile(flags.rejects, '--rejects');
  const eventsToStdout = flags.events === '-';
  const known = job.earlier?.header.events ?? undefined;
  const named = eventsToStdout ? undefined : (flags.events ?? known);
  const events = named === undefined ? undefined : toFile(named, '--events');
  const continues = events !== undefined && events.path === known && (await exists(events.path));
  if (rejects && events && isSameFile(rejects.path, events.path))
    throw new UsageError(`--rejects and --events: both are ${rejects.name}`);
  for (const file of [rejects, events])
    if (file && job.file !== null && isSameFile(file.path, job.file))
      throw new UsageError(`${file.flag} ${file.name}: it is the input`);
  if (rejects) await checkNewFile(rejects);
  if (events && !continues) await checkNewFile(events);
  return { rejects, events, eventsToStdout, continues };
}

function isSameFile(one: string, other: string): boolean {
  return realFile(one) === realFile(other);
}

/**
 * Opens the journal and the events of a session, and writes its plan. A session that neither writes nor resumes a run has
 * no journal.
 *
 * @throws CliError `failed` if one cannot be written; then neither is left.
 */
export async function openJournalAndEvents(context: Context, plan: Plan, files: SessionFiles): Promise<void> {
  const { session } = plan;
  const { job, ledger } = session;
  const events = openEvents(context, session, files);
  if (mayWrite(plan) || job.earlier)
    try {
      ledger.journal = await beginJournal(context, session, files);
    } catch (error) {
      await events?.discard().catch(() => {});
      throw error;
    }
  await events?.tellSettled(ledger.outcomes());
  if (events) ledger.journal?.follow(events);
  ledger.events = events;
}

function openEvents(
  { io }: Context,
  { rows }: Session,
  { events, eventsToStdout, continues }: SessionFiles,
): Events | undefined {
  if (events) return new Events(rows, linesOfFile(events, continues));
  return eventsToStdout ? new Events(rows, linesOfStream(io.stdout)) : undefined;
}

async function beginJournal(
  context: Context,
  { job, ledger, rows }: Session,
  files: SessionFiles,
): Promise<Journal> {
  const { run = '', earlier } = job;
  const path = runStore(context).pathOf(run);
  if (earlier) return Journal.resume(path, earlier, ledger.outcomes());
  return Journal.create(path, await headerOf(context, job, files), rows, ledger.outcomes());
}

async function headerOf(
  context: Context,
  { run = '', identity, file, name, guards, rows }: Job,
  { events }: SessionFiles,
): Promise<JournalHeader> {
  const { profile } = await context.settings();
  const { invalid, skipped } = rows.countStates();
  return {
    journal: version,
    run,
    ...identity,
    file,
    name,
    profile: profile?.value ?? null,
    guards: guards[0] ?? { allowZero: true },
    events: events?.path ?? null,
    rows: rows.length,
    invalid,
    skipped,
    started: new Date().toISOString(),
  };
}
