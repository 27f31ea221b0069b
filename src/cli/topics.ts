import { keyItems, ownVariables } from '../config/keys.ts';
import { fold } from '../output/fold.ts';
import { globalFlags, helpFlag, writeFlags } from './global-flags.ts';
import { meaningOf } from './help.ts';
import type { TopicName } from './topic-names.ts';

/** A page of help that belongs to no single command. */
export interface Topic {
  readonly title: string;
  readonly parts: readonly TopicPart[];
}

/** Terms with what they mean, or prose. */
export type TopicPart = readonly (readonly [term: string, meaning: string])[] | string;

const exitCodes: Topic = {
  title: 'Exit codes',
  parts: [
    [
      ['0', 'done; an empty list; a reader that closed the pipe early'],
      ['1', 'failed: the service refused, output could not be written, a defect'],
      [
        '2',
        'usage: a bad flag, argument, config or input file; a confirmation that was needed; a guard that stopped the run. ' +
          'Nothing was written to the service',
      ],
      ['3', 'partial: a command on many records did some and failed some'],
      ['4', 'auth: 401, 403, or a token that could not be read'],
      ['5', 'not-found: no such record, no such category'],
      ['6', 'unavailable: no connection, a timeout, 429 or 5xx after the last retry, no valid answer'],
      ['7', 'check-failed: smoke: a check failed'],
      ['8', 'differs: inventory diff: there are differences'],
      ['130', 'interrupted: SIGINT, or Ctrl-C at a prompt'],
      ['143', 'interrupted: SIGTERM'],
    ],
    'With -o json or jsonl an error is one JSON object on stderr; its kind is the word above.',
  ],
};

const environment: Topic = {
  title: 'Environment',
  parts: [
    [
      ...ownVariables,
      ['NO_COLOR', 'not empty: no colour'],
      ['FORCE_COLOR', 'not empty: colour in pipes too; 0 or false: none'],
      ['TERM', 'dumb: no colour, no line that is drawn anew, and questions that are answered by lines'],
      ['CI', 'not empty: nothing is asked, and no line is drawn anew'],
      ['HTTP_PROXY, HTTPS_PROXY', 'the proxy for addresses of http and https; loopback never takes one'],
      ['NO_PROXY', 'hosts that take no proxy, with commas between'],
      ['NODE_EXTRA_CA_CERTS', 'a file of further authorities to trust (PEM)'],
      ['GITHUB_STEP_SUMMARY', 'where smoke --report github puts its summary'],
      ['XDG_CONFIG_HOME, XDG_STATE_HOME', 'where the folders lie, on Linux, unless a variable above says so'],
    ],
    'A flag beats the environment, which beats the profile, the top level of the config, and the default. An empty ' +
      'variable counts as unset. `petstore config explain` shows every setting, its value and where it came from.',
    'Keys of the config file, at its top level or in a profile:',
    keyItems,
  ],
};

const formats: Topic = {
  title: 'Formats',
  parts: [
    [
      [
        'table',
        'the default. On a terminal a frame that fits it, long cells wrapped; in a pipe columns two spaces apart, nothing ' +
          'cut, each as wide as its widest cell so far',
      ],
      ['json', 'one document: an object for one record, an array for several'],
      ['jsonl', 'one record a line, as they come'],
      ['csv', "RFC 4180, lines ended by LF; text that a spreadsheet would run as a formula gets a leading '"],
      ['tsv', 'tab, newline, carriage return and backslash as \\t, \\n, \\r and \\\\'],
      ['yaml', 'a YAML document'],
      ['ids', 'one id a line: the first column'],
    ],
    '--fields picks and orders the columns in every format, --fields help lists them. --no-header leaves out the header ' +
      'row. --sort orders the rows: numbers by value, text by character code, missing values last.',
    'Ids and counts keep every digit. Control characters in a record are shown as \\x1b, in json and yaml as \\u001b.',
  ],
};

const flags: Topic = {
  title: 'Flags of all commands',
  parts: [
    [...Object.values(globalFlags), helpFlag].map((flag) => [flag.written, meaningOf(flag)]),
    'They stand before or after the words of the command, short ones in clusters too: -qo json. Commands that change ' +
      'records also take:',
    Object.values(writeFlags).map((flag) => [flag.written, meaningOf(flag)]),
    'A setting can also come from the environment, a profile or the config: see `petstore help environment`.',
  ],
};

export const topics: { readonly [Name in TopicName]: Topic } = {
  flags,
  environment,
  'exit-codes': exitCodes,
  formats,
};

/** A topic as people read it, folded to a terminal of so many columns. */
export function topicText({ title, parts }: Topic, columns: number): string {
  return [title, ...parts.map((part) => partText(part, columns))].join('\n\n').concat('\n');
}

function partText(part: TopicPart, columns: number): string {
  if (typeof part === 'string') return fold(part, { columns, indent: 0 });
  const longest = 26;
  const width = Math.max(...part.map(([term]) => term.length).filter((length) => length <= longest));
  const lines = part.map(([term, meaning]) => {
    const text = fold(meaning, { columns, indent: width + 2 });
    return term.length <= width
      ? `${term.padEnd(width)}  ${text}`
      : `${term}\n${' '.repeat(width + 2)}${text}`;
  });
  return lines.join('\n');
}
