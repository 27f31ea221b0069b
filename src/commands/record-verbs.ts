import { type Field, type Noun, referenceFields, type WriteVerb } from '../api/nouns.ts';
import { argument, type Flag, flag, nameOf, value } from '../cli/flag.ts';
import { verb } from '../cli/verb.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output/printer.ts';
import { UsageError } from '../process/errors.ts';
import { withArticle } from '../process/text.ts';
import type { RecordFlags } from '../records/body-fields.ts';
import { checkIdsOrFile, type IdOrName, parseId, parseIdOrName } from '../records/parse-values.ts';
import { columnOf, fieldKinds, flagOf, namedNoun, recordView } from '../records/record-fields.ts';
import { fieldFlag, fromFlag, referenceFlag } from './arguments.ts';
import { type ApplyFlags, fileFlags } from './run-flags.ts';

/** The examples of a noun's verbs. */
type VerbExamples = Readonly<Record<'get' | WriteVerb, readonly string[]>>;

/** The values of the arguments and flags of create, update and delete. */
interface WriteValues {
  readonly ids?: readonly IdOrName[];
  readonly from?: string | undefined;
  readonly field?: readonly string[] | undefined;
  readonly [flag: string]: unknown;
}

/** Creates the verbs that pets, categories and orders share: get, create, update, edit and delete. */
export function recordVerbs(noun: Noun, examples: VerbExamples) {
  const { singular, plural, operations } = noun;
  const singularWithArticle = withArticle(singular);
  const { idList, idsOrFile, id } = idArguments(noun);
  const flags = createFieldFlags(noun);
  return {
    get: verb({
      name: 'get',
      aliases: ['show'],
      summary: `Get one or several ${plural}`,
      examples: examples.get,
      args: { ids: idList },
      view: async (context) => (await import('../records/list-and-get.ts')).getView(context, noun),
      run: async (context, { ids }) =>
        (await import('../records/list-and-get.ts')).getRecords(context, noun, ids),
    }),
    create: verb({
      name: 'create',
      summary: `Create ${singularWithArticle}, or many from a file`,
      description: `Creates ${singularWithArticle}. On a terminal it asks for what is missing. With --from it is a run, like inventory apply: plan, question, journal, resume and undo.`,
      write: 'direct',
      examples: examples.create,
      flags: {
        ...flags,
        field: fieldFlag,
        from: fromFlag(`create ${singularWithArticle} for each record of this file`, Object.keys(flags)),
        ...fileFlags,
      },
      view: viewOf(noun, 'create'),
      run: workOf(noun, 'create', async (context, _, fields) =>
        (await import('../records/create-and-update.ts')).createRecord(context, noun, fields),
      ),
    }),
    update: verb({
      name: 'update',
      summary: `Change ${plural}`,
      description: `Changes only what the flags name: reads each ${singular} and writes it back. With --from it is a run, like inventory apply: plan, question, journal, resume and undo.`,
      write: 'direct',
      examples: examples.update,
      args: { ids: idsOrFile },
      flags: {
        ...flags,
        field: fieldFlag,
        from: fromFlag(`change the ${plural} of this file, each by its id`, Object.keys(flags)),
        ...fileFlags,
      },
      view: viewOf(noun, 'update'),
      run: workOf(noun, 'update', async (context, ids, fields) =>
        (await import('../records/create-and-update.ts')).updateRecords(context, noun, ids, fields),
      ),
    }),
    edit: verb({
      name: 'edit',
      summary: `Edit ${singularWithArticle} as YAML in an editor`,
      description: `Opens the ${singular} as YAML in $VISUAL, $EDITOR or vi. If it is saved unchanged or empty, nothing is sent. An invalid text is opened once more with the reason on top. Text that is not sent is kept in a file.`,
      write: 'direct',
      examples: [`petstore ${plural} edit 1`, `EDITOR=nano petstore ${plural} edit 1`],
      args: { id },
      view: (context) => recordView(context, noun, operations.update),
      run: async (context, args) =>
        (await import('../records/edit-record.ts')).editRecord(context, noun, args.id),
    }),
    remove: verb({
      name: 'delete',
      aliases: ['rm'],
      summary: `Delete ${plural}, after asking`,
      write: 'direct',
      examples: examples.delete,
      args: { ids: idsOrFile },
      flags: { from: fromFlag(`delete the ${plural} whose ids this file has`), ...fileFlags },
      view: viewOf(noun, 'delete'),
      run: workOf(noun, 'delete', async (context, ids) =>
        (await import('../records/delete.ts')).deleteRecords(context, noun, ids),
      ),
    }),
  };
}

/** Creates the arguments for the ids of a noun's records, which names may stand for. */
function idArguments(noun: Noun) {
  const { singular, plural } = noun;
  const hasNames = namedNoun(noun) !== undefined;
  const [word, words] = hasNames ? ['id or name', 'ids or names'] : ['id', 'ids'];
  const options = {
    label: 'id',
    parse: hasNames ? parseIdOrName : parseId,
    offers: singular as 'pet' | 'category' | 'order',
  };
  return {
    idList: argument(`<${word}...>`, `${words} of ${plural}`, options),
    idsOrFile: argument(`[${word}...]`, `${words} of ${plural}`, options),
    id: argument(`<${word}>`, `${word} of the ${singular}`, options),
  };
}

/** Returns the view of a verb: that of a run if `--from` names a file. */
function viewOf(noun: Noun, kind: WriteVerb) {
  return async (context: Context, { from }: { readonly from?: unknown } = {}) =>
    from === undefined
      ? recordView(context, noun, noun.operations[kind])
      : (await import('../bulk/carry-out.ts')).runView(context, noun.name);
}

/** Returns the work of a verb: a run if `--from` names a file, else that of `perform`. */
function workOf(
  noun: Noun,
  kind: WriteVerb,
  perform: (context: Context, ids: readonly IdOrName[], fields: RecordFlags) => Promise<Output | undefined>,
) {
  return async (context: Context, values: WriteValues): Promise<Output | undefined> => {
    const { ids = [], from, field: fieldTexts } = values;
    const command = `${kind} ${noun.singular}`;
    if (kind !== 'create') checkIdsOrFile(command, ids, from);
    if (from !== undefined) {
      const { runFile } = await import('./record-files.ts');
      return runFile(context, noun, { kind, from, fieldTexts, flags: values as ApplyFlags });
    }
    const [runFlag] = Object.entries(fileFlags).flatMap(([key, each]) =>
      values[key] === undefined ? [] : each,
    );
    if (runFlag) throw new UsageError(`${command}: ${nameOf(runFlag)} goes with --from only`);
    return perform(context, ids, { fieldTexts, values });
  };
}

/** Creates the flags of a noun's fields, by column. */
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
  const { placeholder, offers, parse } = fieldKinds[field.kind];
  const name = flagOf(field);
  if (placeholder === undefined) return flag(name, summary);
  const syntax = `${name} <${placeholder}>`;
  return value(syntax, summary, { parse, offers });
}
