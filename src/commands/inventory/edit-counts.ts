import type { RecordValue } from '../../api/record-values.ts';
import { whyNotAsked } from '../../asking.ts';
import { type CountRow, createCountLayout } from '../../bulk/count-layout.ts';
import type { SessionFlags } from '../../bulk/session.ts';
import { startRun } from '../../bulk/start-run.ts';
import { collectFields } from '../../client/lists/read-list.ts';
import { type Context, followUpCommand } from '../../context.ts';
import { editAndSend, requireEditor } from '../../input/editor.ts';
import type { InputRecord } from '../../input/read-records.ts';
import { type CheckedInput, type InvalidRecord, readRows } from '../../input/read-rows.ts';
import { csv } from '../../output/cells.ts';
import type { Output } from '../../output/printer.ts';
import { UsageError } from '../../process/errors.ts';
import { sanitize } from '../../process/text.ts';
import { Names } from '../../records/names.ts';

const comments = [
  '# Change quantities and save. A row is written only if the count is still the one under expected.',
  '# Rows that you leave as they are, or remove, are not written. An empty file writes nothing.',
  '',
].join('\n');

/** Lets the user change counts in an editor, all or those below a number, and applies the changed rows. */
export async function editCounts(
  context: Context,
  below: number | undefined,
  flags: SessionFlags,
): Promise<Output> {
  const editor = requireEditor(context.io, 'edit inventory', whyNotAsked(context));
  const { text, counts } = await readEditText(context, below);
  if (counts.size === 0) return { kind: 'nothing', notices: [['status', 'no inventory entries to edit']] };
  return editAndSend(context, {
    editor,
    fileName: 'inventory.csv',
    task: 'edit inventory',
    comments,
    originalText: text,
    keptHint: (path) =>
      `when the text is right, run: ${followUpCommand(context, ['inventory', 'apply', path])}`,
    parse: (edited) => parseEdited(edited, text, counts),
    send: (input) => startRun(context, { kind: 'edit', noun: 'inventory', input, flags: {} }, flags),
  });
}

/** Returns the text to edit, and its counts by the ids of the pets. */
async function readEditText(context: Context, below: number | undefined) {
  const client = await context.client();
  const names = new Names(context, client);
  void names.readList('pets');
  const items = await collectFields(client.list('listInventory', {}, { needsWhole: true }));
  const nameById = await names.readNamesById('pets');
  const counts = new Map<bigint, RecordValue>();
  const lines = ['petId,name,quantity,expected,status'];
  for (const item of items) {
    const { petId, quantity } = item;
    if (below !== undefined && !(quantity < below)) continue;
    counts.set(petId, quantity);
    const texts = [nameById.get(petId) ?? '', item.status ?? ''];
    const [name, status] = texts.map((text) => csv.toCell(sanitize(text), ','));
    lines.push(`${petId},${name},${quantity},${quantity},${status}`);
  }
  return { text: `${lines.join('\n')}\n`, counts };
}

/**
 * Parses the edited text and keeps the changed rows, if there are any. Each row expects the count that the editor showed, so a row
 * for another pet is invalid.
 *
 * @throws UsageError with the texts of the invalid rows instead of their line numbers, which the comments on top shift.
 */
async function parseEdited(
  text: string,
  originalText: string,
  counts: ReadonlyMap<bigint, RecordValue>,
): Promise<CheckedInput<CountRow> | undefined> {
  const { input, labels } = await readCounts(text);
  const { labels: originalLabels } = await readCounts(originalText);
  const lines = text.split('\n');
  const originalLines = new Set(originalText.split('\n'));
  // The service may have counts that petstore does not write, such as -3.
  const changed = input.invalid.filter(({ text }) => !originalLines.has(text));
  const refused = input.rows.flatMap(({ line, id }) => {
    if (!counts.has(id)) return { line, message: `pet ${id} was not among these counts` };
    const shown = originalLabels.get(id) ?? [];
    // A column that somebody has taken out changes nothing.
    const isChanged = labels.get(id)?.some((label, at) => {
      return label !== undefined && shown[at] !== undefined && label !== shown[at];
    });
    return isChanged ? { line, message: 'only the quantity can be changed here' } : [];
  });
  // Two rows of one pet have its id. Their message has the numbers of their lines.
  const toFault = ({ line, id, message }: Pick<InvalidRecord, 'line' | 'id' | 'message'>) =>
    `${lines[line - 1]}: ${id === undefined ? message : `another row is for pet ${id} too`}`;
  const faults = [...changed, ...refused].map(toFault);
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  const rows = input.rows.flatMap((row): CountRow[] => {
    const { id, intent } = row;
    const count = counts.get(id);
    if (intent.kind !== 'set' || intent.value === count) return [];
    return [{ ...row, intent: { ...intent, expected: intent.expected ?? count } }];
  });
  return rows.length === 0 ? undefined : { ...input, rows, invalid: [], notices: [], skipped: 0 };
}

/** Reads the rows of a text, and for each pet its name and its status. Without their columns these are undefined. */
async function readCounts(text: string) {
  const layout = createCountLayout({});
  const fields = [...layout.fields, ...['name', 'status'].map((name) => ({ name, columns: [name] }))];
  const labels = new Map<bigint, readonly (string | undefined)[]>();
  const toRow = (record: InputRecord) => {
    const row = layout.toRow(record);
    const { name, status } = record.values;
    labels.set(row.id, [name?.toString().trim(), status?.toString().trim()]);
    return row;
  };
  const file = { name: 'edit', path: undefined, text };
  return { input: await readRows(file, { ...layout, fields, toRow }, { skipInvalid: true }), labels };
}
