import { keyItems, ownVariables } from '../config/keys.ts';
import { fold } from '../output/fold.ts';
import { globalFlags, helpFlag, writeFlags } from './global-flags.ts';
import { meaningOf } from './help.ts';
import type { TopicName } from './program.ts';

/** A help topic, which belongs to no single command. */
export interface Topic {
  readonly title: string;
  readonly parts: readonly TopicPart[];
}

/** A list of terms with their meanings, or prose. */
export type TopicPart = readonly (readonly [term: string, meaning: string])[] | string;

const exitCodes: Topic = {
  title: 'Exit codes',
  parts: [
    [
      ['0', 'done; an empty list; a reader that closed the pipe early'],
      [
        '1',
        'failed: the service refused, a redirect was not followed, output could not be written, a defect',
      ],
      [
        '2',
        'usage: a bad flag, argument, config or input file; a confirmation that was needed; a guard that stopped the run. ' +
          'Nothing was written to the service',
      ],
      ['3', 'partial: a command on many records did some and failed some'],
      ['4', 'auth: 401, 403, or a token that could not be read'],
      ['5', 'not-found: a record, a name or a category that does not exist'],
      ['6', 'unavailable: no connection, a timeout, 429 or 5xx after the last retry, no valid answer'],
      ['7', 'check-failed: smoke: a check failed'],
      ['8', 'differs: inventory diff: there are differences; --fail-if: there are such records, or none'],
      ['130', 'interrupted: SIGINT, or Ctrl-C at a prompt'],
      ['143', 'interrupted: SIGTERM'],
    ],
    'With -o json or jsonl an error is one JSON object, the last line on stderr: {"error": {...}} with kind (the word above), ' +
      'message, and if known code, status, method, url, attempts, retryable, requestId, hint and warnings. retryable says ' +
      'whether the same command may simply be run again.',
    'If a write was under way when a command was interrupted, or its answer did not come, the message says that it may or may ' +
      'not have been applied; in JSON "applied" is "unknown".',
  ],
};

const environment: Topic = {
  title: 'Environment',
  parts: [
    [
      ...ownVariables,
      ['NO_COLOR', 'not empty: no colour'],
      ['FORCE_COLOR', 'not empty: colour in pipes too; 0 or false: none'],
      ['TERM', 'dumb: no colour, no redrawn lines, and questions that are answered by typing a line'],
      ['CI', 'not empty: no questions and no redrawn lines'],
      ['HTTP_PROXY, HTTPS_PROXY', 'the proxy for addresses of http and https; loopback never takes one'],
      ['NO_PROXY', 'hosts that take no proxy, with commas between'],
      ['NODE_EXTRA_CA_CERTS', 'a file of further authorities to trust (PEM)'],
      ['GITHUB_ACTIONS, GITLAB_CI, TF_BUILD', 'not empty: text that the runner would obey is broken up'],
      ['GITHUB_STEP_SUMMARY', 'where smoke --report github puts its summary'],
      [
        'XDG_CONFIG_HOME, XDG_STATE_HOME',
        'where the folders are on Linux, unless a variable above names them',
      ],
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

const records: Topic = {
  title: 'Records: names, files, waiting',
  parts: [
    [
      [
        'names for ids',
        'on the command line, the name of a pet or a category stands for its id: petstore pets get Luna. It is the whole name, ' +
          'without regard to case. If several have it, a terminal offers a choice, and a script gets exit code 2 with their ' +
          'ids; if none has it, exit code 5 with the nearest names.',
      ],
      ['pets list --name <text>', 'part of the name, without regard to case'],
      ['--ship-date', 'RFC 3339, YYYY-MM-DD, tomorrow or +3d'],
      ['orders list --overdue', 'open, and the ship date has passed'],
      [
        '--from <file or ->',
        'create, update and delete many records: CSV, a JSON array, or JSON lines. The file is checked whole before the first ' +
          'request. What list -o csv prints can be edited and given to update; an empty cell leaves the field as it is. ' +
          'delete also takes what -o ids prints.',
      ],
      [
        '--field <name=value>',
        'a field of the service that has no flag, in create and update; the value is JSON if it parses as JSON, else text',
      ],
      [
        'edit',
        'the record as YAML in $VISUAL, $EDITOR or vi. Saved unchanged or emptied, nothing is sent. If it is not valid, the ' +
          'editor opens again with the reason on top. If the record has changed meanwhile, nothing is sent and the text is kept.',
      ],
      [
        '--watch [interval]',
        'lists only: the table is redrawn in place with changed rows marked; in a pipe each change is one JSON line with ' +
          'event (added, changed or deleted) and record, all records first',
      ],
      ['--fail-if any|none', 'lists only: exit code 8 if there are records, or if there are none'],
      [
        '--until <field=value>',
        'get only: polls every 2 s until the field has this value; after --timeout exit code 6',
      ],
      [
        '-o jsonl',
        'one record a line as pages come: petstore pets list -o jsonl | while read -r pet; do ...; done',
      ],
    ],
  ],
};

const bulk: Topic = {
  title: 'Bulk inventory',
  parts: [
    'inventory apply takes a file of counts, compares it with the service, asks, and writes the counts that differ. diff shows ' +
      'the same plan and writes nothing: exit code 0 if nothing differs, 8 if something does.',
    [
      [
        'input',
        'CSV, JSON lines or a JSON array, in UTF-8; a file or - for stdin. Columns petId (id, pet) and quantity (qty, stock, ' +
          'count), expected if there is one, others are ignored. --map quantity="On hand" names a column, --columns names ' +
          'those of a file without a header, --key SKU=skus.csv looks pets up in a table of two columns, --thousands . ' +
          'strips that separator.',
      ],
      [
        'validation',
        'the whole file is read before the first request. An invalid row stops the run; with --skip-invalid it goes to the ' +
          'rejects. A quantity is digits alone: an empty cell, 1e3 and -1 are invalid.',
      ],
      [
        'expected',
        'a row with this column is written only if the current count is that. export --with-expected writes it, so that ' +
          'a count which somebody else changed meanwhile is not overwritten.',
      ],
      [
        '--relative',
        'the rows are changes, as +24 or -3: deliveries and sales. Each becomes a count that is written only if the current ' +
          'count is still the one that the plan saw. The same file is booked once: a second time within 7 days needs --again.',
      ],
      ['--blind', 'reads nothing and sends every row: fastest, but it cannot be undone'],
      [
        'guards',
        '--max-changes <n or n%>, --max-delta <n>; if more than half of the rows go to 0, --allow-zero is needed. A guard that ' +
          'stops the run: exit code 2, nothing written.',
      ],
      [
        'pace',
        '--concurrency requests at a time, at most --rate a second. 429, 503 and timeouts halve the number in flight; ' +
          'Retry-After pauses all of them.',
      ],
      [
        'stopped or killed',
        'inventory resume, or the same apply again, reads the counts, and writes what still differs. Ctrl-C lets requests in ' +
          'flight finish and prints the command that resumes.',
      ],
      [
        'undo <run>',
        'sets each count back to what it was, if it is still the one that the run set. Everything else is left alone and ' +
          'reported, exit code 3. An undo is a run too, and can be undone.',
      ],
      [
        'runs, runs show, log',
        'the runs of this machine; what one did, row by row; which runs set the count of a pet. runs discard gives up an ' +
          'unfinished run, runs prune deletes old ones.',
      ],
      [
        'rejects',
        '--rejects <file>, by default <input>.rejects.<ext>: the rows that failed, are unknown or invalid, with the reason. It ' +
          'can be applied again as it is.',
      ],
      ['--events <file or ->', 'a JSON line for the outcome of every row'],
      [
        'one run at a time',
        'a second run on the same service waits for --lock-wait and then ends with exit code 6, nothing sent. Shards of one ' +
          'n do not exclude each other.',
      ],
      [
        '--shard <i>/<n>',
        'takes the rows whose id hashes to i of n, counted from 0 or from 1: no two shards touch the same pet',
      ],
    ],
    'Every row ends in one of these states, and the summary adds them up to the number of rows:',
    [
      ['applied', 'written and answered'],
      ['unchanged', 'the count was already that of the file'],
      ['failed', 'certainly not written'],
      [
        'unknown',
        'sent, and not answered or answered by 500, 502 or 504: it may have been applied. --verify settles it',
      ],
      ['invalid', 'not valid in the file, with --skip-invalid'],
      ['skipped', 'of another shard, or a duplicate'],
      ['unprocessed', 'the run stopped before it'],
    ],
    'Exit codes: 0 all rows are as the file says; 3 some are not; 1 none succeeded; 2 nothing was sent; 4, 6, 130 and 143 as ' +
      'everywhere.',
  ],
};

const checks: Topic = {
  title: 'Checks of petstore smoke',
  parts: [
    'The checks follow the operations table, or the description that the profile is bound to. Only GET reaches the service, ' +
      'unless --write is given. --dry-run lists the ids; --only and --skip choose by id: op, op/get*, */getPet.',
    [
      [
        'reach',
        'dns, connect, http: a JSON answer that is not 401, 403 or 404. If one fails, the rest is skipped',
      ],
      [
        'tls',
        'valid; expiry: warns under 30 days, fails under --tls-min-days (7); protocol: TLS 1.2 or later',
      ],
      [
        'op/<operation>',
        'every GET: status, content type, the body against its schema, the link to the next page. Ids come from lists; if a ' +
          'list is empty, the check is skipped',
      ],
      ['error', 'not-found, bad-request: a documented status, and an Error body whose status is the same'],
      [
        'lifecycle/<operation>',
        'Deprecation and Sunset headers agree with the description and with each other',
      ],
      ['auth', 'missing, wrong: if the description declares security, neither is let in'],
      [
        'latency/<operation>',
        'with --max-latency 300ms,p95 or --samples: p50, p95 and max, the first call not counted',
      ],
      [
        'write',
        'with --write: category, pet, inventory and order are created, read back, updated, deleted and gone. cleanup ' +
          'removes what is left, also after a failure or Ctrl-C. Only records that are certainly its own are deleted; ' +
          '--sweep 1d also removes those that earlier runs left behind',
      ],
      ['expect/<n>', "with --expect 'GET /health 200 /status=ok': a check of your own"],
    ],
    'A request that got no answer, or 502, 503 or 504, is sent once more (--retries); if that helps, the check passes and is ' +
      'called flaky. A failure of a beta or experimental operation is a warning, unless --stability all. --fail-on warn and ' +
      '--fail-on flaky make those failures. Checks that fail for one reason are told as one.',
    'More than once: --repeat 20, or --for 10m --every 30s, with --until-failure if the first failure ends it. Each report has ' +
      'one case per check, with the runs, the failures and the latency of all runs.',
    'Reports, as many as you like: --report junit=<file>, tap=<file>, json=<file>, markdown=<file>, html=<file>, and github ' +
      '(annotations, and the step summary). They are written also if the run fails or is stopped.',
    [
      ['0', 'every check that ran has passed'],
      ['2', 'no check ran, or a wrong flag'],
      ['4', 'the credential was refused (401, 403)'],
      ['6', 'the service cannot be reached'],
      ['7', 'a check failed, or could not be carried out'],
    ],
  ],
};

const ci: Topic = {
  title: 'In a pipeline',
  parts: [
    'With CI set nothing is ever asked: a command that needs an answer ends with exit code 2 and names the flag. The token ' +
      'comes from PETSTORE_TOKEN and is masked in everything that is printed. Lines that GitHub, GitLab or Azure runners ' +
      'would obey are broken up in all output.',
    [
      [
        "petstore smoke --wait 60s --wait-for 'GET /version /commit=4f2a9c1' --report junit=out/smoke.xml",
        'after a deployment: wait for this one and not the one before it, then check it',
      ],
      [
        'petstore smoke --for 10m --every 30s --until-failure --brief',
        'watch it for a while; only failures and the total are shown',
      ],
      [
        'petstore serve --port 0 -- petstore smoke --write',
        'run any command against a local server; PETSTORE_BASE_URL is set for it, and the exit code is its own',
      ],
      ['petstore inventory diff stock.csv > plan.txt', 'exit code 8 if the service and the file disagree'],
      [
        'petstore inventory apply stock.csv --yes --max-changes 10% -o json > summary.json',
        'write without a question, unless the plan is larger than expected',
      ],
      ['petstore inventory apply stock.csv --yes --shard "$i/$n"', 'one of n jobs that share a file'],
      ['petstore orders list --overdue --fail-if any', 'exit code 8 if there are such orders'],
    ],
    'In a fresh job the state directory is empty: nothing of an earlier job can be resumed or undone, and a --relative file ' +
      'could be booked again. Keep PETSTORE_STATE_DIR on a volume or in a cache if you need that.',
  ],
};

export const topics: { readonly [Name in TopicName]: Topic } = {
  flags,
  environment,
  'exit-codes': exitCodes,
  formats,
  records,
  bulk,
  checks,
  ci,
};

/** The text of a topic, folded to a number of columns. */
export function topicText({ title, parts }: Topic, columns: number): string {
  return [title, ...parts.map((part) => partText(part, columns))].join('\n\n').concat('\n');
}

function partText(part: TopicPart, columns: number): string {
  if (typeof part === 'string') return fold(part, { columns, indent: 0 });
  const longest = 26;
  const short = part.map(([term]) => term.length).filter((length) => length <= longest);
  const width = short.length === 0 ? 2 : Math.max(...short);
  const lines = part.map(([term, meaning]) => {
    const text = fold(meaning, { columns, indent: width + 2 });
    return term.length <= width
      ? `${term.padEnd(width)}  ${text}`
      : `${term}\n${' '.repeat(width + 2)}${text}`;
  });
  return lines.join('\n');
}
