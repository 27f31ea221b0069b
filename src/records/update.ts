import { confirmWrite } from '../asking.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output/print.ts';
import { UsageError } from '../process/errors.ts';
import type { Fields } from '../writes/value.ts';
import { openAccess } from './access.ts';
import { bodyOf, type RecordFlags } from './body-fields.ts';
import type { IdOrName } from './parse-values.ts';
import { flagOf, nameAll, namedNoun, type RecordNoun } from './record-nouns.ts';
import { writeRecords } from './write-records.ts';

/** Changes fields of records: reads each record, changes the fields, and writes it back. */
export async function updateRecords(
  context: Context,
  noun: RecordNoun,
  idsOrNames: readonly IdOrName[],
  flags: RecordFlags,
): Promise<Output | undefined> {
  const access = await openAccess(context, noun, noun.operations.update);
  const body = bodyOf(access, flags);
  if (Object.keys(body).length === 0)
    throw new UsageError(
      `update ${noun.singular}: nothing to change`,
      `give one or more of ${noun.fields.map(flagOf).join(', ')}`,
    );
  const ids = await access.names.idsOf(namedNoun(noun), idsOrNames);
  await confirmWrite(context, { what: `change ${nameAll(noun, ids)}` });
  const value = (await access.names.resolve(body)) as Fields;
  const writes = ids.map((id) => ({ id, intent: { kind: 'set', value } as const }));
  return writeRecords(access, writes, { asList: ids.length > 1 });
}
