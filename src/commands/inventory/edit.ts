import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PetStatus } from '../../api/schemas.ts';
import { listInventory } from '../../bulk/counts.ts';
import { resolvePaths } from '../../config/paths.ts';
import { type Context, commandLine } from '../../context.ts';
import { findEditor, openDraft } from '../../input/editor.ts';
import { ManyError, UsageError } from '../../process/errors.ts';
import { ensurePrivateFolder, writeFileAtomic } from '../../process/files.ts';
import { applyInput } from './apply.ts';
import type { ApplyFlags } from './flags.ts';

interface EditFilter {
  readonly below?: number | undefined;
  readonly status?: readonly PetStatus[] | undefined;
}

const help = [
  '# Change the quantities and save. A row applies only if the count is still the one under expected.',
  '# Rows that you delete are left alone. Save without a change, or empty the file, to change nothing.',
];

/** Lets the user change counts in an editor, and applies the saved version. */
export async function editInventory(context: Context, filter: EditFilter, flags: ApplyFlags): Promise<void> {
  const editor = findEditor(context, 'edit inventory');
  const text = await readText(context, filter);
  if (text === undefined) return context.notice('no inventory entries to edit');
  const draft = await openDraft(context, editor, 'inventory.csv');
  const edited = await draft.edit(text).catch(async (error) => {
    await context.notice(`the text is kept in ${draft.path}; nothing was sent`);
    throw error;
  });
  await draft.discard();
  if (edited === text || withoutHelp(edited).trim() === '')
    return context.notice('nothing changed, nothing was sent');
  const path = await keepText(context, withoutHelp(edited));
  try {
    await applyInput(context, path, flags);
  } catch (error) {
    await context.notice(`the edited text is kept in ${path}`);
    // The hint of an error may name a flag that only apply has.
    if (error instanceof UsageError || error instanceof ManyError)
      await context.notice(`to apply it: ${commandLine(context, ['inventory', 'apply', path])}`);
    throw error;
  }
  await rm(path, { force: true });
}

async function readText(context: Context, { below, status }: EditFilter): Promise<string | undefined> {
  const client = await context.client();
  const rows: string[] = [];
  for await (const page of listInventory(client))
    for (const item of page) {
      if (below !== undefined && !(item.quantity < below)) continue;
      if (status && !status.includes(item.status as PetStatus)) continue;
      rows.push(`${item.petId},${item.quantity},${item.quantity},${item.status}\n`);
    }
  if (rows.length === 0) return undefined;
  return `${help.join('\n')}\npetId,quantity,expected,status\n${rows.join('')}`;
}

/** Lines of help become blank, so that errors have the line numbers that the editor shows. */
function withoutHelp(text: string): string {
  return text.replace(/^#.*$/gm, '');
}

/** Keeps the text in a file, so that a stopped run can be resumed from it. */
async function keepText({ io, now }: Context, text: string): Promise<string> {
  const folder = join(resolvePaths(io).stateDir, 'edits');
  const path = join(folder, `inventory-${now().toISOString().replace(/\D/g, '')}.csv`);
  await ensurePrivateFolder(folder);
  await writeFileAtomic(path, text);
  return path;
}
