import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/setup/longest-first.ts'

/** Tests of the public API, which run once over the engine and once over the loop-back of `Control`. */
const apiTests = [
  'test/cells/{lifecycle,bad-input,limits,sources}.test.ts',
  'test/cells/branching/**/*.test.ts',
  'test/cells/hostile-files/*.test.ts',
  'test/workloads/{commands,bash,vim,tmux,pipelines,failed-snapshot}.test.ts',
]

/**
 * Some of them also run through a daemon: over its Unix socket, and fewer over TLS. All of them do with
 * FORKPOINT_EVERY_CONTROL: `npm run test:controls`.
 */
const isEvery = process.env.FORKPOINT_EVERY_CONTROL !== undefined
const daemonTests = isEvery
  ? apiTests
  : [
      'test/cells/{lifecycle,bad-input}.test.ts',
      'test/cells/branching/{events,following,pause}.test.ts',
      'test/workloads/commands.test.ts',
    ]
const tlsTests = isEvery ? apiTests : ['test/cells/branching/following.test.ts']

/** Tests of failures, which run once on btrfs and once on ext4: snapshots take different steps there. */
const volumeTests = [
  'test/faults/{durability,failed-release,full-volume}.test.ts',
  'test/faults/killed-{branching,elsewhere,operations,prune,spares}.test.ts',
  'test/workloads/{failed-snapshot,watches}.test.ts',
]

/** Builds an image and starts it, which takes minutes: `npm run test:image`. */
const imageTest = 'test/service/image.test.ts'

export default defineConfig({
  test: {
    exclude: process.env.FORKPOINT_IMAGE_TEST === undefined ? [imageTest] : [],
    globalSetup: ['test/setup/private-home.ts'],
    setupFiles: ['test/setup/note-real-cells.ts'],
    reporters: ['default', './test/setup/summary-reporter.ts'],
    pool: 'forks',
    // More than this machine's two cores: many tests wait for a limit of seconds to pass.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Far beyond what any takes alone: the machine may be busy with others.
    testTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Machines are shared and noisy. The closing lines name every test that needed another try.
    retry: process.env.CI === 'true' ? 2 : 0,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    // The engine under test starts real processes; a worker's own console is enough.
    disableConsoleIntercept: true,
    projects: [
      { extends: true, test: { name: 'engine', include: ['test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'loop-back',
          include: apiTests,
          env: { FORKPOINT_TEST_CONTROL: 'loop-back' },
        },
      },
      {
        extends: true,
        test: {
          name: 'daemon',
          include: daemonTests,
          env: { FORKPOINT_TEST_CONTROL: 'daemon' },
        },
      },
      {
        extends: true,
        test: { name: 'tls', include: tlsTests, env: { FORKPOINT_TEST_CONTROL: 'tls' } },
      },
      {
        extends: true,
        test: { name: 'ext4', include: volumeTests, env: { FORKPOINT_VOLUME: 'ext4' } },
      },
    ],
  },
})
