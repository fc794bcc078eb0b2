// Environments with `nat`: what they must not reach, and how much of the host's table they may take.
// Where each attack is allowed, by `netAllow` or by another route, it is seen to succeed.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { OutsideNetwork, whyNoNetworks } from '../support/outside-network.ts'
import { TestHome } from '../support/test-home.ts'
import { natPromises } from './catalogue/network.ts'
import { attackEnvironment, programInside } from './support/attack-environment.ts'
import { attackProgram } from './support/attack-program.ts'
import { LineReader } from './support/line-reader.ts'
import { PacketWatch, trackedConnections } from './support/packet-watch.ts'
import { describeThrough, type Results } from './support/results.ts'
import { allRuns, inEveryState, nameOf, users } from './support/states.ts'

const home = new TestHome('nat-attacks', { 'spares.count': 0 })
const byRun = new Map<string, Results>()
const open: { results: Results } = { results: new Map() }
const host = createServer((socket) => socket.end())
await once(host.listen(0, '0.0.0.0'), 'listening')
const { port } = host.address() as AddressInfo
let outside: OutsideNetwork | undefined

/** Of the 30,000 connections that the flood asks for. */
const mostTracked = 10_000

afterAll(async () => {
  host.close()
  await outside?.[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const names = natPromises.flatMap(({ attacks }) => attacks)
const gatewayOf = async (env: Environment) =>
  /via ([\d.]+)/.exec((await env.exec('ip route show default')).stdout)?.[1] ?? ''
const addressOf = async (env: Environment) =>
  /inet ([\d.]+)/.exec((await env.exec('ip -4 addr show eth0')).stdout)?.[1] ?? ''

const serving = `import socket
s = socket.create_server(('0.0.0.0', 7000))
print('listening', flush=True)
while True: s.accept()[0].close()`

async function serve(env: Environment): Promise<void> {
  const words = ['/usr/bin/python3', '-c', serving]
  const command = await env.spawn(words, { mode: 'process' })
  await new LineReader(command.stdout).until('listening')
}

async function attack(env: Environment, user: (typeof users)[number], far: OutsideNetwork, neighbour: string): Promise<Results> {
  await using watch = await PacketWatch.start(far)
  const before = trackedConnections()
  return attackEnvironment(env, {
    user,
    names,
    variables: {
      ATTACK_GATEWAY: `${await gatewayOf(env)}:${port}`,
      ATTACK_HOST_ADDRESS: `${far.hostAddress}:${port}`,
      ATTACK_NEIGHBOUR: `${neighbour}:7000`,
      ATTACK_LINK_LOCAL: `${far.linkLocalAddress}:${far.port}`,
      ATTACK_BEYOND: `${far.address}:0`,
      ATTACK_WATCHED: `${far.address}:0`,
      ATTACK_SENDER: '198.51.100.7',
    },
    look: async () => {
      const tracked = trackedConnections() - before
      const forged = await watch.sawForged('198.51.100.7')
      return [
        `nat-connection-flood\t${tracked > mostTracked ? 'changed' : 'kept'}\t${tracked} tracked`,
        `nat-forged-sender\t${forged ? 'changed' : 'kept'}\t`,
      ]
    },
  })
}
