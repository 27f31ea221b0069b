/** undici types its index alone, and loading that takes three times as long: fetch, WebSocket, caches. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
