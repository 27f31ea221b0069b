import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import type { Context } from '../context.ts';
import { type Draft, findEditor, openDraft } from '../input/editor.ts';
import { CliError, messageOf, UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, printJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { sanitizeExcept } from '../process/text.ts';
import { checkFields, missingFields } from './fields.ts';
import { type Body, type EditAccess, type EditableNoun, openAccess, readRecord } from './noun.ts';
import { replacement } from './update.ts';
import type { IdOrName } from './values.ts';
import { toRequest, type Write, writeRecord } from './write.ts';

/** Reads a record, lets the user change it as YAML in an editor, and writes the saved version back. */
export async function editRecord<Entity extends object>(
  context: Context,
  noun: EditableNoun<Entity>,
  given: IdOrName,
): Promise<void> {
  const { flags } = context;
  const editor = findEditor(context, `edit ${noun.one}`);
  const access = await openAccess(context, noun, noun.operations.update);
  const [id = 0n] = await access.names.idsOf(noun.named, [given]);
  await confirmWrite(context, { what: `change ${noun.one} ${id}` });
  const before = await readRecord(access, id);
  const draft = await openDraft(context, editor, `${noun.one}-${id}.yaml`);
  try {
    const write = await editUntilValid(access, id, before, draft);
    if (write === undefined) {
      await context.notice(`${noun.one} ${id}: nothing was changed, and nothing was sent`);
      await draft.discard();
      return;
    }
    if (before.etag === undefined && !flags.dryRun) await checkUnchanged(access, id, before);
    await writeRecord(access, write);
    if (flags.dryRun) await context.note(`note: nothing was sent; the text is kept in ${draft.path}`);
    else await draft.discard();
  } catch (error) {
    throw withPath(error, draft.path);
  }
}

/**
 * Opens the editor until the saved text is valid; undefined if it is empty or unchanged.
 *
 * @throws UsageError if an invalid text is saved a second time without a change.
 */
async function editUntilValid<Entity extends object>(
  access: EditAccess<Entity>,
  id: bigint,
  before: Answer<Entity>,
  draft: Draft,
): Promise<Write | undefined> {
  const { client, noun } = access;
  const yaml = await loadYaml();
  const usage = `# ${noun.one} ${id}. Save to send it. Saved unchanged or empty, nothing is sent.\n`;
  const original = yaml.print(before.value);
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
      const body = checkRecord(access, before.value, record);
      const names = new Set([...Object.keys(before.value), ...Object.keys(record)]);
      names.delete('id');
      const write = replacement(noun, id, before, body, [...names]);
      toRequest(client, write);
      return write;
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
function checkRecord<Entity extends object>(
  { noun, operation }: EditAccess<Entity>,
  before: Entity,
  record: JsonObject,
): Body {
  const old = before as Body;
  if (String(record.id ?? '') !== String(old.id ?? ''))
    throw new UsageError(`id must stay ${old.id ?? 'as it is'}`);
  // As in an update, null in a field that the program knows leaves the field out.
  const given = Object.fromEntries(
    Object.entries(record).filter(
      ([name, value]) => value !== null || !Object.hasOwn(noun.schema.entries, name),
    ),
  );
  const fields = checkFields(noun, given, missingFields(operation, given));
  const changes = Object.entries(fields).filter(([name, value]) => printJson(value) !== printJson(old[name]));
  // A field that was removed is left out of what is sent.
  const removed = Object.keys(old).filter((name) => name !== 'id' && !Object.hasOwn(fields, name));
  return Object.fromEntries([...changes, ...removed.map((name) => [name, undefined])]);
}

/**
 * Reads the record again and compares. Needed without an ETag, because the service then cannot detect a concurrent
 * change.
 */
async function checkUnchanged<Entity extends object>(
  access: EditAccess<Entity>,
  id: bigint,
  before: Answer<Entity>,
): Promise<void> {
  const now = await readRecord(access, id);
  if (printJson(now.value) === printJson(before.value)) return;
  throw new CliError('failed', `edit ${access.noun.one} ${id}: it was changed in the meantime`, {
    hint: 'edit it again; nothing was sent',
  });
}

/** An error of this program with the path of the kept text; any other as it is. */
function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof CliError)) return error;
  const kept = `the text is kept in ${path}`;
  const { kind, message, details } = error;
  const addition = details.addition === undefined ? kept : `${details.addition}; ${kept}`;
  return new CliError(kind, `${message}; ${kept}`, { ...details, addition });
}
