import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completionFiles } from '../../src/commands/completion/scripts.ts';
import { readTree } from '../../src/commands/completion/tree.ts';
import { createWholeProgram } from '../../src/commands/program.ts';
import { createContext } from '../../src/context.ts';
import { fakeIo } from '../helpers/run-cli.ts';
import { cliPath, nodeBinary } from '../helpers/spawn-cli.ts';

let folder: string;
let env: Record<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-completion-'));
  writeFileSync(join(folder, 'petstore'), `#!/bin/sh\nexec '${nodeBinary}' '${cliPath}' "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(
    join(folder, '.zshrc'),
    [
      'PROMPT=; unsetopt zle_bracketed_paste prompt_sp prompt_cr no_match',
      'autoload -Uz compinit; compinit -u -D',
      'setopt no_list_ambiguous no_auto_menu; LISTMAX=10000; COLUMNS=200',
      `source ${process.cwd()}/completions/_petstore`,
      // Keys that come before the line editor runs would be lost.
      'zle-line-init() { print -n READY }; zle -N zle-line-init',
    ].join('\n'),
  );
  env = {
    PATH: `${folder}:${process.env.PATH}`,
    HOME: folder,
    ZDOTDIR: folder,
    TERM: 'dumb',
    PETSTORE_CONFIG_DIR: join(folder, 'config'),
    PETSTORE_STATE_DIR: join(folder, 'state'),
  };
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the scripts are those that the command tree gives; if not: npm run completions', async () => {
  const program = await createWholeProgram(createContext(fakeIo()), { out: '', err: '' });
  for (const [name, text] of completionFiles(readTree(program))) {
    expect(readFileSync(join('completions', name), 'utf8'), name).toBe(text);
  }
});

const offersIn = { bash: bashOffers, zsh: zshOffers, fish: fishOffers };

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  const offers = offersIn[shell];
  const here = spawnSync(shell, ['-c', ':']).status === 0;

  test.runIf(here)('offers the nouns', () => {
    expect(offers('petstore ')).toEqual(
      expect.arrayContaining(['pets', 'categories', 'orders', 'inventory']),
    );
  });

  test.runIf(here)('offers the verbs of a noun, by its alias too, past global flags', () => {
    expect(offers('petstore --profile x pet ')).toEqual(expect.arrayContaining(['list', 'create', 'delete']));
  });

  test.runIf(here)('offers the values of a flag', () => {
    expect(offers('petstore pets list --status ').sort()).toEqual(['available', 'pending', 'sold']);
  });

  test.runIf(here)('offers profiles and the categories of the store that the line names', () => {
    expect(offers('petstore pets list --profile ')).toEqual(['offline']);
    expect(offers('petstore --offline pets list --category ')).toEqual(
      expect.arrayContaining(['Birds', 'Cats', 'Dogs']),
    );
  });

  test.runIf(here)('offers formats after -o and flags after a dash', () => {
    expect(offers('petstore pets list -o js').sort()).toEqual(['json', 'jsonl']);
    expect(offers('petstore pets list --s').sort()).toEqual(['--sort', '--status']);
  });
});

function bashOffers(line: string): string[] {
  const script = `source completions/petstore.bash
COMP_WORDS=(${line}"\${1-}"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _petstore; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const words = line.endsWith(' ') ? line : `${line.slice(0, line.lastIndexOf(' '))} `;
  const last = line.slice(words.length);
  return lines(
    execFileSync('bash', ['-c', script.replace(line, words), 'bash', last], { env, encoding: 'utf8' }),
  );
}

function fishOffers(line: string): string[] {
  const script = 'source completions/petstore.fish; complete -C "$argv[1]"';
  const output = execFileSync('fish', ['--no-config', '-c', script, line], { env, encoding: 'utf8' });
  return lines(output).map((offer) => offer.split('\t')[0] ?? '');
}

/** Types the line into an interactive zsh, presses Tab, and reads the list that it draws. */
function zshOffers(line: string): string[] {
  const script = 'test/completions/complete.zsh';
  const screen = execFileSync('zsh', ['-f', script, line], { env, encoding: 'utf8', timeout: 10_000 });
  const drawn = screen.slice(screen.indexOf(line) + line.length).replace(/print -r DONE[\s\S]*$/, '');
  const rows = drawn.split(/[\r\n]+/).filter((row) => !row.startsWith('petstore '));
  return rows
    .flatMap((row) => (row.includes(' -- ') ? [row.split(/\s+/)[0] ?? ''] : row.split(/\s+/)))
    .filter((word) => /^[-\w]+$/.test(word));
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
