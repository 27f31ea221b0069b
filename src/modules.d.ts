/** The text of a file; the build puts it into the bundle. */
declare module '*?raw' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what `?raw` gives, in Vite too.
  export default text;
}

// undici has types only for its index.
declare module 'undici/lib/api/api-connect.js' {
  // biome-ignore lint/style/noDefaultExport: it is what a CommonJS module exports.
  export default function connect(): unknown;
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';

  // biome-ignore lint/style/noDefaultExport: it is what a CommonJS module exports.
  export default buildConnector;
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  // biome-ignore lint/style/noDefaultExport: it is what a CommonJS module exports.
  export default Pool;
}

declare module 'undici/lib/dispatcher/proxy-agent.js' {
  import { ProxyAgent } from 'undici';

  // biome-ignore lint/style/noDefaultExport: it is what a CommonJS module exports.
  export default ProxyAgent;
}

declare namespace NodeJS {
  interface Process {
    /** Node 22.15 and later has it, but not on Windows. */
    execve?(file: string, args: readonly string[], env: Readonly<Record<string, string>>): never;
  }
}
