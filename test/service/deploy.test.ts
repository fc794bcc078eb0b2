import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CliHome, cliCommand, untilShown } from '../e2e/cli/cli-home.ts'
import { unless } from '../support/evidence.ts'
import { whyNot } from '../support/probe.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8')

const unit = read('forkpoint.service')
const containerfile = read('Containerfile')

/** The words of the image's entry point. */
const entry: string[] = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(containerfile)?.[1] ?? '[]')

test('systemd accepts the unit', unless(whyNot('systemd-analyze', '--version')), () => {
  using directory = new TemporaryDirectory()
  const copy = directory.file('forkpoint.service')
  const started = join(root, 'forkpoint')
  writeFileSync(copy, unit.replace('/usr/local/bin/forkpoint', started))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', copy], { encoding: 'utf8' })
  // What it does not know it reports, and ignores.
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
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

describe('the DaemonSet', unless(whyNot('python3', '-c', 'import yaml')), () => {
  const toJson = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'
  const parse = () =>
    JSON.parse(
      execFileSync('python3', ['-c', toJson], { input: read('daemonset.yaml') }).toString(),
    )

  test('starts the image with options that exist, and mounts what they name', async () => {
    const { kind, spec } = parse()
    expect(kind).toBe('DaemonSet')
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels)
    const { containers, volumes } = spec.template.spec
    const [{ args, volumeMounts, ports }] = containers
    const [verb, ...options]: string[] = args
    expect(verb).toBe('serve')
    await using cli = new CliHome()
    const help = await cli.must('serve', '--help')
    const names = options.map((option) => option.split('=')[0] ?? '')
    expect(names.filter((name) => !help.includes(`${name} <`))).toEqual([])
    const mounted: string[] = volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)
    const files = options
      .map((option) => option.split('=')[1] ?? '')
      .filter((value) => value.startsWith('/'))
    expect(files).toHaveLength(2)
    expect(files.filter((file) => !mounted.some((path) => file.startsWith(`${path}/`)))).toEqual([])
    const named = (each: readonly { name: string }[]) => each.map(({ name }) => name).sort()
    expect(named(volumeMounts)).toEqual(named(volumes))
    expect(options[0]).toBe(`--listen=0.0.0.0:${ports[0].containerPort}`)
  })
})
