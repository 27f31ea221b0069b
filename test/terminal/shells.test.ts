import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  mkdirSync(join(folder, 'typed'));
  writeFileSync(
    join(folder, 'typed', 'petstore'),
    `#!/bin/sh\nexport PETSTORE_OFFLINE_STORE='${folder}/store.json'\nexec '${nodeBinary}' '${cliPath}' "$@"\n`,
    { mode: 0o755 },
  );
  const names = createdNames.map((name) => JSON.stringify({ name })).join('\n');
  execFileSync(nodeBinary, [cliPath, '--offline', 'categories', 'create', '--from', '-'], {
    input: names,
    env: { ...process.env, PETSTORE_OFFLINE_STORE: join(folder, 'store.json') },
  });
  const show = `PATH='${folder}/typed':$PATH; show() { printf 'GIVEN'; printf '<%s>' "$@"; printf 'SHOWN\\n'; }`;
  writeFileSync(
    join(folder, 'typed', '.bashrc'),
    [`source ${process.cwd()}/completions/petstore.bash`, show, 'PS1=READY'].join('\n'),
  );
  writeFileSync(
    join(folder, 'typed', '.zshrc'),
    [
      'PROMPT=; unsetopt zle_bracketed_paste prompt_sp prompt_cr; bindkey -e',
      'autoload -Uz compinit; compinit -u -D',
      `source ${process.cwd()}/completions/_petstore`,
      show,
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

test('the scripts only ask the program: none is longer than 120 lines, or names a command', () => {
  for (const name of ['petstore.bash', '_petstore', 'petstore.fish', 'petstore.ps1']) {
    const text = readFileSync(join('completions', name), 'utf8');
    expect(text.split('\n').length, name).toBeLessThan(120);
    expect(text, name).toContain('petstore __complete');
    expect(text, name).not.toMatch(/inventory|--status/);
  }
});

const offersIn = { bash: bashOffers, zsh: zshOffers, fish: fishOffers };

function isHere(shell: string): boolean {
  return spawnSync(shell, ['-c', ':']).status === 0;
}

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  const offers = offersIn[shell];
  const here = isHere(shell);

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

  test.runIf(here)('offers pets by name once a letter is typed', { retry: 2 }, () => {
    expect(offers('petstore --offline pets get C')).toEqual(
      expect.arrayContaining(['Charlie', 'Cleo', 'Coco']),
    );
  });

  test.runIf(here)('offers methods, topics of help and results to fail on', () => {
    expect(offers('petstore api request P').sort()).toEqual(['PATCH', 'POST', 'PUT']);
    expect(offers('petstore help p').sort()).toEqual(['pets', 'profile']);
    expect(offers('petstore help e').sort()).toEqual(['environment', 'exit-codes']);
  });

  test.runIf(here)('offers formats after -o and flags after a dash', () => {
    expect(offers('petstore pets list -o js').sort()).toEqual(['json', 'jsonl']);
    expect(offers('petstore pets list --s').sort()).toEqual(['--sort', '--status']);
  });
});

test.runIf(isHere('bash'))('bash offers whole words if = is not a word break, as npm leaves it', () => {
  const line = 'petstore pets list --status=s';
  expect(bashOffers(line)).toEqual(['sold']);
  expect(bashOffers(line, ':')).toEqual(['--status=sold']);
});

test.runIf(isHere('fish'))('fish offers the next value after a comma', () => {
  expect(fishOffers('petstore pets list --status=sold,p')).toEqual(['--status=sold,pending']);
  expect(fishOffers('petstore pets list --fields id,na')).toEqual(['id,name']);
});

test.runIf(isHere('fish'))('fish offers files, after = too', () => {
  expect(fishOffers('petstore pets create --from READ')).toEqual(['README.md']);
  expect(fishOffers('petstore pets create --from=READ')).toEqual(['--from=README.md']);
});

const createdNames = ["Bob's", 'Say "hi"', 'aa:bb', 'cost $5', 'back\\slash', 'x=y', 'tick`s`'];
const awkwardNames = ['Small mammals', ...createdNames];

describe.each(['bash', 'zsh'] as const)('in %s a Tab', (shell) => {
  const here = [shell, 'zsh'].every(isHere);

  test.runIf(here)('writes a category as the shell reads it back: bare, in quotes, after =', () => {
    const lines = awkwardNames.flatMap((name) => [
      `petstore --offline pets list --category ${name.slice(0, 2)}`,
      `petstore --offline pets list --category "${name.slice(0, 2)}`,
      `petstore --offline pets list --category '${name.slice(0, 2)}`,
    ]);
    lines.push(
      'petstore --offline pets list --category Small\\ m',
      'petstore --offline pets list --category aa:',
    );
    const named = (name: string) => `<petstore><--offline><pets><list><--category><${name}>`;
    expect(typed(shell, lines)).toEqual([
      ...awkwardNames.flatMap((name) => [named(name), named(name), named(name)]),
      named('Small mammals'),
      named('aa:bb'),
    ]);
  });

  test.runIf(here)('writes the next value after a comma', () => {
    const lines = ['--fields id,na', '--fields=id,na', '--status=sold,pe'];
    expect(
      typed(
        shell,
        lines.map((line) => `petstore --offline pets list ${line}`),
      ),
    ).toEqual(
      ['--fields><id,name', '--fields=id,name', '--status=sold,pending'].map(
        (word) => `<petstore><--offline><pets><list><${word}>`,
      ),
    );
  });

  test.runIf(here)('writes the value of --flag=', () => {
    const lines = [
      '--category=Sm',
      '--category="Sm',
      '--category=aa:',
      '--category=x=',
      '--status=avail',
      '--status="avail',
    ];
    expect(
      typed(
        shell,
        lines.map((line) => `petstore --offline pets list ${line}`),
      ),
    ).toEqual(
      [
        '--category=Small mammals',
        '--category=Small mammals',
        '--category=aa:bb',
        '--category=x=y',
        '--status=available',
        '--status=available',
      ].map((word) => `<petstore><--offline><pets><list><${word}>`),
    );
  });
});

/** Types each line and a Tab into an interactive shell, and gives the words that it then reads. */
function typed(shell: 'bash' | 'zsh', lines: readonly string[]): string[] {
  const output = execFileSync('zsh', ['-f', 'test/terminal/type.zsh', shell, ...lines], {
    env: { ...env, HOME: join(folder, 'typed'), ZDOTDIR: join(folder, 'typed'), LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
    timeout: 25_000,
  });
  return output.trimEnd().split('\n');
}

/** Splits the line as bash does, at the characters of COMP_WORDBREAKS too. */
function bashOffers(line: string, breaks = '='): string[] {
  const words = line.split(' ').flatMap((word) => word.split(new RegExp(`(?<=[${breaks}])|(?=[${breaks}])`)));
  const script = `source completions/petstore.bash
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _petstore; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return lines(execFileSync('bash', ['-c', script, 'bash', ...words], { env, encoding: 'utf8' }));
}

function fishOffers(line: string): string[] {
  const script = 'source completions/petstore.fish; complete -C "$argv[1]"';
  const output = execFileSync('fish', ['--no-config', '-c', script, line], { env, encoding: 'utf8' });
  return lines(output).map((offer) => offer.split('\t')[0] ?? '');
}

/** Types the line into an interactive zsh, presses Tab, and reads the list that it draws. */
function zshOffers(line: string): string[] {
  const script = 'test/terminal/complete.zsh';
  const screen = execFileSync('zsh', ['-f', script, line], { env, encoding: 'utf8', timeout: 25_000 });
  const drawn = screen.slice(screen.indexOf(line) + line.length).replace(/print -r DONE[\s\S]*$/, '');
  const rows = drawn.split(/[\r\n]+/).filter((row) => !row.startsWith('petstore '));
  return rows
    .flatMap((row) => (row.includes(' -- ') ? [row.split(/\s+/)[0] ?? ''] : row.split(/\s+/)))
    .filter((word) => /^[-\w]+$/.test(word));
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
