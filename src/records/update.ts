import { confirmWrite } from '../asking.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output/print.ts';
import { UsageError } from '../process/errors.ts';
import type { Fields } from '../writes/value.ts';
import { openAccess } from './access.ts';
import {
  checkOfferedFields,
  extraFields,
  flagFields,
  type RecordFlags,
  toServiceValues,
} from './body-fields.ts';
import { checkIdsOrFile, type IdOrName } from './parse-values.ts';
import { type Body, flagOf, nameAll, namedNoun, type RecordNoun } from './record-nouns.ts';
import { writeRecords } from './write-records.ts';

/** Changes fields of records: reads each record, changes the fields, and writes it back. */
export async function updateRecords(
  context: Context,
  noun: RecordNoun,
  idsOrNames: readonly IdOrName[],
  { fieldTexts, values }: RecordFlags,
): Promise<Output | undefined> {
  const flagged = toServiceValues(await context.contract(), noun, flagFields(noun, values));
  checkUpdate(noun, idsOrNames, { ...flagged, ...(fieldTexts && { fieldTexts }) });
  const access = await openAccess(context, noun, noun.operations.update);
  const body = { ...flagged, ...extraFields(access, fieldTexts) };
  checkOfferedFields(access, body);
  const ids = await access.names.idsOf(namedNoun(noun), idsOrNames);
  await confirmWrite(context, { what: `change ${nameAll(noun, ids)}` });
  const value = (await access.names.resolve(body)) as Fields;
  const writes = ids.map((id) => ({ id, intent: { kind: 'set', value } as const }));
  return writeRecords(access, writes, { asList: ids.length > 1 });
}

/** Checks that ids, flags and a file go together. @throws UsageError. */
export function checkUpdate(
  { singular, fields }: RecordNoun,
  ids: readonly IdOrName[],
  body: Body,
  from?: string,
): void {
  const subject = `update ${singular}`;
  const isEmpty = Object.keys(body).length === 0;
  checkIdsOrFile(subject, ids, from);
  if (from !== undefined && !isEmpty)
    throw new UsageError(`${subject}: --from cannot be given with flags of fields`);
  if (from === undefined && isEmpty)
    throw new UsageError(
      `${subject}: nothing to change`,
      `give one or more of ${fields.map(flagOf).join(', ')}`,
    );
}
