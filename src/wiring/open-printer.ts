import type { OutputFormat } from '../config/choices.ts';
import type { Context } from '../context.ts';
import { createPrinter, type Printer } from '../output/print.ts';

/** @param format for a command with a default of its own; else the one of the settings. */
export async function openPrinter(context: Context, format?: OutputFormat): Promise<Printer> {
  const settings = await context.settings();
  const { fields, sort, header, quiet } = context.flags;
  return createPrinter(context.io, {
    format: format ?? settings.get('output'),
    fields: fields?.split(',').map((field) => field.trim()),
    sort,
    header: header !== false,
    color: settings.get('color'),
    quiet: quiet === true,
    statusLine: context.statusLine,
  });
}
