import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { sanitize } from '../../text.ts';
import { type AnyCommand, Argument, addCommands, verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { type Shell, scriptNames, shells, type ValueKind, valueKinds } from './shells.ts';

export function declare(context: Context, entry: Entry) {
  const completion = verb(entry, {
    examples: [
      'source <(petstore completion bash)',
      'petstore completion fish | source',
      'petstore completion --install',
    ],
  })
    .usage('[flags] [shell]')
    .addArgument(new Argument('[shell]', 'the shell to complete in').choices(shells))
    .option('--install', 'put the script where the shell looks for it; asks first')
    .action(async (shell, { install }) => {
      if (install) {
        await (await import('./install.ts')).installCompletion(context, shell as Shell | undefined);
        return;
      }
      if (!shell) throw new UsageError('completion: no shell named', `one of ${shells.join(', ')}`);
      await context.io.stdout.write(await readScript(context, shell as Shell));
    });
  addCommands(completion as unknown as AnyCommand, [valuesCommand(context)], { hidden: true });
  return completion;
}

/** Called by the scripts themselves, for words that stand in no script. */
function valuesCommand(context: Context) {
  return verb({ name: 'values', summary: 'Print the names that may stand in a place' }, { examples: [] })
    .addArgument(new Argument('<kind>', 'the kind of names').choices(valueKinds))
    .action(async (kind) => {
      const { completionValues } = await import('./values.ts');
      const values = await completionValues(context, kind as ValueKind);
      await context.io.stdout.write(values.map((value) => `${sanitize(value)}\n`).join(''));
    });
}

async function readScript(context: Context, shell: Shell): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return await readFile(join(context.io.packageDir, 'completions', scriptNames[shell]), 'utf8');
}
