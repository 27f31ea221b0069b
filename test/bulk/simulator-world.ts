import fs, { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { main } from '../../src/main.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import {
  type Command,
  describeCommand,
  errorOf,
  type ListedRun,
  namedCommand,
  parseJson,
  type RejectedRow,
  rejectedRows,
  runsOf,
  type ShownRow,
  shownRows,
  Violation,
} from './simulator-command.ts';
import { cutPower, die, running, type SimulatedProcess, settleFile, settleFolder } from './simulator-disk.ts';
import { fileText, type History, type InputFile, type Step } from './simulator-history.ts';
import { randomOf } from './simulator-random.ts';
import { SimulatedService } from './simulator-service.ts';

/** A machine with a folder, one service, and the commands that were typed. */
export class World {
  readonly history: History;
  readonly service: SimulatedService;
  readonly commands: Command[] = [];
  /** What happened, for a person who looks into a failure. */
  readonly trace: string[] = [];
  readonly folder: string;
  /** The rejects files by path, with the file that they come from. */
  readonly rejects = new Map<string, InputFile>();
  /** The processes that run at once. */
  private readonly alive = new Set<SimulatedProcess>();
  private numbers = 0;

  constructor(history: History) {
    this.history = history;
    this.service = new SimulatedService(history.service);
    this.folder = mkdtempSync(join(tmpdir(), 'petstore-simulator-'));
  }

  async open(): Promise<void> {
    await this.service.listen();
    for (const [id, value] of this.history.stock) this.service.entries.set(id, { value, rest: 0 });
    settleFolder(this.folder);
  }

  async close(): Promise<void> {
    await this.service.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Does a step. @returns its commands: none, one, or two at once. */
  async take(step: Step): Promise<readonly Command[]> {
    if (step.kind === 'others') {
      const random = randomOf(step.conduct.seed);
      for (const id of [...this.service.entries.keys()])
        if (random.chance(0.3)) {
          this.service.edit(id, random);
          this.trace.push(`somebody sets record ${id} to ${this.service.entries.get(id)?.value}`);
        }
      return [];
    }
    if (step.kind === 'power') {
      this.losePower(step);
      return [];
    }
    const lines = [step, ...(step.beside ? [{ ...step.beside, losesPower: step.losesPower }] : [])].flatMap(
      (each) => this.lineOf(each) ?? [],
    );
    this.alive.clear();
    const timers = countTimers();
    const commands = await Promise.all(lines.map((line) => this.run(line)));
    await this.service.idle();
    // A dead process may still wait for something that its command no longer waits for; nothing that it does counts.
    for (let turn = 0; countTimers() > timers && turn < 50; turn += 1) await sleep(2);
    if (step.losesPower && commands.some(({ hasCrashed }) => hasCrashed)) this.losePower(step);
    this.findRejects();
    return commands;
  }

  private losePower(step: Step): void {
    this.trace.push('power cut');
    cutPower(this.folder, randomOf(step.conduct.seed, 'power'));
  }

  /** `runs`, as a person sees it afterwards. */
  async runs(): Promise<readonly ListedRun[]> {
    const { stdout, stderr } = await this.look(['runs', '-o', 'json']);
    if (stderr !== '') throw new Violation(`runs says: ${stderr}`);
    return JSON.parse(stdout);
  }

  async show(run: string): Promise<ReadonlyMap<string, ShownRow>> {
    const { code, stdout, stderr } = await this.look(['runs', 'show', run, '-o', 'jsonl']);
    if (code !== 0) throw new Violation(`runs show ${run} says: ${stderr}`);
    return new Map(shownRows(stdout).map((row) => [row.id, row]));
  }

  /** The rows of all files of rejects, with the input that they come from. */
  readRejects(): {
    readonly path: string;
    readonly file: InputFile;
    readonly rows: readonly RejectedRow[];
  }[] {
    return [...this.rejects]
      .filter(([path]) => fs.existsSync(join(this.folder, path)))
      .map(([path, file]) => ({
        path,
        file,
        rows: rejectedRows(fs.readFileSync(join(this.folder, path), 'utf8')),
      }));
  }

  private look(words: readonly string[]) {
    return runCli(words, { cwd: this.folder, env: this.env() });
  }

  private env(alias = 0) {
    return {
      PETSTORE_STATE_DIR: join(this.folder, 'state'),
      PETSTORE_BASE_URL: this.service.address(alias),
    };
  }

  /** What is typed for a step; undefined if there is nothing to type. */
  private lineOf(step: Step): CommandLine | undefined {
    this.numbers += 1;
    const number = this.numbers;
    const { kind, pick, words } = step;
    if (kind === 'others' || kind === 'power') return undefined;
    const line = (typed: readonly string[], file?: InputFile): CommandLine => ({
      ...{ number, step, file },
      words: [
        ...typed,
        ...words.filter((word) => word !== '--no-yes' && (word !== '--again' || file?.kind === 'delivery')),
        ...(words.includes('--no-yes') ? [] : ['--yes']),
      ],
    });
    if (kind === 'apply') {
      const { files } = this.history;
      const file = files[(pick ?? 0) % files.length] as InputFile;
      const { text, extension } = fileText(file, step);
      const name = `${file.kind}-${files.indexOf(file)}-${number}.${extension}`;
      this.write(name, text);
      return line([...verbOf(file), name, ...flagsOf(file)], file);
    }
    if (kind === 'rejects') {
      const rejects = [...this.rejects];
      const [path, file] = rejects[(pick ?? 0) % Math.max(1, rejects.length)] ?? [];
      if (path === undefined || file === undefined || !fs.existsSync(join(this.folder, path)))
        return undefined;
      return line([...verbOf(file), path, ...flagsOf(file)], file);
    }
    if (kind === 'follow') {
      const last = this.commands.at(-1);
      const wayOn = last && namedCommand(last);
      const rejected = wayOn?.flatMap((word) => this.rejects.get(word) ?? [])[0];
      const isInput = wayOn?.[1] === 'apply' || wayOn?.[1] === 'update';
      return wayOn && line(wayOn, isInput ? (rejected ?? last.file) : undefined);
    }
    const ids = this.runIds();
    const id = pick === undefined ? undefined : ids[pick % Math.max(1, ids.length)];
    return line([kind, ...(id === undefined ? [] : [id])]);
  }

  private runIds(): string[] {
    return [...new Set(this.commands.flatMap(({ touched }) => touched))];
  }

  private write(name: string, text: string): void {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    settleFile(path);
  }

  private async run({ number, words, step, file }: CommandLine): Promise<Command> {
    const { conduct } = step;
    const hangs = conduct.writeFaults + conduct.readFaults > 0;
    const argv = [
      ...[...words, '-o', 'json', '-H', `${SimulatedService.tag}: ${number}`],
      ...(hangs ? ['--timeout', '300ms'] : []),
    ];
    const io = fakeIo({ cwd: this.folder, env: this.env(step.alias) });
    let wasSignalled = false;
    let died = () => {};
    const death = new Promise<void>((resolve) => {
      died = resolve;
    });
    const process: SimulatedProcess = {
      ...{ folder: this.folder, isDead: false, operations: 0, dieAt: step.dieAt, tornShare: step.tornShare },
      touched: new Set(),
      links: new Set(),
      onDeath: () => {
        died();
        // Power is lost for all.
        if (step.losesPower) for (const other of this.alive) die(other);
      },
    };
    this.alive.add(process);
    const raise = () => {
      wasSignalled = true;
      io.raise('SIGINT');
    };
    this.service.admit(number, { process, conduct, raise });
    const from = this.service.changes.length;
    const ended = running.run(process, () => main(argv, io));
    const code = await Promise.race([ended, death.then(() => -1)]);
    if (process.isDead) {
      // Nothing that it does from now on has an effect, and it comes to its end.
      io.raise('SIGINT');
      io.raise('SIGINT');
      await ended.catch(() => {});
    }
    const [stdout, stderr] = [io.written('stdout'), io.written('stderr')];
    const command: Command = {
      ...{ number, words, step, file, code, stdout, stderr, wasSignalled, from },
      hasCrashed: process.isDead,
      summary: process.isDead ? undefined : (parseJson(stdout) as Record<string, unknown> | undefined),
      error: process.isDead ? undefined : errorOf(stderr),
      touched: runsOf(process.touched),
      to: this.service.changes.length,
    };
    this.commands.push(command);
    this.trace.push(...describeCommand(command));
    return command;
  }

  /** What was changed in the service, and by which command; `-` is somebody else. */
  describeChanges(): string[] {
    return this.service.changes.map(
      ({ command, id, before, after, read }) =>
        `   ${command ?? '-'}: record ${id} ${before} -> ${after}${command === undefined ? '' : ` (read ${read})`}`,
    );
  }

  /** Remembers which file each new file of rejects belongs to. */
  private findRejects(): void {
    for (const name of readdirSync(this.folder)) {
      const at = /^\w+-(\d+)-.*\.rejects/.exec(name)?.[1];
      if (at !== undefined) this.rejects.set(name, this.history.files[Number(at)] as InputFile);
    }
  }
}

/** The timers of all that goes on in this process. */
function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

/** A command line that is to be run. */
interface CommandLine {
  readonly number: number;
  readonly words: readonly string[];
  readonly step: Step;
  readonly file: InputFile | undefined;
}

function verbOf({ kind }: InputFile): string[] {
  return kind === 'records' ? ['pets', 'update', '--from'] : ['inventory', 'apply'];
}

function flagsOf({ kind, number, lines, createMissing, invalidId }: InputFile): string[] {
  const isRepeated = new Set(lines.map(([id]) => id)).size < lines.length;
  return [
    ...(kind === 'delivery' ? ['--relative'] : []),
    ...(kind === 'count' ? ['--allow-zero'] : []),
    ...(number === undefined ? [] : ['--delivery', number]),
    ...(isRepeated ? ['--sum'] : []),
    ...(createMissing ? ['--create-missing'] : []),
    ...(invalidId === undefined ? [] : ['--skip-invalid']),
  ];
}
