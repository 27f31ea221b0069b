import * as v from 'valibot';
import { offeredOperation } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import { toUpdateBody } from '../api/shapes.ts';
import { confirmWrite } from '../asking.ts';
import type { Answer, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { ApiError, CliError, InterruptedError, messageOf, UsageError } from '../errors.ts';
import { type Draft, findEditor, openDraft } from '../input/editor.ts';
import { isJsonObject, type JsonObject, printJson } from '../json.ts';
import { sanitizeExcept } from '../text.ts';
import { loadYaml } from '../yaml.ts';
import { resolveIds } from './names.ts';
import type { Body, EditableNoun, Write } from './noun.ts';
import { replacementOf, tellChange } from './update.ts';
import type { IdOrName } from './values.ts';
import { openWrites, toRequest, writeRecords } from './write.ts';

/** Reads a record, lets the user change it as YAML in an editor, and writes the saved version back. */
export async function editRecord<Row extends object>(
  context: Context,
  noun: EditableNoun<Row>,
  given: IdOrName,
): Promise<void> {
  const { io, flags, interrupts } = context;
  const editor = findEditor(io, `edit ${noun.one}`, flags.noInput === true);
  const client = await openWrites(context, noun, replacementOf(noun), 2);
  const [id = 0n] = await resolveIds(context, client, noun.named, [given]);
  await confirmWrite(context, { what: `change ${noun.one} ${id}` });
  const before = await noun.read(context, client, id);
  const draft = await openDraft(io, { name: `${noun.one}-${id}.yaml`, editor, interrupts });
  try {
    const edited = await editUntilValid(client, noun, { id, before, draft });
    if (edited === undefined) {
      await context.notice(`${noun.one} ${id}: nothing was changed, and nothing was sent`);
      await draft.discard();
      return;
    }
    if (before.etag === undefined && !flags.dryRun) await refuseChanged(context, client, noun, id, before);
    await writeRecords(context, noun, client, {
      items: [edited],
      total: 1,
      noun: noun.many,
      asList: false,
      prepare: ({ write }) => write,
      onSent: (_, row) =>
        tellChange(context, noun, {
          id,
          before: before.value,
          after: row ?? edited.record,
          fields: { ...before.value, ...edited.record },
        }),
    });
    if (flags.dryRun) await context.note(`note: nothing was sent; the text is kept in ${draft.path}`);
    else await draft.discard();
  } catch (error) {
    throw withPath(error, draft.path);
  }
}

interface Editing<Row> {
  readonly id: bigint;
  readonly before: Answer<Row>;
  readonly draft: Draft;
}

interface Edited<Row> {
  readonly record: JsonObject;
  readonly write: Write<Row>;
}

/**
 * Opens the editor until the saved text is valid; undefined if it is empty or unchanged.
 *
 * @throws UsageError if an invalid text is saved a second time without a change.
 */
async function editUntilValid<Row extends object>(
  client: Client,
  noun: EditableNoun<Row>,
  { id, before, draft }: Editing<Row>,
): Promise<Edited<Row> | undefined> {
  const yaml = await loadYaml();
  const usage = `# ${noun.one} ${id}. Save to send it. Saved unchanged or empty, nothing is sent.\n`;
  const original = yaml.print(before.value);
  const operation = offeredOperation(client.contract, replacementOf(noun));
  let text = original;
  let problem: string | undefined;
  for (;;) {
    const why = problem === undefined ? '' : problem.replace(/^/gm, '# error: ').concat('\n');
    const saved = withoutComments(await draft.edit(`${why}${usage}${text}`));
    if (saved.trim() === '' || saved === withoutComments(original)) return undefined;
    if (problem !== undefined && saved === withoutComments(text))
      throw new UsageError(`edit ${noun.one} ${id}: ${problem.split('\n')[0]?.replace(/:$/, '')}`);
    text = saved;
    try {
      const record = yaml.parse(saved);
      if (!isJsonObject(record)) throw new UsageError('it must be the fields of one record');
      const fields = checkRecord(noun, operation, before.value, record);
      const write = noun.replace(id, fields, { ifMatch: before.etag });
      toRequest(client, write);
      return { record, write };
    } catch (error) {
      problem = sanitizeExcept(messageOf(error), '\n');
    }
  }
}

/** The text without the comments at its top, which hold the usage and the last error. */
function withoutComments(text: string): string {
  return text.replace(/^(?:#[^\n]*(?:\n|$))+/, '').trimEnd();
}

/** The body of an edited record. @throws UsageError that names each field that is wrong. */
function checkRecord<Row extends object>(
  noun: EditableNoun<Row>,
  operation: Operation,
  before: Row,
  record: JsonObject,
): Body {
  const old = before as Body;
  if (String(record.id ?? '') !== String(old.id ?? ''))
    throw new UsageError(`id must stay ${old.id ?? 'as it is'}`);
  const given = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
  const schema = v.partial(noun.schema as v.ObjectSchema<v.ObjectEntries, undefined>);
  const { output, issues } = v.safeParse(schema, given);
  const problems = [
    ...(operation.body?.required ?? [])
      .filter((name) => name !== 'id' && given[name] === undefined)
      .map((name) => `${name} is required`),
    ...(issues ?? []).map((issue) => `${v.getDotPath(issue) ?? 'record'} ${issue.message}`),
  ];
  if (problems.length > 0) throw new UsageError(problems.join('; '));
  const fields: Body = { ...given, ...(output as Body) };
  const changes = Object.entries(fields).filter(([name, value]) => printJson(value) !== printJson(old[name]));
  return toUpdateBody(operation, fields, Object.fromEntries(changes));
}

/**
 * Reads the record again and compares. Needed without an ETag, because the service then cannot detect a concurrent
 * change.
 */
async function refuseChanged<Row extends object>(
  context: Context,
  client: Client,
  noun: EditableNoun<Row>,
  id: bigint,
  before: Answer<Row>,
): Promise<void> {
  const now = await noun.read(context, client, id);
  if (printJson(now.value) === printJson(before.value)) return;
  throw new CliError('failed', `edit ${noun.one} ${id}: it was changed in the meantime`, {
    hint: 'edit it again; nothing was sent',
  });
}

/** The same error, with the path of the text. */
function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof CliError)) return error;
  const kept = `the text is kept in ${path}`;
  const { details } = error;
  const more = { ...details, remark: details.remark === undefined ? kept : `${details.remark}; ${kept}` };
  if (error instanceof ApiError)
    return new ApiError(`${error.message}; ${kept}`, { ...more, status: error.status });
  if (error instanceof InterruptedError) {
    error.message += `; ${kept}`;
    return error;
  }
  return new CliError(error.kind, `${error.message}; ${kept}`, more);
}
