/** The environment variables that only this program reads, each with what it says. */
export const ownVariables: readonly (readonly [name: string, meaning: string])[] = [
  ['PETSTORE_PROFILE', 'the profile to use'],
  ['PETSTORE_BASE_URL', 'the address of the service'],
  ['PETSTORE_OUTPUT', 'the output format'],
  ['PETSTORE_TOKEN', 'the token to send'],
  ['PETSTORE_TOKEN_FILE', 'a file that holds the token'],
  ['PETSTORE_CONFIG_DIR', 'the folder of config.json'],
  ['PETSTORE_STATE_DIR', 'the folder of the runs of inventory apply and of the embedded store'],
  ['PETSTORE_OFFLINE_STORE', 'the file of the embedded store; :memory: keeps nothing'],
  ['PETSTORE_DEBUG', '1 shows the stack of an error'],
];
