import { type Command, type ListedRun, namedCommand, type ShownRow, Violation } from './simulator-command.ts';
import type { Step } from './simulator-history.ts';
import { Ledger, type RunRecord } from './simulator-ledger.ts';
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
    ledger.forget(this.runs);
    for (const breach of world.gateway.breaches) throw new Violation(breach);
    const { adds } = world.history.service;
    if (adds) checkAdding(ledger, command);
    for (const run of ledger.records.values()) {
      const rows = await world.show(run.id);
      const keyOf = ({ id, line }: ShownRow) =>
        run.file?.kind === 'creates' || id === '' ? `line:${line}` : id;
      const earlier = run.rows;
      run.rows = new Map(rows.map((row) => [keyOf(row), row]));
      if (!adds) checkRows(world, ledger, run, earlier, command);
    }
    for (const change of adds ? [] : ledger.changes) ledger.checkChange(change);
    this.checkRejects(command);
    if (!command.hasCrashed) this.checkReport(command);
  }

  /** The rejects of a delivery hold only rows that were certainly not booked, and that resume will not take. */
  private checkRejects(command: Command): void {
    const runs = this.ledger.runsOf(command);
    for (const { path, file, rows } of this.world.readRejects()) {
      const run = runs.find((each) => (this.ledger.undoneOf(each) ?? each).file === file);
      if (run && !this.rejecters.has(path))
        this.rejecters.set(path, { run, from: this.ledger.changes.length });
      const rejecter = this.rejecters.get(path);
      if (file.kind !== 'delivery' && file.kind !== 'creates') continue;
      for (const { key, state, status, code } of rows) {
        const mayPass = /^(3\d\d|401|403|408|412|425|429|5\d\d)$/.test(status) && !/^50[15]$/.test(status);
        const isFinal = state === 'failed' && (!mayPass || finalCodes.includes(code));
        if (state !== 'invalid' && !isFinal && key !== '')
          throw new Violation(
            `${path} has record ${key}, ${state} ${status} ${code}, which resume takes too`,
          );
        const later = rejecter ? this.ledger.changes.slice(rejecter.from) : [];
        if (later.some((change) => change.id === key && rejecter && this.ledger.isOf(rejecter.run, change)))
          throw new Violation(`${path} has record ${key}, ${state}, which its run wrote later`);
      }
    }
  }

  private checkReport(command: Command): void {
    const [record] = this.ledger.runsOf(command);
    const rows = record ? [...record.rows.keys()] : [];
    const written =
      record && !this.world.history.service.adds
        ? rows.filter((key) => this.ledger.writesOf(record, key).length > 0)
        : [];
    const hasSent = this.world.gateway.writes.some((request) => request.command === command.number);
    checkReport(
      command,
      this.runs.find(({ id }) => id === record?.id),
      hasSent,
      written.length,
    );
    this.checkCalm(command);
  }

  /** A delivery in a shop that sells all the time ends in one command. */
  private checkCalm({ step, code, summary, wasSignalled, isFull, file, number, words }: Command): void {
    const { conduct } = step;
    const { adds, etags } = this.world.history.service;
    const isHealthy = conduct.writeFaults === 0 && conduct.readFaults === 0 && conduct.edits <= 0.3;
    const isCurrent = etags !== 'random' && !this.world.gateway.isOld;
    const isStopped = wasSignalled || isFull || words.includes('--no-yes');
    if (file?.kind !== 'delivery' || adds || !isHealthy || !isCurrent || isStopped) return;
    if (Number(summary?.unprocessed ?? 0) > 0 && conduct.dieAt === 0)
      throw new Violation(`command ${number}, exit ${code}: rows are left in a healthy service`);
  }

  /** What a person who has looked says about rows of a run. Undefined if nothing is open. */
  settleWords({ pick = 0 }: Step): readonly string[] {
    const keysOf = ({ rows }: RunRecord) =>
      [...rows].filter(([, { state }]) => openStates.includes(state)).map(([key]) => key);
    const runs = [...this.ledger.records.values()].filter((run) => keysOf(run).length > 0);
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
    return made && run.file?.kind === 'creates' ? `${key}=${made.id}` : key;
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
      if (command?.code === 2) await this.follow(listed, command, take);
      else resumed.add(listed.id);
    }
    this.checkUnknown(resumed);
    for (const run of this.ledger.records.values()) if (!this.isFinished(run)) await this.close(run, take);
    await this.checkEnd();
  }

  /** The command that a refusal names leads on, and not in a circle. */
  private async follow({ id }: ListedRun, refused: Command, take: Take): Promise<void> {
    const seen = new Set<string>();
    let command: Command | undefined = refused;
    while (command?.code === 2) {
      const { error } = command;
      if (/apply|look|runs settle/.test(`${error?.hint} ${error?.message}`)) return;
      const named = namedCommand(command)?.join(' ');
      if (named === undefined) throw new Violation(`${id} is refused, and no way on is named`);
      if (seen.has(named)) throw new Violation(`the hints go in a circle: petstore ${named}`);
      seen.add(named);
      command = await take('follow');
    }
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
    const runs = adds || etags === 'random' ? [] : [...this.ledger.records.values()];
    for (const run of runs) {
      const kind = (this.ledger.undoneOf(run) ?? run).file?.kind;
      for (const [id, { state, code }] of resumed.has(run.id) && kind !== 'creates' ? run.rows : []) {
        const isOfOthers = runs.some((other) => other !== run && other.rows.has(id));
        const isKnowable =
          !isOfOthers && !this.world.gateway.disputed.has(id) && !this.ledger.isDisturbed(run, id);
        // Whether a POST has made an entry, its readings cannot tell.
        if (state === 'unknown' && code !== 'perhaps_made' && isKnowable)
          throw new Violation(
            `run ${run.id}, record ${id} stays unknown (${code}), and nobody else changed it`,
          );
      }
    }
  }

  /** At the end every run is finished, and each row that failed for good is in the rejects. */
  private async checkEnd(): Promise<void> {
    const { files } = this.world.history;
    const rejected = new Set(
      this.world
        .readRejects()
        .flatMap(({ file, rows }) => rows.map(({ key }) => `${files.indexOf(file)} ${key}`)),
    );
    this.runs = await this.world.runs();
    for (const run of this.ledger.records.values()) {
      const listed = this.runs.find(({ id }) => id === run.id);
      if (!this.isFinished(run))
        throw new Violation(`run ${run.id} can never be finished: it is ${listed?.state}`);
      if (!run.file || listed?.state !== 'finished' || (listed.undoneBy ?? null) !== null) continue;
      // A person's word that was cut short after it was kept.
      const isCut = this.world.commands.some(
        ({ words, hasCrashed, isFull }) =>
          words[0] === 'runs' && words[2] === run.id && (hasCrashed || isFull),
      );
      for (const [key, { state, code }] of run.rows)
        if (
          state === 'failed' &&
          !(isCut && code === 'settled') &&
          !rejected.has(`${files.indexOf(run.file)} ${key}`)
        )
          throw new Violation(`run ${run.id}, record ${key} failed, and is in no file of rejects`);
    }
  }
}

function settleWords({ id }: RunRecord, rows: readonly string[], isApplied: boolean): readonly string[] {
  return ['runs', 'settle', id, ...rows, '--as', isApplied ? 'applied' : 'failed'];
}
