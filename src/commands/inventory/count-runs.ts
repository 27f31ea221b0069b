import type { RecordValue } from '../../api/record-values.ts';
import { runView, type SessionFlags, type SessionMode, sessionMode } from '../../bulk/carry-out.ts';
import { countLayout, parseEdited } from '../../bulk/count-layout.ts';
import { defaultFlags, type RunFlags } from '../../bulk/run.ts';
import { readCheckedInput, startRun } from '../../bulk/start-run.ts';
import { collectFields } from '../../client/whole-list.ts';
import { type Context, whyNotAsked } from '../../context.ts';
import { editAndSend, findEditor } from '../../input/editor.ts';
import { parseColumnMap } from '../../input/field-columns.ts';
import { quoteCell } from '../../output/formats.ts';
import type { PreparedCommand } from '../../output/printer.ts';
import { parseAt, UsageError } from '../../process/errors.ts';
import { sanitize } from '../../process/text.ts';
import { Names } from '../../records/access.ts';
import { toServiceStatuses } from '../../records/record-fields.ts';
import type { ApplyFlags } from '../shared-flags.ts';

/** Applies a file of counts. A diff only prints the changes, and exits 8 if there are any. */
export function applyCounts(
  context: Context,
  path: string,
  flags: ApplyFlags,
  mode = sessionMode(context),
): PreparedCommand {
  return {
    view: runView(context, 'inventory', mode),
    async run() {
      // Without a service, this fails before a large input is read.
      await context.client('bulk');
      const { settings } = context;
      const mapTexts = flags.map ?? [settings.get('import-map') ?? []].flat();
      const map = parseAt('--map', mapTexts.join(), () => parseColumnMap(mapTexts));
      const runFlags = toRunFlags(flags, map, mode);
      const input = await readCheckedInput(context, path, countLayout(runFlags), runFlags);
      const { delivery } = flags;
      const runInput = { kind: 'apply', noun: 'inventory', input, flags: runFlags, delivery } as const;
      return startRun(context, runInput, flags, mode);
    },
  };
}

/**
 * Completes the flags of a run with the defaults.
 *
 * @param mode a delivery that is written needs a number.
 * @throws UsageError for flags that cannot be combined.
 */
function toRunFlags(flags: ApplyFlags, map: RunFlags['map'], mode: SessionMode): RunFlags {
  const { relative: isRelative = false, createMissing = false, skipInvalid = false, sum = false } = flags;
  const { thousands = null, decimal = null, shard = null, again = false, delivery } = flags;
  if (thousands !== null && thousands === decimal)
    throw new UsageError(`--thousands and --decimal cannot both be ${thousands}`);
  if (!isRelative && again) throw new UsageError('--again: only with --relative');
  if (!isRelative && delivery !== undefined) throw new UsageError('--delivery: only with --relative');
  if (isRelative && delivery === undefined && mode === 'write')
    throw new UsageError(
      '--relative: a delivery needs its number, so that it is booked once',
      'give --delivery with the number of the note that came with it, or a date',
    );
  return { map, thousands, decimal, sum, skipInvalid, shard, relative: isRelative, again, createMissing };
}

/** The counts to edit: those below a number, of pets of a status. */
interface CountFilter {
  readonly below?: number | undefined;
  readonly status?: readonly string[] | undefined;
}

const instructions = [
  '# Change quantities and save. A row applies only if the count is still the one under expected.',
  '# Rows that you do not change, or delete, are left alone. Saved unchanged or empty, nothing is sent.',
  '',
].join('\n');

/** Lets the user change counts in an editor, and applies the changed rows. */
export function editCounts(context: Context, filter: CountFilter, flags: SessionFlags): PreparedCommand {
  return {
    view: runView(context, 'inventory'),
    async run() {
      const editor = findEditor(context.io, 'edit inventory', whyNotAsked(context));
      const { text, counts } = await readEditText(context, filter);
      if (counts.size === 0)
        return { kind: 'nothing', notices: [['result', 'no inventory entries to edit']] };
      return editAndSend(context, {
        editor,
        fileName: 'inventory.csv',
        task: 'edit inventory',
        usage: instructions,
        originalText: text,
        parse: (edited) => parseEdited(edited, counts),
        send: (input) =>
          startRun(context, { kind: 'edit', noun: 'inventory', input, flags: defaultFlags }, flags),
      });
    },
  };
}

/** Returns the text to edit, and its counts by the ids of the pets. */
async function readEditText(context: Context, { below, ...filter }: CountFilter) {
  const client = await context.client();
  const status = toServiceStatuses(client.contract, 'inventory', filter.status);
  const names = new Names(context, client);
  names.beginReading('pets');
  const items = await collectFields(client.list('listInventory', {}, { needsWhole: true }));
  const nameById = await names.readNamesById('pets');
  const counts = new Map<bigint, RecordValue>();
  const lines = ['petId,name,quantity,expected,status'];
  for (const item of items) {
    const { petId, quantity } = item;
    if (below !== undefined && !(quantity < below)) continue;
    if (status && !status.includes(item.status ?? '')) continue;
    counts.set(petId, quantity);
    const name = sanitize(nameById.get(petId) ?? '').replaceAll('"', '""');
    const itemStatus = quoteCell(sanitize(item.status ?? ''), ',');
    lines.push(`${petId},"${name}",${quantity},${quantity},${itemStatus}`);
  }
  return { text: `${lines.join('\n')}\n`, counts };
}
