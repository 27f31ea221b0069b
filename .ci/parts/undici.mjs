// The parts of undici that are used: its index takes three times as long to load, because it has fetch, WebSocket and caches.
import connect from 'undici/lib/api/api-connect.js';
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

// The index gives pools this method, and the proxy agent calls it.
Object.assign(Pool.prototype, { connect });

export { buildConnector, Pool, ProxyAgent };
