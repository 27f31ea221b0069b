import { type Command, type ListedRun, namedCommand, Violation } from './simulator-command.ts';
import type { Step } from './simulator-history.ts';
import { isOf, Ledger, type RunRecord } from './simulator-ledger.ts';
import { checkReport } from './simulator-report.ts';
import { checkAdding, checkRows } from './simulator-rows.ts';
import type { World } from './simulator-world.ts';

/** Why a row fails that only a person can mend. */
const finalCodes = ['no_entry', 'no_record', 'below_zero', 'too_large', 'changed', 'booked_otherwise'];
const openStates = ['unknown', 'unprocessed', 'unsettled'];

/** Types a command. */
type Take = (kind: Step['kind'], words?: readonly string[]) => Promise<Command | undefined>;

/**
 * What runs promise, checked after each command against what the service saw:
 *
 * - a delivery is booked once, with its change, however it is repeated, resumed and undone; a record is made once;
 * - an undo sets back what its run wrote, and only that; of a delivery it adds the opposite;
 * - nothing else changes: no other record, no other field, and nothing that somebody else wrote where If-Match is honoured;
 * - `applied` means that it was written, or shown after an attempt; `failed`, `unprocessed` and `invalid` that it was not
 *   written, `booked` that another run did, `unknown` that an attempt may have been applied;
 * - the counts of a report add up, its exit code fits, and it names a command that goes on, which then succeeds;
 * - at the end a row is unknown only if nobody can know, and a person who has looked can close every run.
 */
export class Model {
  private readonly world: World;
  private readonly ledger: Ledger;
  private runs: readonly ListedRun[] = [];
  /** By file of rejects: the run that wrote it, and how many changes there were then. */
  private readonly rejecters = new Map<string, { readonly run: RunRecord; readonly from: number }>();

  constructor(world: World) {
    this.world = world;
    this.ledger = new Ledger(world);
  }

  async check(command: Command): Promise<void> {
    const { ledger, world } = this;
    this.runs = await world.runs();
    ledger.attribute(command, this.runs);
    for (const breach of world.gateway.breaches) throw new Violation(breach);
    const { adds } = world.history.service;
    if (adds) checkAdding(ledger, command);
    for (const run of ledger.runs) {
      const earlier = run.rows;
      const isMaking = run.file.kind === 'creates' && !run.undone;
      const rows = await world.show(run.id);
      run.rows = new Map(rows.map((row) => [isMaking || row.id === '' ? `line:${row.line}` : row.id, row]));
      if (!adds) checkRows(ledger, run, earlier, command);
    }
    for (const change of adds ? [] : ledger.changes) ledger.checkChange(change);
    const run = ledger.runOf(command.number);
    this.checkRejects(run);
    if (command.hasCrashed) return;
    const rows = run && !adds ? [...run.rows.keys()] : [];
    const written = rows.filter((key) => run && ledger.writesOf(run, key).length > 0).length;
    const hasSent = world.gateway.writes.some((request) => request.command === command.number);
    const listed = this.runs.find(({ id }) => id === run?.id);
    checkReport(command, { listed, hasSent, written, isCalm: this.isCalm(command) });
  }

  /** The rejects of a delivery hold only rows that were certainly not booked, and that resume will not take. */
  private checkRejects(run: RunRecord | undefined): void {
    const { changes } = this.ledger;
    for (const { path, file, rows } of this.world.readRejects()) {
      if (file.kind !== 'delivery' && file.kind !== 'creates') continue;
      if (run?.file === file && !this.rejecters.has(path))
        this.rejecters.set(path, { run, from: changes.length });
      const { run: rejecter, from } = this.rejecters.get(path) ?? {};
      for (const { key, state, status, code } of rows) {
        const mayPass = /^(3\d\d|401|403|408|412|425|429|5\d\d)$/.test(status) && !/^50[15]$/.test(status);
        const isFinal = state === 'failed' && (!mayPass || finalCodes.includes(code));
        if (state !== 'invalid' && !isFinal && key !== '')
          throw new Violation(
            `${path} has record ${key}, ${state} ${status} ${code}, which resume takes too`,
          );
        if (rejecter && changes.slice(from).some((change) => change.id === key && isOf(rejecter, change)))
          throw new Violation(`${path} has record ${key}, ${state}, which its run wrote later`);
      }
    }
  }

  /** Whether all rows of a delivery are to be settled by one command, also in a shop that sells all the time. */
  private isCalm({ step: { conduct }, wasSignalled, isFull, file, words }: Command): boolean {
    const { writeFaults, readFaults, edits } = conduct;
    const { adds, etags } = this.world.history.service;
    const isStopped = wasSignalled || isFull || words.includes('--no-yes') || words.includes('--max-errors');
    const isHealthy = !adds && etags !== 'random' && !this.world.gateway.isOld && edits <= 0.3;
    return file?.kind === 'delivery' && isHealthy && !isStopped && writeFaults + readFaults === 0;
  }

  /** What a person who has looked says about rows of a run. Undefined if nothing is open. */
  settleWords({ pick = 0 }: Step): readonly string[] {
    const keysOf = ({ rows }: RunRecord) =>
      [...rows].filter(([, { state }]) => openStates.includes(state)).map(([key]) => key);
    const runs = this.ledger.runs.filter((run) => keysOf(run).length > 0);
    const run = runs[pick % Math.max(1, runs.length)];
    if (!run) return [];
    // Whoever looks has waited long enough.
    this.world.gateway.landLate();
    const isApplied = pick % 2 === 0;
    for (const verdict of [isApplied, !isApplied]) {
      const words = keysOf(run).flatMap((key) => this.truthOf(run, key, verdict) ?? []);
      if (words.length > 0) return settleWords(run, words, verdict);
    }
    return [];
  }

  /** How a person names a row that was applied, or was not. Undefined if that is not so. */
  private truthOf(run: RunRecord, key: string, isApplied: boolean): string | undefined {
    const made = this.ledger.writesOf(run, key).at(-1);
    if ((made !== undefined) !== isApplied) return undefined;
    return made && run.file.kind === 'creates' && !run.undone ? `${key}=${made.id}` : key;
  }

  /** Once all is well: each run that stopped comes to its end by what the program names, and else by what a person says. */
  async finish(take: Take): Promise<void> {
    const [tried, resumed] = [new Set<string>(), new Set<string>()];
    // Nobody goes on with a run for a service that adds what it is told to set.
    const turns = this.world.history.service.adds ? 0 : 12;
    for (let turn = 0; turn < turns; turn += 1) {
      const listed = (await this.openRuns()).find(({ id }) => !tried.has(id));
      if (!listed) break;
      tried.add(listed.id);
      const isUndo = listed.kind === 'undo';
      const command = await take(isUndo ? 'undo' : 'resume', [isUndo ? listed.file : listed.id]);
      if (command?.code !== 2) resumed.add(listed.id);
      else if (namedCommand(command)) await take('follow');
      else if (!/apply|look|runs settle/.test(`${command.error?.hint} ${command.error?.message}`))
        throw new Violation(`${listed.id} is refused, and no way on is named`);
    }
    this.checkUnknown(resumed);
    for (const run of this.ledger.runs) if (!this.isFinished(run)) await this.close(run, take);
    await this.checkEnd();
  }

  /** A person says of every row that is open, one after the other, what happened: then the run is finished. */
  private async close(run: RunRecord, take: Take): Promise<void> {
    for (const states of [openStates, ['failed']]) {
      const keys = [...run.rows].filter(([, { state }]) => states.includes(state)).map(([key]) => key);
      for (const isApplied of [true, false]) {
        const words = keys.flatMap((key) => this.truthOf(run, key, isApplied) ?? []);
        // Of rows that failed for good nothing can be said.
        const groups = states === openStates ? [words] : words.map((word) => [word]);
        for (const group of groups.filter(({ length }) => length > 0)) {
          const command = await take('settle', settleWords(run, group, isApplied));
          if (command?.code !== 0 && states === openStates)
            throw new Violation(`a person cannot settle rows: ${command?.stderr}`);
        }
      }
      if (this.isFinished(run)) return;
    }
  }

  private isFinished({ id }: RunRecord): boolean {
    return this.runs.some((run) => run.id === id && ['finished', 'undone'].includes(run.state));
  }

  private async openRuns(): Promise<ListedRun[]> {
    const isOpen = ({ state, undoneBy }: ListedRun) =>
      !['finished', 'undone'].includes(state) && (undoneBy ?? null) === null;
    return [...(await this.world.runs())].filter(isOpen).reverse();
  }

  /** What a run that could go on in a healthy service leaves unknown, nobody can know. */
  private checkUnknown(resumed: ReadonlySet<string>): void {
    const { adds, etags } = this.world.history.service;
    const { runs } = this.ledger;
    if (adds || etags === 'random') return;
    for (const run of runs.filter(({ id, file }) => resumed.has(id) && file.kind !== 'creates'))
      for (const [id, { state, code }] of run.rows) {
        const isOfOthers = runs.some((other) => other !== run && other.rows.has(id));
        const isMoved = this.world.gateway.disputed.has(id) || this.ledger.isDisturbed(run, id);
        // Whether a POST has made an entry, its readings cannot tell.
        if (state === 'unknown' && code !== 'perhaps_made' && !isOfOthers && !isMoved)
          throw new Violation(
            `run ${run.id}, record ${id} stays unknown (${code}), and nobody else changed it`,
          );
      }
  }

  /** At the end every run is finished, and each row that failed for good is in the rejects. */
  private async checkEnd(): Promise<void> {
    const { commands } = this.world;
    const rejects = this.world.readRejects();
    this.runs = await this.world.runs();
    for (const run of this.ledger.runs) {
      const { id, undone, file } = run;
      const { state, undoneBy } = this.runs.find((each) => each.id === id) ?? {};
      if (!this.isFinished(run)) throw new Violation(`run ${id} can never be finished: it is ${state}`);
      // A person's word that was cut short after it was kept has no rejects.
      const isCut = commands.some(
        ({ words, hasCrashed, isFull }) => words[0] === 'runs' && words[2] === id && (hasCrashed || isFull),
      );
      if (undone || state !== 'finished' || (undoneBy ?? null) !== null || isCut) continue;
      const keys = rejects.flatMap((each) => (each.file === file ? each.rows.map(({ key }) => key) : []));
      for (const [key, row] of run.rows)
        if (row.state === 'failed' && !keys.includes(key))
          throw new Violation(`run ${id}, record ${key} failed, and is in no file of rejects`);
    }
  }
}

function settleWords({ id }: RunRecord, rows: readonly string[], isApplied: boolean): readonly string[] {
  return ['runs', 'settle', id, ...rows, '--as', isApplied ? 'applied' : 'failed'];
}
