import { expect, test } from 'vitest'
import {
  coreEntry,
  itimerEntry,
  signalQueue,
  taskCoreEntry,
  taskTimersEntry,
  threadInfoX86,
  userX86Regs,
} from '../../../../src/criu/images/format/criu-messages.ts'
import type { ImageFile } from '../../../../src/criu/images/format/image-file.ts'
import { make, read } from '../../../../src/criu/images/format/schema.ts'
import { parseWaits, waitsImage, withWaits } from '../../../../src/criu/images/waits.ts'
import { dumpOf } from '../../../support/dump-of.ts'

const head = Buffer.from('194356540d1c4056', 'hex')
const after = 0x7f00_0000_1002n
const stack = 0x7ffe_0000_1000n
const EINTR = -4n

interface Core {
  readonly ax?: bigint
  readonly alarmSeconds?: number
  readonly signals?: number
}

/** The image of a thread that has returned from a call, as CRIU 4.2 writes it. */
function core({ ax = EINTR, alarmSeconds = 0, signals = 0 }: Core = {}): ImageFile {
  const off = make(itimerEntry, { vsec: 0, vusec: 0 })
  const real = make(itimerEntry, { vsec: alarmSeconds, vusec: 0 })
  const timers = make(taskTimersEntry, { real, virtual: off, profiling: off, posix: [] })
  const queue = make(signalQueue, { signals: Array(signals).fill(Buffer.alloc(128)) })
  const gpregs = make(userX86Regs, { ax, ip: after, sp: stack })
  const entry = make(coreEntry, {
    mtype: 1,
    threadInfo: make(threadInfoX86, { gpregs }),
    tc: make(taskCoreEntry, { timers, signalsShared: queue }),
  })
  return { head, entries: [entry] }
}

function registersIn({ entries: [entry] }: ImageFile) {
  const { threadInfo } = read(coreEntry, entry ?? Buffer.alloc(0))
  const { ax, ip, sp } = read(
    userX86Regs,
    read(threadInfoX86, threadInfo ?? Buffer.alloc(0)).gpregs,
  )
  return { ax, ip, sp }
}

const epollForever = `7 7 232 -1 ${after} ${stack} again`
const again = { ax: 232n, ip: after - 2n, sp: stack }
const untouched = { ax: EINTR, ip: after, sp: stack }

function outcome(line: string, image: ImageFile) {
  const images = withWaits(dumpOf({ 'core-7.img': image }), parseWaits(line))
  const listed = images.has(waitsImage) ? images.bytes(waitsImage).toString() : null
  return { registers: registersIn(images.image('core-7.img')), listed }
}

test('a wait without a limit is made again by its registers alone', () => {
  expect(outcome(epollForever, core())).toEqual({ registers: again, listed: null })
})

test('a call that has returned by itself, or was made elsewhere, is left as it is', () => {
  const returned = { ...untouched, ax: 1n }
  expect(outcome(epollForever, core({ ax: 1n }))).toEqual({ registers: returned, listed: null })
  const elsewhere = `7 7 232 -1 ${after + 16n} ${stack} again`
  expect(outcome(elsewhere, core())).toEqual({ registers: untouched, listed: null })
})

test.each([
  ['a wait with time left', `7 7 230 5000000000 ${after} ${stack} again`, core()],
  ['a thread in our code', `7 7 271 -1 ${after} ${stack} code`, core()],
  ['a wait for a timer', `7 7 34 -1 ${after} ${stack} restart`, core({ alarmSeconds: 3 })],
  ['a wait with a signal on its way', epollForever, core({ signals: 1 })],
])('%s needs the restored process', (_, line, image) => {
  expect(outcome(line, image)).toEqual({ registers: untouched, listed: `${line}\n` })
})

test('a write that was cut short needs the restored process, and keeps its result until then', () => {
  const line = `7 7 1 -1 ${after} ${stack} again`
  const registers = { ...untouched, ax: 4096n }
  expect(outcome(line, core({ ax: 4096n }))).toEqual({ registers, listed: `${line}\n` })
})

test('a call that CRIU restarts needs nothing if no signal can come before it', () => {
  const line = `7 7 61 -1 ${after} ${stack} restart`
  expect(outcome(line, core())).toEqual({ registers: untouched, listed: null })
})

test('waits of our agent and of threads that are not in the dump are left out', () => {
  const lines = `1 1 232 5 ${after} ${stack} again\n9 9 230 5 ${after} ${stack} again\n`
  const images = dumpOf({ 'core-1.img': core(), 'core-7.img': core() })
  expect(withWaits(images, parseWaits(lines))).toBe(images)
})

test.each([
  'nonsense',
  '7 7 230 5 1 2',
  '7 7 230 5 1 2 again more',
  '0 7 230 5 1 2 again',
  '7 -3 230 5 1 2 again',
  '7 7 1e9 5 1 2 again',
  '7 7 230 -2 1 2 again',
  '7 7 230 99999999999999999999 1 2 again',
  '7 7 230 5 1 18446744073709551616 again',
  '7 7 230 5 x 2 again',
  '7 7 230 5 1 2 ../../etc',
])('a malformed note is refused: %j', (line) => {
  expect(() => parseWaits(`${line}\n`)).toThrow(/malformed/)
})
