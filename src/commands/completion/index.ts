import { join } from 'node:path';
import { flag, oneOfArgument } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { type Shell, scriptNames, shells } from './shells.ts';

export const completion = action({
  examples: [
    'source <(petstore completion bash)',
    'petstore completion fish | source',
    'petstore completion --install',
  ],
  args: { shell: oneOfArgument('[shell]', 'the shell to complete in', shells) },
  flags: { install: flag('--install', 'put the script where the shell looks for it; asks first') },
  async run(context, { shell, install }) {
    if (install) return (await import('./install.ts')).installCompletion(context, shell);
    if (!shell) throw new UsageError('completion: no shell named', `one of ${shells.join(', ')}`);
    await context.io.stdout.write(await readScript(context, shell));
  },
});

async function readScript(context: Context, shell: Shell): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return await readFile(join(context.io.packageDir, 'completions', scriptNames[shell]), 'utf8');
}
