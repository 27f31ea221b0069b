import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { confirmDestruction } from '../../asking.ts';
import { choice, flag } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import { userFolder } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { ensureFolder, writeFileAtomic } from '../../files.ts';
import type { Io } from '../../io.ts';
import { shellWord } from '../../text.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof shells)[number];

/** The names of the scripts in `completions/`; `_petstore` is the name that zsh looks for. */
const scriptNames: Readonly<Record<Shell, string>> = {
  bash: 'petstore.bash',
  zsh: '_petstore',
  fish: 'petstore.fish',
  powershell: 'petstore.ps1',
};

export const completion = action({
  examples: [
    'source <(petstore completion bash)',
    'petstore completion fish | source',
    'petstore completion --install',
  ],
  args: { shell: choice('[shell]', 'the shell to complete in', shells) },
  flags: { install: flag('--install', 'put the script where the shell looks for it; asks first') },
  async run(context, { shell, install }) {
    if (install) return installCompletion(context, shell);
    if (!shell) throw new UsageError('completion: no shell named', `one of ${shells.join(', ')}`);
    await context.io.stdout.write(await readScript(context.io, shell));
  },
});

function readScript({ packageDir }: Io, shell: Shell): Promise<string> {
  return readFile(join(packageDir, 'completions', scriptNames[shell]), 'utf8');
}

/**
 * Installs a shell's script in the folder where that shell looks for completions, after asking; an up-to-date script is left
 * alone. Prints the remaining steps, and how to undo it.
 */
async function installCompletion(context: Context, named: Shell | undefined): Promise<void> {
  const { io, notice } = context;
  const shell = named ?? currentShell(io);
  const target = installPath(io, shell);
  const script = await readScript(io, shell);
  if ((await readFile(target, 'utf8').catch(() => undefined)) === script) {
    await notice(`${target} is up to date`);
  } else {
    await confirmDestruction(context, `write the ${shell} completion to ${target}`);
    await ensureFolder(dirname(target));
    await writeFileAtomic(target, script, 0o644);
    await notice(`wrote ${target}`);
  }
  for (const line of nextSteps(shell, target)) await notice(line);
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

function installPath(io: Io, shell: Shell): string {
  const data = userFolder(io, 'XDG_DATA_HOME');
  const config = userFolder(io, 'XDG_CONFIG_HOME');
  const folders: Readonly<Record<Shell, string>> = {
    bash: join(data, 'bash-completion', 'completions'),
    zsh: join(data, 'zsh', 'site-functions'),
    fish: join(config, 'fish', 'completions'),
    powershell: join(config, 'powershell', 'completions'),
  };
  // bash-completion finds a script by the command's bare name.
  return join(folders[shell], shell === 'bash' ? 'petstore' : scriptNames[shell]);
}

/** The remaining steps for the user, and how to undo the installation. */
function nextSteps(shell: Shell, target: string): string[] {
  const file = shellWord(target);
  const steps: Readonly<Record<Shell, string[]>> = {
    bash: [
      'next: open a new shell; without the bash-completion package, put this in ~/.bashrc:',
      `  . ${file}`,
    ],
    zsh: [
      'next: put this in ~/.zshrc, before compinit, and open a new shell:',
      `  fpath=(${shellWord(dirname(target))} $fpath)`,
    ],
    fish: ['next: open a new shell'],
    powershell: [
      'next: put this in the file that $PROFILE names, and open a new shell:',
      `  . ${powershellWord(target)}`,
    ],
  };
  const removal = shell === 'powershell' ? `Remove-Item ${powershellWord(target)}` : `rm ${file}`;
  return [...steps[shell], `to undo: ${removal}`];
}

/** Text as one word of PowerShell. */
function powershellWord(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
