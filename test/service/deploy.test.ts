import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultMask } from '../../src/config/default-mask.ts'
import { schema } from '../../src/config/schema.ts'
import { CliHome, cliCommand, untilShown } from '../e2e/cli/cli-home.ts'
import { unless } from '../support/evidence.ts'
import { whyNot } from '../support/probe.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { type Facts, problemsOf, python, readDaemonSet } from './support/daemonset.ts'
import { type ServedHome, serveHome } from './support/served-home.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8')

const unit = read('forkpoint.service')
const containerfile = read('Containerfile')

/** The words of the image's entry point. */
const entry: string[] = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(containerfile)?.[1] ?? '[]')

describe('systemd', unless(whyNot('systemd-analyze', '--version')), () => {
  /** What it reports about a unit; what it does not know it ignores, and still ends with 0. */
  function reportsOn(text: string): string {
    using directory = new TemporaryDirectory()
    const copy = directory.file('forkpoint.service')
    writeFileSync(copy, text.replace('/usr/local/bin/forkpoint', join(root, 'forkpoint')))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', copy], { encoding: 'utf8' })
    return status === 0 ? stderr : `exit code ${status}: ${stderr}`
  }

  test('accepts the unit', () => {
    expect(reportsOn(unit)).toBe('')
  })

  test.each([
    ['KillMode=process', 'KillMode=proces'],
    ['Delegate=yes', 'Delegates=yes'],
    ['ExecStart=/usr/local/bin/forkpoint', 'ExecStart=/nowhere/forkpoint'],
  ])('reports a unit with a mistake in %s', (right, wrong) => {
    expect(unit).toContain(right)
    expect(reportsOn(unit.replace(right, wrong))).not.toBe('')
  })
})

describe('the image', () => {
  test('is made of files that exist', () => {
    const copied = Array.from(
      containerfile.matchAll(/^COPY (.*) \S+$/gm),
      ([, names = '']) => names,
    )
    const names = copied.flatMap((line) => line.split(' '))
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter((name) => !existsSync(join(root, name)))).toEqual([])
  })

  test('drops the same capabilities as the unit', () => {
    const lines = Array.from(
      unit.matchAll(/^CapabilityBoundingSet=(.*)$/gm),
      ([, names = '']) => names,
    )
    const kept = lines.flatMap((line) => line.split(' ')).map((name) => name.replace('CAP_', ''))
    const words = kept.map((name) => `+${name.toLowerCase()}`)
    expect(entry).toContain(`--bounding-set=-all,${words.join(',')}`)
  })

  test('has the capabilities that branching needs', async () => {
    await using cli = new CliHome()
    const command = [...entry.slice(0, -1), ...cliCommand]
    const daemon = cli.start(['serve'], { command })
    await untilShown(daemon.stdout, /unix:\/\//)
    await cli.must('create', '--name', 'web', '--net', 'nat')
    await cli.must('exec', 'web', '--', 'echo kept > /tmp/state; sleep 1000 & echo $! > /tmp/pid')
    await cli.must('snapshot', 'web', '--name', 'ready')
    await cli.must('fork', 'ready', '--name', 'other')
    await cli.must('restore', 'web', 'ready')
    for (const name of ['web', 'other']) {
      const shown = await cli.must('exec', name, '--', 'cat /tmp/state; kill -0 $(cat /tmp/pid)')
      expect(shown).toBe('kept\n')
    }
    await cli.must('rm', '--force', 'web', 'other')
    daemon.kill('SIGTERM')
  })
})

describe('the DaemonSet', unless(whyNot(python, '-c', 'import yaml')), () => {
  let home: ServedHome
  let facts: Facts
  beforeAll(async () => {
    await using cli = new CliHome()
    home = await serveHome('deploy')
    facts = {
      help: await cli.must('serve', '--help'),
      defaultHome: schema.home.default({ memoryBytes: 0 }),
      mask: defaultMask,
      answers: async (path) => (await home.fetch(path)).ok,
    }
  })
  afterAll(() => home[Symbol.asyncDispose]())

  test('fits the daemon: options, mounts, privileges and probes', async () => {
    expect(await problemsOf(readDaemonSet(join(root, 'deploy/daemonset.yaml')), facts)).toEqual([])
  })

  test.each([
    ['privileged: true', 'privileged: false', 'no privileges'],
    ['path: /readyz', 'path: /ready', 'no route /ready'],
    ['path: /healthz, port: https', 'path: /healthz, port: http', 'no port http'],
    ['scheme: HTTPS', 'scheme: HTTP', 'a probe with HTTP'],
    ['--tls-key=', '--tls-private=', 'no option --tls-private'],
    ['--listen=0.0.0.0:7070', '--listen=0.0.0.0:7071', 'nobody listens on 7070'],
    ['mountPath: /etc/ssl/private/forkpoint', 'mountPath: /etc/tls', 'is not mounted'],
    ['mountPath: /dev', 'mountPath: /devices', 'no new loop devices'],
    ['mountPath: /var/lib/forkpoint', 'mountPath: /data', 'the home ends with the pod'],
    ['type: OnDelete', 'type: RollingUpdate', 'an update ends environments'],
    ['automountServiceAccountToken: false', 'automountServiceAccountToken: true', 'cluster'],
  ])('with %s changed to %s, it would not fit', async (right, wrong, problem) => {
    using directory = new TemporaryDirectory()
    const changed = directory.file('daemonset.yaml')
    const text = readFileSync(join(root, 'deploy/daemonset.yaml'), 'utf8')
    expect(text).toContain(right)
    writeFileSync(changed, text.replace(right, wrong))
    const problems = await problemsOf(readDaemonSet(changed), facts)
    expect(problems.join('\n')).toContain(problem)
  })
})
