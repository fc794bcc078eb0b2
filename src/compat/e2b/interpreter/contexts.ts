import { randomBytes } from 'node:crypto'
import type { Environment } from '../../../api/handles/environment.ts'
import { InvalidInputError, NotFoundError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { kernelId } from '../agent/known-processes.ts'
import { homeInside } from '../control/create.ts'
import { KernelSession } from './kernel-session.ts'
import { nodeKernel } from './kernels/node-kernel.ts'
import { pythonKernel } from './kernels/python-kernel.ts'

export const languages = ['python', 'javascript', 'typescript', 'bash'] as const

export type Language = (typeof languages)[number]

/** A session that keeps its state. Its id says its language, so that it is known in a fork as well. */
export interface Context {
  readonly id: string
  readonly language: Language
  readonly cwd: string
}

const shape = /^(python|javascript|typescript|bash)-(default|[0-9a-f]{16})$/

const programs: Readonly<Record<Exclude<Language, 'bash'>, readonly string[]>> = {
  python: ['python3', '-u', '-c', pythonKernel],
  javascript: ['node', '-e', nodeKernel],
  typescript: ['node', '-e', nodeKernel],
}

interface Followed {
  readonly life: string | null
  readonly session: KernelSession
}

const prefix = kernelId('')

const mostContexts = 100

/** Directories of contexts that are remembered, of all sandboxes. */
const mostPlaces = 10_000

/** The contexts of sandboxes: what runs inside, and the sessions that this daemon follows. */
export class Contexts {
  readonly #sessions = new Map<string, Followed>()
  readonly #places = new Map<string, string>()

  /** By id, or the default one of a language. */
  named(environment: Environment, id: string | undefined, language = 'python'): Context {
    const known = languageOf(language)
    const [, own] = shape.exec(id ?? `${known}-default`) ?? []
    if (own === undefined) throw noContext(id ?? '')
    const name = id ?? `${known}-default`
    const cwd = this.#places.get(keyOf(environment, name)) ?? homeInside
    return { id: name, language: own as Language, cwd }
  }

  async create(environment: Environment, language = 'python', cwd = homeInside): Promise<Context> {
    if ((await this.list(environment)).length >= mostContexts) {
      throw new InvalidInputError(`the sandbox has ${mostContexts} contexts already`, {
        remedy: 'remove those that you do not need',
      })
    }
    const known = languageOf(language)
    const id = `${known}-${randomBytes(8).toString('hex')}`
    const context: Context = { id, language: known, cwd }
    this.#remember(keyOf(environment, id), cwd)
    if (known === 'bash') await environment.exec(['cd', cwd], { shell: shellOf(context) })
    else await this.session(environment, context)
    return context
  }

  /** Those that run. */
  async list(environment: Environment): Promise<readonly Context[]> {
    const [commands, shells] = await Promise.all([environment.commands(), environment.shells()])
    const running = commands.filter((each) => each.running).map(({ id }) => id)
    const names = [...running, ...shells.map(({ shell }) => shell)]
    return names.flatMap((name) => {
      const [id = ''] = name.startsWith(prefix) ? name.slice(prefix.length).split('_', 1) : []
      return shape.test(id) ? [this.named(environment, id)] : []
    })
  }

  /** The session of a context, which is started if it does not run. */
  async session(environment: Environment, context: Context): Promise<KernelSession> {
    const key = keyOf(environment, context.id)
    const { life } = environment.lastInfo
    const followed = this.#sessions.get(key)
    const isCurrent = followed?.life === life || followed?.session.isBusy
    if (followed && isCurrent && !followed.session.isOver) return followed.session
    followed?.session.leave()
    this.#forgetEnded()
    const session = await open(environment, context)
    this.#sessions.set(key, { life, session })
    return session
  }

  /** Of sandboxes that are gone, nothing stays. */
  #forgetEnded(): void {
    for (const [key, { session }] of this.#sessions) {
      if (session.isOver) this.#sessions.delete(key)
    }
  }

  #remember(key: string, cwd: string): void {
    this.#places.set(key, cwd)
    const [oldest] = this.#places.keys()
    if (this.#places.size > mostPlaces && oldest !== undefined) this.#places.delete(oldest)
  }

  /** Ends what it runs; the next request starts it again. */
  async stop(environment: Environment, context: Context): Promise<void> {
    const key = keyOf(environment, context.id)
    this.#sessions.get(key)?.session.leave()
    this.#sessions.delete(key)
    if (context.language === 'bash') return await environment.closeShell(shellOf(context))
    const id = await runningId(environment, context)
    if (id === undefined) return
    const command = await environment.command(id)
    command.stdout.discard()
    command.stderr.discard()
    await command.signal('SIGKILL')
    await command.wait()
  }

  async remove(environment: Environment, context: Context): Promise<void> {
    await this.stop(environment, context)
    this.#places.delete(keyOf(environment, context.id))
  }
}

export function shellOf({ id }: Context): string {
  return kernelId(id)
}

/** Attaches to the one that runs, as in a fork, or starts one. */
async function open(environment: Environment, context: Context): Promise<KernelSession> {
  const running = await runningId(environment, context)
  if (running !== undefined) return new KernelSession(await environment.command(running))
  if (context.language === 'bash') throw noContext(context.id)
  // A command keeps its id after its end, so each start of a context has one of its own.
  const id = `${kernelId(context.id)}_${randomBytes(4).toString('hex')}`
  const options = { id, mode: 'process', stdin: 'streamed', cwd: context.cwd } as const
  const command = await environment.spawn(programs[context.language], options)
  await command.pid
  return new KernelSession(command)
}

async function runningId(environment: Environment, { id }: Context): Promise<string | undefined> {
  const begin = `${kernelId(id)}_`
  const all = await environment.commands()
  return all.find((each) => each.running && each.id.startsWith(begin))?.id
}

function languageOf(name: string): Language {
  const word = aliases[name.toLowerCase()] ?? name.toLowerCase()
  const known = languages.find((each) => each === word)
  if (known !== undefined) return known
  throw new InvalidInputError(`no interpreter for ${quote(name)}`, {
    remedy: `use ${languages.join(', ')}`,
  })
}

const aliases: Readonly<Record<string, Language>> = {
  js: 'javascript',
  node: 'javascript',
  ts: 'typescript',
  sh: 'bash',
}

function keyOf({ id }: Environment, context: string): string {
  return `${id}/${context}`
}

function noContext(id: string): NotFoundError {
  return new NotFoundError(`no context ${quote(id)}`, { remedy: 'list the contexts' })
}
