import fs, { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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
  machineOf,
  namedCommand,
  parseJson,
  type RejectedRow,
  rejectedRows,
  runIdOf,
  runKey,
  runsOf,
  type ShownRow,
  shownRows,
  Violation,
} from './simulator-command.ts';
import { cutPower, die, running, type SimulatedProcess, settleFile, settleFolder } from './simulator-disk.ts';
import { fileText, type InputFile, mend, type TypedRows, typedRows } from './simulator-files.ts';
import type { History, Step } from './simulator-history.ts';
import { randomOf } from './simulator-random.ts';
import { SimulatedService } from './simulator-service.ts';
import type { Store } from './simulator-store.ts';

/** A file of rejects that lies in the folder. */
interface RejectsFile {
  readonly file: InputFile;
  readonly machine: number;
}

/** A command line that is to be run. */
interface CommandLine {
  readonly number: number;
  readonly words: readonly string[];
  readonly step: Step;
  readonly machine: number;
  readonly file: InputFile | undefined;
  readonly typed: TypedRows | undefined;
}

/** Machines with one folder, one service, and the commands that were typed. */
export class World {
  readonly history: History;
  readonly service: SimulatedService;
  readonly commands: Command[] = [];
  /** What happened, for a person who looks into a failure. */
  readonly trace: string[] = [];
  readonly folder: string;
  /** The rejects files by path. */
  readonly rejects = new Map<string, RejectsFile>();
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
    for (const store of this.service.stores)
      for (const [id, value] of this.history.stock) store.begin(id, { value, rest: 0 });
    this.writeProfiles();
    settleFolder(this.folder);
  }

  private writeProfiles(): void {
    const { tenants } = this.history.service;
    if (tenants.length === 0) return;
    const profiles = tenants.map((name) => {
      writeFileSync(join(this.folder, `${name}.token`), `${SimulatedService.tokenOf(name)}\n`, {
        mode: 0o600,
      });
      const tenant = this.history.namesTenants ? { tenant: name } : {};
      const place = { 'base-url': this.service.address(0), 'token-file': join(this.folder, `${name}.token`) };
      return [name, { ...place, ...tenant }];
    });
    mkdirSync(join(this.folder, 'config'), { mode: 0o700 });
    const text = JSON.stringify({ profiles: Object.fromEntries(profiles) });
    writeFileSync(join(this.folder, 'config', 'config.json'), text, { mode: 0o600 });
  }

  async close(): Promise<void> {
    await this.service.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Does a step. @returns its commands: none, one, or two at once. */
  async take(step: Step): Promise<readonly Command[]> {
    if (step.kind === 'others') {
      this.letOthersWrite(step);
      return [];
    }
    if (step.kind === 'power') {
      this.losePower(step);
      return [];
    }
    const lines = [step, ...(step.beside ? [{ ...step.beside, losesPower: step.losesPower }] : [])].flatMap(
      (each) => this.lineOf(each) ?? [],
    );
    for (const { words } of lines) this.landLate(words);
    this.alive.clear();
    const timers = countTimers();
    const commands = await Promise.all(lines.map((line) => this.run(line)));
    await this.service.idle();
    // A dead process may still wait for something that its command no longer waits for; nothing that it does counts.
    for (let turn = 0; countTimers() > timers && turn < 50; turn += 1) await sleep(2);
    if (step.losesPower && commands.some(({ hasCrashed }) => hasCrashed)) this.losePower(step);
    for (const command of commands) this.findRejects(command);
    return commands;
  }

  private letOthersWrite({ conduct }: Step): void {
    const random = randomOf(conduct.seed);
    for (const store of this.service.stores)
      for (const id of store.ids())
        if (random.chance(0.3)) {
          this.service.edit(store, id, random);
          this.trace.push(`somebody sets record ${id} to ${store.entries.get(id)?.value}`);
        }
  }

  /** Late writes come before a command if the limits of runs exclude them later. */
  private landLate([verb]: readonly string[]): void {
    const wasUndone = verb === 'undo' || this.commands.some(({ words }) => words[0] === 'undo');
    const isAlone = verb === 'resume' && this.runKeys().length <= 1;
    if (wasUndone || verb === 'runs') this.service.landLate();
    else if (!isAlone) this.service.landLate({ canWait: true });
  }

  private losePower(step: Step): void {
    this.trace.push('power cut');
    cutPower(this.folder, randomOf(step.conduct.seed, 'power'));
  }

  /** `runs`, as a person sees it afterwards on all machines. */
  async runs(): Promise<readonly ListedRun[]> {
    const all: ListedRun[] = [];
    for (let machine = 0; machine < this.history.machines; machine += 1) {
      const { stdout, stderr } = await this.look(machine, ['runs', '-o', 'json']);
      if (stderr !== '') throw new Violation(`runs says: ${stderr}`);
      const runs: Omit<ListedRun, 'key' | 'machine'>[] = JSON.parse(stdout);
      for (const run of runs)
        all.push({ ...run, machine, key: runKey(machine, run.id as string) } as ListedRun);
    }
    return all;
  }

  async show(key: string): Promise<readonly ShownRow[]> {
    const words = ['runs', 'show', runIdOf(key), '-o', 'jsonl'];
    const { code, stdout, stderr } = await this.look(machineOf(key), words);
    if (code !== 0) throw new Violation(`runs show ${key} says: ${stderr}`);
    return shownRows(stdout);
  }

  /** The rows of all files of rejects, with the input that they come from. */
  readRejects(): {
    readonly path: string;
    readonly file: InputFile;
    readonly rows: readonly RejectedRow[];
  }[] {
    return [...this.rejects]
      .filter(([path]) => fs.existsSync(join(this.folder, path)))
      .map(([path, { file }]) => ({ path, file, rows: rejectedRows(this.readFile(path)) }));
  }

  private readFile(path: string): string {
    return fs.readFileSync(join(this.folder, path), 'utf8');
  }

  private look(machine: number, words: readonly string[]) {
    return runCli(words, { cwd: this.folder, env: this.env(machine) });
  }

  private env(machine: number, alias = 0): Record<string, string> {
    const hasProfiles = this.history.service.tenants.length > 0;
    return {
      PETSTORE_STATE_DIR: join(this.folder, `state${machine}`),
      ...(hasProfiles
        ? { PETSTORE_CONFIG_DIR: join(this.folder, 'config') }
        : { PETSTORE_BASE_URL: this.service.address(alias) }),
    };
  }

  /** What is typed for a step; undefined if there is nothing to type. */
  private lineOf(step: Step): CommandLine | undefined {
    this.numbers += 1;
    const number = this.numbers;
    const { kind, pick, words } = step;
    if (kind === 'others' || kind === 'power') return undefined;
    const line = (typed: readonly string[], machine: number, file?: InputFile): CommandLine => {
      const all = [
        ...typed,
        ...words.filter((word) => word !== '--no-yes' && (word !== '--again' || file?.kind === 'delivery')),
        ...(words.includes('--no-yes') ? [] : ['--yes']),
        ...this.profileWords(step, typed),
      ];
      const path = all.find((word) => /\.(csv|jsonl)$/.test(word));
      const rows = file && path !== undefined ? typedRows(file, this.readFile(path)) : undefined;
      return { number, step, file, machine, words: all, typed: rows };
    };
    if (kind === 'apply') {
      const { files } = this.history;
      const file = files[(pick ?? 0) % files.length] as InputFile;
      const shard = Number(words[words.indexOf('--shard') + 1]?.split('/')[0]);
      const hasMachines = this.history.machines > 1;
      const { text, extension } = fileText(file, hasMachines ? { form: 'lf', isMended: false } : step);
      const name = `${file.kind}-${files.indexOf(file)}-${number}.${extension}`;
      this.write(name, text);
      const machine = hasMachines && words.includes('--shard') ? shard % this.history.machines : 0;
      if (hasMachines && !words.includes('--shard')) return undefined;
      return line([...verbOf(file, name), ...flagsOf(file, step)], machine, file);
    }
    if (kind === 'rejects') {
      const rejects = [...this.rejects].filter(([path]) => fs.existsSync(join(this.folder, path)));
      const [path, entry] = rejects[(pick ?? 0) % Math.max(1, rejects.length)] ?? [];
      if (path === undefined || entry === undefined) return undefined;
      if (step.isMended) this.write(path, mend(this.readFile(path)));
      return line([...verbOf(entry.file, path), ...flagsOf(entry.file, step)], entry.machine, entry.file);
    }
    if (kind === 'follow') {
      const last = this.commands.at(-1);
      const wayOn = last && namedCommand(last);
      const rejected = wayOn?.flatMap((word) => this.rejects.get(word)?.file ?? [])[0];
      const isInput = wayOn !== undefined && wayOn[0] !== 'resume' && wayOn[0] !== 'undo';
      return wayOn && line(wayOn, last.machine, isInput ? (rejected ?? last.file) : undefined);
    }
    if (kind === 'settle') return words.length > 0 ? line([], step.machine) : undefined;
    if (kind === 'single') return line(this.singleWords(step, number), step.machine);
    const keys = this.runKeys();
    const key = pick === undefined ? undefined : keys[pick % Math.max(1, keys.length)];
    const machine = key === undefined ? step.machine : machineOf(key);
    return line([kind, ...(key === undefined ? [] : [runIdOf(key)])], machine);
  }

  private profileWords({ profile, kind }: Step, typed: readonly string[]): string[] {
    const { tenants } = this.history.service;
    if (tenants.length === 0 || typed.includes('--profile')) return [];
    const last = this.commands.at(-1)?.store.tenant;
    return ['--profile', kind === 'follow' && last ? last : (tenants[profile % tenants.length] as string)];
  }

  /** A command on one record; its value is one that nobody else writes. */
  private singleWords({ pick = 0 }: Step, number: number): string[] {
    const ids = [...this.history.stock.keys()];
    const id = ids[pick % Math.max(1, ids.length)] ?? '1';
    if (this.history.service.noun === 'pets')
      return pick % 3 === 2
        ? ['pets', 'delete', id]
        : ['pets', 'update', id, '--name', `Pet ${90_000 + number}`];
    return pick % 3 === 2
      ? ['inventory', 'set', id, String(90_000 + number)]
      : ['inventory', 'adjust', id, `+${70_000 + 100 * number}`];
  }

  private runKeys(): string[] {
    return [...new Set(this.commands.flatMap(({ touched }) => touched))];
  }

  private write(name: string, text: string): void {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    settleFile(path);
  }

  private storeOf(words: readonly string[]): Store {
    const { stores } = this.service;
    const name = words.includes('--profile') ? words[words.indexOf('--profile') + 1] : undefined;
    return stores.find(({ tenant }) => tenant === name) ?? (stores[0] as Store);
  }

  private async run({ number, words, step, machine, file, typed }: CommandLine): Promise<Command> {
    const { conduct } = step;
    const hangs = conduct.writeFaults + conduct.readFaults > 0;
    const argv = [
      ...[...words, '-o', 'json', '-H', `${SimulatedService.tag}: ${number}`],
      ...(hangs ? ['--timeout', '300ms'] : []),
    ];
    const io = fakeIo({ cwd: this.folder, env: this.env(machine, step.alias) });
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
      ...{ number, words, step, machine, file, typed, code, stdout, stderr, wasSignalled, from },
      store: this.storeOf(words),
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
    return this.service.changes.map(({ cause, id, before, after, store }) => {
      const place = `${store.tenant ?? ''} record ${id} ${before?.value} -> ${after?.value}`;
      return `   ${cause?.command ?? '-'}: ${place}${cause ? ` (read ${cause.reading?.entry?.value})` : ''}`;
    });
  }

  /** Remembers which file each new file of rejects belongs to. */
  private findRejects({ machine }: Command): void {
    for (const name of readdirSync(this.folder)) {
      const at = /^\w+-(\d+)-.*\.rejects/.exec(name)?.[1];
      if (at !== undefined && !this.rejects.has(name))
        this.rejects.set(name, { file: this.history.files[Number(at)] as InputFile, machine });
    }
  }
}

/** The timers of all that goes on in this process. */
function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

function verbOf({ kind }: InputFile, name: string): string[] {
  const verb = { records: 'update', creates: 'create', removes: 'delete', delivery: '', count: '' }[kind];
  return verb === '' ? ['inventory', 'apply', name] : ['pets', verb, '--from', name];
}

/** One number, as four people type it. */
const numberForms = [
  (number: string) => number,
  (number: string) => ` ${number} `,
  (number: string) => number.toLowerCase(),
  (number: string) => number.replace('-', '\u2013'),
] as const;

function flagsOf({ kind, number, lines, createMissing, invalidId }: InputFile, { alias }: Step): string[] {
  const isRepeated = new Set(lines.map(([id]) => id)).size < lines.length && kind === 'delivery';
  return [
    ...(kind === 'delivery' ? ['--relative'] : []),
    ...(kind === 'count' ? ['--allow-zero'] : []),
    ...(number === undefined ? [] : ['--delivery', numberForms[alias % 4]?.(number) ?? number]),
    ...(isRepeated ? ['--sum'] : []),
    ...(createMissing ? ['--create-missing'] : []),
    ...(invalidId === undefined ? [] : ['--skip-invalid']),
  ];
}
