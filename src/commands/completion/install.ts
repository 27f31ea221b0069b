import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { ensureFolder } from '../../files.ts';
import type { Io } from '../../io.ts';
import { type Shell, scriptNames, shells } from './shells.ts';

/** Puts a shell's script into the folder where that shell looks for completions, when the user agrees. */
export async function installCompletion(context: Context, named: Shell | undefined): Promise<void> {
  const { io } = context;
  const shell = named ?? currentShell(io);
  const target = installPath(io, shell);
  await agree(context, `Write the ${shell} completion to ${target}?`);
  await ensureFolder(dirname(target));
  await writeFile(target, await readFile(join(io.packageDir, 'completions', scriptNames[shell])));
  await context.notice(`wrote ${target}`);
  const step = remainingStep(shell, dirname(target));
  if (step) await context.notice(step);
}

async function agree(context: Context, question: string): Promise<void> {
  if (context.flags.yes) return;
  const prompt = await context.prompt();
  if (!prompt) throw new UsageError('completion --install: nobody can be asked', 'add --yes');
  if (!(await prompt.confirm(question))) throw new UsageError('completion --install: declined');
}

function currentShell({ env, platform }: Io): Shell {
  const name = basename(env.SHELL ?? (platform === 'win32' ? 'powershell' : ''));
  const shell = shells.find((each) => each === name || (each === 'powershell' && name === 'pwsh'));
  if (shell) return shell;
  throw new UsageError(
    'completion --install: SHELL names no shell that is known',
    `name one of ${shells.join(', ')}`,
  );
}

function installPath({ env }: Io, shell: Shell): string {
  const home = env.HOME ?? env.USERPROFILE;
  if (!home)
    throw new UsageError('completion --install: HOME is not set', 'use petstore completion <shell> > file');
  const data = env.XDG_DATA_HOME || join(home, '.local', 'share');
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  const folders: Readonly<Record<Shell, string>> = {
    bash: join(data, 'bash-completion', 'completions'),
    zsh: join(data, 'zsh', 'site-functions'),
    fish: join(config, 'fish', 'completions'),
    powershell: join(config, 'powershell', 'completions'),
  };
  // bash-completion finds a script by the command's bare name.
  return join(folders[shell], shell === 'bash' ? 'petstore' : scriptNames[shell]);
}

/** What the user's own start-up file has to say, where the shell does not look into the folder by itself. */
function remainingStep(shell: Shell, folder: string): string | undefined {
  if (shell === 'zsh') return `in ~/.zshrc, before compinit: fpath=(${folder} $fpath)`;
  if (shell === 'powershell') return `in $PROFILE: . ${join(folder, scriptNames.powershell)}`;
  return undefined;
}
