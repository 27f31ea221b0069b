import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "petstore-home's-"));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const install = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCli(['completion', ...words], { env: { HOME: home, ...env } });

describe.each([
  ['bash', '.local/share/bash-completion/completions/petstore', 'petstore.bash'],
  ['zsh', '.local/share/zsh/site-functions/_petstore', '_petstore'],
  ['fish', '.config/fish/completions/petstore.fish', 'petstore.fish'],
  ['powershell', '.config/powershell/completions/petstore.ps1', 'petstore.ps1'],
])('completion --install for %s', (shell, path, script) => {
  test('puts the script where the shell looks for it, and says how to undo it', async () => {
    const { code, stdout, stderr } = await install([shell, '--install', '--yes']);
    expect([code, stdout]).toEqual([0, '']);
    expect(readFileSync(join(home, path), 'utf8')).toBe(readFileSync(join('completions', script), 'utf8'));
    expect(stderr).toContain(`wrote ${join(home, path)}\n`);
    expect(stderr).toMatch(new RegExp(`^to undo: .*${path.replaceAll('.', '\\.')}`, 'm'));
  });

  test('asks nothing and writes nothing if the script is already there', async () => {
    await install([shell, '--install', '--yes']);
    const { code, stderr } = await install([shell, '--install']);
    expect(code).toBe(0);
    expect(stderr).toContain(`${join(home, path)} is up to date\n`);
  });
});

test('completion --install takes the shell from SHELL, and asks for a name if it does not know that shell', async () => {
  const { stderr } = await install(['--install', '--yes'], { SHELL: '/usr/bin/fish' });
  expect(stderr).toContain('petstore.fish');
  const unknown = await install(['--install', '--yes'], { SHELL: '/bin/tcsh' });
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    'error: completion --install: SHELL does not name a known shell\nhint: name one of bash, zsh, fish, powershell\n',
  ]);
});

test('completion --install finds the home folder by the rules of the config', async () => {
  const named = await install(['bash', '--install'], { HOME: '', XDG_DATA_HOME: 'relative' });
  expect(named.stderr).toContain(`to ${join(userInfo().homedir, '.local/share')}`);
  const xdg = await install(['bash', '--install'], { XDG_DATA_HOME: '/data' });
  expect(xdg.stderr).toContain('to /data/bash-completion/completions/petstore');
});

test('completion --install makes folders that nobody else may write to, whatever the umask', async () => {
  const umask = process.umask(0);
  try {
    await install(['zsh', '--install', '--yes']);
  } finally {
    process.umask(umask);
  }
  for (const path of [
    '.local',
    '.local/share/zsh/site-functions',
    '.local/share/zsh/site-functions/_petstore',
  ])
    expect(statSync(join(home, path)).mode & 0o022, path).toBe(0);
});

test('completion --install prints the line for zsh, ready to paste', async () => {
  const { stderr } = await install(['zsh', '--install', '--yes']);
  const folder = join(home, '.local/share/zsh/site-functions').replace("'", "'\\''");
  expect(stderr).toContain(`  fpath=('${folder}' $fpath)\n`);
});

test('completion --install needs --yes if there is no terminal', async () => {
  expect(await install(['bash', '--install'])).toEqual({
    code: 2,
    stdout: '',
    stderr: `error: write the bash completion to ${join(home, '.local/share/bash-completion/completions/petstore')}: needs confirmation, but there is no terminal\nhint: use --yes\n`,
  });
});

test('completion --install says why a file cannot be written', async () => {
  const target = join(home, '.config/fish/completions/petstore.fish');
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'keep'), '');
  const { code, stderr } = await install(['fish', '--install', '--yes']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: write .*petstore\.fish: /);
  expect(dirname(target)).toContain(home);
});
