// Environments with `nat`: what they must not reach, and how much of the host's table they may take.
// Each attack is also made where it is allowed, and must succeed there.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { whyNoNetworks } from '../support/outside-network.ts'
import { TestHome } from '../support/test-home.ts'
import { natPromises } from './catalogue/network.ts'
import { attackEnvironment, programInside } from './support/attack-environment.ts'
import { attackProgram } from './support/attack-program.ts'
import { FarNetwork, trackedConnections } from './support/far-network.ts'
import { LineReader } from './support/line-reader.ts'
import { type Results, refusals, through } from './support/results.ts'
import { runOnHost } from './support/run-on-host.ts'
import { inEveryState, nameOf, type User, users } from './support/states.ts'

const home = new TestHome('nat-attacks', { 'spares.count': 0 })
const host = createServer((socket) => socket.end())
await once(host.listen(0, '0.0.0.0'), 'listening')
const { port } = host.address() as AddressInfo
const far = whyNoNetworks === null ? await FarNetwork.start() : undefined

afterAll(async () => {
  host.close()
  await far?.[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const names = natPromises.flatMap(({ attacks }) => attacks)
const connections = names.filter((name) => !/flood|forged/.test(name))
const forgedSender = '198.51.100.7'
/** Out of the 6,000 entries that a flood asks for. */
const mostTracked = 5_000

const byRun = new Map<string, Results>()
let allowed: Results = new Map()
const open = new Set<string>()

const gatewayOf = async (env: Environment) =>
  /via ([\d.]+)/.exec((await env.exec('ip route show default')).stdout)?.[1] ?? ''
const addressOf = async (env: Environment) =>
  /inet ([\d.]+)/.exec((await env.exec('ip -4 addr show eth0')).stdout)?.[1] ?? ''

const serving = `import socket
s = socket.create_server(('0.0.0.0', 7000))
print('listening', flush=True)
while True: s.accept()[0].close()`

beforeAll(async () => {
  if (far === undefined) return
  const fp = await home.open()
  const neighbour = await fp.create({ net: 'nat' })
  const words = ['/usr/bin/python3', '-c', serving]
  const server = await neighbour.spawn(words, { mode: 'process' })
  await new LineReader(server.stdout).until('listening')
  const peer = await addressOf(neighbour)
  allowed = await attackAllowed(far, peer)
  await attackFromHost(far)
  const env = await fp.create({ net: 'nat' })
  await env.files.write(programInside, readFileSync(attackProgram()), { mode: 0o755 })
  await inEveryState(home, env, async (attacked, state) => {
    for (const user of users)
      byRun.set(nameOf({ state, user }), await attack(far, attacked, user, peer))
  })
}, 600_000)

async function variablesFor(network: FarNetwork, env: Environment, peer: string) {
  const { outside, linkLocalAddress } = network
  return {
    ATTACK_GATEWAY: `${await gatewayOf(env)}:${port}`,
    ATTACK_HOST_ADDRESS: `${outside.hostAddress}:${port}`,
    ATTACK_NEIGHBOUR: `${peer}:7000`,
    ATTACK_LINK_LOCAL: `${linkLocalAddress}:${outside.port}`,
    ATTACK_BEYOND: `${outside.address}:0`,
    ATTACK_WATCHED: `${outside.address}:0`,
    ATTACK_SENDER: forgedSender,
  }
}

async function attack(network: FarNetwork, env: Environment, user: User, peer: string) {
  const before = trackedConnections()
  return attackEnvironment(env, {
    user,
    names,
    variables: await variablesFor(network, env, peer),
    look: async () => {
      const tracked = trackedConnections() - before
      const senders = await network.senders()
      return [
        `nat-connection-flood\t${tracked > mostTracked ? 'changed' : 'kept'}\t${tracked} entries`,
        `nat-forged-sender\t${senders.includes(forgedSender) ? 'changed' : 'kept'}\t${senders}`,
      ]
    },
  })
}

/** An environment that may reach all of it. */
async function attackAllowed(network: FarNetwork, peer: string): Promise<Results> {
  const { hostAddress } = network.outside
  const fp = await home.open()
  const netAllow = [
    '10.0.0.0/8',
    `${hostAddress}/32`,
    `${network.linkLocalAddress}/32`,
    `${peer}/32`,
  ]
  const env = await fp.create({ net: 'nat', netAllow })
  await env.files.write(programInside, readFileSync(attackProgram()), { mode: 0o755 })
  const variables = await variablesFor(network, env, peer)
  const pass = { user: 'root', names: connections, variables, look: async () => [] } as const
  return attackEnvironment(env, pass)
}

/** The rules do not bind the host itself, which shows that the test would notice an attack. */
async function attackFromHost(network: FarNetwork): Promise<void> {
  network.send(forgedSender)
  if ((await network.senders()).includes(forgedSender)) open.add('nat-forged-sender')
  const before = trackedConnections()
  const variables = { ATTACK_BEYOND: `${network.outside.address}:0` }
  await runOnHost('nat-connection-flood', variables)
  if (trackedConnections() - before > mostTracked) open.add('nat-connection-flood')
}

describe.each(natPromises)('$promise', ({ attacks }) => {
  test.for(attacks)('%s', (name, { task, skip }) => {
    if (whyNoNetworks !== null) skip(whyNoNetworks)
    task.meta.attackRuns = refusals(name, byRun)
    expect(through(name, byRun), `${name} came through`).toEqual([])
    if (connections.includes(name)) expect(allowed.get(name)?.outcome).toBe('succeeded')
    else expect([...open], `${name} where there are no rules`).toContain(name)
  })
})
