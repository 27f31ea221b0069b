import type { PetStatus } from '../../api/schemas.ts';
import { listInventory } from '../../bulk/counts.ts';
import type { Count } from '../../bulk/number-lists.ts';
import { readRows } from '../../bulk/read.ts';
import { Rows } from '../../bulk/rows.ts';
import { newRun, type RunParts } from '../../bulk/run.ts';
import { defaultFlags } from '../../bulk/run-flags.ts';
import type { Context } from '../../context.ts';
import { editUntilValid, findEditor, openDraft, withDraft } from '../../input/editor.ts';
import type { Source } from '../../input/source.ts';
import { UsageError } from '../../process/errors.ts';
import { sanitize } from '../../process/text.ts';
import { Names } from '../../records/names.ts';
import type { WriteFlags } from './bulk-flags.ts';
import { runSession, targetHere } from './session.ts';

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
  const target = await targetHere(context);
  const draft = await openDraft(context, editor, 'inventory.csv');
  try {
    const parts = await editUntilValid(draft, {
      what: 'edit inventory',
      usage,
      original: text,
      parse: (edited) => readEdited(edited, counts, target),
    });
    if (parts === undefined || parts.rows.length === 0) {
      await context.print('nothing was changed, and nothing was sent');
      return await draft.discard();
    }
    await runSession(context, parts.header, flags, async () => parts);
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
  readonly counts: ReadonlyMap<bigint, Count>;
}

async function readText(context: Context, { below, status }: EditFilter): Promise<EditText> {
  const client = await context.client();
  const names = new Map<bigint, string>();
  const note = await new Names(context, client).addAll('pets', names);
  if (note) await context.warn(note);
  const counts = new Map<bigint, Count>();
  const lines = ['petId,name,quantity,expected,status'];
  for await (const page of listInventory(client))
    for (const item of page) {
      const { petId, quantity } = item;
      if (below !== undefined && !(quantity < below)) continue;
      if (status && !status.includes(item.status as PetStatus)) continue;
      counts.set(petId, quantity);
      const name = sanitize(names.get(petId) ?? '').replaceAll('"', '""');
      lines.push(`${petId},"${name}",${quantity},${quantity},${item.status ?? ''}`);
    }
  return { text: `${lines.join('\n')}\n`, counts };
}

/** The run of the rows that were changed. @throws UsageError that says which rows are wrong */
async function readEdited(
  text: string,
  counts: ReadonlyMap<bigint, Count>,
  target: string,
): Promise<RunParts> {
  async function* bytes() {
    yield Buffer.from(text);
  }
  const source: Source = { name: 'inventory.csv', path: undefined, bytes, close: async () => {} };
  const input = await readRows(source, defaultFlags);
  const { issues, rows } = input;
  if (issues.count > 0) {
    // The comments on top shift the lines, so an error names the text of its row.
    const all = text.split('\n');
    const lines = issues.first.map(({ line, message }) => `${all[line - 1]}: ${message}`);
    const more = issues.count - lines.length;
    throw new UsageError([...lines, ...(more > 0 ? [`and ${more} more like this`] : [])].join('\n'));
  }
  const changed = new Rows();
  for (let row = 0; row < rows.length; row += 1) {
    const [id, after] = [rows.id(row), rows.after(row)];
    if (counts.get(id) === after) continue;
    changed.add({ id, after, expected: rows.expected(row) ?? counts.get(id), line: 0 });
  }
  const { header } = newRun(input, { target, flags: defaultFlags, guards: { allowZero: true } });
  return {
    ...{ rows: changed, invalid: [] },
    header: { ...header, name: 'edit', rows: changed.length, skipped: 0 },
  };
}
