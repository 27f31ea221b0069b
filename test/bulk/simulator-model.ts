import { ChangeRules } from './simulator-changes.ts';
import {
  type Command,
  type ListedRun,
  machineOf,
  namedCommand,
  runIdOf,
  type ShownRow,
  Violation,
} from './simulator-command.ts';
import type { InputFile } from './simulator-files.ts';
import type { Step } from './simulator-history.ts';
import { Ledger, type RunRecord } from './simulator-ledger.ts';
import { checkReport } from './simulator-report.ts';
import { RowRules } from './simulator-rows.ts';
import type { World } from './simulator-world.ts';

/** Why a row fails that only a person can mend. */
const finalCodes = ['no_entry', 'no_record', 'below_zero', 'too_large', 'changed', 'booked_otherwise'];
const openStates = ['unknown', 'unprocessed', 'unsettled'];

/** Types a command. */
type Take = (
  kind: 'resume' | 'undo' | 'follow' | 'settle',
  facts: Partial<Step>,
) => Promise<readonly Command[]>;

/**
 * What runs promise, checked after each command against what the service saw:
 *
 * - a delivery is booked once, with its change, however it is repeated, resumed and undone; a record is made once;
 * - an undo sets back what its run wrote, and only that; of a delivery it adds the opposite;
 * - nothing else changes: no other record, no other field, and nothing that somebody else wrote where If-Match is honoured;
 * - `applied` means that it was written, `failed`, `unprocessed` and `invalid` that it was not, `booked` that another run did;
 * - the counts of a report add up, its exit code fits, and it names a command that goes on, which then succeeds;
 * - at the end a row is unknown only if nobody can know, and a person who has looked can close every run.
 */
export class Model {
  private readonly world: World;
  private readonly ledger: Ledger;
  private readonly changeRules: ChangeRules;
  private readonly rowRules: RowRules;
  /** The runs that are finished or undone. */
  private readonly finished = new Set<string>();
  /** By file of rejects: the run that wrote it, and how many changes there were then. */
  private readonly rejecters = new Map<string, { readonly run: RunRecord; readonly from: number }>();

  constructor(world: World) {
    this.world = world;
    this.ledger = new Ledger(world);
    this.changeRules = new ChangeRules(world, this.ledger);
    this.rowRules = new RowRules(world, this.ledger);
  }

  async check(commands: readonly Command[]): Promise<void> {
    const runs = await this.world.runs();
    this.finished.clear();
    for (const { key, state } of runs) if (['finished', 'undone'].includes(state)) this.finished.add(key);
    for (const command of commands) this.attribute(command, runs);
    this.forget(runs);
    for (const breach of this.world.service.breaches) throw new Violation(breach);
    for (const run of this.ledger.records.values()) {
      const rows = await this.world.show(run.key);
      const keyOf = ({ id, line }: ShownRow) =>
        run.file?.kind === 'creates' || id === '' ? `line:${line}` : id;
      const earlier = run.rows;
      run.rows = new Map(rows.map((row) => [keyOf(row), row]));
      if (this.world.history.service.adds) this.rowRules.checkAdding(run, commands);
      else this.rowRules.checkRows(run, earlier, commands);
    }
    if (!this.world.history.service.adds) {
      for (const change of this.ledger.changes) this.changeRules.checkChange(change);
      for (const command of commands)
        if (command.step.kind === 'single') this.changeRules.checkSingle(command);
    }
    this.checkAlone(commands);
    this.checkRejects(commands);
    for (const command of commands) if (!command.hasCrashed) this.checkReport(command, runs);
  }

  private attribute(command: Command, runs: readonly ListedRun[]): void {
    const { touched, summary, number, file, words, machine, step } = command;
    if (step.kind === 'single') return;
    const existing = runs.filter(({ key }) => touched.includes(key));
    const verb = words[0];
    const named = runs.find((run) => run.machine === machine && run.id === summary?.id);
    const listed =
      named ?? existing.findLast(({ kind }) => (kind === 'undo') === (verb === 'undo')) ?? existing.at(-1);
    if (!listed) {
      if (this.ledger.changes.some(({ cause }) => cause?.command === number))
        throw new Violation(`command ${number} wrote, and no run knows of it`);
      return;
    }
    const { key } = listed;
    const undone = listed.kind === 'undo' ? /r\d+/.exec(listed.file)?.[0] : undefined;
    const undoes = undone === undefined ? undefined : machine === 0 ? undone : `${machine}/${undone}`;
    const record = this.ledger.records.get(key) ?? {
      ...{ key, file: undoes === undefined ? file : undefined, undoes, store: command.store },
      ...{ typed: command.typed ?? new Map(), commands: new Set<number>(), rows: new Map() },
    };
    record.commands.add(number);
    this.ledger.records.set(key, record);
    const delivery = this.ledger.deliveryOf(record);
    if (delivery !== undefined && words.includes('--again'))
      this.ledger.allowed.set(delivery, (this.ledger.allowed.get(delivery) ?? 1) + 1);
    if (
      record.store !== command.store &&
      verb !== 'runs' &&
      this.ledger.changes.some(({ cause }) => cause?.command === number)
    )
      throw new Violation(`command ${number} wrote for another tenant than its run ${key}`);
  }

  /** Forgets runs that a crash took away; it must be one that wrote nothing. */
  private forget(runs: readonly ListedRun[]): void {
    for (const [key, run] of this.ledger.records) {
      if (runs.some((each) => each.key === key)) continue;
      if (this.ledger.changes.some((change) => this.ledger.isOf(run, change)))
        throw new Violation(`run ${key} wrote, and is no longer listed`);
      this.ledger.records.delete(key);
    }
  }

  /** Two commands at once do not both write, unless they are two shards of one split. */
  private checkAlone([first, second]: readonly Command[]): void {
    if (!first || !second || first.machine !== second.machine || first.store !== second.store) return;
    if (first.step.kind === 'single' || second.step.kind === 'single') return;
    const [shard, otherShard] = [shardOf(first), shardOf(second)];
    if (shard !== undefined && otherShard !== undefined && shard !== otherShard) return;
    const placesOf = ({ number }: Command) =>
      this.ledger.changes.flatMap(({ cause }, at) => (cause?.command === number ? at : []));
    const [early, late] = [placesOf(first), placesOf(second)];
    const isAfter = (places: readonly number[], others: readonly number[]) =>
      Math.min(...places) > Math.max(...others);
    if (early.length === 0 || late.length === 0 || isAfter(early, late) || isAfter(late, early)) return;
    // Late writes come when they like.
    if (this.world.trace.length > 0 && this.hasLate(first, second)) return;
    throw new Violation(`commands ${first.number} and ${second.number} wrote at the same time`);
  }

  private hasLate(...commands: readonly Command[]): boolean {
    return this.ledger.changes.some(
      ({ cause, at }) =>
        commands.some(({ number }) => number === cause?.command) && at > (cause?.request ?? at),
    );
  }

  /** The rejects of a delivery hold only rows that were certainly not booked, and that resume will not take. */
  private checkRejects(commands: readonly Command[]): void {
    const runs = commands.flatMap((command) => this.ledger.runsOf(command));
    for (const { path, file, rows } of this.world.readRejects()) {
      const run = runs.find((each) => (this.ledger.undoneOf(each) ?? each).file === file);
      if (run && !this.rejecters.has(path))
        this.rejecters.set(path, { run, from: this.ledger.changes.length });
      for (const { id, state, status, code } of file.kind === 'delivery' || file.kind === 'creates'
        ? rows
        : []) {
        const mayPass = /^(3\d\d|401|403|408|412|425|429|5\d\d)$/.test(status) && !/^50[15]$/.test(status);
        const isFinal = state === 'failed' && (!mayPass || finalCodes.includes(code));
        if (state !== 'invalid' && !isFinal)
          throw new Violation(`${path} has record ${id}, ${state} ${status} ${code}, which resume takes too`);
        const rejecter = this.rejecters.get(path);
        const later = rejecter ? this.ledger.changes.slice(rejecter.from) : [];
        if (
          file.kind === 'delivery' &&
          later.some((change) => change.id === id && rejecter && this.ledger.isOf(rejecter.run, change))
        )
          throw new Violation(`${path} has record ${id}, ${state}, which its run wrote later`);
      }
    }
  }

  private checkReport(command: Command, runs: readonly ListedRun[]): void {
    const run = runs.find(({ key }) => key === this.ledger.runsOf(command)[0]?.key);
    checkReport(command, run, this.world.service.writesOf(command.number) > 0);
    this.checkCalm(command);
  }

  /** A delivery in a shop that sells all the time ends in one command. */
  private checkCalm(command: Command): void {
    const { step, code, summary, wasSignalled, file, number, words } = command;
    const { conduct } = step;
    const { adds, etags, records, lists } = this.world.history.service;
    const isHealthy = !adds && conduct.writeFaults === 0 && conduct.readFaults === 0 && conduct.edits <= 0.3;
    const isCurrent = etags !== 'random' && records === 'current' && lists === 'current';
    if (file?.kind !== 'delivery' || !isHealthy || !isCurrent || wasSignalled || words.includes('--no-yes'))
      return;
    if (
      Number(summary?.unprocessed ?? 0) > 0 &&
      step.dieAt === 0 &&
      step.beside === undefined &&
      conduct.dieAt === 0
    )
      throw new Violation(`command ${number}, exit ${code}: rows are left in a healthy service`);
  }

  /** What a person who has looked says about rows of a run. Undefined if nothing is open. */
  settleFacts({ pick = 0 }: Step): Partial<Step> | undefined {
    const openKeys = ({ rows }: RunRecord) =>
      [...rows].filter(([, { state }]) => openStates.includes(state)).map(([key]) => key);
    const runs = [...this.ledger.records.values()].filter((run) => openKeys(run).length > 0);
    const run = runs[pick % Math.max(1, runs.length)];
    if (!run) return undefined;
    // Whoever looks has waited long enough.
    this.world.service.landLate();
    const isApplied = pick % 2 === 0;
    const wordsOf = (verdict: boolean) =>
      openKeys(run).flatMap((key) => this.truthOf(run, key, verdict) ?? []);
    const words = wordsOf(isApplied);
    return words.length > 0
      ? this.settleStep(run, words, isApplied)
      : this.settleStep(run, wordsOf(!isApplied), !isApplied);
  }

  private settleStep(run: RunRecord, rows: readonly string[], isApplied: boolean): Partial<Step> {
    return {
      words: ['runs', 'settle', runIdOf(run.key), ...rows, '--as', isApplied ? 'applied' : 'failed'],
      machine: machineOf(run.key),
      profile: this.profileOf(run),
    };
  }

  /** How a person names a row that was applied, or was not. Undefined if that is not so. */
  private truthOf(run: RunRecord, key: string, isApplied: boolean): string | undefined {
    const made = this.ledger.writesOf(run, key).at(-1);
    if ((made !== undefined) !== isApplied) return undefined;
    return made && run.file?.kind === 'creates' ? `${key}=${made.id}` : key;
  }

  private profileOf({ store }: RunRecord): number {
    return Math.max(0, this.world.history.service.tenants.indexOf(store.tenant ?? ''));
  }

  /** Once all is well: each run that stopped comes to its end by what the program names, and else by what a person says. */
  async finish(step: Take): Promise<void> {
    const [tried, resumed] = [new Set<string>(), new Set<string>()];
    // Nobody goes on with a run for a service that adds what it is told to set.
    const turns = this.world.history.service.adds ? 0 : 12;
    for (let turn = 0; turn < turns; turn += 1) {
      const listed = (await this.openRuns()).find(({ key }) => !tried.has(key));
      if (!listed) break;
      tried.add(listed.key);
      const run = this.ledger.records.get(listed.key);
      const facts = { machine: listed.machine, ...(run && { profile: this.profileOf(run) }) };
      const isUndo = listed.kind === 'undo';
      let commands = await step(isUndo ? 'undo' : 'resume', {
        ...facts,
        words: [isUndo ? listed.file : listed.id],
      });
      if (commands.every(({ code }) => code !== 2)) resumed.add(listed.key);
      const seen = new Set<string>();
      for (let hop = 0; hop < 3 && commands.some(({ code }) => code === 2); hop += 1) {
        const isInWords = commands.some(({ error }) =>
          /apply|look|runs settle/.test(`${error?.hint} ${error?.message}`),
        );
        if (isInWords) break;
        const named = commands.flatMap((command) => namedCommand(command) ?? []).join(' ');
        if (named === '') throw new Violation(`${listed.key} is refused, and no way on is named`);
        if (seen.has(named)) throw new Violation(`the hints go in a circle: petstore ${named}`);
        seen.add(named);
        commands = await step('follow', {});
      }
    }
    this.checkUnknown(resumed);
    for (const run of this.ledger.records.values())
      if (!this.finished.has(run.key)) await this.close(run, step);
    await this.checkEnd();
  }

  /** A person says of every row that is open, one after the other, what happened: then the run is finished. */
  private async close(run: RunRecord, step: Take): Promise<void> {
    for (const states of [openStates, ['failed']]) {
      const keys = [...run.rows].filter(([, { state }]) => states.includes(state)).map(([key]) => key);
      for (const isApplied of [true, false]) {
        const words = keys.flatMap((key) => this.truthOf(run, key, isApplied) ?? []);
        // Of rows that failed for good nothing can be said.
        const groups = states === openStates ? [words] : words.map((word) => [word]);
        for (const group of groups.filter(({ length }) => length > 0)) {
          const [command] = await step('settle', this.settleStep(run, group, isApplied));
          if (command?.code !== 0 && states === openStates)
            throw new Violation(`a person cannot settle rows: ${command?.stderr}`);
        }
      }
      if (this.finished.has(run.key)) return;
    }
  }

  private async openRuns(): Promise<ListedRun[]> {
    const runs = await this.world.runs();
    const isOpen = ({ state, undoneBy }: ListedRun) =>
      !['finished', 'undone'].includes(state) && (undoneBy ?? null) === null;
    return runs.filter(isOpen).reverse();
  }

  /** What a run that could go on in a healthy service leaves unknown, nobody can know. */
  private checkUnknown(resumed: ReadonlySet<string>): void {
    const { adds, etags } = this.world.history.service;
    if (adds || etags === 'random') return;
    for (const run of this.ledger.records.values()) {
      const kind = (this.ledger.undoneOf(run) ?? run).file?.kind;
      for (const [id, { state, code }] of resumed.has(run.key) && kind !== 'creates' ? run.rows : []) {
        const isKnowable = !this.isPlannedByOthers(run, id) && !this.world.service.disputed.has(id);
        // Whether a POST has made an entry, its readings cannot tell.
        if (state === 'unknown' && code !== 'perhaps_made' && isKnowable && !this.ledger.isDisturbed(run, id))
          throw new Violation(
            `run ${run.key}, record ${id} stays unknown (${code}), and nobody else changed it`,
          );
      }
    }
  }

  private isPlannedByOthers(run: RunRecord, id: string): boolean {
    return [...this.ledger.records.values()].some((other) => other !== run && other.rows.has(id));
  }

  /** At the end every run is finished, and each row that failed for good is in the rejects. */
  private async checkEnd(): Promise<void> {
    const rejected = new Set(
      this.world
        .readRejects()
        .flatMap(({ file, rows }) =>
          rows.map(({ id, line }) => `${this.keyOf(file)} ${file.kind === 'creates' ? `line:${line}` : id}`),
        ),
    );
    const runs = await this.world.runs();
    for (const run of this.ledger.records.values()) {
      const listed = runs.find(({ key }) => key === run.key);
      if (!listed || !['finished', 'undone'].includes(listed.state))
        throw new Violation(`run ${run.key} can never be finished: it is ${listed?.state}`);
      if (!run.file || listed.state !== 'finished' || (listed.undoneBy ?? null) !== null) continue;
      for (const [id, { state }] of run.rows)
        if (state === 'failed' && !rejected.has(`${this.keyOf(run.file)} ${id}`))
          throw new Violation(`run ${run.key}, record ${id} failed, and is in no file of rejects`);
    }
  }

  private keyOf(file: InputFile): number {
    return this.world.history.files.indexOf(file);
  }
}

/** The shard that a command applies or, for a resume, undefined. */
function shardOf({ words }: Command): string | undefined {
  const at = words.indexOf('--shard');
  return at === -1 ? undefined : words[at + 1];
}
