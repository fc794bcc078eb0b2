import { TimeoutError } from '../../model/errors.ts'
import { formatDuration } from '../../model/quantities.ts'
import type { CommandHandle } from './commands.ts'

/** Beyond a command's own time, for the agent to end it and to send the rest of its output. */
const MARGIN_SECONDS = 10
/** More than the agent holds of what a command wrote before it was ended. */
const MAX_LATE_BYTES = 8 * 1024 * 1024
/** A command may have to wait for its turn in a shell; this long, or as long as it may run. */
const QUEUE_SECONDS = 600

export interface ExecTimes {
  readonly timeoutMs: number
  readonly graceMs: number
  /** How long a second is; tests have shorter ones. */
  readonly secondMs?: number | undefined
}

/**
 * The host's own limit of a command with a timeout. The agent ends such a command by itself; this is
 * for the one that does not. It counts the seconds in which a connection stood: while a snapshot is
 * taken, the command does not run either.
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

  /** Watches `command` until disposed of; gives it up when its time is over. */
  watch(command: CommandHandle, hasStarted: () => boolean, isPaused: () => boolean): Disposable {
    const tick = () => {
      const late = isPaused() ? null : this.#tick(command, hasStarted())
      if (late !== null) command.detach(late)
    }
    const timer = setInterval(tick, this.#times.secondMs ?? 1000).unref()
    return { [Symbol.dispose]: () => clearInterval(timer) }
  }

  #tick(command: CommandHandle, hasStarted: boolean): TimeoutError | null {
    if (!hasStarted) {
      this.#queued += 1
      return this.#queued > this.#queueSeconds ? this.#neverBegan() : null
    }
    this.#ran += 1
    if (this.#ran <= this.#runSeconds) {
      this.#onTimeBytes = command.receivedBytes
      return null
    }
    // A reader of ours that is slow may take its time; an agent may not.
    if (command.isHostWaiting) this.#owed += 1
    const isFlood = command.receivedBytes - this.#onTimeBytes > MAX_LATE_BYTES
    return isFlood || this.#owed >= MARGIN_SECONDS ? this.#neverEnded() : null
  }

  #neverBegan(): TimeoutError {
    const waited = formatDuration(this.#queueSeconds * 1000)
    return new TimeoutError(`the command did not get its turn within ${waited}`, {
      remedy: 'run it in another shell, or end what runs in this one',
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
