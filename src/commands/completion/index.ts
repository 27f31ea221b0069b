import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { confirmDestruction } from '../../asking.ts';
import { choice, flag } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import { userFolder } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../process/errors.ts';
import { ensurePrivateFolder, writeFileAtomic } from '../../process/files.ts';
import type { Io } from '../../process/io.ts';
import { shellWord } from '../../process/text.ts';

const shellNames = ['bash', 'zsh', 'fish', 'powershell'] as const;
type ShellName = (typeof shellNames)[number];

interface Shell {
  /** The name of the script in `completions/`. */
  readonly script: string;
  /** The file in which the shell looks for the script. */
  target(io: Io): string;
  /** What the user must do after the script is installed in `target`. */
  steps(target: string): string[];
}

const shells: Readonly<Record<ShellName, Shell>> = {
  bash: {
    script: 'petstore.bash',
    // bash-completion finds a script by the command's bare name.
    target: (io) => join(userFolder(io, 'XDG_DATA_HOME'), 'bash-completion', 'completions', 'petstore'),
    steps: (target) => [
      'next: open a new shell; without the bash-completion package, put this in ~/.bashrc:',
      `  . ${shellWord(target)}`,
    ],
  },
  zsh: {
    // zsh looks for this name.
    script: '_petstore',
    target: (io) => join(userFolder(io, 'XDG_DATA_HOME'), 'zsh', 'site-functions', '_petstore'),
    steps: (target) => [
      'next: put this in ~/.zshrc, before compinit, and open a new shell:',
      `  fpath=(${shellWord(dirname(target))} $fpath)`,
    ],
  },
  fish: {
    script: 'petstore.fish',
    target: (io) => join(userFolder(io, 'XDG_CONFIG_HOME'), 'fish', 'completions', 'petstore.fish'),
    steps: () => ['next: open a new shell'],
  },
  powershell: {
    script: 'petstore.ps1',
    target: (io) => join(userFolder(io, 'XDG_CONFIG_HOME'), 'powershell', 'completions', 'petstore.ps1'),
    steps: (target) => [
      'next: put this in the file that $PROFILE names, and open a new shell:',
      `  . ${powershellWord(target)}`,
    ],
  },
};

export const completion = action({
  examples: [
    'source <(petstore completion bash)',
    'petstore completion fish | source',
    'petstore completion --install',
  ],
  args: { shell: choice('[shell]', 'the shell to complete in', shellNames) },
  flags: { install: flag('--install', 'put the script where the shell looks for it; asks first') },
  async run(context, { shell, install }) {
    if (install) return installCompletion(context, shell ?? currentShell(context.io));
    if (!shell) throw new UsageError('completion: no shell given', `one of ${shellNames.join(', ')}`);
    await context.io.stdout.write(await readScript(context.io, shell));
  },
});

function readScript({ packageDir }: Io, shell: ShellName): Promise<string> {
  return readFile(join(packageDir, 'completions', shells[shell].script), 'utf8');
}

/**
 * Installs a shell's script in the folder where that shell looks for completions, after asking; an up-to-date script is
 * left alone. Prints the remaining steps, and how to undo it.
 */
async function installCompletion(context: Context, shell: ShellName): Promise<void> {
  const { io, print } = context;
  const target = shells[shell].target(io);
  const script = await readScript(io, shell);
  if ((await readFile(target, 'utf8').catch(() => undefined)) === script) {
    await print(`${target} is up to date`);
  } else {
    await confirmDestruction(context, `write the ${shell} completion to ${target}`);
    // The XDG specification asks for it; and zsh loads nothing from a folder that others may write to.
    await ensurePrivateFolder(dirname(target));
    await writeFileAtomic(target, script, 0o644);
    await print(`wrote ${target}`);
  }
  const removal =
    shell === 'powershell' ? `Remove-Item ${powershellWord(target)}` : `rm ${shellWord(target)}`;
  for (const line of [...shells[shell].steps(target), `to undo: ${removal}`]) await print(line);
}

function currentShell({ env, platform }: Io): ShellName {
  const name = basename(env.SHELL ?? (platform === 'win32' ? 'powershell' : ''));
  const shell = shellNames.find((each) => each === name || (each === 'powershell' && name === 'pwsh'));
  if (shell) return shell;
  throw new UsageError(
    'completion --install: SHELL does not name a known shell',
    `name one of ${shellNames.join(', ')}`,
  );
}

/** Text as one word of PowerShell. */
function powershellWord(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
