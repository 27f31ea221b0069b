import { type Command, type ListedRun, namedCommand, type ShownRow, Violation } from './simulator-command.ts';
import type { InputFile } from './simulator-history.ts';
import type { Change } from './simulator-service.ts';
import type { World } from './simulator-world.ts';

/** What the model knows about one run. */
interface KnownRun {
  readonly id: string;
  /** The file that it applies; undefined for an undo. */
  readonly file: InputFile | undefined;
  /** The run that it undoes. */
  readonly undoes: string | undefined;
  readonly commands: Set<number>;
  rows: ReadonlyMap<string, ShownRow>;
}

const states = ['applied', 'unchanged', 'failed', 'unknown', 'invalid', 'skipped', 'unprocessed'] as const;

/** Checks after each command that what the program says is true, and that what it did is allowed. */
export class Model {
  private readonly world: World;
  private readonly known = new Map<string, KnownRun>();
  /** How often a delivery may be booked: once, and once more for each --again. */
  private readonly allowed = new Map<InputFile, number>();

  constructor(world: World) {
    this.world = world;
  }

  async check(taken: readonly Command[]): Promise<void> {
    const listed = await this.world.runs();
    for (const command of taken) this.attribute(command, listed);
    this.forget(listed);
    for (const breach of this.world.service.breaches) throw new Violation(breach);
    this.checkBookings();
    this.checkUndos();
    this.checkAlone(taken);
    this.checkRejects();
    for (const command of taken) {
      for (const run of this.runsOf(command)) await this.checkRows(run, command);
      if (!command.hasCrashed) this.checkReport(command, listed);
    }
  }

  /** The changes that the commands of a run made. */
  private changesOf({ commands }: KnownRun): Change[] {
    return this.world.service.changes.filter(({ command }) => command !== undefined && commands.has(command));
  }

  private runsOf({ number }: Command): KnownRun[] {
    return [...this.known.values()].filter(({ commands }) => commands.has(number));
  }

  private attribute(command: Command, listed: readonly ListedRun[]): void {
    const { touched, summary, number, step, file } = command;
    const there = touched.filter((id) => listed.some((run) => run.id === id));
    const own = typeof summary?.run === 'string' ? [summary.run] : there.slice(-1);
    for (const id of own) {
      const found = listed.find((run) => run.id === id);
      const undoes = found?.kind === 'undo' ? /r\d+/.exec(found.file)?.[0] : undefined;
      const run = this.known.get(id) ?? {
        ...{ id, file: undoes === undefined ? file : undefined, undoes, commands: new Set<number>() },
        rows: new Map(),
      };
      run.commands.add(number);
      this.known.set(id, run);
    }
    if (file?.kind === 'delivery' && own.length > 0 && step.words.includes('--again'))
      this.allowed.set(file, (this.allowed.get(file) ?? 1) + 1);
    const wrote = this.world.service.changes.some((change) => change.command === number);
    if (wrote && own.length === 0) throw new Violation(`command ${number} wrote, and no run knows of it`);
  }

  /** Forgets runs that a crash took away; it must be one that wrote nothing. */
  private forget(listed: readonly ListedRun[]): void {
    for (const [id, run] of this.known) {
      if (listed.some((each) => each.id === id)) continue;
      if (this.changesOf(run).length > 0) throw new Violation(`run ${id} wrote, and is no longer listed`);
      this.known.delete(id);
    }
  }

  /** The delivery that a run books or takes back. */
  private deliveryOf({ file, undoes }: KnownRun): InputFile | undefined {
    if (undoes === undefined) return file?.kind === 'delivery' ? file : undefined;
    const undone = this.known.get(undoes);
    return undone && this.deliveryOf(undone);
  }

  /** Each change of a delivery is booked not at all, or once, at every moment. */
  private checkBookings(): void {
    const byCommand = new Map<number, InputFile>();
    for (const run of this.known.values()) {
      const delivery = this.deliveryOf(run);
      if (delivery) for (const number of run.commands) byCommand.set(number, delivery);
    }
    const sums = new Map<string, number>();
    for (const { command, petId, before = 0, after = 0 } of this.world.service.changes) {
      const delivery = command === undefined ? undefined : byCommand.get(command);
      if (!delivery) continue;
      const key = `${this.world.history.files.indexOf(delivery)} ${petId}`;
      const sum = (sums.get(key) ?? 0) + after - before;
      sums.set(key, sum);
      const change = changeOf(delivery, petId);
      const times = change === 0 ? sum : sum / change;
      const most = change === 0 ? 0 : (this.allowed.get(delivery) ?? 1);
      if (!Number.isInteger(times) || times < 0 || times > most)
        throw new Violation(
          `command ${command} took pet ${petId} from ${before} to ${after}: in all changed by ${sum}, where the delivery has ${change}`,
          { isLimit: true },
        );
    }
  }

  /** An undo sets back what its run did last to a pet, if that is still the count, and nothing else. */
  private checkUndos(): void {
    const { changes } = this.world.service;
    for (const undo of this.known.values()) {
      const undone = undo.undoes === undefined ? undefined : this.known.get(undo.undoes);
      if (!undone) continue;
      for (const [at, { command, petId, before, after }] of changes.entries()) {
        if (command === undefined || !undo.commands.has(command) || before === after) continue;
        const last = changes
          .slice(0, at)
          .filter((change) => change.petId === petId && change.before !== change.after)
          .filter((change) => change.command !== undefined && undone.commands.has(change.command))
          .at(-1);
        const place = `the undo ${undo.id} of ${undone.id} took pet ${petId} from ${before} to ${after}`;
        if (!last) throw new Violation(`${place}, which its run never changed`, { isLimit: true });
        if (before !== last.after || after !== last.before)
          throw new Violation(`${place}; its run had taken it from ${last.before} to ${last.after}`, {
            isLimit: true,
          });
      }
    }
  }

  /** Two commands at once do not both write, unless they are two shards of one split. */
  private checkAlone([first, second]: readonly Command[]): void {
    if (!first || !second) return;
    const [one, other] = [shardOf(first), shardOf(second)];
    if (one !== undefined && other !== undefined && one !== other) return;
    const placesOf = ({ number }: Command) =>
      [...this.world.service.changes.entries()]
        .filter(([, { command }]) => command === number)
        .map(([at]) => at);
    const [early, late] = [placesOf(first), placesOf(second)];
    if (early.length === 0 || late.length === 0) return;
    const isAfter = (some: readonly number[], others: readonly number[]) =>
      Math.min(...some) > Math.max(...others);
    if (!isAfter(early, late) && !isAfter(late, early))
      throw new Violation(`commands ${first.number} and ${second.number} wrote at the same time`);
  }

  /** The rejects of a delivery hold only rows that were certainly not booked, and that resume will not take. */
  private checkRejects(): void {
    for (const { path, file, rows } of this.world.readRejects())
      if (file.kind === 'delivery')
        for (const { petId, state, status } of rows) {
          const isFinal =
            state === 'invalid' || (state === 'failed' && !/^(3\d\d|401|403|412|429|503)$/.test(status));
          if (!isFinal)
            throw new Violation(`${path} has pet ${petId}, ${state} ${status}, which resume takes too`);
        }
  }

  /** What a run says about a row is true. */
  private async checkRows(run: KnownRun, command: Command): Promise<void> {
    const earlier = run.rows;
    run.rows = await this.world.show(run.id);
    const changes = this.changesOf(run);
    for (const [petId, { state, after }] of run.rows) {
      const place = `run ${run.id}, pet ${petId}, ${state}`;
      const own = changes.filter((change) => change.petId === petId);
      if ((state === 'failed' || state === 'invalid') && own.length > 0)
        throw new Violation(`${place}: it was applied`, { isLimit: true });
      if (state === 'applied' && own.length === 0 && !this.isDisturbed(run.id, petId))
        throw new Violation(`${place}: it was never applied`, { isLimit: true });
      if (state === 'unchanged' && own.some(({ before, after }) => before !== after))
        throw new Violation(`${place}: it was applied`, { isLimit: true });
      if (state !== 'applied' && state !== 'unchanged') continue;
      if (earlier.get(petId)?.state === state) continue;
      const seen = this.countsDuring(command, petId);
      if (!seen.has(after))
        throw new Violation(`${place}: the count was ${[...seen]}, and not ${after}, while the command ran`);
    }
  }

  /** The counts that a pet had while a command ran. */
  private countsDuring({ from, to }: Command, petId: string): Set<number | undefined> {
    const { changes } = this.world.service;
    const of = (some: readonly Change[]) => some.filter((change) => change.petId === petId);
    return new Set([
      of(changes.slice(0, from)).at(-1)?.after,
      ...of(changes.slice(from, to)).map(({ after }) => after),
    ]);
  }

  /** The sums, the exit code and the way on that a command reports. */
  private checkReport(command: Command, listed: readonly ListedRun[]): void {
    const { number, words, code, summary, error, stderr, wasSignalled } = command;
    const place = `command ${number}, exit ${code}`;
    if (stderr.includes('internal:')) throw new Violation(`${place}: ${stderr}`);
    const wrote = this.world.service.writesOf(number) > 0;
    if (wrote && (words.includes('--dry-run') || !words.includes('--yes')))
      throw new Violation(`${place}: it wrote, although nobody confirmed it`);
    if (command.touched.some((id) => this.known.has(id)) && words.includes('--dry-run'))
      throw new Violation(`${place}: a dry run leaves a run`);
    if (code === 2 && wrote) throw new Violation(`${place}: it wrote`);
    if (error?.code === 'already_booked' && !namedCommand(command))
      throw new Violation(`${place}: the refusal names no command: ${JSON.stringify(error)}`);
    if (!summary || typeof summary.rows !== 'number') {
      if (wrote) throw new Violation(`${place}: it wrote, and reports nothing`);
      if (code === 0 && error) throw new Violation(`${place}: ${stderr}`);
      return;
    }
    const count = (name: string) => Number(summary[name]);
    const sum = states.reduce((total, state) => total + count(state), 0);
    if (sum !== summary.rows)
      throw new Violation(`${place}: ${summary.rows} rows, and the states make ${sum}`);
    const run = listed.find(({ id }) => id === summary.run);
    for (const name of ['rows', ...states])
      if (run && run[name] !== summary[name])
        throw new Violation(`${place}: ${name} is ${summary[name]} in the summary and ${run[name]} in runs`);
    const wrong = count('failed') + count('unknown') + count('invalid') + count('unprocessed');
    const right = count('applied') + count('unchanged');
    const isAllowed =
      (wasSignalled && code === 130) ||
      (wrong === 0 ? code === 0 : [4, 6, right === 0 || isRedirected(error) ? 1 : 3].includes(code));
    if (!isAllowed && run?.kind !== 'undo')
      throw new Violation(`${place}: ${right} rows are as the file says, and ${wrong} are not`);
    if (count('unprocessed') > 0 && summary.run !== undefined && !namedCommand(command))
      throw new Violation(`${place}: rows are left, and no command is named: ${stderr}`);
  }

  /** Once all is well: each run that stopped comes to its end by what the program names. */
  async settle(
    step: (words: 'resume' | 'follow', run?: string) => Promise<readonly Command[]>,
  ): Promise<void> {
    const resumed = new Set<string>();
    for (let turn = 0; turn < 12; turn += 1) {
      const open = await this.open(resumed);
      const run = open[turn % Math.max(1, open.length)];
      if (run === undefined) return;
      resumed.add(run);
      let taken = await step('resume', run);
      for (let hop = 0; hop < 3 && taken.some(({ code }) => code === 2); hop += 1) {
        if (!taken.some(namedCommand)) throw new Violation(`resume ${run} is refused and names no command`);
        taken = await step('follow');
      }
    }
    const left = await this.open(resumed);
    if (left.length > 0)
      throw new Violation(`${left} cannot be brought to an end by the commands that are named`, {
        isLimit: true,
      });
  }

  /**
   * The runs that are not at their end. One that was resumed is, if all that is left are rows whose counts somebody else
   * changed: a person must look at them.
   */
  private async open(resumed: ReadonlySet<string>): Promise<string[]> {
    const open: string[] = [];
    for (const { id, state, undoneBy } of await this.world.runs()) {
      // A run that is being undone ends with its undo.
      if (state !== 'stopped' || undoneBy !== undefined) continue;
      const rows = [...(await this.world.show(id)).values()].filter((row) => isLeft(row));
      if (
        !resumed.has(id) ||
        rows.length === 0 ||
        rows.some(({ petId, state }) => state !== 'unknown' || !this.isDisturbed(id, petId))
      )
        open.push(id);
    }
    return open;
  }

  /** Whether somebody else, or another run, changed the count of a pet since a run first did or could have. */
  private isDisturbed(id: string, petId: string): boolean {
    const run = this.known.get(id);
    const { changes } = this.world.service;
    const others = changes
      // The first changes put the entries there.
      .slice(this.world.history.stock.size)
      .filter((change) => change.petId === petId)
      .filter(({ command }) => command === undefined || !run?.commands.has(command));
    return others.length > 0;
  }

  /** At the end: a row is unknown only if somebody else changed its count. */
  async checkEnd(): Promise<void> {
    const finished = (await this.world.runs())
      .filter(({ undoneBy }) => undoneBy === undefined)
      .map(({ id }) => id);
    for (const { id, rows } of this.known.values())
      for (const [petId, { state }] of rows)
        if (finished.includes(id) && state === 'unknown' && !this.isDisturbed(id, petId))
          throw new Violation(`run ${id}, pet ${petId} stays unknown, and nobody else changed it`, {
            isLimit: true,
          });
    this.checkRejected(finished);
  }

  /** Each row that failed for a reason of its own is in a file of rejects. */
  private checkRejected(finished: readonly string[]): void {
    const rejected = new Set(
      this.world
        .readRejects()
        .flatMap(({ file, rows }) => rows.map(({ petId }) => `${keyOf(this.world, file)} ${petId}`)),
    );
    for (const { id, file, rows } of this.known.values())
      for (const [petId, row] of file && finished.includes(id) ? rows : [])
        if (
          file &&
          row.state === 'failed' &&
          !isLeft(row) &&
          !rejected.has(`${keyOf(this.world, file)} ${petId}`)
        )
          throw new Violation(`run ${id}, pet ${petId} failed, and is in no file of rejects`);
  }
}

/** Whether resume takes the row. */
function isLeft({ state, passes }: ShownRow): boolean {
  return state === 'unprocessed' || state === 'unknown' || (state === 'failed' && passes);
}

function keyOf({ history }: World, file: InputFile): number {
  return history.files.indexOf(file);
}

/** Whether a redirect stopped the run. */
function isRedirected(error: Command['error']): boolean {
  return String(error?.message).includes('redirect');
}

/** The shard that a command applies or, for a resume, undefined. */
function shardOf({ words }: Command): string | undefined {
  const at = words.indexOf('--shard');
  return at === -1 ? undefined : words[at + 1];
}

function changeOf({ lines }: InputFile, petId: string): number {
  return lines.filter(([id]) => id === petId).reduce((sum, [, value]) => sum + value, 0);
}
