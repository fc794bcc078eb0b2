// What code inside makes in its working directory, and what the host then does with it.
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../../src/index.ts'
import { failureOf } from '../../support/failure-of.ts'

export interface CopyScene {
  readonly env: Environment
  /** runs a script inside, in the working directory */
  readonly inside: (script: string) => Promise<void>
  /** a directory of the host: `out` to copy to, `victim` to be left alone, `mine` a file of `out` */
  readonly place: string
}

export type CopyAttack = (scene: CopyScene) => Promise<void>

export function makePlace(place: string): void {
  for (const path of [place, join(place, 'out'), join(place, 'victim')]) mkdirSync(path)
  writeFileSync(join(place, 'out/mine'), 'of the host')
  chmodSync(join(place, 'out/mine'), 0o640)
  writeFileSync(join(place, 'victim/file'), 'of the host')
}

/** An earlier release took this for its own plan, which deletes the victim and opens a file to everyone. */
const plan = JSON.stringify([
  { do: 'put', path: '../victim/file', slot: 0 },
  { do: 'chmod', path: 'mine', from: 0o6777, to: 0o600 },
])

async function applyTwice({ env, place }: CopyScene): Promise<void> {
  const out = join(place, 'out')
  await failureOf(env.apply(out))
  await failureOf(env.apply(out, { mode: 'plan' }))
  await failureOf(env.apply(out))
}

const plantPlan =
  (owner: () => string): CopyAttack =>
  async (scene) => {
    const name = `.forkpoint-apply-${owner()}-0123456789abcdef`
    await scene.inside(`mkdir -p ${name}/old ${name}/new; echo '${plan}' > ${name}/plan.json`)
    await applyTwice(scene)
  }

/** An earlier copy brings a link; then a directory with a planted file is in its place. */
function throughLink(
  target: (place: string) => string,
  copy: (scene: CopyScene, from: string) => Promise<unknown>,
): CopyAttack {
  return async (scene) => {
    const { env, inside, place } = scene
    const here = (await env.exec('pwd')).stdout.trim()
    await inside(`mkdir -p p; rm -rf p/sub; ln -s ${target(place)} p/sub`)
    await failureOf(env.files.download(`${here}/p`, join(place, 'out/p')))
    await inside('rm p/sub; mkdir p/sub; echo planted > p/sub/planted')
    await failureOf(copy(scene, here))
  }
}

const victim = (place: string) => join(place, 'victim')

export const copyAttacks: Readonly<Record<string, CopyAttack>> = {
  'apply-planted-plan': plantPlan(() => '0-0'),
  'apply-own-name': async (scene) => {
    const { env, place } = scene
    await plantPlan(() => `${process.pid}-1`)(scene)
    await scene.inside('echo more > more')
    await env.apply(join(place, 'out'))
    if (!readdirSync(join(place, 'out')).includes('more')) throw new Error('apply was blocked')
  },
  'apply-plan-pipe': async (scene) => {
    const name = '.forkpoint-apply-0-0-fedcba9876543210'
    await scene.inside(`mkdir -p ${name}; mkfifo ${name}/plan.json`)
    await applyTwice(scene)
  },
  'apply-through-link': throughLink(victim, ({ env, place }) =>
    env.apply(join(place, 'out/p/sub')),
  ),
  'copy-through-link': throughLink(victim, ({ env, place }, here) =>
    env.files.download(`${here}/p/sub`, join(place, 'out/p/sub')),
  ),
  'copy-through-dots': throughLink(
    () => '../../victim',
    ({ env, place }, here) => env.files.download(`${here}/p`, join(place, 'out/p')),
  ),
  'copy-onto-link': throughLink(
    (place) => join(place, 'victim/file'),
    ({ env, place }, here) => env.files.download(`${here}/p/sub/planted`, join(place, 'out/p/sub')),
  ),
  'export-through-link': throughLink(victim, ({ env, place }, here) =>
    env.export(join(place, 'out/p/sub/exported'), { paths: [`${here}/p/sub`] }),
  ),
  'copy-setuid': async ({ env, inside, place }) => {
    const here = (await env.exec('pwd')).stdout.trim()
    await inside('echo x > suid; chmod 6755 suid')
    await env.files.download(`${here}/suid`, join(place, 'out/suid'))
    const { mode } = statSync(join(place, 'out/suid'))
    if ((mode & 0o6000) !== 0) throw new Error(`the copy has mode ${mode.toString(8)}`)
  },
}
