/** The text of a file; the build puts it into the bundle. */
declare module '*?raw' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what `?raw` gives, in Vite too.
  export default text;
}

/** undici has types only for its index, which takes three times as long to load: fetch, WebSocket, caches. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  // biome-ignore lint/style/noDefaultExport: it is what a CommonJS module exports.
  export default Pool;
}

declare namespace NodeJS {
  interface Process {
    /** Node 22.15 and later has it, but not on Windows. */
    execve?(file: string, args: readonly string[], env: Readonly<Record<string, string>>): never;
  }
}

declare module 'http' {
  interface Agent {
    /** Says whether a connection that a request has left is kept. Documented, but not in the types. */
    keepSocketAlive(socket: import('node:net').Socket): boolean;
  }
}
