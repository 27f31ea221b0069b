import { type Command, type ListedRun, namedCommand, type ShownRow, Violation } from './simulator-command.ts';
import type { InputFile } from './simulator-history.ts';
import type { Change } from './simulator-service.ts';
import type { World } from './simulator-world.ts';

/** The facts that the model knows about a run. */
interface RunRecord {
  readonly id: string;
  /** The file that it applies; undefined for an undo. */
  readonly file: InputFile | undefined;
  /** The run that it undoes. */
  readonly undoes: string | undefined;
  readonly commands: Set<number>;
  rows: ReadonlyMap<string, ShownRow>;
}

const states = ['applied', 'unchanged', 'failed', 'unknown', 'invalid', 'skipped', 'unprocessed'] as const;

/** Why a row fails that only a person can mend. */
const finalCodes = ['no_entry', 'below_zero', 'too_large', 'changed', 'booked_otherwise'];

/**
 * What runs promise, checked after each command against what the service saw:
 *
 * - a delivery is booked once, with its change, however it is repeated, resumed and undone;
 * - an undo sets back what its run wrote, and only that; of a delivery it adds the opposite;
 * - nothing else changes: no other record, no other field;
 * - `applied` means that the value was there, `failed` that nothing was written, `unknown` that nobody can know;
 * - the counts of a report add up, its exit code fits, and it names a command that goes on, which then succeeds.
 */
export class Model {
  private readonly world: World;
  private readonly records = new Map<string, RunRecord>();
  /** How often a delivery may be booked: once, and once more for each --again. */
  private readonly allowed = new Map<string, number>();
  /** By file of rejects: the run that wrote it, and how many changes there were then. */
  private readonly rejecters = new Map<string, { readonly run: RunRecord; readonly from: number }>();

  constructor(world: World) {
    this.world = world;
  }

  async check(commands: readonly Command[]): Promise<void> {
    const runs = await this.world.runs();
    for (const command of commands) this.attribute(command, runs);
    this.forget(runs);
    for (const breach of this.world.service.breaches) throw new Violation(breach);
    this.checkBookings();
    this.checkAlone(commands);
    this.checkRejects(commands);
    for (const command of commands) {
      this.checkTouched(command);
      for (const run of this.runsOf(command)) {
        if (run.undoes !== undefined) this.checkUndo(run, command);
        await this.checkRows(run, command);
      }
      if (!command.hasCrashed) this.checkReport(command, runs);
    }
  }

  private get changes(): readonly Change[] {
    return this.world.service.changes;
  }

  /** The changes that the commands of a run made. */
  private changesOf({ commands }: RunRecord): Change[] {
    return this.changes.filter(({ command }) => command !== undefined && commands.has(command));
  }

  private runsOf({ number }: Command): RunRecord[] {
    return [...this.records.values()].filter(({ commands }) => commands.has(number));
  }

  private attribute(command: Command, runs: readonly ListedRun[]): void {
    const { touched, summary, number, file, words } = command;
    const existing = touched.filter((id) => runs.some((run) => run.id === id));
    const id = typeof summary?.run === 'string' ? summary.run : existing.at(-1);
    if (id === undefined) {
      if (this.changes.some((change) => change.command === number))
        throw new Violation(`command ${number} wrote, and no run knows of it`);
      return;
    }
    const run = runs.find((each) => each.id === id);
    const undoes = run?.kind === 'undo' ? /r\d+/.exec(run.file)?.[0] : undefined;
    const record = this.records.get(id) ?? {
      ...{ id, file: undoes === undefined ? file : undefined, undoes, commands: new Set<number>() },
      rows: new Map(),
    };
    record.commands.add(number);
    this.records.set(id, record);
    const key = this.deliveryOf(record);
    // Fewer than half of the rows are only warned of, if the delivery has no number.
    const isWarned = /rows? equals? (a row|rows)/.test(command.stderr);
    if (key !== undefined && (words.includes('--again') || isWarned))
      this.allowed.set(key, (this.allowed.get(key) ?? 1) + 1);
  }

  /** Forgets runs that a crash took away; it must be one that wrote nothing. */
  private forget(runs: readonly ListedRun[]): void {
    for (const [id, run] of this.records) {
      if (runs.some((each) => each.id === id)) continue;
      if (this.changesOf(run).length > 0) throw new Violation(`run ${id} wrote, and is no longer listed`);
      this.records.delete(id);
    }
  }

  /** The file that a run applies, or that the run applied which it undoes. */
  private fileOf({ file, undoes }: RunRecord): InputFile | undefined {
    const undone = undoes === undefined ? undefined : this.records.get(undoes);
    return undone ? this.fileOf(undone) : file;
  }

  /** The delivery that a run books or takes back: its number, else its file. */
  private deliveryOf(run: RunRecord): string | undefined {
    const file = this.fileOf(run);
    if (file?.kind !== 'delivery') return undefined;
    return file.number ?? `file ${this.world.history.files.indexOf(file)}`;
  }

  /** Each change of a delivery is booked not at all or once, at every moment, and exactly. */
  private checkBookings(): void {
    const bookings = new Map<string, number>();
    const requests = new Set<number>();
    for (const change of this.changes) {
      const run = [...this.records.values()].find(({ commands }) => commands.has(change.command ?? -1));
      const delivery = run && this.deliveryOf(run);
      const file = run && this.fileOf(run);
      if (!run || delivery === undefined || !file || requests.has(change.request)) continue;
      requests.add(change.request);
      const { command, id, before, after, read, isBound } = change;
      const sign = run.undoes === undefined ? 1 : -1;
      const key = `${delivery} ${id}`;
      const times = (bookings.get(key) ?? 0) + sign;
      bookings.set(key, times);
      const place = `command ${command} of run ${run.id} took record ${id} from ${before} to ${after}`;
      if (times < 0 || times > (this.allowed.get(delivery) ?? 1))
        throw new Violation(`${place}: delivery ${delivery} is booked ${times} times now`);
      if ((after ?? 0) < 0) throw new Violation(`${place}, which is below 0`);
      const wanted = sign * changeOf(file, id);
      if ((after ?? 0) - (read ?? 0) !== wanted)
        throw new Violation(`${place}, after reading ${read}: the delivery has ${wanted}`);
      if (isBound && before !== read)
        throw new Violation(`${place}, after reading ${read}: somebody's change is lost`);
    }
  }

  /** Only records of the file are written, to the value of the file, and only that field. */
  private checkTouched({ number }: Command): void {
    for (const change of this.changes.filter(({ command }) => command === number)) {
      const run = this.runsOf({ number } as Command)[0];
      const file = run && this.fileOf(run);
      const place = `command ${number} took record ${change.id} from ${change.before} to ${change.after}`;
      if (file && !linesOf(file).some(([id]) => id === change.id))
        throw new Violation(`${place}, which is not in the file`);
      if (change.isWider && change.isBound) throw new Violation(`${place}, and its other field`);
      if (file && run.undoes === undefined && file.kind !== 'delivery') {
        const line = linesOf(file).find(([id]) => id === change.id);
        if (!line) continue;
        if (line[1] !== change.after) throw new Violation(`${place}, and the file says ${line[1]}`);
        if (
          line[2] !== undefined &&
          (change.read !== line[2] || (change.isBound && change.before !== line[2]))
        )
          throw new Violation(`${place}, although ${line[2]} was expected`);
      }
    }
  }

  /** The undo of rows that were set writes what was there before, over what its run wrote and nothing else. */
  private checkUndo(undo: RunRecord, { number }: Command): void {
    const undone = this.records.get(undo.undoes ?? '');
    if (!undone || this.deliveryOf(undone) !== undefined) return;
    for (const { command, id, before, after, read, isBound } of this.changes) {
      if (command !== number || before === after) continue;
      const row = undone.rows.get(id);
      const place = `undo ${undo.id} of ${undone.id} took record ${id} from ${before} to ${after}`;
      if (!this.changesOf(undone).some((change) => change.id === id) && !this.isDisturbed(undone.id, id))
        throw new Violation(`${place}, which its run never wrote`);
      if (after !== row?.before || read !== row?.after || (isBound && before !== row?.after))
        throw new Violation(`${place} (read ${read}); its run took it from ${row?.before} to ${row?.after}`);
    }
  }

  /** Two commands at once do not both write, unless they are two shards of one split. */
  private checkAlone([first, second]: readonly Command[]): void {
    if (!first || !second) return;
    const [shard, otherShard] = [shardOf(first), shardOf(second)];
    if (shard !== undefined && otherShard !== undefined && shard !== otherShard) return;
    const placesOf = ({ number }: Command) =>
      this.changes.flatMap(({ command }, at) => (command === number ? at : []));
    const [early, late] = [placesOf(first), placesOf(second)];
    if (early.length === 0 || late.length === 0) return;
    const isAfter = (places: readonly number[], others: readonly number[]) =>
      Math.min(...places) > Math.max(...others);
    if (!isAfter(early, late) && !isAfter(late, early))
      throw new Violation(`commands ${first.number} and ${second.number} wrote at the same time`);
  }

  /** The rejects of a delivery hold only rows that were certainly not booked, and that resume will not take. */
  private checkRejects(commands: readonly Command[]): void {
    const runs = commands.flatMap((command) => this.runsOf(command));
    for (const { path, file, rows } of this.world.readRejects()) {
      const run = runs.find((each) => this.fileOf(each) === file);
      if (run && !this.rejecters.has(path)) this.rejecters.set(path, { run, from: this.changes.length });
      for (const { id, state, status, code } of file.kind === 'delivery' ? rows : []) {
        const mayPass = /^(3\d\d|401|403|408|412|425|429|5\d\d)$/.test(status);
        const isFinal = state === 'failed' && (!mayPass || finalCodes.includes(code));
        if (state !== 'invalid' && !isFinal)
          throw new Violation(`${path} has record ${id}, ${state} ${status} ${code}, which resume takes too`);
        const rejecter = this.rejecters.get(path);
        const later = rejecter ? this.changes.slice(rejecter.from) : [];
        if (later.some((change) => change.id === id && rejecter?.run.commands.has(change.command ?? -1)))
          throw new Violation(`${path} has record ${id}, ${state}, which its run wrote later`);
      }
    }
  }

  /** What a run says about a row is true. */
  private async checkRows(run: RunRecord, command: Command): Promise<void> {
    const earlier = run.rows;
    run.rows = await this.world.show(run.id);
    const delivery = this.deliveryOf(run);
    for (const [id, { state, after, code }] of run.rows) {
      const place = `run ${run.id}, record ${id}, ${state}`;
      const writes = this.changesOf(run).filter((change) => change.id === id);
      const lastWrites = writes.filter((change) => change.command === command.number);
      if (state === 'invalid' && writes.length > 0) throw new Violation(`${place}: it was written`);
      if (earlier.get(id)?.state === state && lastWrites.length === 0) continue;
      const isLost =
        lastWrites.length > 0 &&
        this.changes.filter((change) => change.id === id).at(-1) !== lastWrites.at(-1);
      // A row that sets may be refused after somebody replaced what its first attempt wrote.
      if (state === 'failed' && lastWrites.length > 0 && (delivery !== undefined || !isLost))
        throw new Violation(`${place} ${code}: it was written`);
      if (state === 'unchanged' && lastWrites.some(({ before, after }) => before !== after))
        throw new Violation(`${place}: it was written`);
      if (
        state === 'applied' &&
        writes.length === 0 &&
        (delivery !== undefined || !this.isDisturbed(run.id, id))
      )
        throw new Violation(`${place}: it was never written`);
      const isBooked = delivery !== undefined && state === 'unchanged';
      if (isBooked && run.undoes === undefined && changeOf(run.file as InputFile, id) !== 0)
        this.checkBooked(delivery, id, place);
      if ((state !== 'applied' && state !== 'unchanged') || isBooked || after === undefined) continue;
      const values = this.valuesDuring(run, command, id);
      if (!values.has(after))
        throw new Violation(`${place}: the value was ${[...values]}, and not ${after}, while it ran`);
    }
  }

  /** A row that is left out because its delivery has it already is booked. */
  private checkBooked(delivery: string, id: string, place: string): void {
    let times = 0;
    const requests = new Set<number>();
    for (const run of this.records.values())
      for (const change of this.deliveryOf(run) === delivery ? this.changesOf(run) : [])
        if (change.id === id && !requests.has(change.request)) {
          requests.add(change.request);
          times += run.undoes === undefined ? 1 : -1;
        }
    if (times < 1) throw new Violation(`${place}: delivery ${delivery} was never booked on it`);
  }

  /** The values that a record had while the commands of a run up to this one ran. */
  private valuesDuring(run: RunRecord, command: Command, id: string): Set<number | undefined> {
    const first = Math.min(
      ...this.world.commands.filter(({ number }) => run.commands.has(number)).map(({ from }) => from),
    );
    const earlier = this.changes.slice(0, first).filter((change) => change.id === id);
    const start = earlier.length > 0 ? earlier.at(-1)?.after : this.world.history.stock.get(id);
    const later = this.changes.slice(first, command.to).filter((change) => change.id === id);
    return new Set([start, ...later.map(({ after }) => after)]);
  }

  /** The sums, the exit code and the way on that a command reports. */
  private checkReport(command: Command, runs: readonly ListedRun[]): void {
    const { number, words, code, summary, error, stderr, wasSignalled } = command;
    const place = `command ${number}, exit ${code}`;
    if (/internal:|TypeError|RangeError/.test(stderr)) throw new Violation(`${place}: ${stderr}`);
    const wrote = this.world.service.writesOf(number) > 0;
    if (wrote && (words.includes('--dry-run') || !words.includes('--yes')))
      throw new Violation(`${place}: it wrote, although nobody confirmed it`);
    if (code === 2 && wrote) throw new Violation(`${place}: it wrote`);
    if (error?.code === 'already_booked' && !namedCommand(command))
      throw new Violation(`${place}: the refusal names no command: ${JSON.stringify(error)}`);
    if (!summary || typeof summary.rows !== 'number') {
      if (wrote) throw new Violation(`${place}: it wrote, and reports nothing`);
      if (code === 0 && error) throw new Violation(`${place}: ${stderr}`);
      return;
    }
    const count = (name: string) => Number(summary[name] ?? 0);
    const sum = states.reduce((total, state) => total + count(state), 0);
    if (sum !== summary.rows)
      throw new Violation(`${place}: ${summary.rows} rows, and the states make ${sum}`);
    const run = runs.find(({ id }) => id === summary.run);
    for (const name of ['rows', ...states])
      if (run && Number(run[name] ?? 0) !== count(name))
        throw new Violation(`${place}: ${name} is ${summary[name]} in the summary and ${run[name]} in runs`);
    const wrong = count('failed') + count('unknown') + count('invalid') + count('unprocessed');
    const right = count('applied') + count('unchanged');
    const isRedirected = String(error?.message).includes('redirect');
    const isAllowed =
      (wasSignalled && code === 130) ||
      (wrong === 0 ? code === 0 : [4, 6, right === 0 || isRedirected ? 1 : 3].includes(code));
    if (!isAllowed && run?.kind !== 'undo')
      throw new Violation(`${place}: ${right} rows are as the file says, and ${wrong} are not`);
    const isInWords = String(error?.hint).includes('look at');
    if (count('unprocessed') > 0 && summary.run !== undefined && !namedCommand(command) && !isInWords)
      throw new Violation(`${place}: rows are left, and no way on is named: ${stderr}`);
  }

  /** Once all is well: each run that stopped comes to its end by what the program names. */
  async settle(
    step: (words: 'resume' | 'undo' | 'follow', run?: string) => Promise<readonly Command[]>,
  ): Promise<void> {
    const settled = new Set<string>();
    for (let turn = 0; turn < 12; turn += 1) {
      const run = (await this.openRuns(settled))[0];
      if (!run) break;
      settled.add(run.id);
      let commands = await step(
        run.kind === 'undo' ? 'undo' : 'resume',
        run.kind === 'undo' ? run.file : run.id,
      );
      for (let hop = 0; hop < 3 && commands.some(({ code }) => code === 2); hop += 1) {
        const isInWords = commands.some(({ error }) => /apply|look/.test(`${error?.hint} ${error?.message}`));
        if (isInWords) break;
        if (!commands.some(namedCommand)) throw new Violation(`${run.id} is refused, and no way on is named`);
        commands = await step('follow');
      }
    }
    await this.checkEnd();
  }

  private async openRuns(settled: ReadonlySet<string>): Promise<ListedRun[]> {
    const runs = await this.world.runs();
    const isOpen = ({ id, state, undoneBy }: ListedRun) =>
      !['finished', 'undone'].includes(state) && (undoneBy ?? null) === null && !settled.has(id);
    return runs.filter(isOpen).reverse();
  }

  /** Whether somebody else, or another run, wrote to a record since a run first did or could have. */
  private isDisturbed(id: string, record: string): boolean {
    const run = this.records.get(id);
    return this.changes.some(
      (change) =>
        change.id === record && (change.command === undefined || !run?.commands.has(change.command)),
    );
  }

  /** At the end a row is unknown only if nobody can know, and each row that failed for good is in the rejects. */
  private async checkEnd(): Promise<void> {
    const rejected = new Set(
      this.world.readRejects().flatMap(({ file, rows }) => rows.map(({ id }) => `${this.keyOf(file)} ${id}`)),
    );
    const runs = await this.world.runs();
    const isEnded = (id: string) =>
      runs.some((run) => run.id === id && run.state === 'finished' && (run.undoneBy ?? null) === null);
    for (const { id: run, file, rows } of this.records.values())
      for (const [id, { state, code }] of isEnded(run) ? rows : []) {
        const isKnowable = !this.isDisturbed(run, id) && !this.world.service.disputed.has(id);
        if (state === 'unknown' && isKnowable)
          throw new Violation(`run ${run}, record ${id} stays unknown (${code}), and nobody else changed it`);
        if (file && state === 'failed' && !rejected.has(`${this.keyOf(file)} ${id}`))
          throw new Violation(`run ${run}, record ${id} failed, and is in no file of rejects`);
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

/** All lines that a file may have, with its addition and its invalid line mended. */
function linesOf({ lines, addition, invalidId }: InputFile): InputFile['lines'] {
  return [
    ...lines,
    ...(addition ? [addition] : []),
    ...(invalidId === undefined ? [] : [[invalidId, 3] as const]),
  ];
}

function changeOf(file: InputFile, id: string): number {
  return linesOf(file)
    .filter(([lineId]) => lineId === id)
    .reduce((sum, [, value]) => sum + value, 0);
}
