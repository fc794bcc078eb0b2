// What root inside can do to the agent, and what the host must still be able to do afterwards.

import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../../src/index.ts'
import { patience } from '../../../src/model/values/patience.ts'
import { agentPid, statusField } from '../../support/cell-processes.ts'
import { failureOf } from '../../support/failure-of.ts'
import type { TemporaryDirectory } from '../../support/temporary-directory.ts'
import type { TestHome } from '../../support/test-home.ts'
import { LineReader } from './line-reader.ts'
import type { User } from './states.ts'

export interface AgentScene {
  readonly home: TestHome
  readonly env: Environment
  readonly user: User
  readonly files: TemporaryDirectory
}

/** What is wrong; null if nothing is. */
export type AgentAttack = (scene: AgentScene) => Promise<string | null>

const listening = `
import os, socket, sys, time
here = '/run/forkpoint/agent.sock'
kept = []
try:
    os.unlink(here)
    s = socket.socket(socket.AF_UNIX); s.bind(here); s.listen(5)
except OSError: s = None
print('ready', flush=True)
while s: kept.append(s.accept()); print('came', flush=True)
time.sleep(1000)
`

const connecting = `
import socket, time
kept = []
for _ in range(200):
    s = socket.socket(socket.AF_UNIX); s.settimeout(1)
    try: s.connect('/run/forkpoint/agent.sock'); kept.append(s)
    except OSError: pass
print('ready', flush=True)
time.sleep(1000)
`

/** A debugger that announces itself, then stops process 1 and keeps it stopped. */
const stopping = `
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
print('ready', flush=True)
time.sleep(0.5)
if libc.ptrace(16, 1, 0, 0) == 0: os.waitpid(1, 0x40000000)
time.sleep(1000)
`

async function start({ env, user }: AgentScene, program: string): Promise<void> {
  const words = ['/usr/bin/python3', '-c', program]
  const command = await env.spawn(words, { mode: 'process', user, cwd: '/' })
  const lines = new LineReader(command.stdout)
  await lines.until('ready')
  // The connection ends with the agent's answers; nothing more is read from it.
  command.stderr.discard()
}

async function inside({ env, user }: AgentScene, script: string): Promise<void> {
  const words = ['bash', '-c', `cd /run/forkpoint; ${script}`]
  await env.exec(words, { mode: 'process', user })
}

/** A host that connects again, as another process would. */
async function asksAgain({ home, env }: AgentScene): Promise<unknown> {
  const later = await (await home.open()).get(env.id)
  return failureOf(later.exec(['echo'], { mode: 'process', timeoutMs: 5000 }))
}

/** The host's own clock ends everything, and the environment can be removed. */
async function endsInTime({ env }: AgentScene): Promise<string | null> {
  const startedAt = performance.now()
  await failureOf(env.exec(['true'], { mode: 'process', timeoutMs: 1000 }))
  await failureOf(env.snapshot())
  await env.remove()
  const tookMs = performance.now() - startedAt
  return tookMs < patience(180) ? null : `took ${tookMs} ms`
}

export const agentAttacks: Readonly<Record<string, AgentAttack>> = {
  'agent-socket-link': async (scene) => {
    const target = scene.files.file(`socket-${scene.env.id}`)
    writeFileSync(target, 'of the host')
    await inside(scene, `ln -sf ${target} agent.sock`)
    await asksAgain(scene)
    return readFileSync(target, 'utf8') === 'of the host' ? null : 'the host wrote to the link'
  },
  'agent-socket-impostor': async (scene) => {
    await start(scene, listening)
    const failure = await asksAgain(scene)
    if (scene.user === 'nobody') return failure === null ? null : String(failure)
    return failure === null ? 'the host talked to another socket' : null
  },
  'agent-identity-link': async (scene) => {
    const target = scene.files.file(`identity-${scene.env.id}`)
    writeFileSync(target, 'of the host')
    await inside(scene, `ln -sf ${target} identity.json`)
    await failureOf(scene.env.rename(`renamed-${scene.env.id}`))
    return readFileSync(target, 'utf8') === 'of the host' ? null : 'the host wrote through the link'
  },
  'agent-connections': async (scene) => {
    await start(scene, connecting)
    const failure = await asksAgain(scene)
    return failure === null ? null : `the host was kept out: ${failure}`
  },
  'agent-stopped': async (scene) => {
    const agent = agentPid(scene.home, scene.env)
    await start(scene, stopping)
    const isTraced = () => statusField(agent, 'TracerPid') !== '0'
    while (scene.user === 'root' && !isTraced()) await sleep(20)
    return endsInTime(scene)
  },
}
