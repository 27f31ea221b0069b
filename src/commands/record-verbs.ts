import { argument, type Flag } from '../cli/flag.ts';
import { verb } from '../cli/verb.ts';
import { UsageError } from '../process/errors.ts';
import type { Body, EditableNoun } from '../records/noun.ts';
import { parseId, parseIdOrName } from '../records/parse-values.ts';
import { fieldFlag, fromFlag, untilFlag } from './arguments.ts';
import { type ApplyFlags, updateFileFlags } from './runs/run-flags.ts';

/** The differences between the verbs of pets, categories and orders, which are otherwise the same. */
interface RecordWords<Entity extends object> {
  /** With its article, such as `a pet`. */
  readonly aRecord: string;
  readonly singular: 'pet' | 'category' | 'order';
  readonly plural: string;
  /** As the operations name it: `Pet` of `getPet`. */
  readonly result: 'Pet' | 'Category' | 'Order';
  /** True if only ids are accepted, because its records have no names. */
  readonly isNameless?: true;
  /** By the columns of the fields. */
  readonly flags: Readonly<Record<string, Flag>>;
  /** The flags of `create` that have another summary there. */
  readonly createFlags?: Readonly<Record<string, Flag>>;
  /** The summary of `delete`. */
  readonly deleteSummary: string;
  readonly examples: Readonly<Record<'get' | 'create' | 'update' | 'edit' | 'delete', readonly string[]>>;
  noun(): Promise<EditableNoun<Entity>>;
}

/** The verbs of a noun for its records: all that read or change some of them. */
export function recordVerbs<Entity extends object>({
  noun,
  aRecord,
  singular,
  plural,
  result,
  isNameless,
  flags,
  createFlags,
  deleteSummary,
  examples,
}: RecordWords<Entity>) {
  const word = isNameless ? 'id' : 'id or name';
  const words = isNameless ? 'ids' : 'ids or names';
  const parse = (text: string) => (isNameless ? parseId(text, 'id') : parseIdOrName(text, 'id'));
  const someIds = argument(`<${word}...>`, `${words} of ${plural}`, { parse, offers: singular });
  const idsOrFile = argument(`[${word}...]`, `${words} of ${plural}`, { parse, offers: singular });
  const id = argument(`<${word}>`, `${word} of the ${singular}`, { parse, offers: singular });
  return {
    get: verb({
      name: 'get',
      summary: `Get one or several ${plural}`,
      operation: `get${result}`,
      examples: examples.get,
      args: { ids: someIds },
      flags: { until: untilFlag },
      run: async (context, { ids, until }) =>
        (await import('../records/get.ts')).getRecords(context, await noun(), ids, until),
    }),
    create: verb({
      name: 'create',
      summary: `Create ${aRecord}, or many from a file`,
      description: `Creates ${aRecord}, or one for each record of a file. On a terminal it asks for what is missing.`,
      operation: `create${result}`,
      write: true,
      examples: examples.create,
      flags: {
        ...flags,
        ...createFlags,
        field: fieldFlag,
        from: fromFlag(`create ${aRecord} for each record of this file`, Object.keys(flags)),
      },
      run: async (context, { from, field, ...values }) =>
        (await import('../records/create.ts')).createRecords(context, await noun(), { from, field, values }),
    }),
    update: verb({
      name: 'update',
      summary: `Change ${plural}`,
      description: `Changes only what the flags name: reads each ${singular} and writes it back. With --from it is a run, like inventory apply: plan, question, journal, resume and undo.`,
      operation: `update${result}`,
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
        const [flags, values] = splitFlags(others, updateFileFlags);
        if (from === undefined) {
          const [name] = Object.keys(flags);
          if (name !== undefined)
            throw new UsageError(
              `update ${singular}: ${flagName(updateFileFlags, name)} goes with --from only`,
            );
          const { updateRecords } = await import('../records/update.ts');
          return updateRecords(context, await noun(), ids, { field, values });
        }
        const { updateFromFile } = await import('./runs/update-from-file.ts');
        return updateFromFile(context, await noun(), { ids, from, field, values, flags });
      },
    }),
    edit: verb({
      name: 'edit',
      summary: `Edit ${aRecord} as YAML in an editor`,
      description: `Opens the ${singular} as YAML in $VISUAL, $EDITOR or vi. If it is saved unchanged or empty, nothing is sent. An invalid text is opened again with the reason on top. Text that is not sent is kept in a file.`,
      operation: `update${result}`,
      write: true,
      examples: examples.edit,
      args: { id },
      run: async (context, values) =>
        (await import('../records/edit-record.ts')).editRecord(context, await noun(), values.id),
    }),
    remove: verb({
      name: 'delete',
      aliases: ['rm'],
      summary: deleteSummary,
      operation: `delete${result}`,
      write: true,
      examples: examples.delete,
      args: { ids: idsOrFile },
      flags: { from: fromFlag(`delete the ${plural} whose ids this file has`) },
      run: async (context, values) =>
        (await import('../records/delete.ts')).deleteByIdsOrFile(context, await noun(), values),
    }),
  };
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
