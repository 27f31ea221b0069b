import type { PetStatus } from '../../api/schemas.ts';
import { type CountRow, countLayout } from '../../bulk/count-layout.ts';
import type { Value } from '../../bulk/decide.ts';
import { defaultFlags } from '../../bulk/run-header.ts';
import type { Context } from '../../context.ts';
import { editUntilValid, findEditor, openDraft, withDraft } from '../../input/editor.ts';
import { type RowInput, readRows } from '../../input/read-rows.ts';
import type { Source } from '../../input/source.ts';
import { ManyError, UsageError } from '../../process/errors.ts';
import { sanitize } from '../../process/text.ts';
import { Names } from '../../records/names.ts';
import type { WriteFlags } from '../runs/run-flags.ts';
import { applyInput } from '../runs/run-input.ts';

interface EditFilter {
  readonly below?: number | undefined;
  readonly status?: readonly PetStatus[] | undefined;
}

const usage = [
  '# Change quantities and save. A row applies only if the count is still the one under expected.',
  '# Rows that you do not change, or delete, are left alone. Saved unchanged or empty, nothing is sent.',
  '',
].join('\n');

/** Lets the user change counts in an editor, and applies the rows that were changed. */
export async function editInventory(context: Context, filter: EditFilter, flags: WriteFlags): Promise<void> {
  const editor = findEditor(context, 'edit inventory');
  const { text, counts } = await readText(context, filter);
  if (counts.size === 0) return context.print('no inventory entries to edit');
  const draft = await openDraft(context, editor, 'inventory.csv');
  try {
    const input = await editUntilValid(draft, {
      what: 'edit inventory',
      usage,
      original: text,
      parse: (edited) => readEdited(edited, counts),
    });
    if (input === undefined || input.rows.length === 0) {
      await context.print('nothing was changed, and nothing was sent');
      return await draft.discard();
    }
    const { rows } = input;
    await applyInput(context, { noun: 'inventory', input, rows, runFlags: defaultFlags }, flags, 'apply');
    if (context.flags.dryRun)
      return await context.warn(`note: nothing was sent; the text is kept in ${draft.path}`);
    await draft.discard();
  } catch (error) {
    throw withDraft(error, draft);
  }
}

interface EditText {
  readonly text: string;
  /** By pet. */
  readonly counts: ReadonlyMap<bigint, Value>;
}

async function readText(context: Context, { below, status }: EditFilter): Promise<EditText> {
  const client = await context.client();
  const { nameById, note } = await new Names(context, client).namesOf('pets');
  if (note) await context.warn(note);
  const counts = new Map<bigint, Value>();
  const lines = ['petId,name,quantity,expected,status'];
  for await (const page of client.list('listInventory', {}, { whole: true }))
    for (const item of page) {
      const { petId, quantity } = item;
      if (below !== undefined && !(quantity < below)) continue;
      if (status && !status.includes(item.status as PetStatus)) continue;
      counts.set(petId, quantity);
      const name = sanitize(nameById.get(petId) ?? '').replaceAll('"', '""');
      lines.push(`${petId},"${name}",${quantity},${quantity},${item.status ?? ''}`);
    }
  return { text: `${lines.join('\n')}\n`, counts };
}

const layout = countLayout(defaultFlags);

/** The rows that were changed, each bound to the count that was shown. @throws InputError that says which are wrong */
async function readEdited(text: string, counts: ReadonlyMap<bigint, Value>): Promise<RowInput<CountRow>> {
  async function* bytes() {
    yield Buffer.from(text);
  }
  const source: Source = { name: 'edit', path: undefined, bytes, close: async () => {} };
  const input = await readRows(source, layout).catch((error) => {
    throw error instanceof ManyError ? withRowTexts(error, text.split('\n')) : error;
  });
  const rows = input.rows.flatMap((row): CountRow[] => {
    const { id, intent } = row;
    const count = counts.get(id);
    if (intent.kind !== 'set' || intent.value === count) return [];
    return [{ ...row, intent: { ...intent, expected: intent.expected ?? count } }];
  });
  return { ...input, rows, skipped: 0 };
}

/** The same errors, each with the text of its row: the comments on top shift the lines. */
function withRowTexts({ examples }: ManyError, lines: readonly string[]): UsageError {
  const texts = examples.slice(0, -1).map(({ message, details: { line = 1 } }) => {
    const why = message.replace(/^edit:\d+:\d+: /, '');
    return `${lines[line - 1]}: ${why}`;
  });
  return new UsageError(texts.join('\n'));
}
