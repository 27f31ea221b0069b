/** undici has types only for its index, which takes three times as long to load: fetch, WebSocket, caches. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  // biome-ignore lint/style/noDefaultExport: it is what a CommonJS module exports.
  export default Pool;
}
