import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argument, parseWord } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';

/** The scripts in `completions/`; zsh looks for this name. */
const scripts = {
  bash: 'petstore.bash',
  zsh: '_petstore',
  fish: 'petstore.fish',
  powershell: 'petstore.ps1',
} as const;

const shellNames = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const completion = action({
  description: [
    'Prints the completion script of a shell, which each new shell must load.',
    {
      items: [
        ['bash', 'put `source <(petstore completion bash)` into ~/.bashrc'],
        ['zsh', 'put `source <(petstore completion zsh)` into ~/.zshrc, after compinit'],
        ['fish', '`petstore completion fish > ~/.config/fish/completions/petstore.fish`'],
        ['powershell', 'put `petstore completion powershell | Out-String | Invoke-Expression` into $PROFILE'],
      ],
    },
  ],
  examples: ['source <(petstore completion bash)', 'petstore completion fish | source'],
  args: {
    shell: argument('<shell>', 'the shell to complete in', {
      parse: parseWord(shellNames),
      choices: shellNames,
    }),
  },
  async run({ io }, { shell }) {
    await io.stdout.write(await readFile(join(io.packageDir, 'completions', scripts[shell]), 'utf8'));
  },
});
