import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/private-home.ts'],
    reporters: ['default', './test/setup/summary-reporter.ts'],
    pool: 'forks',
    // Cells are processes of the same machine: more workers than cores only add noise.
    maxWorkers: 2,
    // Far beyond what any takes alone: the machine may be busy with others.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    // The engine under test starts real processes; a worker's own console is enough.
    disableConsoleIntercept: true,
  },
})
