import { keysHelp } from './config/keys-help.ts';

/** A page of help that belongs to no single command. */
export interface Topic {
  /** The word after `petstore help`. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

export const topics: readonly Topic[] = [
  {
    name: 'exit-codes',
    title: 'Exit codes',
    text: `0    done; an empty list; a reader that closed the pipe early
1    failed: the service refused, output could not be written, a defect
2    usage: a bad flag, argument, config or input file, a confirmation that was needed; nothing was written
3    partial: a command on many records did some and failed some
4    auth: 401, 403, or a token that could not be read
5    not-found: no such record, no such category
6    unavailable: no connection, a timeout, 429 or 5xx after the last retry, no valid answer
7    check-failed: smoke: a check failed
8    differs: inventory diff: there are differences
130  interrupted by SIGINT or Ctrl-C
143  ended by SIGTERM
`,
  },
  {
    name: 'environment',
    title: 'Environment',
    text: `Variables:
  PETSTORE_PROFILE        the profile to use
  PETSTORE_BASE_URL       the service to call
  PETSTORE_OUTPUT         the output format
  PETSTORE_TOKEN          the token to send
  PETSTORE_TOKEN_FILE     a file that holds the token
  PETSTORE_CONFIG_DIR     the folder of config.json
  PETSTORE_STATE_DIR      the folder of journals and of the embedded store
  PETSTORE_OFFLINE_STORE  the file of the embedded store; :memory: keeps nothing
  PETSTORE_DEBUG          1 shows the stack of an error
  NO_COLOR                not empty: no colour
  FORCE_COLOR             colour in a pipe too; 0 for none
  CI                      set: nothing is ever asked
  HTTP_PROXY              the proxy for http; loopback is never proxied
  HTTPS_PROXY             the proxy for https
  NO_PROXY                hosts to reach without one, with commas between
  NODE_EXTRA_CA_CERTS     a file of authorities to trust too (PEM)

${keysHelp}

A flag beats the environment, which beats the profile, the top level of the config, and the default. An empty
variable counts as unset. \`petstore config explain\` shows every setting, its value and where it came from.
`,
  },
  {
    name: 'formats',
    title: 'Formats',
    text: `table  the default. On a terminal a frame that fits it, long cells wrapped; in a pipe columns two spaces
       apart, nothing cut, each as wide as its widest cell so far
json   one document: an object for one record, an array for several
jsonl  one record a line, as they come
csv    RFC 4180, lines ended by LF; text that a spreadsheet would run as a formula gets a leading '
tsv    tab, newline, carriage return and backslash as \\t, \\n, \\r and \\\\
yaml   a YAML document
ids    one id a line: the first column

--fields picks and orders the columns in every format, --fields help lists them. --no-header leaves out the
header row. --sort orders the rows: numbers by value, text by character code, missing values last.
Ids and counts keep every digit. Control characters in a record are shown as \\x1b, in json and yaml as \\u001b.
`,
  },
];
