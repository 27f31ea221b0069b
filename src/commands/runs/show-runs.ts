import { isFields, toJsonValue } from '../../api/record-values.ts';
import { findRun, listRuns, type RunList, readRun } from '../../bulk/list-runs.ts';
import { toRunJson } from '../../bulk/report.ts';
import { reportView, terminalView } from '../../bulk/report-output.ts';
import { idOfRow, isAppliedOrUncertain, rowStateOf } from '../../bulk/row.ts';
import { createRowView, type PrintedRow, rowTerms, toPrintedRow } from '../../bulk/row-view.ts';
import type { Run } from '../../bulk/run.ts';
import type { Context } from '../../context.ts';
import { inPages, type PreparedCommand } from '../../output/printer.ts';
import { UsageError } from '../../process/errors.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { Names } from '../../records/access.ts';
import type { IdOrName } from '../../records/record-fields.ts';

interface RunFilter {
  readonly limit?: number | undefined;
  /** Only runs that wrote this pet or its count. */
  readonly pet?: IdOrName | undefined;
}

/** Reads the runs that this machine has kept, the newest first. */
export function findRuns(context: Context, { limit, pet }: RunFilter): PreparedCommand {
  const { content } = context.printer();
  const isTable = context.io.stdout.isTerminal && content === 'text';
  return {
    view: isTable ? terminalView : reportView,
    async run() {
      const petId =
        typeof pet === 'string' ? await new Names(context, await context.client()).findId('pets', pet) : pet;
      const list = await listRuns(context.io);
      for (const { path, problem, writtenBy } of list.unreadable)
        await context.printWarning(writtenBy ? `${path}: ${writtenBy} wrote this journal` : problem.message);
      if (list.runs.length + list.unreadable.length === 0 && content === 'text')
        return { documents: [], text: '', notes: ['no runs yet: `petstore inventory apply` makes one'] };
      return { pages: [await readRuns(list, petId)], limit };
    },
  };
}

/** Returns the runs that wrote a pet, or all runs. They are one page, because the columns have one width only within a page. */
async function readRuns(list: RunList, petId: bigint | undefined): Promise<JsonObject[]> {
  if (petId === undefined) return list.runs.map(toRunJson);
  const runs: JsonObject[] = [];
  for (const info of list.runs)
    if (hasWrittenPet(await readRun(list, info.id), petId)) runs.push(toRunJson(info));
  return runs;
}

function hasWrittenPet({ rows, header }: Run, petId: bigint): boolean {
  if (rowTerms(header.noun).record !== 'pet') return false;
  return rows.some((row) => idOfRow(row) === petId && isAppliedOrUncertain(row));
}

/**
 * Prints the outcome of each row of a run, by default of the last run. As data, a run that removed records has these records:
 * `create --from` takes them.
 *
 * @throws UsageError if there is no such run.
 */
export async function readOutcomes(context: Context, id: string | undefined): Promise<PreparedCommand> {
  const list = await listRuns(context.io);
  const info = id === undefined ? list.runs[0] : findRun(list, id);
  if (!info) throw new UsageError('no runs yet');
  const { content } = context.printer();
  return {
    view: createRowView(info.header.noun, content === 'text'),
    async run() {
      const run = await readRun(list, info.id);
      const isRemoved = run.header.kind === 'delete' && content === 'documents';
      const printed = isRemoved ? removedRecords(run) : rowsOfRun(run);
      return { pages: inPages(printed as Iterable<object>) };
    },
  };
}

function* rowsOfRun({ header, rows }: Run): Generator<PrintedRow> {
  for (const row of rows) {
    yield toPrintedRow(header.noun, row, rowStateOf(row));
  }
}

/** The records that a run has removed, a pet with the count of its entry. */
function* removedRecords({ rows }: Run): Generator<JsonObject> {
  for (const row of rows) {
    const { before = null } = row.planned ?? {};
    if (rowStateOf(row) !== 'applied' || !isFields(before)) continue;
    const stock = row.stock === undefined ? {} : { _quantity: row.stock };
    yield { id: row.id ?? null, ...(toJsonValue(before) as JsonObject), ...stock };
  }
}
