import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/helpers/build.ts',
    env: { TZ: 'UTC' },
  },
});
