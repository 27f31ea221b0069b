import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenHere } from './listen.ts';
import { cliPath, nodeBinary, startCli } from './spawn-cli.ts';
import { plainText } from './terminal.ts';

/** What a reader of a page sits at: a folder, a deployment of the service, and a shell that knows `petstore`. */
interface Desk extends AsyncDisposable {
  readonly folder: string;
  /** Address of the deployment, whose commit is that of `commit`. */
  readonly url: string;
  write(name: string, text: string): void;
  /** Runs a command line in bash; `output` is what stdout and stderr show. */
  run(line: string, options?: RunOptions): Promise<{ readonly code: number | null; readonly output: string }>;
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Runs it in a terminal of 100 columns instead of a pipe. */
  readonly isTerminal?: boolean;
}

export const commit = '4f2a9c1';

export async function openDesk(): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-desk-'));
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/petstore'), `#!/bin/sh\nexec '${nodeBinary}' '${cliPath}' "$@"\n`, {
    mode: 0o755,
  });
  const deployment = await deploy();
  const desk: Desk = {
    folder,
    url: deployment.url,
    write: (name, text) => writeFileSync(join(folder, name), text),
    async run(line, { env = {}, isTerminal = false } = {}) {
      const words = isTerminal
        ? ['script', '-qefc', `stty cols 100 rows 50; ${line}`, '/dev/null']
        : ['bash', '-c', line];
      const child = spawn(words[0] ?? '', words.slice(1), {
        cwd: folder,
        env: {
          PATH: `${folder}/bin:${process.env.PATH}`,
          HOME: folder,
          SHELL: '/bin/bash',
          TERM: 'xterm',
          NO_COLOR: '1',
          PETSTORE_CONFIG_DIR: join(folder, 'config'),
          PETSTORE_STATE_DIR: join(folder, 'state'),
          ...env,
        },
      });
      child.stdin.end();
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, output: plainText(withoutErasedLines(output)) };
    },
    async [Symbol.asyncDispose]() {
      await deployment[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return desk;
}

/** What stays on a terminal: how often a live line is drawn and erased depends on how busy the machine is. */
function withoutErasedLines(output: string): string {
  return output.replaceAll(/[^\n]*\r\x1b\[K/g, '');
}

/** The local server behind a gateway that adds the commit: as a header, and at /version. */
async function deploy(): Promise<AsyncDisposable & { readonly url: string }> {
  const shop = startCli(['serve', '--port', '0']);
  const [line] = (await once(shop.stdout ?? shop, 'data')) as [Buffer];
  const { port } = new URL(line.toString().trim());
  await moveOpenOrders(`http://127.0.0.1:${port}/store/orders`);
  const gateway = createServer((asked, answer) => {
    answer.setHeader('x-commit', commit);
    if (asked.url === '/version') {
      answer.setHeader('content-type', 'application/json').end(JSON.stringify({ commit }));
      return;
    }
    const { method, url: path, headers } = asked;
    const passed = request({ host: '127.0.0.1', port, method, path, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  const url = `http://127.0.0.1:${await listenHere(gateway)}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      gateway.closeAllConnections();
      gateway.close();
      shop.kill();
      await once(shop, 'exit');
    },
  };
}

/** The open orders of the seed become overdue one day; here they never are. */
async function moveOpenOrders(url: string): Promise<void> {
  const orders = (await (await fetch(`${url}?complete=false`)).json()) as { id: number }[];
  for (const order of orders) {
    const body = JSON.stringify({ ...order, shipDate: '2099-12-01T09:00:00Z' });
    await fetch(`${url}/${order.id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body,
    });
  }
}
