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
