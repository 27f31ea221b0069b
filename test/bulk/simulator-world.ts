import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { main } from '../../src/main.ts';
import { randomOf } from '../helpers/random.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { parseJson } from '../helpers/stock-shop.ts';
import {
  type Command,
  errorOf,
  type ListedRun,
  namedCommand,
  type ShownRow,
  shownColumns,
  shownRows,
  Violation,
} from './simulator-command.ts';
import { cutPower, die, running, type SimulatedProcess, settleFile, settleFolder } from './simulator-disk.ts';
import { fileText, type InputFile, mend, rejectedKeys, typedRows } from './simulator-files.ts';
import { commandHeader, Gateway } from './simulator-gateway.ts';
import type { History, Step } from './simulator-history.ts';

/** A machine with one folder, a service, and the commands that were typed. */
export class World {
  readonly history: History;
  readonly gateway: Gateway;
  readonly commands: Command[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'petstore-simulator-'));
  private numbers = 0;

  constructor(history: History) {
    this.history = history;
    this.gateway = new Gateway(history.service, history.stock);
  }

  async open(): Promise<void> {
    await this.gateway.listen();
    settleFolder(this.folder);
  }

  async close(): Promise<void> {
    await this.gateway.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Does a step. @returns its command, if one was typed. */
  async take(step: Step): Promise<Command | undefined> {
    this.numbers += 1;
    const words = this.type(step);
    if (!words) return undefined;
    // The limits of runs exclude a write that comes later.
    if (words[0] !== 'resume' || this.runIds().length > 1) this.gateway.landLate();
    const timers = countTimers();
    const command = await this.run(step, words);
    await this.gateway.idle();
    // A dead process may still wait for something that its command no longer waits for; nothing that it does counts.
    for (let turn = 0; countTimers() > timers && turn < 50; turn += 1) await sleep(2);
    if (step.losesPower) cutPower(this.folder, randomOf(step.conduct.seed, 'power'));
    return command;
  }

  /** `runs`, as a person sees it afterwards. */
  async runs(): Promise<readonly ListedRun[]> {
    const { stdout, stderr } = await this.look(['runs', '-o', 'json']);
    if (stderr !== '') throw new Violation(`runs says: ${stderr}`);
    return JSON.parse(stdout);
  }

  async show(id: string): Promise<readonly ShownRow[]> {
    const idColumn = this.history.service.noun === 'pets' ? 'id' : 'petId';
    const fields = [idColumn, ...shownColumns].join();
    const { code, stdout, stderr } = await this.look(['runs', 'show', id, '-o', 'tsv', '--fields', fields]);
    if (code !== 0) throw new Violation(`runs show ${id} says: ${stderr}`);
    return shownRows(stdout);
  }

  /** All files of rejects that lie in the folder, with the keys of their rows. */
  readRejects(): { readonly path: string; readonly file: InputFile; readonly keys: readonly string[] }[] {
    const names = readdirSync(this.folder).filter((name) => name.includes('.rejects'));
    return names.sort().flatMap((path) => {
      const file = this.inputOf(path);
      return file ? { path, file, keys: rejectedKeys(file, this.readFile(path)) } : [];
    });
  }

  /** The input that a file has, or the rejects of which it has. */
  private inputOf(name: string): InputFile | undefined {
    return this.history.files[Number(/^\w+-(\d+)-/.exec(name)?.[1])];
  }

  private readFile(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  private look(words: readonly string[]) {
    return runCli(words, { cwd: this.folder, env: this.env });
  }

  private get env(): Record<string, string> {
    return { PETSTORE_STATE_DIR: join(this.folder, 'state'), PETSTORE_BASE_URL: this.gateway.address };
  }

  /** What is typed for a step; undefined if there is nothing to type. */
  private type(step: Step): readonly string[] | undefined {
    const { kind, pick = 0, words } = step;
    const { files } = this.history;
    if (kind === 'apply') {
      const file = files[pick % files.length] as InputFile;
      const name = `${file.kind}-${files.indexOf(file)}-${this.numbers}.csv`;
      this.write(name, fileText(file, step.isMended));
      return withFlags(step, inputWords(file, name));
    }
    if (kind === 'rejects') {
      const rejects = this.readRejects();
      const { path, file } = rejects[pick % Math.max(1, rejects.length)] ?? {};
      if (path === undefined || file === undefined) return undefined;
      if (step.isMended) this.write(path, mend(this.readFile(path)));
      return withFlags(step, inputWords(file, path));
    }
    if (kind === 'follow') {
      const last = this.commands.at(-1);
      const named = last && namedCommand(last);
      return named && withFlags(step, named);
    }
    if (kind === 'settle') return words.length > 0 ? withFlags(step, []) : undefined;
    const ids = this.runIds();
    const id = step.pick === undefined ? undefined : ids[pick % Math.max(1, ids.length)];
    return withFlags(step, [kind, ...(id === undefined ? [] : [id])]);
  }

  private runIds(): string[] {
    return [...new Set(this.commands.flatMap(({ touched }) => touched))];
  }

  private write(name: string, text: string): void {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    settleFile(path);
  }

  private async run(step: Step, words: readonly string[]): Promise<Command> {
    const { conduct, disk } = step;
    const number = this.numbers;
    const path = ['pets', 'inventory'].includes(words[0] ?? '')
      ? words.find((word) => word.endsWith('.csv'))
      : undefined;
    const file = path === undefined ? undefined : this.inputOf(path);
    const typed = file && path !== undefined ? typedRows(file, this.readFile(path)) : undefined;
    const io = fakeIo({ cwd: this.folder, env: this.env });
    let wasSignalled = false;
    let onDeath = () => {};
    const death = new Promise<number>((resolve) => {
      onDeath = () => resolve(-1);
    });
    const process: SimulatedProcess = {
      folder: this.folder,
      isDead: false,
      operations: 0,
      failedWrites: 0,
      disk,
      touched: new Set(),
      onDeath,
    };
    const raise = () => {
      wasSignalled = true;
      io.raise('SIGINT');
    };
    this.gateway.admit({ command: number, process, conduct, raise });
    this.gateway.trace.push(`${number}: petstore ${words.join(' ')} ${JSON.stringify({ conduct, disk })}`);
    const plumbing = ['-o', 'json', '-H', `${commandHeader}: ${number}`];
    const ended = running.run(process, () => main([...words, ...plumbing], io));
    const code = await Promise.race([ended, death]);
    const { isDead, failedWrites, touched } = process;
    if (isDead) {
      // Nothing that it does from now on has an effect, and it comes to its end.
      io.raise('SIGINT');
      io.raise('SIGINT');
      await ended.catch(() => {});
    }
    die(process);
    const command: Command = {
      number,
      words,
      file,
      typed,
      code,
      wasSignalled,
      hasCrashed: isDead,
      isFull: failedWrites > 0,
      stderr: io.written('stderr'),
      summary: isDead ? undefined : parseJson(io.written('stdout')),
      error: isDead ? undefined : errorOf(io.written('stderr')),
      touched: [
        ...new Set([...touched].flatMap((each) => /\/state\/.*\/(r\d+)\.jsonl/.exec(each)?.[1] ?? [])),
      ],
    };
    this.commands.push(command);
    const { summary, error } = command;
    this.gateway.trace.push(
      isDead ? '   it died' : `   exit ${code} ${JSON.stringify(summary)} ${JSON.stringify(error)}`,
    );
    return command;
  }
}

/** The timers of all that goes on in this process. */
function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

/** The words of a command, with the flags of the step. */
function withFlags({ words }: Step, typed: readonly string[]): string[] {
  const isAdding = typed.includes('--relative');
  const flags = words.filter((word) => word !== '--no-yes' && (word !== '--again' || isAdding));
  return [...typed, ...flags, ...(words.includes('--no-yes') ? [] : ['--yes'])];
}

/** The words that apply a file, with its flags. */
function inputWords({ kind, number, createMissing, isInvalid }: InputFile, name: string): string[] {
  const skip = isInvalid ? ['--skip-invalid'] : [];
  const verb = { records: 'update', creates: 'create', removes: 'delete', delivery: '', count: '' }[kind];
  if (verb !== '') return ['pets', verb, '--from', name, ...skip];
  const words = ['inventory', 'apply', name, ...skip, ...(createMissing ? ['--create-missing'] : [])];
  if (number === undefined) return [...words, '--allow-zero'];
  return [...words, '--relative', '--delivery', number];
}
