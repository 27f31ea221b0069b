import { type Field, type Noun, referenceFields, type WriteVerb } from '../api/nouns.ts';
import { nameOf } from '../cli/command-words.ts';
import { argument, type Flag, flag, value, values } from '../cli/flag.ts';
import { verb } from '../cli/verb.ts';
import type { Context } from '../context.ts';
import { parseId } from '../input/numbers.ts';
import type { Output } from '../output/printer.ts';
import { UsageError } from '../process/errors.ts';
import { withArticle } from '../process/text.ts';
import { recordView } from '../records/access.ts';
import type { RecordFlags } from '../records/body-fields.ts';
import {
  columnOf,
  fieldKinds,
  flagOf,
  type IdOrName,
  parseIdOrName,
  parseText,
} from '../records/record-fields.ts';
import { type FileFlags, fileFlags, referenceFlag } from './shared-flags.ts';

/** The values of the arguments and flags of create, update and delete. */
interface WriteValues extends FileFlags, RecordFlags {
  readonly ids?: readonly IdOrName[];
  readonly from?: string | undefined;
}

const aboutFrom = 'With --from it is a run, like inventory apply: plan, question, journal, resume and undo.';

/** Creates the verbs that pets, categories and orders share: get, create, update, edit and delete. */
export function recordVerbs(noun: Noun, examples: Readonly<Record<'get' | WriteVerb, readonly string[]>>) {
  const { singular, plural } = noun;
  const singularWithArticle = withArticle(singular);
  const { idList, idsOrFile, id } = idArguments(noun);
  const flags = { ...createFieldFlags(noun), field: fieldFlag };
  return {
    get: verb({
      name: 'get',
      aliases: ['show'],
      summary: `Get one or several ${plural}`,
      examples: examples.get,
      args: { ids: idList },
      view: (context) => recordView(context, noun, 'get'),
      run: async (context, { ids }) =>
        (await import('../records/list-and-get.ts')).getRecords(context, noun, ids),
    }),
    create: verb({
      name: 'create',
      summary: `Create ${singularWithArticle}, or many from a file`,
      description: `Creates ${singularWithArticle}. On a terminal it asks for missing values. ${aboutFrom}`,
      writes: 'records',
      examples: examples.create,
      flags: {
        ...flags,
        from: fromFlag(`create ${singularWithArticle} for each record of this file`, Object.keys(flags)),
        ...fileFlags,
      },
      ...recordsOrFile(noun, 'create', async (context, _, flags) =>
        (await import('../records/create-and-update.ts')).createRecord(context, noun, flags),
      ),
    }),
    update: verb({
      name: 'update',
      summary: `Change ${plural}`,
      description: `Changes only what the flags name: reads each ${singular} and writes it back. ${aboutFrom}`,
      writes: 'records',
      examples: examples.update,
      args: { ids: idsOrFile },
      flags: {
        ...flags,
        from: fromFlag(`change the ${plural} of this file, each by its id`, Object.keys(flags)),
        ...fileFlags,
      },
      ...recordsOrFile(noun, 'update', async (context, ids, flags) =>
        (await import('../records/create-and-update.ts')).updateRecords(context, noun, ids, flags),
      ),
    }),
    edit: verb({
      name: 'edit',
      summary: `Edit ${singularWithArticle} as YAML in an editor`,
      description: `Opens the ${singular} as YAML in $VISUAL, $EDITOR or vi. If you save it unchanged or empty, nothing is sent. An invalid text is opened once more with the reason on top. A text that is not sent is kept in a file.`,
      writes: 'records',
      examples: [`petstore ${plural} edit 1`, `EDITOR=nano petstore ${plural} edit 1`],
      args: { id },
      view: (context) => recordView(context, noun, 'update'),
      run: async (context, args) =>
        (await import('../records/edit-and-delete.ts')).editRecord(context, noun, args.id),
    }),
    remove: verb({
      name: 'delete',
      aliases: ['rm'],
      summary: `Delete ${plural}, after asking`,
      writes: 'records',
      examples: examples.delete,
      args: { ids: idsOrFile },
      flags: { from: fromFlag(`delete the ${plural} whose ids this file has`), ...fileFlags },
      ...recordsOrFile(noun, 'delete', async (context, ids) =>
        (await import('../records/edit-and-delete.ts')).deleteRecords(context, noun, ids),
      ),
    }),
  };
}

/** Creates the arguments for the ids or names of a noun's records. */
function idArguments(noun: Noun) {
  const { singular, plural } = noun;
  const hasNames = referenceFields[noun.idName] !== undefined;
  const [term, pluralTerm] = hasNames ? ['id or name', 'ids or names'] : ['id', 'ids'];
  const options = {
    label: 'id',
    parse: hasNames ? parseIdOrName : parseId,
    offers: singular as 'pet' | 'category' | 'order',
  };
  return {
    idList: argument(`<${term}...>`, `${pluralTerm} of ${plural}`, options),
    idsOrFile: argument(`[${term}...]`, `${pluralTerm} of ${plural}`, options),
    id: argument(`<${term}>`, `${term} of the ${singular}`, options),
  };
}

/** Makes the columns and the work of a verb that takes a file of records with `--from`, or else the arguments and flags. */
function recordsOrFile(
  noun: Noun,
  kind: WriteVerb,
  writeRecords: (context: Context, ids: readonly IdOrName[], flags: RecordFlags) => Promise<Output>,
) {
  return {
    view: async (context: Context, { from }: WriteValues) =>
      from === undefined
        ? recordView(context, noun, kind)
        : (await import('../bulk/session.ts')).sessionView(context, noun.name),
    async run(context: Context, values: WriteValues) {
      requireIdsOrFile(`${noun.name} ${kind}`, kind, values);
      const { ids = [], from } = values;
      return from === undefined
        ? writeRecords(context, ids, values)
        : (await import('./record-files.ts')).writeFileRecords(context, noun, kind, from, values);
    },
  };
}

/** @throws UsageError if a command has neither ids nor a file, or both, or has a flag of runs without a file. */
function requireIdsOrFile(command: string, kind: WriteVerb, values: WriteValues): void {
  const { ids = [], from } = values;
  if (kind !== 'create' && from === undefined && ids.length === 0)
    throw new UsageError(`${command}: no id is given`, 'give one or more, or --from <file or ->');
  if (from !== undefined && ids.length > 0)
    throw new UsageError(`${command}: give ids or --from, not both`, 'the file of --from has the ids');
  const [runFlag] = Object.entries(fileFlags).filter(([key]) => values[key] !== undefined);
  if (from === undefined && runFlag)
    throw new UsageError(`${command}: ${nameOf(runFlag[1])} goes with --from only`);
}

function createFieldFlags({ fields }: Noun): Record<string, Flag> {
  const flags: Record<string, Flag> = {};
  for (const field of fields) {
    const key = columnOf(field);
    flags[key] = toFlag(field);
    if (field.kind !== 'truth') continue;
    const name = flagOf(field);
    const opposite = flag(name.replace('--', '--no-'), `the opposite of ${name}`);
    flags[`no ${key}`] = { ...opposite, key, parse: () => false };
  }
  return flags;
}

function toFlag(field: Field): Flag {
  const { summary } = field;
  const noun = referenceFields[field.name];
  if (noun) return referenceFlag(noun, summary);
  const { placeholder, offers } = fieldKinds[field.kind];
  const name = flagOf(field);
  if (placeholder === undefined) return flag(name, summary);
  const syntax = `${name} <${placeholder}>`;
  return value(syntax, summary, { ...(field.kind !== 'text' && { parse: parseText }), offers });
}

/** Creates `--from`. @param conflicts the keys of the flags that cannot be combined with it */
function fromFlag(summary: string, conflicts: readonly string[] = []) {
  return value('--from <file or ->', summary, { parse: parseText, conflicts, offers: 'file' });
}

const fieldFlag = values('--field <name=value>', 'a further field of the service; name:=value is JSON');
