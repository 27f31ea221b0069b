/** The environment of a command that keeps nothing: a store in memory, and folders that cannot exist. */
export const withoutFiles = {
  PETSTORE_OFFLINE_STORE: ':memory:',
  PETSTORE_CONFIG_DIR: '/nonexistent/petstore-config',
  PETSTORE_STATE_DIR: '/dev/null/petstore-state',
};
