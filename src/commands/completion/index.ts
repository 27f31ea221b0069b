import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { Argument, verb } from '../command.ts';
import { type Shell, scriptNames, shells } from './shells.ts';

export function declare(context: Context) {
  return verb('completion', {
    summary: 'Print the completion script of a shell, or install it',
    examples: [
      'source <(petstore completion bash)',
      'petstore completion fish | source',
      'petstore completion --install',
    ],
  })
    .addArgument(new Argument('[shell]', 'whose script').choices(shells))
    .option('--install', 'put the script where the shell looks for it; asks first')
    .action(async (shell, { install }) => {
      if (install) {
        await (await import('./install.ts')).installCompletion(context, shell as Shell | undefined);
        return;
      }
      if (!shell) throw new UsageError('completion: no shell named', `one of ${shells.join(', ')}`);
      await context.io.stdout.write(await readScript(context, shell as Shell));
    });
}

export function readScript(context: Context, shell: Shell): Promise<string> {
  return readFile(join(context.io.packageDir, 'completions', scriptNames[shell]), 'utf8');
}
