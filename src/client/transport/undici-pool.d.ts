/** undici types its index alone, and loading that takes three times as long: fetch, WebSocket, caches. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  // biome-ignore lint/style/noDefaultExport: it is what a CommonJS module exports.
  export default Pool;
}
