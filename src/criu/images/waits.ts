import * as z from 'zod/mini'
import { BackendError } from '../../model/errors.ts'
import type { DumpImages } from './dump-images.ts'
import {
  coreEntry,
  itimerEntry,
  signalQueue,
  taskCoreEntry,
  taskTimersEntry,
  threadCoreEntry,
  threadInfoX86,
  userX86Regs,
} from './format/criu-messages.ts'
import { type ImageFile, mapEntries } from './format/image-file.ts'
import { change, read } from './format/schema.ts'

/** How a thread continues that was frozen while it waited in a call. See native/cell/waits/. */
export interface InterruptedWait {
  /** numbers of process and thread inside */
  readonly process: number
  readonly thread: number
  /** number of the system call; -1: none */
  readonly call: number
  /** nanoseconds that were left; null: the call has no limit, or a moment as limit */
  readonly left: bigint | null
  /** address after the instruction that makes the call */
  readonly instruction: bigint
  /** the stack pointer there */
  readonly stack: bigint
  /**
   * `again`: it has been ended and must be made again; `restart`: CRIU does that; `code`: the thread is in
   * code of ours, which a copy of its process does not have
   */
  readonly how: 'again' | 'restart' | 'code'
}

const line = z.tuple([
  z.coerce.number().check(z.int(), z.positive()),
  z.coerce.number().check(z.int(), z.positive()),
  z.coerce.number().check(z.int(), z.gte(-1), z.lt(1e4)),
  z.coerce.bigint().check(z.gte(-1n), z.lt(1n << 63n)),
  z.coerce.bigint().check(z.gte(0n), z.lt(1n << 64n)),
  z.coerce.bigint().check(z.gte(0n), z.lt(1n << 64n)),
  z.enum(['again', 'restart', 'code']),
])

/** One line per wait, as `cell waits` prints them. */
export function parseWaits(text: string): InterruptedWait[] {
  return text.split('\n').filter(Boolean).map(parseWait)
}

function parseWait(text: string): InterruptedWait {
  const { data, error } = line.safeParse(text.split(' '))
  if (!data) {
    throw new BackendError(`a note of an interrupted call is malformed: ${JSON.stringify(text)}`, {
      remedy: 'take the snapshot again',
      cause: error,
    })
  }
  const [process, thread, call, left, instruction, stack, how] = data
  return { process, thread, call, left: left < 0n ? null : left, instruction, stack, how }
}

function formatWaits(waits: readonly InterruptedWait[]): string {
  const lines = waits.map(({ process, thread, call, left, instruction, stack, how }) =>
    [process, thread, call, left ?? -1, instruction, stack, how].join(' '),
  )
  return lines.map((text) => `${text}\n`).join('')
}

/** The image of our own that lists the waits which need the restored process itself. */
export const waitsImage = 'waits'

/** Our agent copes with it, and its copies should start as fast as possible. */
const agent = 1

/**
 * The images of processes that make their interrupted calls again. A call without a limit is made again
 * by its registers alone. The others need the restored process itself, and are listed in an image of our
 * own. So are all calls of a process to which a signal may come before it runs: the kernel then decides
 * whether the call ends. And so are calls that had done a part of their work, whose rest follows.
 */
export function withWaits(images: DumpImages, waits: readonly InterruptedWait[]): DumpImages {
  const changes: Record<string, ImageFile | Buffer> = {}
  const listed: InterruptedWait[] = []
  for (const wait of waits) {
    const name = `core-${wait.thread}.img`
    if (!images.has(name) || wait.thread === agent) continue
    if (needsProcess(images, wait) || wasCutShort(images, wait)) listed.push(wait)
    else if (wait.how === 'again') {
      changes[name] = mapEntries(images.image(name), (core) => again(core, wait))
    }
  }
  if (listed.length > 0) changes[waitsImage] = Buffer.from(formatWaits(listed))
  return images.with(changes)
}

function needsProcess(
  images: DumpImages,
  { process, thread, left, how }: InterruptedWait,
): boolean {
  if (left !== null || how === 'code') return true
  return expectsSignal(images, process) || expectsSignal(images, thread)
}

/** As CRIU writes the result of a call that was interrupted. */
const EINTR = -4n
const callLength = 2n

/** The registers as they were right before the call. */
function again(core: Uint8Array, wait: InterruptedWait): Uint8Array {
  const { threadInfo } = read(coreEntry, core)
  if (!threadInfo || resultIn(core, wait) !== EINTR) return core
  const { gpregs } = read(threadInfoX86, threadInfo)
  const { ip } = read(userX86Regs, gpregs)
  const before = change(userX86Regs, gpregs, { ax: BigInt(wait.call), ip: ip - callLength })
  return change(coreEntry, core, {
    threadInfo: change(threadInfoX86, threadInfo, { gpregs: before }),
  })
}

/** What the call returned; null if the thread is elsewhere by now. */
function resultIn(core: Uint8Array, { instruction, stack }: InterruptedWait): bigint | null {
  const { threadInfo } = read(coreEntry, core)
  if (!threadInfo) return null
  const { ax, ip, sp } = read(userX86Regs, read(threadInfoX86, threadInfo).gpregs)
  return ip === instruction && sp === stack ? ax : null
}

/** write, writev, sendto, recvfrom, sendmsg and recvmsg on x86-64: see native/cell/waits/rest.c. */
const divisible: ReadonlySet<number> = new Set([1, 20, 44, 45, 46, 47])

/** Whether it may have returned how much it had done until the freeze. */
function wasCutShort(images: DumpImages, wait: InterruptedWait): boolean {
  if (wait.how !== 'again' || !divisible.has(wait.call)) return false
  const { entries } = images.image(`core-${wait.thread}.img`)
  return entries.some((core) => (resultIn(core, wait) ?? 0n) > 0n)
}

/** Whether signals are waiting for it, or a timer may send one. */
function expectsSignal(images: DumpImages, thread: number): boolean {
  const name = `core-${thread}.img`
  if (!images.has(name)) return false
  return images.image(name).entries.some((core) => {
    const { tc, threadCore } = read(coreEntry, core)
    const task = tc && read(taskCoreEntry, tc)
    const own = threadCore && read(threadCoreEntry, threadCore).signalsOwn
    return hasSignals(own) || hasSignals(task?.signalsShared) || hasTimer(task?.timers)
  })
}

function hasSignals(queue: Uint8Array | undefined): boolean {
  return queue !== undefined && read(signalQueue, queue).signals.length > 0
}

function hasTimer(timers: Uint8Array | undefined): boolean {
  if (timers === undefined) return false
  const { real, virtual, profiling, posix } = read(taskTimersEntry, timers)
  if (posix.length > 0) return true
  return [real, virtual, profiling].some((bytes) => {
    const { vsec, vusec } = read(itimerEntry, bytes)
    return vsec !== 0 || vusec !== 0
  })
}
