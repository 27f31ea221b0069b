import { referenceFields } from '../api/nouns.ts';
import { argument, choice, type Flag, flag, value } from '../cli/flag.ts';
import { verb } from '../cli/verb.ts';
import { UsageError } from '../process/errors.ts';
import { withArticle } from '../process/text.ts';
import { fieldKinds } from '../records/field-kinds.ts';
import { parseId, parseIdOrName } from '../records/parse-values.ts';
import {
  type Body,
  columnOf,
  type Field,
  flagOf,
  namedNoun,
  type RecordNoun,
} from '../records/record-nouns.ts';
import { fieldFlag, fromFlag, referenceFlag, untilFlag } from './arguments.ts';
import { type ApplyFlags, updateFileFlags } from './runs/run-flags.ts';

/** What the verbs of a noun say that does not follow from its description. */
interface VerbTexts {
  /** The summary of `delete`. */
  readonly deleteSummary: string;
  readonly examples: Readonly<Record<'get' | 'create' | 'update' | 'edit' | 'delete', readonly string[]>>;
}

/** The verbs of pets, categories or orders for their records: all that read or change some of them. */
export function recordVerbs(noun: RecordNoun, { deleteSummary, examples }: VerbTexts) {
  const { singular, plural, operations } = noun;
  const aRecord = withArticle(singular);
  const hasNames = namedNoun(noun) !== undefined;
  const word = hasNames ? 'id or name' : 'id';
  const words = hasNames ? 'ids or names' : 'ids';
  const options = {
    label: 'id',
    parse: hasNames ? parseIdOrName : parseId,
    offers: singular as 'pet' | 'category' | 'order',
  };
  const someIds = argument(`<${word}...>`, `${words} of ${plural}`, options);
  const idsOrFile = argument(`[${word}...]`, `${words} of ${plural}`, options);
  const id = argument(`<${word}>`, `${word} of the ${singular}`, options);
  const flags = fieldFlags(noun);
  return {
    get: verb({
      name: 'get',
      summary: `Get one or several ${plural}`,
      operation: operations.get,
      examples: examples.get,
      args: { ids: someIds },
      flags: { until: untilFlag },
      run: async (context, { ids, until }) =>
        (await import('../records/get.ts')).getRecords(context, noun, ids, until),
    }),
    create: verb({
      name: 'create',
      summary: `Create ${aRecord}, or many from a file`,
      description: `Creates ${aRecord}, or one for each record of a file. On a terminal it asks for what is missing.`,
      operation: operations.create,
      write: true,
      examples: examples.create,
      flags: {
        ...fieldFlags(noun, true),
        field: fieldFlag,
        from: fromFlag(`create ${aRecord} for each record of this file`, Object.keys(flags)),
      },
      run: async (context, { from, field, ...values }) =>
        (await import('../records/create.ts')).createRecords(context, noun, { from, field, values }),
    }),
    update: verb({
      name: 'update',
      summary: `Change ${plural}`,
      description: `Changes only what the flags name: reads each ${singular} and writes it back. With --from it is a run, like inventory apply: plan, question, journal, resume and undo.`,
      operation: operations.update,
      write: true,
      examples: examples.update,
      args: { ids: idsOrFile },
      flags: {
        ...flags,
        field: fieldFlag,
        from: fromFlag(`change the ${plural} of this file, each by its id`),
        ...updateFileFlags,
      },
      run: async (context, { ids, from, field, ...others }) => {
        const [runFlags, values] = splitFlags(others, updateFileFlags);
        if (from === undefined) {
          const [name] = Object.keys(runFlags);
          if (name !== undefined)
            throw new UsageError(
              `update ${singular}: ${flagName(updateFileFlags, name)} goes with --from only`,
            );
          const { updateRecords } = await import('../records/update.ts');
          return updateRecords(context, noun, ids, { field, values });
        }
        const { updateFromFile } = await import('./runs/update-from-file.ts');
        return updateFromFile(context, noun, { ids, from, field, values, flags: runFlags });
      },
    }),
    edit: verb({
      name: 'edit',
      summary: `Edit ${aRecord} as YAML in an editor`,
      description: `Opens the ${singular} as YAML in $VISUAL, $EDITOR or vi. If it is saved unchanged or empty, nothing is sent. An invalid text is opened again with the reason on top. Text that is not sent is kept in a file.`,
      operation: operations.update,
      write: true,
      examples: examples.edit,
      args: { id },
      run: async (context, values) =>
        (await import('../records/edit-record.ts')).editRecord(context, noun, values.id),
    }),
    remove: verb({
      name: 'delete',
      aliases: ['rm'],
      summary: deleteSummary,
      operation: operations.delete,
      write: true,
      examples: examples.delete,
      args: { ids: idsOrFile },
      flags: { from: fromFlag(`delete the ${plural} whose ids this file has`) },
      run: async (context, values) =>
        (await import('../records/delete.ts')).deleteByIdsOrFile(context, noun, values),
    }),
  };
}

/** The flags of the fields of a noun, by their columns. */
function fieldFlags({ fields }: RecordNoun, isNew = false): Record<string, Flag> {
  const flags: Record<string, Flag> = {};
  for (const field of fields) {
    const { fallback } = field;
    const key = columnOf(field);
    const summary =
      isNew && fallback !== undefined ? `${field.summary} (default: ${fallback})` : field.summary;
    flags[key] = toFlag(field, summary);
    if (field.kind !== 'truth') continue;
    const name = flagOf(field);
    const opposite = flag(name.replace('--', '--no-'), `the opposite of ${name}`);
    flags[`no ${key}`] = { ...opposite, key, parse: () => false };
  }
  return flags;
}

function toFlag(field: Field, summary: string): Flag {
  const noun = referenceFields[field.name];
  if (noun) return referenceFlag(noun, summary);
  const { placeholder, choices, parse } = fieldKinds[field.kind];
  const name = flagOf(field);
  if (placeholder === undefined) return flag(name, summary);
  const syntax = `${name} <${placeholder}>`;
  return choices ? choice(syntax, summary, choices) : value(syntax, summary, { parse });
}

/** The flags of a run and the others, of those that were given. */
function splitFlags(
  values: Readonly<Record<string, unknown>>,
  runFlags: Readonly<Record<string, unknown>>,
): [ApplyFlags, Body] {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  const part = (isOfRun: boolean) =>
    Object.fromEntries(entries.filter(([name]) => Object.hasOwn(runFlags, name) === isOfRun));
  return [part(true), part(false)];
}

/** `--max-changes` of `--max-changes <n or n%>`. */
function flagName(flags: Readonly<Record<string, Flag>>, name: string): string {
  return flags[name]?.syntax.split(' ')[0] ?? name;
}
