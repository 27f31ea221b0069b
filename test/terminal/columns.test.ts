import { expect, test } from 'vitest';
import { commandsOf } from '../../src/cli/help.ts';
import { type Command, isGroup } from '../../src/cli/verb.ts';
import { program } from '../../src/commands/index.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed, runAt } from '../helpers/run-cli.ts';

/** Commands whose columns depend on something that must exist first: a run, a profile. */
const dependent = ['runs show', 'undo', 'offline pull'];

/** The first example of each command that is one plain line, without the name of the program. */
async function plainExamples(isWanted: (command: Command) => boolean): Promise<string[]> {
  const lines: string[] = [];
  for await (const { command, path } of commandsOf(program)) {
    if (isGroup(command) || dependent.includes(path.join(' ')) || !isWanted(command)) continue;
    const words = `petstore ${path.join(' ')}`;
    const example = command.examples.find((text) => text.startsWith(words) && !/["'|>]/.test(text));
    if (example !== undefined) lines.push(example.slice('petstore '.length));
  }
  return lines;
}

const hasView = (command: Command) => 'view' in command;

const printing = (await plainExamples(hasView)).map((line) =>
  line.startsWith('smoke') ? `${line} --dry-run` : line,
);

test.each(printing)(
  '%j lists its columns with --fields help, and sends nothing for a wrong one',
  async (line) => {
    await using server = await recordingServer({});
    const { code, stdout, stderr } = await runAt(server, `${line} --fields help`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^([\w-]+\n){2,}$/);
    const wrong = await runAt(server, `${line} --fields colour`);
    expect(wrong).toMatchObject(failed(2, " have no field 'colour'; they have "));
    expect(server.requests).toEqual([]);
  },
);

const silent = (await plainExamples((node) => !hasView(node))).filter((line) => !line.startsWith('help'));

test.each(silent)('%j takes no --sort, because it prints no columns', async (line) => {
  await using server = await recordingServer({});
  const run = await runAt(server, `${line.replace(' -- ', ' ')} --sort name`);
  expect(run).toMatchObject(failed(2, '--fields and --sort do not apply: it prints no columns\n'));
  expect(server.requests).toEqual([]);
});
