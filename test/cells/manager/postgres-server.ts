import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, readdirSync } from 'node:fs'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

const versions = '/usr/lib/postgresql'

/** A PostgreSQL of the test's own, reached through a socket in a private directory. */
export class PostgresServer implements AsyncDisposable {
  readonly #directory: TemporaryDirectory
  readonly #data: string

  private constructor(directory: TemporaryDirectory, data: string) {
    this.#directory = directory
    this.#data = data
  }

  static async start(): Promise<PostgresServer> {
    const directory = new TemporaryDirectory()
    const data = directory.file('data')
    const { uid, gid } = owner()
    chownSync(directory.path, uid, gid)
    chmodSync(directory.path, 0o755)
    const server = new PostgresServer(directory, data)
    try {
      run('initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '--no-locale')
      appendFileSync(`${data}/postgresql.conf`, settings(directory.path))
      run('pg_ctl', '-D', data, '-w', '-l', directory.file('log'), 'start')
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
    return server
  }

  /** What makes the tools of PostgreSQL use it. */
  get variables(): Record<string, string> {
    return { PGHOST: this.#directory.path, PGUSER: 'postgres', PATH: path() }
  }

  sql(database: string, statement: string): string {
    return execFileSync('psql', ['-qXAt', '-d', database, '-c', statement], {
      encoding: 'utf8',
      env: this.variables,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      run('pg_ctl', '-D', this.#data, '-w', '-m', 'immediate', 'stop')
    } finally {
      this.#directory[Symbol.dispose]()
    }
  }
}

function settings(directory: string): string {
  return [
    "listen_addresses = ''",
    `unix_socket_directories = '${directory}'`,
    'fsync = off',
    'shared_buffers = 1MB',
    '',
  ].join('\n')
}

function path(): string {
  const version = readdirSync(versions).sort().at(-1)
  if (version === undefined) throw new Error('no PostgreSQL; see scripts/test-packages')
  return `${versions}/${version}/bin:/usr/bin:/bin`
}

function owner(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** It refuses to run as root. */
function run(program: string, ...words: string[]): void {
  const { uid, gid } = owner()
  execFileSync(program, words, { uid, gid, stdio: 'pipe', env: { PATH: path() }, cwd: '/' })
}
