import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ListId, Result } from '../api/operations.ts';
import type { RecordOf } from '../api/schemas.ts';
import { completionOf, meaningOfLine, type Offer, offersText, readTable } from '../cli/command-words.ts';
import { argument, type LookUpKind } from '../cli/flag.ts';
import { action, actionOf, type ParsedLine } from '../cli/verb.ts';
import { collectFields } from '../client/lists/read-list.ts';
import { offlineProfile, readConfigFile } from '../config/file.ts';
import { isSettingKey, keyRules } from '../config/keys.ts';
import type { Context } from '../context.ts';
import { withinLimits } from '../process/deadline.ts';
import { parseChoice } from '../process/errors.ts';
import { sanitize } from '../process/text.ts';
import { isOpenOrder, statusesOf, withoutAmbiguous } from '../records/record-fields.ts';

/** The scripts in `completions/`. zsh requires the name `_petstore`. */
const scripts = {
  bash: 'petstore.bash',
  zsh: '_petstore',
  fish: 'petstore.fish',
} as const;

const shellNames = ['bash', 'zsh', 'fish'] as const;

export const completion = action({
  wrongSettings: 'unread',
  description: [
    'Prints the completion script of a shell, which each new shell must load.',
    {
      items: [
        ['bash', 'put `source <(petstore completion bash)` into ~/.bashrc'],
        ['zsh', 'put `source <(petstore completion zsh)` into ~/.zshrc, after compinit'],
        ['fish', '`petstore completion fish > ~/.config/fish/completions/petstore.fish`'],
      ],
    },
  ],
  examples: ['source <(petstore completion bash)', 'petstore completion fish | source'],
  args: {
    shell: argument('<shell>', 'the shell to complete in', {
      parse: (text) => parseChoice(text, shellNames),
      choices: shellNames,
    }),
  },
  async run({ io }, { shell }) {
    await io.stdout.write(readFileSync(join(io.packageDir, 'completions', scripts[shell]), 'utf8'));
    return { kind: 'nothing' };
  },
});

/** How long the Tab key waits for names from the service, in milliseconds. */
const lookUpPatienceMs = 300;

/**
 * Prints the possible completions of the last word, one a line: the word, and after a tab its description. The line `:file` asks the
 * shell for file names. It offers only words that begin like the last word.
 *
 * @param line the words before the last one, as commander has read them.
 * @param words the words without their quotes. The last one may be incomplete.
 */
export async function complete(context: Context, line: ParsedLine, words: readonly string[]): Promise<void> {
  const { io } = context;
  const table = readTable(join(io.packageDir, 'dist'));
  const { offers: kind, stem } = completionOf(table, words);
  const current = words.at(-1) ?? '';
  if (typeof kind !== 'string' || kind === 'file') return io.stdout.write(offersText(kind, stem, current));
  const { operands } = meaningOfLine(table, words.slice(0, -1));
  const cursor = { ...line, operands, prefix: current.slice(stem.length) };
  // A completion reports no errors. It offers only the values that arrive in time.
  const values = await withinLimits({ limitMs: lookUpPatienceMs }, async () =>
    lookUps[kind as LookUpKind](context, cursor),
  ).catch(() => []);
  const offers = values
    // A name with control characters can be neither shown nor typed.
    .filter(({ word }) => sanitize(word) === word)
    .map(({ word, summary = '' }) => ({ word, summary: sanitize(summary) }));
  await io.stdout.write(offersText(offers, stem, current));
}

interface Cursor extends ParsedLine {
  /** The arguments before the cursor. */
  readonly operands: readonly string[];
  /** The typed part of the value at the cursor. */
  readonly prefix: string;
}

/** The functions that find the possible values of each kind. */
const lookUps: Readonly<Record<LookUpKind, (context: Context, cursor: Cursor) => Promise<readonly Offer[]>>> =
  {
    profile: profileOffers,
    category: async (context, cursor) => namedOffers(await readAllRecords(context, 'listCategories'), cursor),
    pet: async (context, cursor) => namedOffers(await readAllRecords(context, 'listPets'), cursor),
    order: async (context) =>
      orderOffers(
        ...(await Promise.all([readAllRecords(context, 'listOrders'), readAllRecords(context, 'listPets')])),
      ),
    run: runOffers,
    setting: async (context, { operands: [key = ''] }) =>
      key === 'profile'
        ? profileOffers(context)
        : toOffers((isSettingKey(key) && keyRules[key].choices) || []),
    field: fieldOffers,
    // `-name` sorts the other way.
    sort: (context, cursor) => fieldOffers(context, cursor, cursor.prefix.startsWith('-') ? '-' : ''),
    status: async (context, { path: [noun] }) =>
      toOffers(statusesOf(await context.contract(), noun === 'inventory' ? noun : 'pets') ?? []),
  };

function toOffers(words: readonly string[]): Offer[] {
  return words.map((word) => ({ word }));
}

async function profileOffers({ io }: Context): Promise<Offer[]> {
  return toOffers([...Object.keys((await readConfigFile(io)).profiles), offlineProfile]);
}

/** Reads a whole list. With a token-command it is empty, because the command may ask the user or take too long. */
async function readAllRecords<K extends ListId>(
  context: Context,
  operation: K,
): Promise<readonly Result<K>[]> {
  if (context.settings.token?.kind === 'command') return [];
  const client = await context.client();
  return collectFields(client.list(operation));
}

/** Offers each pet or category by its name, or by its id once a digit is typed, or if the name is ambiguous or looks like a flag. */
function namedOffers(records: readonly RecordOf<'pets' | 'categories'>[], { prefix }: Cursor): Offer[] {
  const names = withoutAmbiguous(new Map(records.map(({ id, name }) => [id, name])));
  return records.map(({ id, name }) =>
    /^\d/.test(prefix) || name.startsWith('-') || !names.has(id)
      ? { word: `${id}`, summary: name }
      : { word: name },
  );
}

function orderOffers(orders: readonly RecordOf<'orders'>[], pets: readonly RecordOf<'pets'>[]): Offer[] {
  const names = new Map(pets.map(({ id, name }) => [id, name]));
  const nameOf = (petId: bigint | null | undefined) =>
    petId === null || petId === undefined ? '?' : (names.get(petId) ?? `pet ${petId}`);
  return orders
    .filter(isOpenOrder)
    .map(({ id, petId, quantity }) => ({ word: `${id}`, summary: `${quantity ?? '?'} of ${nameOf(petId)}` }));
}

/** Offers the runs. An undo cannot be undone. */
async function runOffers({ io }: Context, { path: [verb] }: Cursor): Promise<Offer[]> {
  const { listRuns } = await import('../bulk/list-runs.ts');
  const { runs } = await listRuns(io);
  const offered = runs.filter(({ header }) => verb !== 'undo' || header.undoes === undefined);
  return offered.map(({ id, started, header: { undoes, name } }) => ({
    word: id,
    summary: `${undoes === undefined ? basename(name) : `undo of ${undoes}`} ${started.slice(0, 16)}`,
  }));
}

async function fieldOffers(context: Context, { command, values }: Cursor, sign = ''): Promise<Offer[]> {
  const view = await actionOf(command)?.view?.(context, values);
  return toOffers(view?.columns.map(({ name }) => sign + name) ?? []);
}
