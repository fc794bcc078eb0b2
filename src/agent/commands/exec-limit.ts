import { TimeoutError } from '../../model/errors.ts'
import { secondMs } from '../../model/values/patience.ts'
import { formatDuration } from '../../model/values/quantities.ts'
import type { CommandHandle } from './commands.ts'

/** Time beyond the command's own timeout in which the agent ends it and sends the rest of its output. */
const MARGIN_SECONDS = 10
/** More than the agent holds of a command's output. */
const MAX_LATE_BYTES = 8 * 1024 * 1024
/** How long a command may wait for its turn in a shell, unless its own timeout is longer. */
const QUEUE_SECONDS = 600

export interface ExecTimes {
  readonly timeoutMs: number
  readonly graceMs: number
  /** The length of a second; tests use shorter ones. */
  readonly secondMs?: number | undefined
}

/**
 * The host's own limit for a command with a timeout, in case the agent does not end it. It counts only
 * seconds with a connection, because the command does not run while a snapshot is taken.
 */
export class ExecLimit {
  readonly #times: ExecTimes
  readonly #runSeconds: number
  readonly #queueSeconds: number
  #queued = 0
  #ran = 0
  #owed = 0
  #onTimeBytes = 0

  constructor(times: ExecTimes) {
    this.#times = times
    this.#runSeconds = Math.ceil((times.timeoutMs + times.graceMs) / 1000) + MARGIN_SECONDS
    this.#queueSeconds = Math.max(QUEUE_SECONDS, Math.ceil(times.timeoutMs / 1000))
  }

  /** Watches `command` until disposed of; gives up on it when its time is over. */
  watch(
    command: CommandHandle,
    hasStarted: () => boolean,
    isPaused: () => Promise<boolean>,
  ): Disposable {
    let isAsking = false
    let isOver = false
    const tick = async () => {
      if (isAsking) return
      isAsking = true
      const paused = await isPaused()
      isAsking = false
      if (paused || isOver) return
      const late = hasStarted() ? this.#tickRunning(command) : this.#tickQueued()
      if (late !== null) command.detach(late)
    }
    const timer = setInterval(() => void tick(), this.#times.secondMs ?? secondMs()).unref()
    const stop = () => {
      isOver = true
      clearInterval(timer)
    }
    return { [Symbol.dispose]: stop }
  }

  #tickQueued(): TimeoutError | null {
    this.#queued += 1
    return this.#queued > this.#queueSeconds ? this.#neverBegan() : null
  }

  #tickRunning(command: CommandHandle): TimeoutError | null {
    this.#ran += 1
    if (this.#ran <= this.#runSeconds) {
      this.#onTimeBytes = command.receivedBytes
      return null
    }
    // Our own reader may be slow, but the agent may not.
    if (command.isHostWaiting) this.#owed += 1
    const isFlood = command.receivedBytes - this.#onTimeBytes > MAX_LATE_BYTES
    return isFlood || this.#owed >= MARGIN_SECONDS ? this.#neverEnded() : null
  }

  #neverBegan(): TimeoutError {
    const waited = formatDuration(this.#queueSeconds * 1000)
    return new TimeoutError(`the command did not get its turn within ${waited}`, {
      remedy: 'run it in another shell, or end the command that runs in this one',
    })
  }

  #neverEnded(): TimeoutError {
    const limit = formatDuration(this.#times.timeoutMs)
    return new TimeoutError(`the agent did not end a command that may run for ${limit}`, {
      remedy:
        'the agent may be stopped or tampered with: restore a snapshot, or remove the environment',
    })
  }
}
